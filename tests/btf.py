#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares vmlinux/vmlinux.h with the BTF of real kernels: this machine's and the lab's.

    tests/btf.py               one line a violation, one a kernel, "N passed, N failed"
    tests/btf.py --self-test   doctored headers and made-up BTF must be told from good ones

Each field must exist in each kernel, with the header's size and shape: BPF_CORE_READ() takes the offset
from the kernel and the size from the header, so a field that has become smaller would be read with its
neighbours.  A flavour (name___what) must exist in one kernel at least.  So must the tracepoints that
bpf/*.bpf.c attaches to, in every kernel of the architecture that has them.

VW_CACHE names the lab's cache (default .cache).
"""
import argparse
import os
import re
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = ROOT / "vmlinux" / "vmlinux.h"
HOST = Path("/sys/kernel/btf/vmlinux")

# Tracepoints that only one architecture has; the plan has others for the rest.
X86_ONLY = {"local_timer_entry"}
# Those that older kernels lack; the plan has others there, too.
NEWER = {"rcu_stall_warning"}

SIZES = {"bool": 1, "char": 1, "unsigned char": 1, "u8": 1, "__u8": 1, "u16": 2, "__u16": 2, "short": 2,
         "unsigned short": 2, "int": 4, "unsigned int": 4, "unsigned": 4, "u32": 4, "__u32": 4,
         "long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8, "u64": 8, "__u64": 8,
         "s64": 8, "__s64": 8}

(INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FUNC_PROTO, VAR,
 DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64) = range(1, 20)
ALIASES = {TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG}
# Bytes behind the common part: fixed, and for each of vlen.
EXTRA = {INT: (4, 0), ARRAY: (12, 0), STRUCT: (0, 12), UNION: (0, 12), ENUM: (0, 8), FUNC_PROTO: (0, 8),
         VAR: (4, 0), DATASEC: (0, 12), DECL_TAG: (4, 0), ENUM64: (0, 12)}


class Btf:
    """The types of one kernel.  Only the index is built; bodies are read when asked for."""

    def __init__(self, name, data):
        self.name = name
        magic, _, _, header, type_off, type_len, str_off, str_len = struct.unpack_from("<HBBIIIII", data)
        if magic != 0xeb9f:
            raise ValueError(f"{name}: no BTF")
        self.types = data[header + type_off:header + type_off + type_len]
        self.strings = data[header + str_off:header + str_off + str_len]
        self.at = [None]
        self.records = {}
        self.tracepoints = set()
        self.index()

    def index(self):
        pos = 0
        while pos < len(self.types):
            name, info, _ = struct.unpack_from("<III", self.types, pos)
            kind, vlen = info >> 24 & 31, info & 0xffff
            if not INT <= kind <= ENUM64:
                raise ValueError(f"{self.name}: type {len(self.at)} is of unknown kind {kind}")
            if kind in (STRUCT, UNION) and name:
                self.records.setdefault(self.string(name), []).append(len(self.at))
            elif kind == TYPEDEF and self.string(name).startswith("btf_trace_"):
                self.tracepoints.add(self.string(name).removeprefix("btf_trace_"))
            self.at.append(pos)
            fixed, each = EXTRA.get(kind, (0, 0))
            pos += 12 + fixed + each * vlen

    def string(self, offset):
        return self.strings[offset:self.strings.index(b"\0", offset)].decode()

    def head(self, type_id):
        """(kind, kflag, vlen, size or type, name) of a type; None for void."""
        if not type_id:
            return None
        name, info, value = struct.unpack_from("<III", self.types, self.at[type_id])
        return info >> 24 & 31, info >> 31, info & 0xffff, value, self.string(name)

    def strip(self, type_id):
        """The type behind typedefs and qualifiers."""
        while type_id and self.head(type_id)[0] in ALIASES:
            type_id = self.head(type_id)[3]
        return type_id

    def members(self, type_id):
        """(name, type, bits) of each member, those of anonymous structs and unions among them."""
        _, kflag, vlen, _, _ = self.head(type_id)
        for i in range(vlen):
            name, member, offset = struct.unpack_from("<III", self.types,
                                                      self.at[type_id] + 12 + 12 * i)
            inner = self.head(self.strip(member))
            if not name and inner and inner[0] in (STRUCT, UNION):
                yield from self.members(self.strip(member))
            elif name:
                yield self.string(name), member, offset >> 24 if kflag else self.int_bits(member)

    def int_bits(self, type_id):
        """Without kflag a bitfield is an int of fewer bits than its size."""
        type_id = self.strip(type_id)
        head = self.head(type_id)
        if not head or head[0] != INT:
            return 0
        bits = struct.unpack_from("<I", self.types, self.at[type_id] + 12)[0] & 0xff
        return bits if bits != 8 * head[3] and head[4] not in ("_Bool", "bool") else 0

    def array(self, type_id):
        return struct.unpack_from("<III", self.types, self.at[type_id] + 12)

    def is_x86(self):
        return any(name == "orig_ax" for i in self.records.get("pt_regs", ())
                   for name, _, _ in self.members(i))


class Field:
    def __init__(self, record, base, declarator):
        match = re.fullmatch(r"(\**)\s*(\w+)\s*(?:\[(\d+)\])?", declarator.strip())
        if not match:
            raise ValueError(f"struct {record}: cannot read `{declarator.strip()}`")
        self.record, self.base = record, base
        self.pointer, self.name = bool(match[1]), match[2]
        self.count = int(match[3]) if match[3] else None

    def __str__(self):
        return f"{self.record}.{self.name}"

    def differs(self, btf, type_id, bits):
        """None, or how the kernel's member is not what the header says."""
        if bits:
            return f"is a bitfield of {bits} bits"
        type_id = btf.strip(type_id)
        if self.count is not None and not self.pointer:
            if btf.head(type_id)[0] != ARRAY:
                return "is no array"
            element, _, count = btf.array(type_id)
            if count != self.count:
                return f"has {count} elements, not {self.count}"
            type_id = btf.strip(element)
        return self.shape_differs(btf.head(type_id))

    def shape_differs(self, head):
        kind, _, _, size, name = head
        if self.pointer:
            return None if kind == PTR else "is no pointer"
        if self.base.startswith("struct "):
            same = kind == STRUCT and name == self.base.removeprefix("struct ")
            return None if same else f"is no {self.base}"
        if kind not in (INT, ENUM, ENUM64):
            return "is no number"
        return None if size == SIZES[self.base] else f"has {size} bytes, not {SIZES[self.base]}"


def parse_header(text):
    """The fields of each struct; only flat structs, one declaration a statement."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    fields = []
    for record, body in re.findall(r"\bstruct\s+(\w+)\s*\{([^{}]*)\}\s*;", text):
        for statement in filter(None, (s.strip() for s in body.split(";"))):
            match = re.match(r"((?:struct\s+\w+|\w+(?:\s+\w+)*?))(?=\s*\*|\s+\w+\s*(?:\[|,|$))", statement)
            if not match:
                raise ValueError(f"struct {record}: cannot read `{statement}`")
            base = " ".join(match[1].split())
            if not base.startswith("struct ") and base not in SIZES and "*" not in statement:
                raise ValueError(f"struct {record}: `{base}` is of unknown size")
            fields += [Field(record, base, d) for d in statement[match.end():].split(",")]
    if not fields:
        raise ValueError("no structs in the header")
    if len(re.findall(r"\bstruct\s+\w+\s*\{", text)) != len({f.record for f in fields}):
        raise ValueError("a struct of the header was not understood")
    return fields


def look_up(field, btf):
    """None when @btf has the field as the header says, else what is wrong."""
    candidates = btf.records.get(field.record.split("___")[0])
    if not candidates:
        return "no such struct"
    wrong = "no such field"
    for candidate in candidates:
        for name, member, bits in btf.members(candidate):
            if name == field.name:
                wrong = field.differs(btf, member, bits)
                if not wrong:
                    return None
    return wrong


def compare(fields, tracepoints, kernels):
    """(number of things looked at, lines of what is wrong)."""
    bad = []
    for field in fields:
        wrong = {btf.name: w for btf in kernels if (w := look_up(field, btf))}
        if "___" not in field.record:
            bad += [f"{field}: {w} in {kernel}" for kernel, w in wrong.items()]
        elif len(wrong) == len(kernels):
            bad.append(f"{field}: in no kernel ({', '.join(sorted(set(wrong.values())))})")
    for tracepoint in tracepoints:
        lacking = [btf for btf in kernels if tracepoint not in btf.tracepoints and
                   (tracepoint not in X86_ONLY or btf.is_x86())]
        if tracepoint not in NEWER or len(lacking) == len(kernels):
            bad += [f"tracepoint {tracepoint}: not in {btf.name}" for btf in lacking]
    return len(fields) + len(tracepoints), bad


def used_tracepoints(folder):
    found = set()
    for path in sorted(folder.glob("*.bpf.c")):
        found |= set(re.findall(r'SEC\("\??tp_btf/(\w+)"\)', path.read_text(encoding="utf-8")))
    return sorted(found)


def load_kernels():
    cache = Path(os.environ.get("VW_CACHE", ROOT / ".cache"))
    paths = {f"{path.parent.name} (lab)": path for path in sorted(cache.glob("kernels/*/vmlinux.btf"))}
    if HOST.exists():
        paths = {f"{os.uname().release} (this machine)": HOST, **paths}
    return [Btf(name, path.read_bytes()) for name, path in paths.items()]


# --- the test of the test ------------------------------------------------------------------------------


class Maker:
    """Writes BTF, as little of it as the test needs."""

    def __init__(self):
        self.strings, self.types, self.n = b"\0", b"", 0

    def string(self, text):
        if not text:
            return 0
        self.strings += text.encode() + b"\0"
        return len(self.strings) - len(text) - 1

    def add(self, kind, name, value, vlen=0, kflag=0, extra=b""):
        self.types += struct.pack("<III", self.string(name), kflag << 31 | kind << 24 | vlen, value) + extra
        self.n += 1
        return self.n

    def number(self, name, size, bits=None):
        return self.add(INT, name, size, extra=struct.pack("<I", bits or 8 * size))

    def record(self, kind, name, members, kflag=0):
        extra = b"".join(struct.pack("<III", self.string(n), t, bits << 24) for n, t, bits in members)
        return self.add(kind, name, 8, len(members), kflag, extra)

    def blob(self):
        return struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(self.types), len(self.types),
                           len(self.strings)) + self.types + self.strings


def made_up(name, delayed=True, tracepoint=True, newer=False):
    m = Maker()
    u32, u64, char = m.number("unsigned int", 4), m.number("unsigned long", 8), m.number("char", 1)
    m.number("odd", 4, 3)
    const = m.add(CONST, "", m.add(TYPEDEF, "u64", u64))
    array = m.add(ARRAY, "", 0, extra=struct.pack("<III", char, u32, 16))
    other = m.record(STRUCT, "rq", [("clock", const, 0)])
    pointer = m.add(PTR, "", other)
    inner = m.record(STRUCT, "", [("deep", u32, 0)])
    union = m.record(UNION, "", [("", inner, 0), ("wide", u64, 0)])
    m.record(STRUCT, "task", [("", union, 0), ("comm", array, 0), ("rq", pointer, 0), ("own", other, 0),
                              ("flag", u32, 1), ("pid", u32, 0)], kflag=1)
    m.record(STRUCT, "task", [("second", u32, 0)])
    m.record(STRUCT, "narrow", [("bits", 4, 0)])
    m.add(ENUM, "e", 4, 1, extra=struct.pack("<II", m.string("A"), 1))
    m.add(FUNC_PROTO, "", 0, 1, extra=struct.pack("<II", 0, u32))
    m.add(DECL_TAG, "tag", 1, extra=struct.pack("<i", -1))
    m.record(STRUCT, "se", [("sched_delayed", char, 0)] if delayed else [("other", char, 0)])
    if tracepoint:
        m.add(TYPEDEF, "btf_trace_sched_switch", m.add(PTR, "", 0))
    if newer:
        m.add(TYPEDEF, "btf_trace_rcu_stall_warning", m.add(PTR, "", 0))
    m.record(STRUCT, "pt_regs", [("orig_ax" if tracepoint else "x0", u64, 0)])
    return Btf(name, m.blob())


GOOD = """
struct rq { /* struct decoy { int x; }; */ u64 clock; };
struct task { unsigned int deep; unsigned long wide; char comm[16]; struct rq *rq; struct rq own;
	int pid; unsigned int second; };
struct se___delayed { unsigned char sched_delayed; };
"""

# What is planted in the good header, and a piece of the line that must come of it.
PLANTS = [
    ("struct gone { int x; };", "gone.x: no such struct in new"),
    ("struct narrow { u32 bits; };", "narrow.bits: is a bitfield of 3 bits"),
    ("int pid;", "int pid, gone;", "task.gone: no such field in old"),
    ("int pid;", "u64 pid;", "task.pid: has 4 bytes, not 8"),
    ("int pid;", "int pid, flag;", "task.flag: is a bitfield of 1 bits"),
    ("int pid;", "struct rq pid;", "task.pid: is no struct rq"),
    ("struct rq own;", "struct rq *own;", "task.own: is no pointer"),
    ("struct rq own;", "u64 own;", "task.own: is no number"),
    ("comm[16]", "comm[20]", "task.comm: has 16 elements, not 20"),
    ("struct rq *rq;", "struct rq *rq; int wide[2];", "task.wide: is no array"),
    ("unsigned char sched_delayed;", "unsigned char sched_delayed, nowhere;",
     "se___delayed.nowhere: in no kernel"),
    ("struct se___delayed", "struct se", "se.sched_delayed: no such field in old"),
]


def self_test():
    kernels = [made_up("new"), made_up("old", delayed=False, tracepoint=False)]
    failed = []
    done = 0

    def expect(what, condition):
        nonlocal done
        done += 1
        if not condition:
            failed.append(what)

    looked, bad = compare(parse_header(GOOD), [], kernels)
    expect(f"good header: {looked} {bad}", looked == 9 and not bad)
    for plant in PLANTS:
        text = GOOD.replace(*plant[:2]) if len(plant) == 3 else GOOD + plant[0]
        expect(f"plant not in place: {plant}", text != GOOD)
        _, bad = compare(parse_header(text), [], kernels)
        expect(f"not found: {plant[-1]} in {bad}", any(plant[-1] in line for line in bad))
    bad = compare(parse_header(GOOD), ["sched_switch"], kernels)[1]
    expect(f"tracepoint {bad}", bad == ["tracepoint sched_switch: not in old"])
    # Of another architecture: not missed there, but missed where it belongs.
    bad = compare(parse_header(GOOD), ["local_timer_entry"], kernels)[1]
    expect(f"x86 only {bad}", bad == ["tracepoint local_timer_entry: not in new"])
    # Of newer kernels: missed only where no kernel has it.
    new, old = (made_up(name, newer=has) for name, has in (("new", True), ("old", False)))
    expect("newer", not compare(parse_header(GOOD), ["rcu_stall_warning"], [new, old])[1])
    bad = compare(parse_header(GOOD), ["rcu_stall_warning"], [old])[1]
    expect(f"newer {bad}", bad == ["tracepoint rcu_stall_warning: not in old"])
    for text in ("struct a { union { int x; }; };", "struct a { strange b; };", "int x;",
                 "struct a { int (*f)(void); };"):
        try:
            parse_header(text)
            expect(f"read without complaint: {text}", False)
        except ValueError:
            expect("", True)
    real = load_kernels()
    if real:
        # The real header with one field too many, against real BTF.
        text = HEADER.read_text(encoding="utf-8").replace("\tint tgid;", "\tint tgid, no_such_thing;")
        bad = compare(parse_header(text), [], real)[1]
        expect(f"real BTF: {bad}", bad == [f"task_struct.no_such_thing: no such field in {btf.name}"
                                           for btf in real])
    for what in failed:
        print(f"btf self-test: {what}")
    print(f"{done - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true")
    if parser.parse_args().self_test:
        return self_test()
    kernels = load_kernels()
    if not kernels:
        print("no kernel has BTF here: neither this machine's nor the lab's")
        print("0 passed, 1 failed")
        return 1
    fields, tracepoints = parse_header(HEADER.read_text(encoding="utf-8")), used_tracepoints(ROOT / "bpf")
    looked, bad = compare(fields, tracepoints, kernels)
    for line in bad:
        print(line)
    for btf in kernels:
        n = sum(not look_up(field, btf) for field in fields)
        print(f"{btf.name}: {n} of {len(fields)} fields, "
              f"{len(btf.tracepoints & set(tracepoints))} of {len(tracepoints)} tracepoints")
    subjects = {line.split(":")[0] for line in bad}
    print(f"{looked - len(subjects)} passed, {len(subjects)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
