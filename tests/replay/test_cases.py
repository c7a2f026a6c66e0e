#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Public trouble reports and their right answers, as traces; and their neighbours, which are wrong ones.

    tests/replay/test_cases.py [NAME...]
"""
import pathlib
import tempfile

from replay import MS, SEC, US, Run, check, equal, main, near, test
from trace import Trace

WORKER = (3101, "vhost-3077")
HOGS = ("non_yielding_worker", "starved_task")


def idle(cpu):
    return (0, f"swapper/{cpu}")


def tiny_packets(hooks):
    t = Trace()
    t.sw(1000 * MS, 2, idle(2), WORKER)
    if hooks:
        t.ws(1000 * MS + 500, 2, "handle_tx_kick", 0xa0)
        t.wq(1001 * MS, 2, WORKER, "handle_rx_net", 0xb0)
        t.we(1057 * MS, 2, "handle_tx_kick", 0xa0)
        t.ws(1057 * MS + 10 * US, 2, "handle_rx_net", 0xb0)
        t.we(1057 * MS + 30 * US, 2, "handle_rx_net", 0xb0)
    t.sw(1058 * MS, 2, WORKER, idle(2), "S")
    return t.text()


@test
def tx_flood_delays_rx():
    """an rx item waits behind a long tx item of the same worker; nobody wants the CPU"""
    f = Run(tiny_packets(True)).only("delayed_work_item")
    equal((f["cause"], f["severity"], f["culprit"]["tid"]), ("head_of_line", "warning", 3101), "finding")
    equal(f["duration_ns"], 56 * MS + 10 * US, "wait")
    equal((f["evidence"]["function"], f["evidence"]["behind"]), ("handle_rx_net", "handle_tx_kick"), "items")
    equal(f["culprit"]["owner_pid"], 3077, "owner")


@test
def tx_flood_without_work_hooks():
    """without work events nothing is claimed, and it is said that latency cannot be seen"""
    run = Run(tiny_packets(False))
    equal((run.code, run.kinds()), (0, []), "outcome")
    equal(run.detector("delayed_work_item"), "off", "detector")


def livelock(hooks):
    t = Trace()
    stress = (777, "stress")
    owner = (3077, "qemu-kvm")
    t.sw(999 * MS, 2, idle(2), WORKER)
    if hooks:
        t.ws(1000 * MS, 2, "handle_rx_net")
    t.sw(999 * MS, 0, idle(0), owner)
    ts, on, off = 1003 * MS, WORKER, stress
    blocked = False
    while ts <= 21000 * MS:
        if ts >= 3000 * MS and not blocked:
            t.sw(3000 * MS, 0, owner, idle(0), "D")
            blocked = True
        t.sw(ts, 2, on, off)
        on, off = off, on
        ts += 3 * MS
    t.end(21000 * MS, 2)
    return t.text()


@test
def livelock_in_one_item():
    """an item that never ends, while the worker is preempted as it should be"""
    run = Run(livelock(True))
    equal(run.findings(*HOGS), [], "hogs")
    item, = run.findings("long_work_item")
    equal((item["cause"], item["severity"], item["status"]), ("still_running", "critical", "open"), "item")
    near(item["duration_ns"], 20 * SEC, 10 * MS, "running since")
    near(item["evidence"]["oncpu_ns"], 10 * SEC, 10 * MS, "on CPU")
    owner, = run.findings("owner_blocked")
    equal((owner["cause"], owner["severity"]), ("waits_for_worker", "warning"), "owner")
    near(owner["duration_ns"], 18 * SEC, 10 * MS, "blocked for")
    equal(owner["culprit"]["tid"], 3101, "culprit")
    check(3077 in [v["tid"] for v in owner["victims"]], f"victims {owner['victims']}")


@test
def livelock_without_work_hooks():
    """the scheduler alone shows a worker that fills its share and starves nobody"""
    run = Run(livelock(False))
    equal(run.findings(*HOGS), [], "hogs")
    busy, = run.findings("busy_worker")
    equal((busy["cause"], busy["severity"], busy["culprit"]["tid"]), ("saturated", "info", 3101), "busy")


@test
def busy_and_alone():
    """a worker that is on its CPU for a minute, with nobody waiting, is no hog"""
    t = Trace()
    t.sw(1 * SEC, 5, idle(5), WORKER)
    for ts in range(1 * SEC + 4 * MS, 61 * SEC, 4 * MS):
        t.rt(ts, 5, WORKER, 4 * MS)
    t.end(61 * SEC, 5)
    f = Run(t.text()).only("busy_worker")
    equal((f["severity"], f["culprit"]["tid"], f["cpu"]), ("info", 3101, 5), "finding")
    near(f["duration_ns"], 60 * SEC, 10 * MS, "duration")


@test
def one_of_four_workers():
    """workers of one name are told apart"""
    t = Trace()
    workers = [(4201 + i, "vhost-4190") for i in range(4)]
    waiter = (950, "kworker/3:0")
    ts = 1 * SEC
    on = {1: idle(1), 2: idle(2), 4: idle(4)}
    t.sw(ts, 3, idle(3), workers[2])
    t.wk(ts + 1 * MS, 3, waiter)
    t.nr(ts + 1 * MS + 10 * US, 3, "full")
    while ts < 1 * SEC + 46 * MS:
        for cpu, worker in ((1, workers[0]), (2, workers[1]), (4, workers[3])):
            other = idle(cpu) if on[cpu] != idle(cpu) else worker
            t.sw(ts, cpu, on[cpu], other, "R" if on[cpu] == idle(cpu) else "S")
            if on[cpu] == worker:
                t.wk(ts + 100 * US, cpu, worker)
            on[cpu] = other
        ts += 200 * US
    t.sw(1 * SEC + 46 * MS, 3, workers[2], waiter)
    t.sw(1 * SEC + 47 * MS, 3, waiter, workers[2], "I")
    run = Run(t.text())
    f = run.only("non_yielding_worker")
    equal((f["culprit"]["tid"], f["culprit"]["owner_pid"], f["cpu"]), (4203, 4190, 3), "culprit")
    equal([v["tid"] for v in f["victims"]], [950], "victims")
    near(f["victims"][0]["wait_ns"], 45 * MS, MS, "wait")
    equal(sorted(r["tid"] for r in run.of("worker")), [4201, 4202, 4203, 4204], "rows")
    near(run.row(4203)["oncpu_ns"], 46 * MS, MS, "on CPU")
    check(run.row(4201)["oncpu_ns"] < 30 * MS, "the four were added up")


@test
def storm_of_short_items():
    """120 000 items a second, never asleep, always polite: for information only"""
    t = Trace()
    other = (777, "stress")
    t.sw(1 * SEC, 2, idle(2), WORKER)
    ts, n = 1 * SEC, 0
    while ts < 6 * SEC + 100 * MS:
        t.ws(ts, 2, "handle_tx_kick")
        t.we(ts + 8 * US, 2, "handle_tx_kick")
        ts += 8300
        n += 1
        if n % 12000 == 0:
            t.wk(ts, 2, other)
            t.nr(ts + 1 * US, 2, "full")
            t.sw(ts + 15 * US, 2, WORKER, other)
            t.sw(ts + 60 * US, 2, other, WORKER, "S")
            ts += 70 * US
    t.end(ts, 2)
    run = Run(t.text())
    f = run.only("busy_worker")
    equal((f["severity"], f["culprit"]["tid"]), ("info", 3101), "finding")
    check(run.row(3101)["work_items"] == n, f"{run.row(3101)['work_items']} items, not {n}")


@test
def killed_worker_and_reused_tid():
    """work of a worker that died is forgotten, and its tid's next life is somebody else"""
    t = Trace()
    t.sw(990 * MS, 2, idle(2), WORKER)
    t.wq(1000 * MS, 2, WORKER, "handle_tx_kick")
    t.ex(1000 * MS + 100 * US, 2, WORKER)
    t.sw(1000 * MS + 200 * US, 2, WORKER, idle(2), "X")
    t.sw(1800 * MS, 2, idle(2), (700, "bash"))
    t.fk(1900 * MS, 2, (700, "bash"), (3101, "bash"))
    t.sw(1900 * MS + 50 * US, 2, (700, "bash"), (3101, "bash"), "S")
    t.sw(1980 * MS, 2, (3101, "bash"), idle(2), "S")
    t.end(9 * SEC, 2)
    run = Run(t.text())
    equal((run.code, run.kinds()), (0, []), "outcome")


@test
def interrupt_time_is_no_gap():
    """a third of a worker's time went to softirqs that are not charged to it"""
    t = Trace()
    t.sw(1 * SEC, 2, idle(2), WORKER)
    for i in range(100):
        start = 1 * SEC + i * 10 * MS
        t.si(start + 1 * MS, 2)
        t.so(start + 4 * MS + 500 * US, 2)
        t.rt(start + 10 * MS, 2, WORKER, 6 * MS + 500 * US)
    t.sw(2 * SEC + 10 * US, 2, WORKER, idle(2), "S")
    run = Run(t.text())
    for f in run.findings():
        equal((f["kind"], f["cause"], f["severity"]), ("cpu_accounting_gap", "charged_elsewhere", "info"), "finding")
        near(f["evidence"]["softirq_ns"], 350 * MS, MS, "softirq")
        near(f["evidence"]["unexplained_ns"], 0, MS, "unexplained")
    equal(run.code, 0, "exit code")


@test
def time_not_charged():
    """a worker that is on its CPU all the time is charged half of it"""
    t = Trace()
    t.sw(1 * SEC, 2, idle(2), WORKER)
    for i in range(1, 401):
        t.rt(1 * SEC + i * 10 * MS, 2, WORKER, 5 * MS)
        if i == 1:
            t.si(1 * SEC + i * 10 * MS + 20 * US, 2)
            t.so(1 * SEC + i * 10 * MS + 30 * US, 2)
            t.irq(1 * SEC + i * 10 * MS + 40 * US, 2, 10 * US)
    t.sw(5 * SEC + 10 * US, 2, WORKER, idle(2), "S")
    f = Run(t.text()).only("cpu_accounting_gap")
    equal((f["cause"], f["severity"], f["culprit"]["tid"]), ("not_charged", "warning", 3101), "finding")
    near(f["evidence"]["charged_ns"] / f["evidence"]["oncpu_ns"], 0.5, 0.01, "share charged")


@test
def between_the_ticks():
    """a task that runs 2 ms and sleeps 2 ms between ticks is charged what it ran"""
    t = Trace()
    t.sw(1 * SEC, 2, idle(2), WORKER)
    for i in range(250):
        start = 1 * SEC + i * 4 * MS
        t.rt(start + 2 * MS, 2, WORKER, 2 * MS)
        t.sw(start + 2 * MS + 1000, 2, WORKER, idle(2), "S")
        t.wk(start + 4 * MS - 2000, 2, WORKER)
        t.sw(start + 4 * MS - 1000, 2, idle(2), WORKER)
    run = Run(t.text())
    equal((run.code, run.kinds()), (0, []), "outcome")
    near(run.row(3101)["charged_ns"], 500 * MS, MS, "charged")


@test
def scheduler_never_asks():
    """EEVDF lets a kworker wait 40 ms behind a worker that nobody asked to leave"""
    vcpu, worker, kworker, stopper = ((7060, "CPU 1/KVM"), (7101, "vhost-7050"), (812, "kworker/6:1"),
                                      (41, "migration/6"))
    t = Trace()
    t.sw(1 * SEC, 6, vcpu, worker, "S")
    t.wk(1 * SEC + 11 * US, 6, kworker)
    t.sw(1 * SEC + 12 * US, 6, worker, kworker)
    t.sw(1 * SEC + 16 * US, 6, kworker, worker, "I")
    t.wk(1 * SEC + 43 * US, 6, kworker)
    t.nr(1 * SEC + 44 * US, 6, "none")
    t.wk(1 * SEC + 1300 * US, 9, (7222, "vhost-6900"), by=6)
    t.rt(1 * SEC + 10 * MS, 6, worker, 9957 * US)
    for i in (20, 30, 40):
        t.rt(1 * SEC + i * MS, 6, worker, 10 * MS)
    t.wk(1 * SEC + 40 * MS + 20 * US, 6, stopper, prio=0)
    t.sw(1 * SEC + 40 * MS + 36 * US, 6, worker, stopper, next_prio=0)
    t.mg(1 * SEC + 40 * MS + 38 * US, 6, worker, 6, 7)
    t.sw(1 * SEC + 40 * MS + 42 * US, 6, stopper, kworker, "S", prio=0)
    t.sw(1 * SEC + 41 * MS, 6, kworker, idle(6), "I")
    f = Run(t.text()).only("starved_task")
    equal((f["cause"], f["severity"], f["culprit"]["tid"]), ("scheduler_no_request", "warning", 7101), "finding")
    equal([v["tid"] for v in f["victims"]], [812], "victims")
    near(f["victims"][0]["wait_ns"], 39_999 * US, 10 * US, "wait")
    near(f["evidence"]["oncpu_ns"], 40_020 * US, 10 * US, "on CPU")
    equal(f["evidence"]["resched"], "none", "request seen")


@test
def vcpus_play_ping_pong():
    """two vCPUs of one VM hand each other the CPU 50 000 times a second"""
    t = Trace()
    on, off = (5001, "CPU 0/KVM"), (5002, "CPU 1/KVM")
    for i in range(50_000):
        t.sw(1 * SEC + i * 20 * US, 3, on, off)
        on, off = off, on
    t.end(2 * SEC, 3)
    run = Run(t.text())
    equal(run.findings(*HOGS, "spurious_migration_boost"), [], "hogs and boosts")
    # Nothing in a bare trace says that the two are of one VM.
    check(run.kinds() in ([], ["yield_ping_pong"]), f"{run.kinds()}")


def futile_move(to_idle, known=True):
    x, y = (5001, "CPU 0/KVM"), (5002, "CPU 1/KVM")
    t = Trace()
    for cpu, tid in ((1, 5011), (2, 5012), (3, 5013)):
        if cpu == 3 and not known:
            continue
        t.sw(980 * MS + cpu, cpu, idle(cpu), (tid, "CPU 0/KVM"))
    t.sw(990 * MS, 0, idle(0), x)
    if to_idle:
        t.sw(1001 * MS, 1, (5011, "CPU 0/KVM"), idle(1), "S")
    t.wk(1002 * MS, 0, y)
    t.sw(1002 * MS + 4 * US, 0, x, y)
    t.mg(1002 * MS + 6 * US, 0, x, 0, 1)
    if to_idle:
        t.sw(1002 * MS + 10 * US, 1, idle(1), x)
    t.sw(1002 * MS + 150 * US, 0, y, idle(0), "S")
    if not to_idle:
        t.sw(1005 * MS, 1, (5011, "CPU 0/KVM"), x)
        t.sw(1009 * MS, 1, x, (5011, "CPU 0/KVM"), "S")
    t.end(1010 * MS, 2)
    return t.text()


def four_cpus(folder):
    """A /proc in which the tasks of futile_move() may use CPUs 0-3."""
    for tid in (5001, 5002, 5011, 5012, 5013):
        at = folder / str(tid)
        (at / "task" / str(tid)).mkdir(parents=True)
        for base in (at, at / "task" / str(tid)):
            (base / "stat").write_text(f"{tid} (CPU 0/KVM) R 1 {tid} {tid} 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 900 0 0 "
                                       + "0 " * 28 + "\n")
            (base / "status").write_text(f"Name:\tCPU 0/KVM\nTgid:\t{tid}\nPid:\t{tid}\nCpus_allowed_list:\t0-3\n")
            (base / "cgroup").write_text("0::/\n")
            (base / "comm").write_text("CPU 0/KVM\n")
    return folder


@test
def futile_migration():
    """a running vCPU is forced away though no CPU is idle, and displaces another"""
    with tempfile.TemporaryDirectory() as name:
        proc = four_cpus(pathlib.Path(name))
        f = Run(futile_move(False), "--procfs", str(proc)).only("spurious_migration_boost")
        twin = Run(futile_move(True), "--procfs", str(proc))
        unknown = Run(futile_move(False, known=False), "--procfs", str(proc))
    equal((f["cause"], f["culprit"]["tid"]), ("futile_kick", 5001), "finding")
    e = f["evidence"]
    equal((e["from_cpu"], e["to_cpu"], e["idle_cpus"], e["displaced_tid"]), (0, 1, [], 5011), "evidence")
    near(e["wait_ns"], 2996 * US, 5 * US, "wait of the moved")
    check(f["severity"] in ("warning", "critical"), "somebody was displaced: " + f["severity"])
    equal(twin.kinds(), [], "a move to an idle CPU")
    for g in unknown.findings():
        equal((g["kind"], g["cause"], g["severity"]), ("spurious_migration_boost", "unknown", "info"), "unknown CPU")


@test
def futile_migration_affinity_unknown():
    """without the list of allowed CPUs nobody can say that none was idle"""
    run = Run(futile_move(False))
    for f in run.findings():
        equal((f["kind"], f["cause"], f["severity"]), ("spurious_migration_boost", "unknown", "info"), "finding")
    equal(run.code, 0, "exit code")


@test
def numa_balancing():
    """vCPUs moved by NUMA balancing by the thousand are not boosted by wake-ups"""
    t = Trace()
    cpus = 172
    tasks = [(20000 + i, f"CPU {i}/KVM") for i in range(cpus)]
    for cpu in range(cpus):
        t.sw(1 * SEC + cpu, cpu, idle(cpu), tasks[cpu])
    ts, n = 1 * SEC + MS, 0
    while ts < 11 * SEC:
        a, b = n % cpus, (n * 7 + 1) % cpus
        if a != b:
            x, y = t.running[a], t.running[b]
            t.numa(ts, a, x, a, b)
            t.sw(ts + 2 * US, a, x, (900 + a, f"migration/{a}"), next_prio=0)
            t.mg(ts + 4 * US, a, x, a, b)
            t.mg(ts + 5 * US, a, y, b, a)
            t.sw(ts + 6 * US, b, y, x)
            t.sw(ts + 8 * US, a, (900 + a, f"migration/{a}"), y, "S", prio=0)
        ts += MS
        n += 1
    run = Run(t.text())
    for f in run.findings("spurious_migration_boost"):
        check(f["cause"] in ("numa_balancing", "unknown") and f["severity"] == "info", f"{f['cause']} {f['severity']}")
    equal(run.findings(*HOGS), [], "hogs")
    equal(run.code, 0, "exit code")


@test
def forced_idle():
    """a task waits 30 ms while its own CPU idles, because a sibling runs another cookie"""
    t = Trace()
    sibling, task = (5001, "CPU 0/KVM"), (6001, "app")
    t.sw(990 * MS, 0, idle(0), sibling)
    t.sw(1000 * MS, 1, (5555, "CPU 7/KVM"), idle(1), "S")
    t.wk(1000 * MS + 100 * US, 1, task)
    t.sw(1030 * MS - 5 * US, 0, sibling, idle(0), "S")
    t.sw(1030 * MS, 1, idle(1), task)
    t.sw(1031 * MS, 1, task, idle(1), "S")
    f = Run(t.text()).only("starved_task")
    equal((f["cause"], f["severity"], f["cpu"]), ("forced_idle", "warning", 1), "finding")
    equal([v["tid"] for v in f["victims"]], [6001], "victims")
    near(f["victims"][0]["wait_ns"], 29_900 * US, 10 * US, "wait")
    equal(f["culprit"], None, "culprit")


@test
def lost_events_make_no_hog():
    """five seconds without a switch, because the switches were lost"""
    t = Trace()
    t.wk(999 * MS, 2, (950, "kworker/2:0"), by=1)
    t.sw(1000 * MS, 2, idle(2), WORKER)
    t.lost(2, 5000)
    t.sw(6000 * MS, 2, (777, "stress"), idle(2))
    run = Run(t.text())
    equal(run.kinds(), [], "findings")
    equal(run.summary["lost_events"], 5000, "lost")


@test
def reused_tid_after_an_hour():
    """no exit was seen; the tid comes back as another program"""
    t = Trace()
    t.sw(999 * MS, 1, idle(1), (5000, "vhost-4990"))
    t.sw(1000 * MS, 1, (5000, "vhost-4990"), idle(1), "S")
    t.sw(3601 * SEC, 3, idle(3), (5000, "bash"))
    t.sw(3601 * SEC + 50 * MS, 3, (5000, "bash"), idle(3), "S")
    run = Run(t.text())
    equal((run.code, run.kinds()), (0, []), "outcome")
    for row in run.of("worker"):
        check(row["comm"] == "vhost-4990" and not row["migrations"], f"{row}")


@test
def fair_turns():
    """two, and three, tasks that take turns of 12 ms are no finding"""
    for n in (2, 3):
        tasks = [(4000 + i, f"vhost-39{i}0") for i in range(n)]
        t = Trace()
        t.sw(1 * SEC, 1, idle(1), tasks[0])
        for task in tasks[1:]:
            t.wk(1 * SEC + 10 * US, 1, task)
        for i in range(400):
            ts = 1 * SEC + (i + 1) * 12 * MS
            t.nr(ts - 2 * US, 1, "full")
            t.sw(ts, 1, tasks[i % n], tasks[(i + 1) % n])
        run = Run(t.text())
        equal((run.code, run.kinds()), (0, []), f"{n} tasks")


@test
def odd_names():
    """names with blanks, brackets, dashes and signs of the format"""
    t = Trace()
    names = ["a) R 1 (b", "x-1 [003] y", "prev_pid=7", "==> next", "vhost-4194303", "kvm-nx-lpage-re"]
    ts = 1 * SEC
    for i, name in enumerate(names):
        task = (8000 + i, name)
        t.sw(ts, 1, idle(1), task)
        t.sw(ts + 10 * MS, 1, task, idle(1), "S")
        ts += 20 * MS
    run = Run(t.text())
    equal((run.code, run.kinds(), run.summary["skipped_lines"]), (0, [], 0), "outcome")
    equal([r["tid"] for r in run.of("worker")], [8004], "workers")


if __name__ == "__main__":
    main()
