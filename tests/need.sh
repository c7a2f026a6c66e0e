#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# need.sh build|check|lab [--install]: names what a step needs and this machine lacks, as one apt-get
# line; with --install and as root it installs it, saying so first.  Exit 0 when nothing is missing.
set -eu

build="make:make clang:clang llvm-strip:llvm bpftool:bpftool gcc:gcc ar:binutils pkg-config:pkg-config \
	pc/libbpf:libbpf-dev pc/libelf:libelf-dev pc/zlib:zlib1g-dev pc/jansson:libjansson-dev \
	pc/libcap:libcap-dev pc/ncursesw:libncurses-dev inc/uthash.h:uthash-dev \
	pc/sqlite3:libsqlite3-dev"
check="shellcheck:shellcheck git:git setpriv:util-linux pc/cmocka:libcmocka-dev ctags:universal-ctags clang-format:clang-format python3:python3 \
	tmux:tmux scdoc:scdoc gzip:gzip"
lab="qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio pahole:dwarves bc:bc \
	flex:flex bison:bison depmod:kmod xz:xz-utils zstd:zstd patch:patch \
	inc/openssl/ssl.h:libssl-dev valgrind:valgrind fuzzer:libclang-rt-dev"

has() {
	case "$1" in
	pc/*) pkg-config --exists "${1#pc/}" 2>/dev/null ;;
	inc/*) echo "#include <${1#inc/}>" | cc -E -x c - >/dev/null 2>&1 ;;
	fuzzer)
		echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
			clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null
		;;
	busybox) [ -x /bin/busybox ] && ! ldd /bin/busybox >/dev/null 2>&1 ;;
	*) PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1 ;;
	esac
}

case "${1:-}" in
build) want=$build ;;
check) want="$build $check" ;;
lab) want="$build $check $lab" ;;
*) echo "usage: need.sh build|check|lab [--install]" >&2; exit 2 ;;
esac

missing=
for item in $want; do
	has "${item%:*}" || missing="$missing ${item##*:}"
done
[ -n "$missing" ] || exit 0
if [ "${2:-}" = --install ] && [ "$(id -u)" = 0 ]; then
	echo "installing what is missing: apt-get install$missing"
	apt-get -qq update
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null
	exit 0
fi
echo "missing Debian packages: apt-get install$missing" >&2
exit 1
