# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the scheduler traces of the tests, as text that the kernel's trace file would show.

    t = Trace()
    t.sw(1_000_000_000, 2, (0, "swapper/2"), (3101, "vhost-3077"))
    t.wk(1_001_000_000, 2, (950, "kworker/2:0"))
    print(t.text())

Times are nanoseconds, a task is (tid, comm).  The head of each line shows the task that runs on the
CPU, as far as the trace has said, and the need-resched flag that was set with nr().
"""
FLAG = {"none": ".", "lazy": "L", "full": "N", None: "."}
NORMAL, REALTIME = 120, 49


class Trace:
    def __init__(self, flags=True):
        self.flags = flags  # False: no flags column, as perf script prints it
        self.lines = []
        self.running = {}  # cpu -> task
        self.pending = {}  # cpu -> need-resched of what runs there

    def text(self):
        return "\n".join(self.lines) + "\n"

    def put(self, ts, cpu, event, fields, task=None):
        tid, comm = task or self.running.get(cpu) or (0, f"swapper/{cpu}")
        name = "<idle>" if tid == 0 else comm
        flags = f" d{FLAG[self.pending.get(cpu)]}.2." if self.flags else ""
        self.lines.append(f"{name:>16}-{tid:<7} [{cpu:03}]{flags} {ts // 10**9}.{ts % 10**9:09}: {event}: {fields}")

    def sw(self, ts, cpu, prev, next, state="R", prio=NORMAL, next_prio=NORMAL):
        """sched_switch; a previous task that stays runnable has state R."""
        self.put(ts, cpu, "sched_switch",
                 f"prev_comm={prev[1]} prev_pid={prev[0]} prev_prio={prio} prev_state={state} ==> "
                 f"next_comm={next[1]} next_pid={next[0]} next_prio={next_prio}", prev)
        self.running[cpu] = next
        self.pending[cpu] = None

    def wk(self, ts, cpu, task, by=None, prio=NORMAL):
        """sched_wakeup of @task onto @cpu, told by the CPU @by."""
        self.put(ts, cpu if by is None else by, "sched_wakeup",
                 f"comm={task[1]} pid={task[0]} prio={prio} target_cpu={cpu:03}")

    def mg(self, ts, cpu, task, src, dst):
        self.put(ts, cpu, "sched_migrate_task",
                 f"comm={task[1]} pid={task[0]} prio={NORMAL} orig_cpu={src} dest_cpu={dst}")

    def rt(self, ts, cpu, task, ns):
        self.put(ts, cpu, "sched_stat_runtime", f"comm={task[1]} pid={task[0]} runtime={ns} [ns]")

    def nr(self, ts, cpu, what):
        """From now on what runs there has this request; an event of no other use shows it."""
        self.pending[cpu] = what
        self.put(ts, cpu, "hrtimer_start", "hrtimer=00000000f3a1c2d4 function=tick_sched_timer")

    def wq(self, ts, cpu, worker, function, work=0xffff888100000000):
        self.put(ts, cpu, "vhost_work_queue", f"work=0x{work:x} function={function} worker={worker[0]}")

    def ws(self, ts, cpu, function, work=0xffff888100000000):
        self.put(ts, cpu, "vhost_work_execute_start", f"work=0x{work:x} function={function}")

    def we(self, ts, cpu, function, work=0xffff888100000000):
        self.put(ts, cpu, "vhost_work_execute_end", f"work=0x{work:x} function={function}")

    def si(self, ts, cpu):
        self.put(ts, cpu, "softirq_entry", "vec=3 [action=NET_RX]")

    def so(self, ts, cpu):
        self.put(ts, cpu, "softirq_exit", "vec=3 [action=NET_RX]")

    def irq(self, ts, cpu, ns):
        """An interrupt of so long."""
        self.put(ts, cpu, "irq_handler_entry", "irq=24 name=virtio0")
        self.put(ts + ns, cpu, "irq_handler_exit", "irq=24 ret=handled")

    def fk(self, ts, cpu, parent, child):
        self.put(ts, cpu, "sched_process_fork",
                 f"comm={parent[1]} pid={parent[0]} child_comm={child[1]} child_pid={child[0]}")

    def ex(self, ts, cpu, task):
        self.put(ts, cpu, "sched_process_exit", f"comm={task[1]} pid={task[0]} prio={NORMAL}")

    def numa(self, ts, cpu, task, src, dst):
        self.put(ts, cpu, "sched_move_numa",
                 f"pid={task[0]} tgid={task[0]} ngid=1 src_cpu={src} src_nid=0 dst_cpu={dst} dst_nid=1")

    def lost(self, cpu, count):
        self.lines.append(f"CPU:{cpu} [LOST {count} EVENTS]")

    def end(self, ts, cpu=0):
        """The last thing the trace shows."""
        self.put(ts, cpu, "hrtimer_start", "hrtimer=00000000f3a1c2d4 function=tick_sched_timer")
