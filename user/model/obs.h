/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observations: all that a source may tell a detector.
 *
 * Sources of every kind (BPF, /proc, traces) come down to these, so that one set of detectors
 * serves live and offline runs.  Times are nanoseconds of the run's clock and never fall within a
 * run.
 */
#ifndef VW_MODEL_OBS_H
#define VW_MODEL_OBS_H

#include "model/finding.h"

enum vw_obs_kind {
	VW_OBS_TASK, /* what is known of a task; comes before observations that name it */
	VW_OBS_TASK_EXIT, /* the task is gone */
	VW_OBS_STINT, /* one CPU's uninterrupted stint, seen while it lasts or at its end */
	VW_OBS_LOSS, /* events were lost */
	VW_OBS_WAIT, /* one task's wait for a CPU, told while it lasts or at its end */
	VW_OBS_WORK, /* a vhost work item was queued, began, lasts, ended */
	VW_OBS_BUSY, /* a worker that was switched out now and then, yet never slept */
	VW_OBS_CHARGE, /* time on a CPU against time charged, over a window */
	VW_OBS_MOVE, /* a running task was taken off its CPU and moved to another */
	VW_OBS_SHARE, /* what a worker took from a vCPU on one CPU, over a window */
	VW_OBS_PAIR, /* two tasks that handed one CPU to each other, over a window */
	VW_OBS_BLOCKED, /* a task sits in D state, told while it lasts or at its end */
	VW_OBS_REPORT, /* the kernel reported an RCU stall or a soft lockup */
	VW_OBS_ELSEWHERE, /* time used for a VM that its process does not show, over a window */
};

struct vw_waiter {
	int32_t tid;
	uint64_t start_ns; /* 0 unknown */
	uint64_t wait_ns; /* since it became runnable */
	uint32_t weight; /* CFS load weight (nice 0 = 1024), 0 unknown */
	bool throttled; /* its group has no quota left: it could not run anyway */
	/* Virtual run time that it has had more than the running task; valid if lead_known. */
	bool lead_known;
	int64_t lead_ns;
};

/*
 * A lasting stint is told where something may come of it: somebody waits, or its task is watched.
 * @resched is what was seen since the first of the waiters began to wait; a request that was seen
 * before counts too, as only a switch takes it back.
 */
struct vw_obs_stint {
	int32_t cpu;
	int32_t tid; /* the running task */
	uint64_t start_ns; /* its identity, 0 unknown */
	bool final; /* it left the CPU at ts_ns */
	bool rt; /* it runs in a real-time class */
	uint64_t oncpu_ns;
	enum vw_resched resched;
	uint64_t pending_ns; /* the full request has been pending for so long; 0 none */
	uint32_t ticks; /* looks of the clock at this stint; a gap between looks is one look */
	uint32_t pending_ticks; /* looks since the request was first seen */
	uint32_t weight;
	uint32_t nr_running; /* 0 unknown */
	uint64_t softirq_ns, irq_ns; /* VW_UNKNOWN */
	const char *clock; /* static name */
	/* Real-time tasks are told only if they have waited for T; nr_running counts them all. */
	unsigned int n_waiters;
	struct vw_waiter waiters[VW_MAX_VICTIMS]; /* longest first */
	unsigned int n_stack;
	char stack[VW_MAX_FRAMES][VW_FRAME_LEN];
};

#define VW_WAIT_RUNNERS 32 /* so many tasks are told apart in one wait */

/* Told from 2 T on, about once a second while it lasts, and at its end. */
struct vw_obs_wait {
	int32_t cpu; /* in whose queue, at its end that of the CPU where it ran */
	int32_t tid;
	uint64_t start_ns; /* its identity, 0 unknown */
	bool final; /* it runs, sleeps or is gone */
	bool throttled; /* its group had no quota left for more than half of it */
	/* CFS load weights: its own, and of the heaviest task that ran there; 0 unknown */
	uint32_t weight, heaviest;
	uint64_t wait_ns; /* since it became runnable; a move does not restart it */
	/*
	 * What that CPU did meanwhile; of a waiter that was moved, what each CPU did while it
	 * waited there.  The parts are VW_UNKNOWN (runners, top_tid and heaviest 0) where a part of
	 * the wait was not seen, fair_ns also when more than VW_WAIT_RUNNERS tasks ran.
	 */
	uint64_t idle_ns; /* ran its idle task */
	uint64_t rt_ns; /* ran real-time tasks */
	uint64_t softirq_ns;
	uint64_t longest_stint_ns; /* of one task without a break */
	uint64_t fair_ns; /* one round among the tasks that ran, as long as their longest stints */
	uint32_t runners; /* tasks that ran there; the waiter and the idle task are not counted */
	int32_t top_tid; /* the one of them that ran most, 0 none */
	uint64_t top_start_ns;
	uint64_t top_ns;
	/* It ended idling at the moment at which another CPU let go of a task that it had run all
	 * the time: what core scheduling does to a pair of siblings. */
	bool released;
	/* Where it was put when it was woken; -1 unknown, or not woken but taken off its CPU. */
	int32_t woken_cpu;
};

enum vw_work_phase { VW_WORK_QUEUED, VW_WORK_STARTED, VW_WORK_LASTS, VW_WORK_ENDED };

/*
 * LASTS is told about once a second, of items that run and of items that wait.  An item that is
 * queued again while it waits is told once; one that is queued while it runs is told as QUEUED
 * before it is told as ENDED, and then waits.  A worker runs one item at a time: when another one
 * STARTED, the end of the one before was not seen.  An ENDED is told only of what STARTED.
 */
struct vw_obs_work {
	enum vw_work_phase phase;
	int32_t cpu; /* the worker's, also when another CPU queued it; -1 unknown */
	int32_t tid; /* the worker, 0 unknown */
	uint64_t start_ns; /* its identity, 0 unknown */
	uint64_t work; /* what tells items apart: the address */
	char function[VW_FUNCTION_LEN]; /* "" unknown */
	/* When it was queued or began, where that is told later than it was; 0: at ts_ns. */
	uint64_t since_ns;
	/* Of the worker, since the start of the run, as of since_ns; VW_UNKNOWN. */
	uint64_t oncpu_ns, wait_ns, throttled_ns;
};

/* Told about once a second while it lasts and at its end, of watched tasks, from 1 s on. */
struct vw_obs_busy {
	int32_t cpu; /* where it runs */
	int32_t tid;
	uint64_t start_ns;
	bool final; /* it went to sleep */
	uint64_t busy_ns; /* since it last slept */
	uint64_t oncpu_ns; /* of that, it ran */
	uint64_t wait_ns; /* of that, it was runnable and did not run */
	uint64_t longest_wait_ns; /* of any task that waited on its CPUs meanwhile, VW_UNKNOWN */
	uint64_t items; /* work items ended meanwhile, VW_UNKNOWN */
};

/* A sample as counters gave it: may be negative or absurd, the detector judges. */
#define VW_SAMPLE_UNKNOWN INT64_MIN

/*
 * Windows of about a second, each from where charged time was up to date to where it is so again;
 * they do not overlap.  Traces have far too many to tell them all: told are those of watched tasks,
 * those with a difference of more than 1 ms and 1 %, and the one after such a one, which shows how
 * it went on.
 */
struct vw_obs_charge {
	int32_t tid; /* 0: the CPU as a whole */
	uint64_t start_ns; /* its identity, 0 unknown */
	int32_t cpu; /* -1: the task ran on several */
	uint64_t window_ns; /* up to ts_ns */
	int64_t oncpu_ns; /* time on CPU by the clock */
	int64_t charged_ns; /* what the kernel charged */
	int64_t irq_ns, softirq_ns, steal_ns;
	bool taken_out_known;
	unsigned int taken_out; /* VW_TAKEN_*: what this kernel keeps out of charged time */
	bool totals; /* charged_ns is of a CPU's totals, counted at ticks */
};

/*
 * ts_ns is when the outcome was known: it ran and who made room for it ran again (or has waited for
 * a second), it was moved on, is gone, or the run ended.
 */
struct vw_obs_move {
	int32_t tid;
	uint64_t start_ns;
	int32_t from_cpu, to_cpu;
	uint64_t moved_ns; /* when it was moved */
	bool ran; /* it got to run, on to_cpu, after wait_ns */
	uint64_t wait_ns; /* since it was taken off its CPU */
	/* from_cpu went idle so long after it was taken off, VW_UNKNOWN: not before it ran */
	uint64_t old_cpu_idle_ns;
	uint64_t relieved_ns; /* the longest wait on from_cpu when it left, 0 none */
	int32_t displaced_tid; /* was running on to_cpu, still runnable, and made room; 0 none */
	uint64_t displaced_start_ns;
	uint64_t displaced_wait_ns; /* until it ran again, as far as seen */
	unsigned int n_overtaken; /* waited on to_cpu before it and ran after it */
	struct vw_waiter overtaken[VW_MAX_VICTIMS];
	bool idle_known; /* of each CPU that it may use, it is known whether it was idle */
	bool allowed_known;
	char allowed[VW_CPULIST_LEN];
	unsigned int n_idle;
	/* of those that it may use; of all when that is not known */
	int32_t idle_cpus[VW_MAX_LIST];
	bool numa; /* NUMA balancing asked for it */
	bool back; /* the move before this one, less than a second ago, went the other way */
};

/* Told if there were at least two interruptions. */
struct vw_obs_share {
	int32_t cpu;
	int32_t vcpu_tid, worker_tid;
	uint64_t vcpu_start_ns, worker_start_ns;
	uint64_t window_ns; /* up to ts_ns */
	/* the vCPU, still runnable, made room for the worker and came back */
	uint64_t interruptions;
	uint64_t taken_ns;
};

/* Told if there were at least 100 switches. */
struct vw_obs_pair {
	int32_t cpu;
	int32_t tid[2];
	uint64_t start_ns[2];
	uint64_t window_ns; /* up to ts_ns */
	uint64_t switches; /* from one to the other, the one still runnable */
	uint64_t longest_stint_ns;
};

/* Told from 1 s on, about once a second while it lasts, and at its end. */
struct vw_obs_blocked {
	int32_t tid;
	uint64_t start_ns;
	bool final;
	uint64_t state_ns; /* so long in D state */
	int32_t worker_tid; /* a worker of the same owner that has not slept meanwhile, 0 none */
	uint64_t worker_start_ns;
	uint64_t worker_busy_ns; /* since that worker last slept */
};

enum vw_report_kind { VW_REPORT_RCU_STALL, VW_REPORT_SOFT_LOCKUP };

/*
 * One report, all its lines put together.  ts_ns is that of its first line, VW_UNKNOWN without
 * one.
 */
struct vw_obs_report {
	enum vw_report_kind kind;
	char flavor[VW_FLAVOR_LEN]; /* RCU: "rcu_sched", ...; "" unknown */
	bool expedited;
	bool incomplete; /* its beginning or its end is missing */
	int32_t detector_cpu; /* RCU: who told it, -1 unknown */
	unsigned int n_cpus, n_tasks;
	int32_t cpus[VW_MAX_LIST]; /* stalled, or locked up */
	int32_t tasks[VW_MAX_LIST];
	uint64_t gp; /* grace period, of an expedited one its sequence; VW_UNKNOWN */
	uint64_t jiffies; /* RCU: age of the grace period; VW_UNKNOWN */
	uint64_t stuck_ns; /* soft lockup: what the report says; VW_UNKNOWN */
	/* Who ran on a stalled CPU, by the report; tid 0 unknown, and what it is by its name. */
	struct vw_task culprit;
	int32_t culprit_cpu; /* -1 unknown */
	bool gp_kthread_starved; /* RCU: the grace-period thread did not get to run */
	/* RCU: the timer did not come: a paused machine, or timers that are stuck */
	bool timer_late;
	bool interrupts; /* the CPU spent its time in hard interrupts, by the report */
	unsigned int n_stack;
	char stack[VW_MAX_FRAMES][VW_FRAME_LEN]; /* of the culprit, innermost first */
};

/* Why a VM's process does not show it. */
enum vw_elsewhere { VW_ELSEWHERE_KTHREAD, VW_ELSEWHERE_KWORKER, VW_ELSEWHERE_CGROUP };

/* Windows of about a second; told of each worker for which it is so. */
struct vw_obs_elsewhere {
	enum vw_elsewhere how;
	int32_t owner_pid;
	int32_t tid; /* who ran for the VM */
	uint64_t start_ns;
	uint64_t window_ns; /* up to ts_ns */
	uint64_t used_ns; /* of a CPU */
	uint64_t process_ns; /* what the VM's process was charged meanwhile, VW_UNKNOWN */
};

struct vw_obs {
	enum vw_obs_kind kind;
	uint64_t ts_ns;
	union {
		struct vw_task task;
		int32_t tid; /* TASK_EXIT */
		struct vw_obs_stint stint;
		struct vw_obs_wait wait;
		struct vw_obs_work work;
		struct vw_obs_busy busy;
		struct vw_obs_charge charge;
		struct vw_obs_move move;
		struct vw_obs_share share;
		struct vw_obs_pair pair;
		struct vw_obs_blocked blocked;
		struct vw_obs_report report;
		struct vw_obs_elsewhere elsewhere;
		struct {
			int32_t cpu; /* -1: any */
			uint64_t count; /* 0: what was seen does not fit together */
		} loss;
	};
};

#endif
