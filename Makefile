# SPDX-License-Identifier: GPL-2.0-or-later
# `make help` lists the targets.

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
O := build

CC ?= gcc
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= $(shell command -v bpftool 2>/dev/null || echo /usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
PYTHON ?= python3

ifeq ($(V),1)
Q :=
msg = @:
else
Q := @
msg = @printf '  %-8s %s\n' '$(1)' '$(patsubst $(O)/%,%,$(2))'
MAKEFLAGS += --no-print-directory
endif

ARCH := $(shell uname -m | sed -e 's/x86_64/x86/' -e 's/aarch64/arm64/')
LIBS := libbpf jansson libcap ncursesw sqlite3 zlib
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wmissing-field-initializers -Wmissing-prototypes -Wstrict-prototypes \
	-Wshadow -Wundef -Wno-unused-parameter
CPPFLAGS += -D_GNU_SOURCE -DVW_VERSION='"$(VERSION)"' -Iuser -Ibpf -I$(O)/skel
BPF_CFLAGS := -g -O2 -mcpu=v3 -target bpf -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Wno-unused-parameter \
	-Wno-missing-declarations -Ibpf -Ivmlinux -idirafter /usr/include/$(shell $(CC) -print-multiarch)
LDLIBS := $(shell $(PKG_CONFIG) --libs $(LIBS) 2>/dev/null) -lelf -lpthread
LDLIBS_STATIC := $(shell $(PKG_CONFIG) --static --libs $(LIBS) 2>/dev/null) -lelf -lz -lpthread

SRCS := $(filter-out user/main.c,$(wildcard user/*/*.c))
OBJS := $(SRCS:user/%.c=$(O)/user/%.o)
# What needs no libbpf and no skeleton; the pure part that unit tests link.
CORE_SRCS := $(wildcard user/util/*.c user/model/*.c user/detect/*.c user/attr/*.c user/sink/*.c \
	user/record/*.c user/cli/*.c) $(filter-out user/source/live.c user/source/live_open.c,$(wildcard user/source/*.c)) \
	user/load/plan.c user/load/tif.c
CORE_OBJS := $(patsubst user/%.c,$(O)/user/%.o,$(wildcard $(CORE_SRCS)))
BPF_SRCS := $(wildcard bpf/*.bpf.c)
BPF_OBJS := $(BPF_SRCS:bpf/%.c=$(O)/bpf/%.o)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

all: $(O)/vhostwatch ## the program, build/vhostwatch (STATIC=1: also build/vhostwatch-static)
ifeq ($(STATIC),1)
all: $(O)/vhostwatch-static
endif

$(O)/vhostwatch: $(O)/user/main.o $(O)/libvw.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(O)/vhostwatch-static: $(O)/user/main.o $(O)/libvw.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $^ $(LDLIBS_STATIC)

$(O)/libvw.a: $(OBJS)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# The core archive is what the lint checks for purity and the unit tests link.
$(O)/libvwcore.a: $(CORE_OBJS)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(O)/user/%.o: user/%.c Makefile | $(O)/.deps
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -Werror -std=gnu11 -MMD -MP -c -o $@ $<

$(patsubst user/%.c,$(O)/user/%.o,$(wildcard user/load/*.c)): | $(O)/skel/core.skel.h

$(O)/bpf/%.bpf.o: bpf/%.bpf.c Makefile | $(O)/.deps
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@

$(O)/bpf/core.linked.o: $(BPF_OBJS)
	$(call msg,GEN-OBJ,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(O)/skel/core.skel.h: $(O)/bpf/core.linked.o
	$(call msg,GEN-SKEL,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name core > $@

-include $(OBJS:.o=.d) $(O)/user/main.d $(BPF_OBJS:.o=.d)

# One line that names what is missing, before the compiler says it in a hundred.
$(O)/.deps: tests/need.sh
	$(Q)mkdir -p $(O)
	$(Q)sh tests/need.sh build
	$(Q)touch $@

# --- tests -----------------------------------------------------------------------------------------

SAN_CFLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SAN_OBJS := $(SRCS:user/%.c=$(O)/san/user/%.o)
UNIT_SRCS := $(wildcard tests/unit/test_*.c)
UNIT_BINS := $(UNIT_SRCS:tests/unit/%.c=$(O)/unit/%)

$(O)/san/user/%.o: user/%.c Makefile | $(O)/.deps $(O)/skel/core.skel.h
	$(call msg,CC-SAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(SAN_CFLAGS) $(WARN) -std=gnu11 -MMD -MP -c -o $@ $<

$(O)/san/libvw.a: $(SAN_OBJS)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(O)/unit/fixture.o: tests/unit/fixture.c
	$(call msg,CC-SAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(SAN_CFLAGS) $(WARN) -std=gnu11 -MMD -MP -c -o $@ $<

$(O)/unit/%: tests/unit/%.c $(O)/unit/fixture.o $(O)/san/libvw.a
	$(call msg,UNIT,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(SAN_CFLAGS) $(WARN) -std=gnu11 -MMD -MP -MF $@.d -MT $@ \
		-o $@ $< $(O)/unit/fixture.o $(O)/san/libvw.a $(LDLIBS) -lcmocka

-include $(SAN_OBJS:.o=.d) $(UNIT_BINS:=.d)

unit: $(UNIT_BINS)

live-hog: $(O)/live/hog $(O)/live/hog.bpf.o

$(O)/live/hog: tests/live/hog.c Makefile
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -std=gnu11 -o $@ $< $(LDLIBS)

$(O)/live/hog.bpf.o: tests/live/hog.bpf.c Makefile
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

setup: ## install the Debian packages that a full check needs (root)
	$(Q)sh tests/need.sh lab --install

check: setup ## all tests in at most 30 minutes; root and QEMU for the live and lab tiers
	$(Q)$(MAKE) STATIC=1 all unit fuzz-replay fuzz-targets live-hog $(O)/libvwcore.a man
	$(Q)$(PYTHON) tests/check.py

check-rootless: ## the tests that need neither root nor a kernel
	$(Q)$(MAKE) all unit fuzz-replay $(O)/libvwcore.a man
	$(Q)$(PYTHON) tests/check.py --rootless

check-long: setup ## check and all the rest: every variant and mode
	$(Q)$(MAKE) STATIC=1 all unit fuzz-replay fuzz-targets live-hog $(O)/libvwcore.a man
	$(Q)$(PYTHON) tests/check.py --long

demo: setup ## the main job: catch a hogging worker in a VM, then show the fixed kernel
	$(Q)$(MAKE) STATIC=1 all
	$(Q)$(PYTHON) tests/lab/demo.py

man: $(O)/vhostwatch.8

$(O)/vhostwatch.8: docs/vhostwatch.8.scd
	$(call msg,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)scdoc < $< > $@

# --- fuzzing and speed -----------------------------------------------------------------------------

FUZZ_SECONDS ?= 60
FUZZ_CFLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_OBJS := $(patsubst user/%.c,$(O)/fuzz/user/%.o,$(wildcard $(CORE_SRCS)))

$(O)/fuzz/user/%.o: user/%.c Makefile | $(O)/.deps
	$(call msg,CC-FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -std=gnu11 -MMD -MP -c -o $@ $<

$(O)/fuzz/libvwcore.a: $(FUZZ_OBJS)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(O)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(O)/fuzz/libvwcore.a
	$(call msg,FUZZ,$@)
	$(Q)$(CLANG) $(CPPFLAGS) -Itests/fuzz $(FUZZ_CFLAGS) $(WARN) -fsanitize=fuzzer -std=gnu11 -MMD -MP -MF $@.d \
		-MT $@ -o $@ $< $(O)/fuzz/libvwcore.a $(LDLIBS)

$(O)/fuzz/replay_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(O)/san/libvw.a
	$(call msg,REPLAY,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests/fuzz $(SAN_CFLAGS) $(WARN) -std=gnu11 -MMD -MP -MF $@.d -MT $@ -o $@ \
		$< tests/fuzz/replay.c $(O)/san/libvw.a $(LDLIBS)

-include $(FUZZ_OBJS:.o=.d) $(wildcard $(O)/fuzz/*.d)

fuzz-targets: $(FUZZ_NAMES:%=$(O)/fuzz/fuzz_%)
fuzz-replay: $(FUZZ_NAMES:%=$(O)/fuzz/replay_%)

fuzz: fuzz-targets ## the parsers against damaged input, FUZZ_SECONDS (60) each
	$(Q)$(PYTHON) tests/fuzz/run.py --seconds $(FUZZ_SECONDS)

bench: all ## instructions a line and memory of analyze on a trace of 5 million lines
	$(Q)$(PYTHON) tests/bench/bench.py

# --- and the rest ----------------------------------------------------------------------------------

install: all man ## program and man page to DESTDIR/PREFIX
	install -D -m 755 $(O)/vhostwatch $(DESTDIR)$(PREFIX)/sbin/vhostwatch
	install -D -m 644 $(O)/vhostwatch.8 $(DESTDIR)$(PREFIX)/share/man/man8/vhostwatch.8

format: ## clang-format the C sources
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h')

clean: ## remove build/ (not the downloads in .cache/)
	$(Q)rm -rf $(O)

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22
	@echo '  V=1 shows the commands, STATIC=1 adds build/vhostwatch-static, O=DIR builds elsewhere'

.PHONY: all unit fuzz-targets fuzz-replay fuzz bench live-hog setup check check-rootless check-long demo man install format clean help
