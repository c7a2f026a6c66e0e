/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records that BPF programs send, and the maps' values: the only header both sides include.
 *
 * Fixed-width fields, no pointers, kinds are append-only.  Times are CLOCK_MONOTONIC nanoseconds
 * unless a field says otherwise; start_ns is CLOCK_BOOTTIME, as in /proc/PID/stat.
 */
#ifndef VW_ABI_H
#define VW_ABI_H

#ifndef VW_VMLINUX_H
#include <linux/types.h>
#endif

#define VW_ABI_COMM_LEN 16
#define VW_ABI_WAITERS 8
#define VW_ABI_FRAMES 32 /* the clock's own frames included */
/* One byte a slot, indexed by tid & mask: a cheap "perhaps" before any map is asked. */
#define VW_ABI_WATCH_SLOTS 65536

enum vw_abi_kind {
	VW_REC_STINT = 1,
	VW_REC_TASK_NEW = 2,
	VW_REC_TASK_EXIT = 3,
	/* Numbers given away, each to one concern: */
	VW_REC_MOVE = 4,
	VW_REC_MOVE_RAN = 5,
	VW_REC_MOVE_BACK = 6,
	VW_REC_STALL = 7,
	VW_REC_WORK = 8,
	VW_REC_REST = 9,
};

enum vw_abi_watch {
	VW_WATCH_TASK = 1, /* a worker or a task named by the user; set by user space */
	VW_WATCH_SUSPECT = 2, /* holds a CPU right now; set by the clock, cleared by user space */
	VW_WATCH_STOPPER = 4, /* migration/N; set by user space */
	VW_WATCH_MOVED = 8, /* was moved, or made room for one that was */
	VW_WATCH_VCPU = 16, /* a vCPU of an owner of a worker; set by user space */
};

enum vw_abi_resched {
	VW_ABI_RESCHED_UNKNOWN,
	VW_ABI_RESCHED_NONE,
	VW_ABI_RESCHED_LAZY,
	VW_ABI_RESCHED_FULL,
};

enum vw_abi_clock {
	VW_ABI_CLOCK_NONE,
	VW_ABI_CLOCK_LOCAL_TIMER, /* tp_btf/local_timer_entry */
	VW_ABI_CLOCK_CPU_CLOCK, /* per-CPU perf cpu-clock event */
	VW_ABI_CLOCK_STAT_RUNTIME, /* tp_btf/sched_stat_runtime */
	VW_ABI_CLOCK_COUNT,
};

struct vw_rec_hdr {
	__u16 kind;
	__u16 size; /* of the whole record, for readers that do not know the kind */
	__u32 cpu;
	__u64 ts_ns;
};

struct vw_abi_task {
	__u32 tid;
	__u32 tgid;
	__u32 flags; /* PF_* */
	__u32 weight;
	__u64 start_ns;
	char comm[VW_ABI_COMM_LEN];
};

#define VW_WAITER_THROTTLED 1
#define VW_WAITER_LEAD 2 /* lead_ns is valid */

struct vw_abi_waiter {
	struct vw_abi_task task;
	__u64 wait_ns; /* 0: the kernel does not say */
	__s64 lead_ns; /* virtual run time that it has had more than the running task */
	__u32 flags;
	__u32 pad;
};

#define VW_STINT_FINAL 1 /* the task left the CPU at ts_ns */
#define VW_STINT_RT 2 /* not in the fair class */

struct vw_rec_stint {
	struct vw_rec_hdr hdr;
	struct vw_abi_task task;
	__u64 oncpu_ns;
	__u64 pending_ns; /* since the clock first saw the full request; 0 none */
	__u32 ticks;
	__u32 pending_ticks;
	__u32 nr_running;
	__u8 resched; /* enum vw_abi_resched, at the last look */
	__u8 flags;
	__u8 clock; /* enum vw_abi_clock */
	__u8 n_waiters;
	__u32 n_stack;
	__u32 pad;
	struct vw_abi_waiter waiters[VW_ABI_WAITERS]; /* in run-queue order */
	__u64 stack[VW_ABI_FRAMES];
};

struct vw_rec_task {
	struct vw_rec_hdr hdr;
	struct vw_abi_task task;
};

/* A host with more CPUs: what is allowed and what is idle is not known. */
#define VW_ABI_MOVE_CPUS 1024

#define VW_MOVE_NUMA 1 /* NUMA balancing had asked for it */
#define VW_MOVE_TO_IDLE 2 /* nothing ran where it went: nothing more is told of this move */

/* A running task was taken off its CPU by that CPU's stopper and moved, at ts_ns. */
struct vw_rec_move {
	struct vw_rec_hdr hdr;
	struct vw_abi_task task;
	__u64 arrivals; /* times it had got a CPU */
	__u64 left_ts_ns; /* when it was taken off */
	__u64 relieved_ns; /* the longest wait on the CPU that it left */
	__u32 from_cpu, to_cpu;
	__u32 flags; /* VW_MOVE_* */
	__u32 n_cpus; /* the masks cover the CPUs below this number; 0: there are too many */
	__u32 held_tid; /* who ran on to_cpu, and has VW_WATCH_MOVED now; 0 */
	__u32 pad;
	/* Bits.  Of the idle ones that it may use the first some, and to_cpu if it is idle. */
	__u64 allowed[VW_ABI_MOVE_CPUS / 64];
	__u64 idle[VW_ABI_MOVE_CPUS / 64];
};

#define VW_RAN_MOVED_ON 1 /* it did not run, it was moved once more */
#define VW_RAN_FREE 2 /* who had run on to_cpu was about to sleep, and nobody else waited there */
#define VW_RAN_DISPLACED 4 /* the one below was running, still runnable, and made room */
#define VW_RAN_OLD_IDLE 8 /* old_idle_ns is valid */

/* The task of the move at @moved_ts_ns got to run, at ts_ns on hdr.cpu. */
struct vw_rec_move_ran {
	struct vw_rec_hdr hdr;
	__u64 start_ns;
	__u64 moved_ts_ns;
	__u64 old_idle_ns; /* its old CPU idles, since so long after the task was taken off */
	__u64 displaced_arrivals;
	__u32 tid;
	__u32 flags; /* VW_RAN_* */
	struct vw_abi_task displaced;
	__u32 n_waiters;
	__u32 pad;
	__u64 before_ns; /* who has waited for so long was there before the task came */
	struct vw_abi_waiter waiters[VW_ABI_WAITERS]; /* those that wait there then */
};

/* Who made room at @ran_ts_ns runs again, at ts_ns. */
struct vw_rec_move_back {
	struct vw_rec_hdr hdr;
	__u64 start_ns;
	__u64 ran_ts_ns;
	__u32 tid;
	__u32 pad;
};

/* Value of the moves map, key tid: what the switch hook is to look at. */
struct vw_abi_move {
	__u64 start_ns; /* identity */
	__u64 moved_ts_ns; /* it was moved and has not run since; 0 */
	__u64 left_clock; /* the clock of the queue it left, when it was taken off */
	__u64 to_clock; /* that of the queue it went to, when it was moved */
	__u64 displaced_ts_ns; /* it made room and has not run since; 0 */
	__u64 held_ts_ns; /* it ran on to_cpu when another one was moved there, and still does; 0 */
	__u32 held_for; /* tid of that one */
	__u32 from_cpu;
	__u32 free; /* of a moved one: VW_RAN_FREE holds */
	__u32 pad;
};

enum vw_abi_stall {
	VW_ABI_STALL_UNKNOWN,
	VW_ABI_STALL_SELF, /* by the CPU that stalls */
	VW_ABI_STALL_OTHER,
	VW_ABI_STALL_EXPEDITED,
};

/* The kernel begins to report an RCU stall. */
struct vw_rec_stall {
	struct vw_rec_hdr hdr; /* of the CPU that reports */
	struct vw_abi_task task; /* what runs there */
	char flavor[24];
	__u8 how; /* enum vw_abi_stall */
	__u8 pad[7];
};

/*
 * Value of the totals map, key tid: what the switch hook adds up for a task with VW_WATCH_TASK or
 * VW_WATCH_VCPU, since @since_ns.
 */
struct vw_abi_totals {
	__u64 start_ns; /* identity; a value with another start is stale */
	__u64 since_ns;
	__u64 oncpu_ns; /* closed stints */
	__u64 in_ts_ns; /* start of the open stint, 0 when off CPU */
	__u64 wait_ns; /* runnable and not running, the wait under way left out */
	__u64 out_ts_ns; /* when it last left a CPU, 0: not seen to */
	__u32 cpu; /* of the last stint */
	__u32 flags; /* VW_TOTALS_* */
	/* Since when it has not slept, 0: it sleeps, or that was not seen; the sums as of then. */
	__u64 awake_ns, awake_oncpu_ns, awake_wait_ns;
	__u64 followed_ns; /* the longest wait since then of a task that got the CPU after it */
	/* Of wait_ns: its group had no quota left. */
	__u64 throttled_ns;
	/* As they stood when it left: how long its group had been throttled there, counters. */
	__u64 group_ns, switches, migrations;
};

#define VW_TOTALS_RUNNABLE 1 /* it left its CPU without going to sleep */
#define VW_TOTALS_SWITCHED 2 /* so it did since awake_ns */
#define VW_TOTALS_THROTTLED 4 /* it left because its group had no quota left */
#define VW_TOTALS_IDLE 8 /* the CPU that it left went idle */

enum vw_abi_rest {
	VW_REST_WAITED = 1, /* it runs, after a wait of 2 T or more that nobody's stint explains */
	VW_REST_SLEEPS = 2, /* it had been awake for a second or more */
};

#define VW_REST_WOKEN 1 /* the wait began when it was woken */
#define VW_ABI_UNKNOWN (~0ULL)

/* Of a task with VW_WATCH_TASK. */
struct vw_rec_rest {
	struct vw_rec_hdr hdr;
	struct vw_abi_task task;
	struct vw_abi_totals totals; /* WAITED: with this wait; SLEEPS: before it fell asleep */
	__u32 what; /* enum vw_abi_rest */
	__u32 flags; /* VW_REST_WOKEN */
	__u64 wait_ns;
	__u64 throttled_ns; /* of it */
	__u64 idle_ns; /* of it, at least; VW_ABI_UNKNOWN */
};

/* Key and value of the pairs map: what two tasks do to each other on one CPU, since ever. */
enum vw_abi_pair_kind {
	VW_PAIR_SHARE = 1, /* a is a pinned vCPU, b a task that it makes room for */
	VW_PAIR_YIELD = 2, /* two vCPUs of one process, a < b */
};

struct vw_abi_pair_key {
	__u32 cpu;
	__u32 kind;
	__u32 a, b; /* tids */
};

#define VW_ABI_PAIR_EPOCH_SHIFT 30 /* of ts_ns: about a second */

struct vw_abi_pair {
	__u64 first_ns, last_ns; /* first and last time that count grew */
	__u64 count; /* interruptions; switches there and back */
	__u64 taken_ns; /* SHARE */
	__u64 misses; /* YIELD: switches to or from others in between */
	/* YIELD: longest stint of one of them, by epoch & 1, and of which epoch that is */
	__u64 longest_ns[2];
	__u32 epoch[2];
	__u32 left; /* who left last */
	__u32 pad;
};

/* Value of the per-CPU counters map. */
enum vw_abi_counter {
	VW_COUNT_RESERVE_FAILED, /* records lost, ring buffer full */
	VW_COUNT_BAD_WALK, /* run-queue walks given up because a value made no sense */
	VW_COUNT_TICKS,
	VW_COUNTERS,
};

_Static_assert(sizeof(struct vw_rec_hdr) == 16, "header");
_Static_assert(sizeof(struct vw_abi_task) == 40, "task");
_Static_assert(sizeof(struct vw_abi_waiter) == 64, "waiter");
_Static_assert(sizeof(struct vw_rec_stint) == 16 + 40 + 40 + 8 * 64 + 32 * 8, "stint");
_Static_assert(sizeof(struct vw_rec_task) == 56, "task record");
_Static_assert(sizeof(struct vw_rec_move) == 16 + 40 + 48 + 2 * VW_ABI_MOVE_CPUS / 8, "move");
_Static_assert(sizeof(struct vw_rec_move_ran) == 16 + 40 + 40 + 16 + 8 * 64, "move ran");
_Static_assert(sizeof(struct vw_rec_move_back) == 40, "move back");
_Static_assert(sizeof(struct vw_abi_move) == 64, "moves");
_Static_assert(sizeof(struct vw_abi_totals) == 120, "totals");
_Static_assert(sizeof(struct vw_rec_rest) == 16 + 40 + 120 + 32, "rest");
_Static_assert(sizeof(struct vw_abi_pair_key) == 16, "pair key");
_Static_assert(sizeof(struct vw_abi_pair) == 72, "pair");
_Static_assert(sizeof(struct vw_rec_stall) == 88, "stall record");

#endif
