#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is no good input: one clear message or counted skips, never a crash, never a clean bill.

    tests/replay/test_bad_input.py [NAME...]
"""
import gzip
import os
import pathlib
import random
import subprocess
import tempfile

from replay import MS, PROGRAM, SEC, US, Run, check, equal, main, test
from trace import Trace

WORKER, WAITER = (3101, "vhost-3077"), (950, "kworker/2:0")


def idle(cpu):
    return (0, f"swapper/{cpu}")


def hog(cpu=2, worker=WORKER, waiter=WAITER, start=1 * SEC):
    """A worker that keeps its CPU for 120 ms."""
    t = Trace()
    t.sw(start, cpu, idle(cpu), worker)
    t.wk(start + 10 * MS, cpu, waiter)
    for i in range(12, 130, 4):
        t.nr(start + i * MS, cpu, "full")
    t.sw(start + 131 * MS, cpu, worker, waiter)
    t.sw(start + 132 * MS, cpu, waiter, idle(cpu), "I")
    return t


def refused(run, *words):
    """Exit 3, nothing but an error object, one line that names the cause."""
    equal(run.code, 3, "exit code")
    equal([o["type"] for o in run.objects], ["error"], "objects")
    equal(run.objects[0]["reason"], "no_input", "reason")
    equal(run.stderr.count("\n"), 1, "lines on stderr")
    for word in words:
        check(word in run.stderr, f"no {word!r} in {run.stderr!r}")


@test
def empty():
    """an empty file, and one that is empty once it is unpacked"""
    refused(Run(b""), "standard input", "empty")
    refused(Run(gzip.compress(b"")), "empty")
    refused(Run(gzip.compress(b"x" * 1000)[:8]), "gzip", "damaged")


@test
def binary_traces():
    """what perf and trace-cmd record: the message says how to make text of it"""
    refused(Run(b"PERFILE2" + bytes(range(256)) * 8), "perf script")
    refused(Run(b"\x17\x08\x44tracing6\0" + bytes(range(256)) * 8), "trace-cmd report")


@test
def no_such_file():
    """a file that is not there, a folder, and good files around it"""
    refused(Run(files=["/nonexistent/trace"]), "/nonexistent/trace")
    with tempfile.TemporaryDirectory() as name:
        refused(Run(files=[name]), name)
        good = pathlib.Path(name) / "trace"
        good.write_text(hog().text())
        run = Run(files=[good, "/nonexistent/trace", good])
        equal(run.code, 3, "exit code is the worst")
        equal([o["type"] for o in run.objects if o["type"] != "worker"],
              ["header", "finding", "summary", "error", "header", "finding", "summary"], "objects")
        equal(run.of("header")[0]["input"], str(good), "input")


@test
def random_bytes():
    """random bytes, plain and packed"""
    for seed in range(20):
        data = random.Random(seed).randbytes(200_000)
        refused(Run(data), "standard input")
        refused(Run(gzip.compress(data, 1)), "standard input")


@test
def random_text():
    """random printable lines"""
    rng = random.Random(7)
    lines = ("".join(chr(rng.randrange(32, 127)) for _ in range(rng.randrange(200))) for _ in range(3000))
    refused(Run("\n".join(lines)))


@test
def a_binary():
    """a program"""
    refused(Run(PROGRAM.read_bytes()))


@test
def truncated_gzip():
    """a gzip that ends early: what came before counts, and it is said"""
    whole = hog()
    ts = 2 * SEC
    rng = random.Random(3)
    while len(whole.lines) < 20_000:
        whole.wk(ts, 5, (rng.randrange(5000, 9000), "app"))
        ts += 50 * US
    packed = gzip.compress(whole.text().encode())
    run = Run(packed[:len(packed) * 2 // 3])
    equal([f["culprit"]["tid"] for f in run.findings("non_yielding_worker")], [3101], "culprits")
    check("gzip" in run.stderr.splitlines()[-1], f"stderr {run.stderr!r}")
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xff
    run = Run(bytes(damaged))
    check("gzip" in run.stderr, f"stderr {run.stderr!r}")
    refused(Run(packed[:12]))


@test
def packed_twice():
    """several gzip members are one file"""
    lines = hog().text().encode().splitlines(keepends=True)
    half = len(lines) // 2
    run = Run(gzip.compress(b"".join(lines[:half])) + gzip.compress(b"".join(lines[half:])))
    equal(run.kinds(), ["non_yielding_worker"], "findings")
    equal(run.stderr, "", "stderr")


@test
def long_lines():
    """lines of 1 MiB are skipped and counted, and what lies between is read"""
    text = hog().text().splitlines()
    text[3:3] = ["x" * (1 << 20), "y" * (1 << 20)]
    run = Run("\n".join(text))
    equal(run.kinds(), ["non_yielding_worker"], "findings")
    equal(run.summary["skipped_lines"], 2, "skipped")
    check(":4:" in run.stderr and run.stderr.count("\n") == 1, f"stderr {run.stderr!r}")
    refused(Run("z" * (3 << 20)))


@test
def large_numbers():
    """the last CPU and the last tid that Linux has"""
    f = Run(hog(4095, (4194304, "vhost-4194303"), (4194303, "x")).text()).only("non_yielding_worker")
    equal((f["cpu"], f["culprit"]["tid"], f["victims"][0]["tid"]), (4095, 4194304, 4194303), "finding")
    text = hog().text().replace("[002]", "[99999999]")
    check(Run(text).code == 3, "a CPU that no machine has")
    run = Run(hog().text() + hog().text().replace("-3101", "-99999999999").replace("pid=3101", "pid=99999999999"))
    check(run.summary["skipped_lines"] > 0, "a tid that no kernel has")


@test
def backward_times():
    """lines from the past are skipped and counted"""
    late = hog(start=100 * SEC).text()
    early = hog(cpu=3, start=1 * SEC).text()
    run = Run(late + early)
    equal([f["cpu"] for f in run.findings()], [2], "findings")
    equal(run.summary["skipped_lines"], early.count("\n"), "skipped")
    check(":35:" in run.stderr and "before" in run.stderr, f"stderr {run.stderr!r}")


@test
def odd_line_ends():
    """CR LF, no last line feed, NUL bytes and a byte order mark"""
    want = ["non_yielding_worker"]
    text = hog().text()
    equal(Run(text.replace("\n", "\r\n")).kinds(), want, "CR LF")
    equal(Run(text.rstrip("\n")).kinds(), want, "no last line feed")
    equal(Run("\ufeff" + text).kinds(), want, "byte order mark")
    run = Run(text.encode() + b"\0\0\0\n\0" * 10)
    equal(run.kinds(), want, "NUL bytes")
    check(run.summary["skipped_lines"] > 0, "NUL bytes were taken for lines")


@test
def one_good_line():
    """a trace in which one line of a thousand is good is read for that line"""
    junk = "\n".join("no such thing %d" % i for i in range(500))
    text = hog().text() + junk
    run = Run(text)
    equal(run.kinds(), ["non_yielding_worker"], "findings")
    equal(run.summary["skipped_lines"], 500, "skipped")
    equal(run.stderr.count("\n"), 1, "lines on stderr")


@test
def mutations():
    """traces and logs with bytes flipped, cut and doubled end in order"""
    rng = random.Random(11)
    log = ("[  500.100000] rcu: INFO: rcu_sched self-detected stall on CPU\n"
           "[  500.100900] rcu: \t2-....: (20990 ticks this GP) idle=3f2/1/0x4000000000000002 "
           "softirq=900/900 fqs=10300\n"
           "[  500.102000] \t(t=21004 jiffies g=7001 q=55)\n"
           "[  500.103000] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n") * 3
    for source in (hog().text().encode(), log.encode()):
        for _ in range(60):
            data = bytearray(source)
            for _ in range(rng.randrange(1, 60)):
                at = rng.randrange(len(data))
                what = rng.randrange(3)
                if what == 0:
                    data[at] = rng.randrange(256)
                elif what == 1:
                    del data[at:at + rng.randrange(40)]
                else:
                    data[at:at] = data[at:at + rng.randrange(40)]
            run = Run(bytes(data))
            types = [o["type"] for o in run.objects]
            check(types and types[-1] in ("summary", "error"), f"objects {types}")
            check(run.code == 3 or "summary" in types, f"exit {run.code} without a summary")


@test
def a_reader_that_leaves():
    """a closed pipe ends it well"""
    text = hog().text()
    with subprocess.Popen([PROGRAM, "analyze", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as p:
        p.stdout.close()
        p.stdin.write(text.encode())
        p.stdin.close()
        code = p.wait(60)
        err = p.stderr.read()
    check(code in (0, 2) and not err, f"exit {code}, {err!r}")


@test
def pipes():
    """a pipe that gives its bytes one after the other"""
    data = gzip.compress(hog().text().encode())
    with subprocess.Popen([PROGRAM, "analyze", "--format", "json", "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as p:
        for i in range(0, len(data), 7):
            os.write(p.stdin.fileno(), data[i:i + 7])
        p.stdin.close()
        out = p.stdout.read()
        p.wait(60)
    check(b"non_yielding_worker" in out, f"{out[-300:]!r}")


if __name__ == "__main__":
    main()
