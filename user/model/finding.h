/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A finding: what a detector says to people and programs.  docs/FORMATS names every word.
 *
 * Times are nanoseconds of the run's clock.  A finding owns nothing; it is copied by value.
 */
#ifndef VW_MODEL_FINDING_H
#define VW_MODEL_FINDING_H

#include "model/task.h"

#define VW_UNKNOWN UINT64_MAX /* printed as null */
#define VW_MAX_VICTIMS 8
#define VW_MAX_FRAMES 16
#define VW_FRAME_LEN 48
#define VW_FUNCTION_LEN 48
#define VW_FLAVOR_LEN 24
#define VW_MAX_LIST 16 /* CPUs or tasks named in one piece of evidence */
#define VW_TEXT_LEN 640

enum vw_kind {
	VW_NON_YIELDING_WORKER,
	VW_STARVED_TASK,
	VW_BUSY_WORKER,
	VW_DELAYED_WORK_ITEM,
	VW_LONG_WORK_ITEM,
	VW_CPU_ACCOUNTING_GAP,
	VW_RCU_STALL,
	VW_SOFT_LOCKUP,
	VW_SPURIOUS_MIGRATION_BOOST,
	VW_WORKER_ON_VCPU_CPU,
	VW_YIELD_PING_PONG,
	VW_OWNER_BLOCKED,
	VW_KIND_COUNT,
};

enum vw_severity { VW_INFO, VW_WARNING, VW_CRITICAL };
enum vw_status { VW_OPEN, VW_CLOSED };
/* Of the running task; UNKNOWN where the flag cannot be read. */
enum vw_resched { VW_RESCHED_UNKNOWN, VW_RESCHED_NONE, VW_RESCHED_LAZY, VW_RESCHED_FULL };

enum vw_cause {
	VW_CAUSE_UNKNOWN,
	VW_CAUSE_IGNORES_RESCHED,
	VW_CAUSE_SOFTIRQ_IN_WORKER,
	VW_CAUSE_SCHEDULER_NO_REQUEST,
	VW_CAUSE_LAZY_PREEMPTION,
	VW_CAUSE_SATURATED,
	/* starved_task */
	VW_CAUSE_GROUP_OR_PAIR,
	VW_CAUSE_FORCED_IDLE,
	VW_CAUSE_MISPLACED_WAKEUP,
	VW_CAUSE_THROTTLED,
	VW_CAUSE_SOFTIRQ,
	/* delayed_work_item, long_work_item */
	VW_CAUSE_HEAD_OF_LINE,
	VW_CAUSE_WORKER_NOT_RUNNING,
	VW_CAUSE_WORKER_THROTTLED,
	VW_CAUSE_WORKER_STOPPED,
	VW_CAUSE_STILL_RUNNING,
	VW_CAUSE_LONG,
	/* cpu_accounting_gap */
	VW_CAUSE_NOT_CHARGED,
	VW_CAUSE_OVERCHARGED,
	VW_CAUSE_CHARGED_ELSEWHERE,
	VW_CAUSE_CPU_TOTALS,
	/* rcu_stall, soft_lockup */
	VW_CAUSE_WORKER,
	VW_CAUSE_OTHER_TASK,
	VW_CAUSE_GP_KTHREAD_STARVED,
	VW_CAUSE_TIMER_OR_PAUSE,
	VW_CAUSE_INTERRUPT_STORM,
	/* spurious_migration_boost */
	VW_CAUSE_FUTILE_KICK,
	VW_CAUSE_BOOST_AFTER_MOVE,
	VW_CAUSE_PING_PONG,
	VW_CAUSE_NUMA_BALANCING,
	/* worker_on_vcpu_cpu, yield_ping_pong, owner_blocked */
	VW_CAUSE_PLACEMENT,
	VW_CAUSE_DIRECTED_YIELD,
	VW_CAUSE_WAITS_FOR_WORKER,
	VW_CAUSE_COUNT,
};

struct vw_victim {
	struct vw_task task;
	uint64_t wait_ns; /* the longest single wait seen */
	uint64_t wait_total_ns; /* all waits of this finding */
	uint64_t wait_last_ns; /* the wait that was under way when it was last seen */
};

/* What the kernel may keep out of the time it charges to tasks. */
#define VW_TAKEN_IRQ 1U
#define VW_TAKEN_SOFTIRQ 2U
#define VW_TAKEN_STEAL 4U

/*
 * delayed_work_item, long_work_item.  The item's time on CPU is evidence.oncpu_ns.
 */
struct vw_work_evidence {
	char function[VW_FUNCTION_LEN]; /* "" unknown */
	char behind[VW_FUNCTION_LEN]; /* the item in front, "" unknown or none */
};

/* cpu_accounting_gap; with evidence.oncpu_ns, irq_ns and softirq_ns. */
struct vw_gap_evidence {
	uint64_t charged_ns;
	uint64_t steal_ns;
	uint64_t unexplained_ns;
	unsigned int taken_out; /* VW_TAKEN_* */
};

/* rcu_stall and soft_lockup, as the kernel reported them. */
struct vw_stall_evidence {
	char flavor[VW_FLAVOR_LEN]; /* "rcu_sched", ...; "" unknown, and for a soft lockup */
	int32_t detector_cpu; /* -1 unknown */
	unsigned int n_cpus, n_tasks;
	int32_t cpus[VW_MAX_LIST]; /* stalled CPUs */
	int32_t tasks[VW_MAX_LIST]; /* stalled tasks: tids */
	/*
	 * Grace period, of an expedited one its sequence; VW_UNKNOWN.  The kernel prints it as a
	 * signed number, and so do we.
	 */
	uint64_t gp;
	uint64_t jiffies;
	uint64_t reports;
	bool incomplete; /* parts of a report are missing */
};

/* spurious_migration_boost */
struct vw_boost_evidence {
	int32_t from_cpu, to_cpu; /* -1 unknown */
	bool idle_known;
	unsigned int n_idle;
	int32_t idle_cpus[VW_MAX_LIST]; /* idle at the move, of those the task may use */
	char allowed[VW_CPULIST_LEN]; /* "" unknown */
	int32_t displaced_tid; /* 0 none */
	uint64_t wait_ns; /* of the moved task, from the move until it ran */
};

/* worker_on_vcpu_cpu */
struct vw_vcpu_evidence {
	uint64_t interruptions;
	uint64_t taken_ns;
	uint64_t share_ppm; /* of that CPU's time, in millionths */
};

/* VW_UNKNOWN where not known.  The flat part is that of the scheduling kinds; of the union, the
 * member that belongs to the kind is valid. */
struct vw_evidence {
	uint64_t count; /* episodes */
	uint64_t span_ns; /* first start to last end */
	union {
		struct vw_work_evidence work;
		struct vw_gap_evidence gap;
		struct vw_stall_evidence stall;
		struct vw_boost_evidence boost;
		struct vw_vcpu_evidence vcpu;
		struct {
			uint64_t state_ns; /* owner_blocked: so long in D state */
		} blocked;
	};
	enum vw_resched resched;
	uint64_t resched_pending_ns;
	uint64_t lockup_ns; /* the kernel reported a soft lockup of it, and for so long */
	uint64_t oncpu_ns;
	uint64_t softirq_ns;
	uint64_t irq_ns;
	uint64_t nr_running;
	const char *clock; /* static name of the hook that saw it, or NULL */
	unsigned int n_stack;
	char stack[VW_MAX_FRAMES][VW_FRAME_LEN]; /* innermost first */
};

struct vw_finding {
	enum vw_kind kind;
	enum vw_severity severity;
	enum vw_status status;
	enum vw_cause cause;
	uint64_t start_ns;
	uint64_t end_ns; /* while open: the last time it was seen to last */
	uint64_t duration_ns;
	int32_t cpu;
	bool has_culprit;
	struct vw_task culprit;
	unsigned int n_victims;
	struct vw_victim victims[VW_MAX_VICTIMS]; /* longest wait first */
	struct vw_evidence evidence;
	uint64_t printed_after_ns; /* from the observation's time stamp to print; set by cmd/ */
	char message[VW_TEXT_LEN]; /* one sentence */
	char remedy[VW_TEXT_LEN]; /* one sentence or "" */
};

/*
 * Fills @f for a new episode: nothing known, nobody blamed, one episode, start and end at
 * @start_ns, on @cpu (-1 unknown).
 */
void vw_finding_init(struct vw_finding *f, enum vw_kind kind, uint64_t start_ns, int32_t cpu);

/* NULL when @tid is none of its victims. */
struct vw_victim *vw_finding_victim(struct vw_finding *f, int32_t tid);

/*
 * Counts a wait of @wait_ns of @task; @longer: it is the wait counted last, which has gone on.
 * Victims stay in order, the longest wait first; of more than fit, those that waited longest stay.
 */
void vw_finding_add_victim(struct vw_finding *f, const struct vw_task *task, uint64_t wait_ns,
			   bool longer);

/* Adds the waits of @victim, which is one of another episode. */
void vw_finding_merge_victim(struct vw_finding *f, const struct vw_victim *victim);

const char *vw_kind_name(enum vw_kind kind);
const char *vw_cause_name(enum vw_cause cause);
const char *vw_severity_name(enum vw_severity severity);
const char *vw_status_name(enum vw_status status);
/* NULL for unknown. */
const char *vw_resched_name(enum vw_resched resched);

#endif
