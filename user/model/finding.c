// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "model/finding.h"

#define NAME_OF(table, i) ((size_t)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : NULL)

const char *vw_kind_name(enum vw_kind kind)
{
	static const char *const names[VW_KIND_COUNT] = {
		[VW_NON_YIELDING_WORKER] = "non_yielding_worker",
		[VW_STARVED_TASK] = "starved_task",
		[VW_BUSY_WORKER] = "busy_worker",
		[VW_DELAYED_WORK_ITEM] = "delayed_work_item",
		[VW_LONG_WORK_ITEM] = "long_work_item",
		[VW_CPU_ACCOUNTING_GAP] = "cpu_accounting_gap",
		[VW_RCU_STALL] = "rcu_stall",
		[VW_SOFT_LOCKUP] = "soft_lockup",
		[VW_SPURIOUS_MIGRATION_BOOST] = "spurious_migration_boost",
		[VW_WORKER_ON_VCPU_CPU] = "worker_on_vcpu_cpu",
		[VW_YIELD_PING_PONG] = "yield_ping_pong",
		[VW_OWNER_BLOCKED] = "owner_blocked",
	};

	return NAME_OF(names, kind);
}

const char *vw_cause_name(enum vw_cause cause)
{
	static const char *const names[VW_CAUSE_COUNT] = {
		[VW_CAUSE_UNKNOWN] = "unknown",
		[VW_CAUSE_IGNORES_RESCHED] = "ignores_resched",
		[VW_CAUSE_SOFTIRQ_IN_WORKER] = "softirq_in_worker",
		[VW_CAUSE_SCHEDULER_NO_REQUEST] = "scheduler_no_request",
		[VW_CAUSE_LAZY_PREEMPTION] = "lazy_preemption",
		[VW_CAUSE_SATURATED] = "saturated",
		[VW_CAUSE_GROUP_OR_PAIR] = "group_or_pair",
		[VW_CAUSE_FORCED_IDLE] = "forced_idle",
		[VW_CAUSE_MISPLACED_WAKEUP] = "misplaced_wakeup",
		[VW_CAUSE_THROTTLED] = "throttled",
		[VW_CAUSE_SOFTIRQ] = "softirq",
		[VW_CAUSE_HEAD_OF_LINE] = "head_of_line",
		[VW_CAUSE_WORKER_NOT_RUNNING] = "worker_not_running",
		[VW_CAUSE_WORKER_THROTTLED] = "worker_throttled",
		[VW_CAUSE_WORKER_STOPPED] = "worker_stopped",
		[VW_CAUSE_STILL_RUNNING] = "still_running",
		[VW_CAUSE_LONG] = "long",
		[VW_CAUSE_NOT_CHARGED] = "not_charged",
		[VW_CAUSE_OVERCHARGED] = "overcharged",
		[VW_CAUSE_CHARGED_ELSEWHERE] = "charged_elsewhere",
		[VW_CAUSE_CPU_TOTALS] = "cpu_totals",
		[VW_CAUSE_WORKER] = "worker",
		[VW_CAUSE_OTHER_TASK] = "other_task",
		[VW_CAUSE_GP_KTHREAD_STARVED] = "gp_kthread_starved",
		[VW_CAUSE_TIMER_OR_PAUSE] = "timer_or_pause",
		[VW_CAUSE_INTERRUPT_STORM] = "interrupt_storm",
		[VW_CAUSE_FUTILE_KICK] = "futile_kick",
		[VW_CAUSE_BOOST_AFTER_MOVE] = "boost_after_move",
		[VW_CAUSE_PING_PONG] = "ping_pong",
		[VW_CAUSE_NUMA_BALANCING] = "numa_balancing",
		[VW_CAUSE_PLACEMENT] = "placement",
		[VW_CAUSE_DIRECTED_YIELD] = "directed_yield",
		[VW_CAUSE_WAITS_FOR_WORKER] = "waits_for_worker",
	};

	return NAME_OF(names, cause);
}

const char *vw_severity_name(enum vw_severity severity)
{
	static const char *const names[] = {
		[VW_INFO] = "info",
		[VW_WARNING] = "warning",
		[VW_CRITICAL] = "critical",
	};

	return NAME_OF(names, severity);
}

const char *vw_status_name(enum vw_status status)
{
	static const char *const names[] = {
		[VW_OPEN] = "open",
		[VW_CLOSED] = "closed",
	};

	return NAME_OF(names, status);
}

const char *vw_resched_name(enum vw_resched resched)
{
	static const char *const names[] = {
		[VW_RESCHED_UNKNOWN] = NULL,
		[VW_RESCHED_NONE] = "none",
		[VW_RESCHED_LAZY] = "lazy",
		[VW_RESCHED_FULL] = "full",
	};

	return NAME_OF(names, resched);
}

void vw_finding_init(struct vw_finding *f, enum vw_kind kind, uint64_t start_ns, int32_t cpu)
{
	memset(f, 0, sizeof(*f));
	f->kind = kind;
	f->status = VW_OPEN;
	f->start_ns = start_ns;
	f->end_ns = start_ns;
	f->cpu = cpu;
	f->printed_after_ns = VW_UNKNOWN;
	f->evidence.count = 1;
	f->evidence.resched_pending_ns = VW_UNKNOWN;
	f->evidence.lockup_ns = VW_UNKNOWN;
	f->evidence.oncpu_ns = VW_UNKNOWN;
	f->evidence.softirq_ns = VW_UNKNOWN;
	f->evidence.irq_ns = VW_UNKNOWN;
	f->evidence.nr_running = VW_UNKNOWN;
}

struct vw_victim *vw_finding_victim(struct vw_finding *f, int32_t tid)
{
	unsigned int i;

	for (i = 0; i < f->n_victims; i++)
		if (f->victims[i].task.tid == tid)
			return &f->victims[i];
	return NULL;
}

/* Where @tid is or may be put, NULL when it waited less than all that are there. */
static struct vw_victim *place_for(struct vw_finding *f, int32_t tid, uint64_t wait_ns)
{
	struct vw_victim *v = vw_finding_victim(f, tid);

	if (v)
		return v;
	if (f->n_victims < VW_MAX_VICTIMS)
		f->n_victims++;
	else if (wait_ns <= f->victims[VW_MAX_VICTIMS - 1].wait_ns)
		return NULL;
	v = &f->victims[f->n_victims - 1];
	memset(v, 0, sizeof(*v));
	return v;
}

static void move_up(struct vw_finding *f, struct vw_victim *v)
{
	struct vw_victim moved;

	for (; v > f->victims && v->wait_ns > v[-1].wait_ns; v--) {
		moved = *v;
		*v = v[-1];
		v[-1] = moved;
	}
}

void vw_finding_add_victim(struct vw_finding *f, const struct vw_task *task, uint64_t wait_ns,
			   bool longer)
{
	struct vw_victim *v = place_for(f, task->tid, wait_ns);

	if (!v)
		return;
	v->task = *task;
	if (!longer)
		v->wait_total_ns += wait_ns;
	else if (wait_ns > v->wait_last_ns)
		v->wait_total_ns += wait_ns - v->wait_last_ns;
	v->wait_last_ns = wait_ns;
	if (wait_ns > v->wait_ns)
		v->wait_ns = wait_ns;
	move_up(f, v);
}

void vw_finding_merge_victim(struct vw_finding *f, const struct vw_victim *victim)
{
	struct vw_victim *v = place_for(f, victim->task.tid, victim->wait_ns);

	if (!v)
		return;
	v->task = victim->task;
	v->wait_total_ns += victim->wait_total_ns;
	v->wait_last_ns = victim->wait_last_ns;
	if (victim->wait_ns > v->wait_ns)
		v->wait_ns = victim->wait_ns;
	move_up(f, v);
}
