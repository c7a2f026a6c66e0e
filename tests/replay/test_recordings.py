#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings whose observations are put in by SQL: accounting as counters tell it, and what was cut off.

    tests/replay/test_recordings.py [NAME...]
"""
import gzip
import pathlib
import sqlite3
import subprocess
import tempfile

from replay import MS, PROGRAM, SEC, Run, check, equal, main, near, test

WORKER = 3101
TICK = 10 * MS  # HZ 100


class Recording:
    """An empty recording of this program's own making, to be filled."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "run.vw"
        got = subprocess.run([PROGRAM, "record", "--clock", "procfs", "-d", "0.1", "-o", self.path], text=True,
                             capture_output=True, timeout=60, check=False)
        check(got.returncode == 0, f"record: {got.stderr}")
        self.db = sqlite3.connect(self.path)
        self.seq = 0
        for table in ("tick", "worker", "task", "finding"):
            self.db.execute(f"DELETE FROM {table}")
        self.start, = self.db.execute("SELECT start_ns FROM run").fetchone()
        self.db.execute("UPDATE run SET tick_ns = ?, end_ns = start_ns + ?, finished = 1", (TICK, 100 * SEC))

    def put(self, table, at_ns, **columns):
        """A row @at_ns after the start; columns that are not named are NULL: unknown."""
        self.seq += 1
        columns.update(seq=self.seq, ts_ns=self.start + at_ns)
        self.db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
                        list(columns.values()))

    def worker(self):
        self.put("task", 0, told=1, tid=WORKER, start_ns=SEC, watched=1, comm="vhost-3077", role="vhost_worker",
                 backend="kthread", owner_pid=3077, owner_by_name=1)

    def charge(self, at_ns, oncpu, charged, irq=None, softirq=None, steal=None, taken=None, **more):
        """A window of ten seconds; @taken: which of the three this kernel takes out, None: not known."""
        if taken is not None:
            more.update({f"{part}_taken_out": int(part in taken) for part in ("irq", "softirq", "steal")})
        self.put("charge", at_ns, window_ns=10 * SEC, oncpu_ns=oncpu, charged_ns=charged, irq_ns=irq,
                 softirq_ns=softirq, steal_ns=steal, **more)

    def run(self, *args):
        self.db.commit()
        self.db.close()
        return Run(None, *args, files=[self.path])


def in_folder(fn):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            fn(Recording(folder))
    run.__name__, run.__doc__ = fn.__name__, fn.__doc__
    return test(run)


@in_folder
def frozen_totals(r):
    """a CPU's totals stand still while a worker, charged well, fills it"""
    r.worker()
    r.charge(10 * SEC, 10 * SEC, 10 * SEC, 0, 0, 0, (), tid=WORKER, start_ns=SEC, cpu=5, totals=0)
    r.charge(10 * SEC, 10 * SEC, 0, 0, 0, 0, (), tid=None, cpu=5, totals=1)
    f = r.run().only("cpu_accounting_gap")
    equal((f["cause"], f["severity"], f["culprit"], f["cpu"]), ("cpu_totals", "info", None, 5), "finding")
    equal((f["evidence"]["oncpu_ns"], f["evidence"]["charged_ns"]), (10 * SEC, 0), "evidence")


@in_folder
def interrupts_taken_out(r):
    """a kernel that keeps interrupt time out of charged time: the gap is explained to the last bit"""
    r.worker()
    r.charge(10 * SEC, 1000 * MS, 650 * MS, 150 * MS, 200 * MS, 0, ("irq", "softirq"), tid=WORKER, start_ns=SEC,
             cpu=2, totals=0)
    run = r.run()
    equal((run.code, run.kinds()), (0, []), "outcome")


@in_folder
def interrupts_not_recorded(r):
    """the same without interrupt times: unexplained, and nobody is accused"""
    r.worker()
    r.charge(10 * SEC, 1000 * MS, 650 * MS, taken=("irq", "softirq"), tid=WORKER, start_ns=SEC, cpu=2, totals=0)
    f = r.run().only("cpu_accounting_gap")
    equal((f["cause"], f["severity"]), ("unknown", "info"), "finding")
    near(f["evidence"]["unexplained_ns"], 350 * MS, MS, "unexplained")
    check("interrupt" in f["message"] + (f["remedy"] or ""), f["message"])


@in_folder
def absurd_steal(r):
    """steal that jumps after a live migration is thrown away, and counted"""
    r.worker()
    for steal in (-832_000_000 * TICK, 10**12 * MS):
        r.charge(10 * SEC, 4 * SEC, 4 * SEC, 0, 0, steal, (), tid=WORKER, start_ns=SEC, cpu=2, totals=0)
    run = r.run()
    equal((run.code, run.kinds(), run.summary["invalid_samples"]), (0, [], 2), "outcome")


@in_folder
def stolen_time(r):
    """60 % of the wall time was stolen by the host of this host"""
    r.worker()
    r.charge(10 * SEC, 10 * SEC, 4 * SEC, 0, 0, 6 * SEC, ("steal",), tid=WORKER, start_ns=SEC, cpu=2, totals=0)
    run = r.run()
    equal((run.code, run.kinds()), (0, []), "outcome")


@in_folder
def really_not_charged(r):
    """the look-alike that is one: nothing explains what is missing"""
    r.worker()
    r.charge(10 * SEC, 1000 * MS, 650 * MS, 10 * MS, 10 * MS, 0, ("irq", "softirq"), tid=WORKER, start_ns=SEC,
             cpu=2, totals=0)
    f = r.run().only("cpu_accounting_gap")
    equal((f["cause"], f["severity"], f["culprit"]["tid"]), ("not_charged", "warning", WORKER), "finding")
    near(f["evidence"]["unexplained_ns"], 330 * MS, MS, "unexplained")


@in_folder
def pinned_vcpu(r):
    """a worker takes 1.5 % of a pinned vCPU's CPU, 1000 times a second"""
    r.worker()
    r.put("task", 0, told=1, tid=5003, start_ns=SEC, watched=0, comm="CPU 3/KVM", role="vcpu", owner_by_name=0,
          cpus_allowed="14")
    for second in range(1, 11):
        r.put("share", second * SEC, cpu=14, vcpu_tid=5003, vcpu_start_ns=SEC, worker_tid=WORKER, worker_start_ns=SEC,
              window_ns=SEC, interruptions=1000, taken_ns=15 * MS)
    f = r.run().only("worker_on_vcpu_cpu")
    equal((f["cause"], f["severity"], f["cpu"], f["culprit"]["tid"]), ("placement", "warning", 14, WORKER), "finding")
    equal(f["evidence"]["interruptions"], 10_000, "interruptions")
    near(f["evidence"]["share"], 0.015, 0.0001, "share")


@in_folder
def unfinished(r):
    """a run that was killed: what is there is read, and it is said"""
    r.worker()
    r.db.execute("UPDATE run SET finished = 0")
    run = r.run()
    equal((run.code, run.summary["verdict"]), (0, "ok"), "outcome")
    check("not finished" in run.stderr, f"stderr {run.stderr!r}")


@in_folder
def from_a_newer_version(r):
    """a schema of the future is refused, and named"""
    r.db.execute("PRAGMA user_version = 77")
    run = r.run()
    equal((run.code, [o["type"] for o in run.objects]), (3, ["error"]), "outcome")
    check("77" in run.stderr, f"stderr {run.stderr!r}")


@in_folder
def packed_and_piped(r):
    """a recording in a gzip, and one from standard input, are read like the file"""
    r.worker()
    r.charge(10 * SEC, 1000 * MS, 300 * MS, 0, 0, 0, (), tid=WORKER, start_ns=SEC, cpu=2, totals=0)
    want = r.run().findings()
    equal(len(want), 1, "findings of the file")
    data = r.path.read_bytes()
    equal(Run(data).findings(), want, "standard input")
    packed = r.path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(data))
    equal(Run(files=[packed]).findings(), want, "gzip")


if __name__ == "__main__":
    main()
