#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks what the compiler does not: sizes, licences, arrows between modules, purity, stray paths.

    tests/lint.py [--archive build/libvwcore.a]...   one line a violation, exit 1 when there is any
    tests/lint.py --self-test                     plants one violation of each rule, expects it found

Without an archive the rules on symbols are skipped, and that is said.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MAX_FUNCTION = 60
MAX_TRACKED_BYTES = 1 << 20
MAX_SUBJECT = 72

DUAL = "GPL-2.0-only OR BSD-2-Clause"
KERNEL = "GPL-2.0-only"
OURS = "GPL-2.0-or-later"

SOURCE_SUFFIXES = {".c", ".h", ".py", ".sh"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".md", ".scd", ".yml", ".json", ".service", ".mk", ".S", ".txt", ""}

# What a module of user/ may include besides itself.  libbpf and what comes from bpf/ are apart.
ARROWS = {
    "util": set(),
    "model": {"util"},
    "detect": {"model", "util"},
    "attr": {"model", "util"},
    "sink": {"model", "util"},
    "record": {"model", "util"},
    "cli": {"util"},
    "load": {"model", "util"},
    "source": {"load", "attr", "model", "util"},
    "cmd": {"cli", "source", "load", "attr", "detect", "sink", "record", "model", "util"},
}
MAIN_MAY = {"cli", "cmd", "sink", "util"}
# Headers of the C library's side that only some may include.
BPF_HEADER = re.compile(r"^(bpf/.*|.*\.skel\.h|vw_abi\.h|linux/bpf\.h|linux/btf\.h)$")
BPF_MAY = re.compile(r"^user/(load/.*|source/live\.c)$")
CURSES_MAY = {"user/sink/screen.c", "user/sink/terminal.c"}

PURE = ("detect", "sink", "model")
# What reads a clock, a file or the environment, or ends the process.
IMPURE = re.compile(
    r"^(clock_.*|time|gettimeofday|timespec_get|times|getrusage|nanosleep|usleep|sleep|random|rand|"
    r"open|open64|openat|openat64|creat|fopen|fopen64|fdopen|freopen|opendir|fdopendir|readdir|"
    r"readdir64|scandir|stat|stat64|fstat|lstat|fstatat|access|faccessat|popen|system|read|pread|"
    r"pread64|readlink|readlinkat|fread|fgets|getline|getenv|secure_getenv|environ|ioctl|socket|"
    r"uname|sysconf|gethostname|getpid|gettid|exit|_exit|abort)$")
# Globals that change while the program runs: name -> why there is no other way.  A flag that a signal
# handler sets would be one.
MUTABLE_ALLOWED: dict[str, str] = {}

# Bytes that fuzzing came upon; they look like text.
CORPUS = "tests/fuzz/corpus/"
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(work|root|farm|home/\w+|workspace|tmp/claude)\b(?!\w)")
MIRROR = re.compile(r"\b((deb|ftp|security|snapshot|archive)\.(debian|ubuntu)\.(org|com)|"
                    r"[\w.-]+\.debian\.org/debian|mirrors?\.[\w-]+\.\w+)")
# A pause under a second is how a loop with a deadline polls; anything longer is a guess.
SLEEP = re.compile(r"(?:^|[;&|`(]|\b(?:do|then|else)\b|\btime\.)\s*sleep\s*[( ]\s*(?:[1-9]|0\d|\$|[a-z_])")
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]', re.M)


class Lint:
    def __init__(self, root, archives=()):
        self.root = root
        self.archives = archives
        self.violations = []
        self.notes = []
        self.files = self.list_files()

    def bad(self, where, text):
        self.violations.append(f"{where}: {text}")

    def run_command(self, *command):
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, errors="replace")

    def list_files(self):
        """Tracked files and those that could be added; in a tree without git all of them."""
        listed = self.run_command("git", "ls-files", "-z", "-co", "--exclude-standard")
        if listed.returncode == 0:
            names = [n for n in listed.stdout.split("\0") if n]
        else:
            names = [str(p.relative_to(self.root)) for p in self.root.rglob("*")]
        return sorted(n for n in set(names)
                      if (self.root / n).is_file() and not n.startswith("build/"))

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def sources(self, *suffixes):
        return [n for n in self.files if Path(n).suffix in (suffixes or SOURCE_SUFFIXES)]

    def is_kernel_source(self, name):
        return name.startswith("patches/")

    # -- sizes -------------------------------------------------------------------------------

    def check_file_sizes(self):
        for name in self.sources(".c"):
            if self.is_kernel_source(name):
                continue
            limit = 80 if name == "user/main.c" else 350 if name.endswith(".bpf.c") else 500
            lines = self.text(name).count("\n")
            if lines > limit:
                self.bad(name, f"{lines} lines, at most {limit}")

    def check_function_sizes(self):
        names = [n for n in self.sources(".c", ".h") if not self.is_kernel_source(n)]
        if not names:
            return
        tags = self.run_command("ctags", "--output-format=json", "--fields=+ne", "--languages=C",
                                "--langmap=C:.c.h", "--kinds-C=f", "-f", "-", *names)
        if tags.returncode or (not tags.stdout and "json" in tags.stderr):
            self.bad("ctags", "universal-ctags with JSON output is needed: apt-get install universal-ctags")
            return
        for line in tags.stdout.splitlines():
            tag = json.loads(line)
            if tag.get("_type") != "tag" or "end" not in tag:
                continue
            length = tag["end"] - tag["line"] + 1
            if length > MAX_FUNCTION:
                self.bad(f"{tag['path']}:{tag['line']}",
                         f"{tag['name']}() has {length} lines, at most {MAX_FUNCTION}")

    def check_tracked_bytes(self):
        for name in self.files:
            size = (self.root / name).stat().st_size
            if size > MAX_TRACKED_BYTES:
                self.bad(name, f"{size} bytes, at most {MAX_TRACKED_BYTES}")

    # -- first lines -------------------------------------------------------------------------

    def licence_of(self, name):
        if name.startswith(("bpf/", "vmlinux/")):
            return DUAL
        return OURS

    def check_licences(self):
        for name in self.sources() + [n for n in self.files if Path(n).name == "Makefile"]:
            if self.is_kernel_source(name):
                continue
            lines = self.text(name).split("\n")
            first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
            self.check_licence_line(name, first, self.licence_of(name))

    def check_licence_line(self, where, line, want):
        found = re.search(r"SPDX-License-Identifier: ([^*]+?)\s*(\*/)?$", line)
        if not found:
            self.bad(where, f"the first line has no SPDX identifier, {want} is wanted")
        elif found.group(1) != want:
            self.bad(where, f"SPDX identifier {found.group(1)}, {want} is wanted")

    def check_patches(self):
        """Files that a patch adds to the kernel or Xen carry the kernel's licence."""
        for name in self.sources(".patch"):
            lines = self.text(name).split("\n")
            for i, line in enumerate(lines):
                if line != "--- /dev/null" or i + 3 >= len(lines):
                    continue
                new = lines[i + 1].removeprefix("+++ b/")
                if Path(new).suffix in {".c", ".h", ".S"}:
                    self.check_licence_line(f"{name} ({new})", lines[i + 3].removeprefix("+"), KERNEL)

    # -- arrows ------------------------------------------------------------------------------

    def check_includes(self):
        for name in self.sources(".c", ".h"):
            if not name.startswith("user/"):
                continue
            parts = name.split("/")
            module = parts[1] if len(parts) > 2 else "main"
            if module != "main" and module not in ARROWS:
                self.bad(name, f"user/{module}/ has no place in the arrows of tests/lint.py")
                continue
            for header in INCLUDE.findall(self.text(name)):
                self.check_include(name, module, header)

    def check_include(self, name, module, header):
        if BPF_HEADER.match(header) and not BPF_MAY.match(name):
            self.bad(name, f"includes {header}; only user/load/ and user/source/live.c may")
        if header in {"curses.h", "ncurses.h", "term.h", "ncursesw/curses.h"} and name not in CURSES_MAY:
            self.bad(name, f"includes {header}; only the screen may")
        if header.startswith("jansson") and module not in {"attr", "sink", "record"}:
            self.bad(name, f"includes {header}; only attr and sinks may")
        if header == "sqlite3.h" and module != "record":
            self.bad(name, f"includes {header}; only record may")
        if header == "zlib.h" and name != "user/source/input.c":
            self.bad(name, f"includes {header}; only source/input.c may")
        target = header.split("/")[0] if "/" in header else None
        if header.startswith("../") or header.startswith("user/"):
            self.bad(name, f"includes {header}; includes are relative to user/")
        if target not in ARROWS or target == module or BPF_HEADER.match(header):
            return
        may = MAIN_MAY if module == "main" else ARROWS[module]
        if target not in may:
            self.bad(name, f"includes {header}; {module} may include "
                           f"{', '.join(sorted(may)) or 'nothing of user/'}")

    # -- symbols -----------------------------------------------------------------------------

    def check_symbols(self):
        modules = self.object_modules()
        if not self.archives:
            self.notes.append("no archive: the rules on symbols were not checked")
        for archive in self.archives:
            # Not nm: it gives constant tables with pointers (.data.rel.ro) the letter of variables.
            table = self.run_command("objdump", "-t", str(archive))
            if table.returncode:
                self.bad(str(archive), "objdump cannot read it: " + table.stderr.strip()[:100])
            member = ""
            for line in table.stdout.splitlines():
                head = re.match(r"^(\S+\.o):\s+file format", line)
                member = head.group(1) if head else member
                entry = re.match(r"^[0-9a-f]+ .{7} (\S+)\t[0-9a-f]+ (?:\.hidden )?(\S+)$", line)
                if entry:
                    where = f"{archive.name}({member})"
                    owners = modules.get(member, set()) if "core" in archive.name else set()
                    self.check_symbol(where, owners, *entry.groups())

    def object_modules(self):
        """The modules that an object can belong to; an archive keeps no folders.  No core archive has
        objects of cmd/."""
        modules = {}
        for name in self.sources(".c"):
            parts = name.split("/")
            if parts[0] == "user" and len(parts) == 3 and parts[1] != "cmd":
                modules.setdefault(Path(name).stem + ".o", set()).add(parts[1])
        for member, owners in modules.items():
            if owners & set(PURE) and owners - set(PURE):
                self.bad(member.replace(".o", ".c"), f"is in {' and '.join(sorted(owners))}; "
                         "objects of pure modules must be told apart by name")
        return modules

    def check_symbol(self, where, owners, section, symbol):
        # __fgets_chk is what _FORTIFY_SOURCE makes of fgets.
        bare = re.sub(r"^__(?:isoc\d+_)?(\w+?)(?:_chk|_2)?$", r"\1", symbol)
        if section == "*UND*" and owners and owners <= set(PURE) and IMPURE.match(bare):
            self.bad(where, f"uses {bare}(); {'/'.join(sorted(owners))} reads no clock, file or "
                            "environment")
        mutable = re.match(r"^(\.(data|bss|tdata|tbss)(\.(?!rel\.ro).*)?|\*COM\*)$", section)
        # The entry of the section itself, and what sanitizers and coverage add.
        added = symbol == section or re.match(r"^(_*(asan|ubsan|odr|gcov)|\.L|__)", symbol)
        if mutable and not added and re.sub(r"\.\d+$", "", symbol) not in MUTABLE_ALLOWED:
            self.bad(where, f"{symbol} can be changed; there are no mutable globals")

    # -- text --------------------------------------------------------------------------------

    def check_text(self):
        for name in self.files:
            path = Path(name)
            if path.suffix not in TEXT_SUFFIXES or path.name == "LICENSE" or name.startswith(CORPUS):
                continue
            data = (self.root / name).read_bytes()
            if b"\0" in data[:4096]:
                continue
            text = data.decode("utf-8", errors="replace")
            for number, line in enumerate(text.split("\n"), 1):
                self.check_line(name, number, line)
            if text and not text.endswith("\n"):
                self.bad(name, "does not end with a line feed")

    def check_line(self, name, number, line):
        where = f"{name}:{number}"
        if line != line.rstrip():
            self.bad(where, "blanks at the end of the line")
        fixture = name.startswith(("tests/fixtures/", "tests/golden/"))
        found = MACHINE_PATH.search(line)
        if found and not fixture:
            self.bad(where, f"names a path of one machine: {found.group(0)}")
        found = MIRROR.search(line)
        if found:
            self.bad(where, f"names a mirror: {found.group(0)}")
        # The one pause of a poll that has a deadline says so on its line.
        if (name.startswith("tests/lab/") and not name.endswith(".md") and SLEEP.search(line)
                and not line.endswith("# between two looks")):
            self.bad(where, "sleeps for a fixed time; wait for the event, with a deadline")
        if Path(name).suffix in {".c", ".h"} and not self.is_kernel_source(name):
            columns = len(line.expandtabs(8))
            if columns > 100 and not re.search(r'"[^"]{30,}', line):
                self.bad(where, f"{columns} columns, at most 100")

    # -- documents that repeat what the code says ------------------------------------------------

    def check_docs(self):
        self.check_words("user/cli/spec.c", r'\.name = "([\w-]+)"', "docs/vhostwatch.8.scd", "*{}*|*--{}*")
        for name in ("finding", "host", "worker"):
            self.check_words(f"user/model/{name}.c", r'\[VW_\w+\] = "(\w+)"', "docs/FORMATS.md", "`{}`")
        for name in self.sources(".c"):
            if name.startswith("user/"):
                self.check_words(name, r'vw_error_set\([^;"]*"(\w+)"', "docs/FORMATS.md", "`{}`")

    def check_words(self, source, pattern, document, forms):
        """Each word that @pattern finds in @source is in @document, in one of the @forms."""
        if source not in self.files or document not in self.files:
            return
        text = self.text(document)
        for word in sorted(set(re.findall(pattern, self.text(source)))):
            if not any(form.format(word) in text for form in forms.split("|")):
                self.bad(document, f"says nothing of {word}, which {source} has")

    # -- history -----------------------------------------------------------------------------

    def check_subjects(self):
        log = self.run_command("git", "log", "--format=%h %s")
        if log.returncode:
            return
        for line in log.stdout.splitlines():
            commit, _, subject = line.partition(" ")
            if len(subject) > MAX_SUBJECT:
                self.bad(commit, f"subject of {len(subject)} columns, at most {MAX_SUBJECT}")
            elif not re.match(r'^([\w./-]+(, [\w./-]+)*: \S|Merge |Revert ")', subject):
                self.bad(commit, f"subject without area: {subject}")

    def run(self):
        self.check_file_sizes()
        self.check_function_sizes()
        self.check_tracked_bytes()
        self.check_licences()
        self.check_patches()
        self.check_includes()
        self.check_symbols()
        self.check_text()
        self.check_docs()
        self.check_subjects()
        return self.violations


# One violation each: what is planted where, and a piece of the line that must come of it.  Words that
# would be violations here are put together, so that this file passes its own rules.
def plants():
    body = "\n".join(["\tx++;"] * MAX_FUNCTION)
    ours, dual = f"// SPDX-License-Identifier: {OURS}\n", f"// SPDX-License-Identifier: {DUAL}\n"
    shell = f"#!/bin/sh\n# SPDX-License-Identifier: {OURS}\n"
    return [
        ("user/util/long.c", ours + "\n" * 500, "501 lines, at most 500"),
        ("user/main.c", ours + "\n" * 80, "81 lines, at most 80"),
        ("bpf/long.bpf.c", dual + "\n" * 350, "351 lines, at most 350"),
        ("user/util/fn.c", ours + f"int f(int x)\n{{\n{body}\n\treturn x;\n}}\n", "f() has 64 lines"),
        ("docs/big.bin", "x" * (MAX_TRACKED_BYTES + 1), "1048577 bytes"),
        ("user/util/none.c", "int x;\n", "user/util/none.c: the first line has no SPDX"),
        ("bpf/ours.h", f"/* SPDX-License-Identifier: {OURS} */\n", f"bpf/ours.h: SPDX identifier {OURS}"),
        ("tests/dual.py", f"# SPDX-License-Identifier: {DUAL}\n", "tests/dual.py: SPDX identifier"),
        ("patches/linux/6.1/a.patch", "--- /dev/null\n+++ b/drivers/new.c\n@@ -0,0 +1 @@\n+int x;\n",
         "(drivers/new.c): the first line has no SPDX"),
        ("user/sink/a.c", ours + '#include "detect/detect.h"\n', "sink may include model, util"),
        ("user/util/a.c", ours + '#include "model/task.h"\n', "util may include nothing"),
        ("user/detect/cli.c", ours + '#include "cli/options.h"\n', "includes cli/options.h"),
        ("user/cmd/bpf.c", ours + '#include "vw_abi.h"\n', "user/cmd/bpf.c: includes vw_abi.h"),
        ("user/cmd/skel.c", ours + '#include "core.skel.h"\n', "includes core.skel.h"),
        ("user/source/x.c", ours + "#include <bpf/libbpf.h>\n", "includes bpf/libbpf.h"),
        ("user/sink/curses.c", ours + "#include <curses.h>\n", "includes curses.h"),
        ("user/cmd/sqlite.c", ours + "#include <sqlite3.h>\n", "includes sqlite3.h"),
        ("user/source/zip.c", ours + "#include <zlib.h>\n", "includes zlib.h"),
        ("user/cmd/jansson.c", ours + "#include <jansson.h>\n", "includes jansson.h"),
        ("user/extra/a.c", ours, "user/extra/ has no place"),
        ("user/detect/clock.c", ours + "#include <time.h>\nlong vw_clock(void);\n"
         "long vw_clock(void)\n{\n\treturn time(NULL);\n}\n", "libvwcore.a(clock.o): uses time()"),
        ("user/model/env.c", ours + "#include <stdlib.h>\nchar *vw_env(void);\n"
         'char *vw_env(void)\n{\n\treturn getenv("X");\n}\n', "uses getenv()"),
        ("user/sink/same.c", ours, "same.c: is in attr and sink"),
        ("user/attr/same.c", ours, "same.c: is in attr and sink"),
        ("user/cli/global.c", ours + "int vw_count = 3;\n", "vw_count can be changed"),
        ("user/cli/local.c", ours + "int vw_next(void);\nint vw_next(void)\n{\n\tstatic int hidden;\n\n"
         "\treturn hidden++;\n}\n", "hidden.0 can be changed"),
        ("docs/path.md", "see /" + "work/main\n", "docs/path.md:1: names a path of one machine"),
        ("docs/home.md", "cd /" + "home/me/src\n", "docs/home.md:1: names a path of one machine"),
        ("docs/mirror.md", "http://deb." + "debian.org/debian\n", "names a mirror"),
        ("docs/blank.md", "end \n", "docs/blank.md:1: blanks at the end"),
        ("docs/end.md", "end", "docs/end.md: does not end with a line feed"),
        ("tests/lab/wait.sh", shell + "sleep" + " 5\n", "wait.sh:3: sleeps for a fixed time"),
        ("tests/lab/wait.py", f"# SPDX-License-Identifier: {OURS}\ntime." + "sleep(2.5)\n",
         "wait.py:2: sleeps for a fixed time"),
        ("docs/vhostwatch.8.scd", "*watch*\n", "says nothing of tacit, which user/cli/spec.c has"),
        ("user/cli/spec.c", ours + 'x = { .name = "watch" }, { .name = "tacit" };\n', "says nothing of tacit"),
        ("docs/FORMATS.md", "`ok`\n", "says nothing of odd, which user/model/worker.c has"),
        ("user/model/worker.c", ours + '[VW_A] = "ok", [VW_B] = "odd";\n', "says nothing of odd"),
        ("user/cmd/word.c", ours + 'return vw_error_set(e, -EIO, "mute", "x");\n', "says nothing of mute"),
        ("user/util/wide.h", f"/* SPDX-License-Identifier: {OURS} */\n/* {'x' * 100} */\n", "106 columns"),
    ]


# What looks like a violation and is none.
def decoys():
    ours = f"// SPDX-License-Identifier: {OURS}\n"
    return [
        ("user/sink/fine.c", ours + '#include "model/task.h"\n#include "util/utf8.h"\n'
         'const char *vw_fine(int i);\nconst char *vw_fine(int i)\n{\n'
         '\tstatic const char *const names[] = { "a", "b" };\n\n\treturn names[i];\n}\n'),
        ("user/model/task.h", f"/* SPDX-License-Identifier: {OURS} */\n"),
        ("user/util/utf8.h", f"/* SPDX-License-Identifier: {OURS} */\n"),
        ("user/load/fine_too.c", ours + '#include "core.skel.h"\n'),
        ("tests/fuzz/corpus/perf/fine", "no line feed \n\n blanks "),
        ("docs/fine.md", "vm/" + "work/x and framework/root\n"),
        ("tests/lab/fine.sh", f"#!/bin/sh\n# SPDX-License-Identifier: {OURS}\n# may sleep 5 s\nsleep" + " 0.1\n"),
    ]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in [p[:2] for p in plants()] + decoys():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        objects = []
        for name in ("user/detect/clock.c", "user/model/env.c", "user/cli/global.c",
                     "user/cli/local.c", "user/sink/fine.c"):
            objects.append(root / "build" / Path(name).with_suffix(".o").name)
            objects[-1].parent.mkdir(exist_ok=True)
            subprocess.run(["cc", "-fPIE", "-Iuser", "-c", name, "-o", objects[-1]], cwd=root, check=True)
        subprocess.run(["ar", "rcs", root / "build/libvwcore.a", *objects], check=True)
        commit = ["git", "-c", "user.name=x", "-c", "user.email=x@x.invalid", "commit", "-q",
                  "--allow-empty", "-m"]
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        subprocess.run(commit + ["lint: " + "x" * MAX_SUBJECT], cwd=root, check=True)
        subprocess.run(commit + ["no area at all"], cwd=root, check=True)
        found = Lint(root, [root / "build/libvwcore.a"]).run()
    wanted = [p[2] for p in plants()] + ["subject of 78 columns", "subject without area: no area"]
    missed = [w for w in wanted if not any(w in line for line in found)]
    wrong = [line for line in found if "fine" in line]
    for want in missed:
        print(f"lint self-test: not found: {want}")
    for line in wrong:
        print(f"lint self-test: no violation, yet reported: {line}")
    print(f"lint self-test: {len(wanted) - len(missed)} of {len(wanted)} planted violations found")
    return 1 if missed or wrong else 0


def main():
    parser = argparse.ArgumentParser(description="checks what the compiler does not")
    parser.add_argument("--archive", type=Path, action="append", default=[])
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    lint = Lint(Path(__file__).resolve().parent.parent, [a.resolve() for a in arguments.archive])
    for violation in lint.run():
        print(violation)
    for note in lint.notes:
        print(f"lint: {note}", file=sys.stderr)
    return 1 if lint.violations else 0


if __name__ == "__main__":
    sys.exit(main())
