// SPDX-License-Identifier: GPL-2.0-or-later
/* Stints, told at their end and while they last, with those who wait meanwhile. */
#include "source/sched_internal.h"

#define STINT_REPEAT_NS (4 * VW_NS_PER_MS)
#define PRIO_RT 100 /* below that: real-time, deadline, stop */
#define PRIO_NICE_0 120
#define WEIGHT_NICE_0 1024.0

/*
 * Each step of nice is a fourth more or less of CPU time, which is what the kernel's table
 * (sched_prio_to_weight, kernel/sched/core.c) approximates.
 */
uint32_t vw_sched_weight(int32_t prio)
{
	double weight = WEIGHT_NICE_0;

	if (prio < PRIO_RT || prio >= PRIO_RT + 40)
		return 0;
	for (; prio < PRIO_NICE_0; prio++)
		weight *= 1.25;
	for (; prio > PRIO_NICE_0; prio--)
		weight /= 1.25;
	return (uint32_t)(weight + 0.5);
}

/*
 * Which flags are sound: those of events other than the switch.  __schedule() clears the request
 * before it records sched_switch (clear_tsk_need_resched() comes first), so that event always shows
 * none.  sched_wakeup_new is recorded before the kernel looks whether the new task should preempt
 * (wake_up_new_task()), so none there says nothing; sched_wakeup comes after that look.  A request
 * that is seen stays until __schedule() takes it back; an event that shows none thus shows that the
 * task did call it and was chosen again.
 */
void vw_sched_flag(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e)
{
	if (e->resched == VW_RESCHED_UNKNOWN || e->kind == VW_EVENT_SWITCH)
		return;
	s->seen.flags++;
	if (e->resched == VW_RESCHED_NONE && e->kind == VW_EVENT_WAKEUP_NEW)
		return;
	if (e->resched != VW_RESCHED_FULL) {
		if (cpu->full_since_ns && cpu->curr)
			cpu->curr->longest_pending_ns = vw_sched_max(
				cpu->curr->longest_pending_ns, s->now_ns - cpu->full_since_ns);
		cpu->full_since_ns = 0;
	} else if (!cpu->full_since_ns) {
		cpu->full_since_ns = s->now_ns;
	}
	cpu->flag = e->resched;
	cpu->flag_ns = s->now_ns;
}

/* That none was asked for must have been seen after somebody began to wait. */
static enum vw_resched resched_of(const struct vw_sched_cpu *cpu)
{
	if (cpu->flag == VW_RESCHED_NONE && cpu->first && cpu->flag_ns <= cpu->first->wait.start_ns)
		return VW_RESCHED_UNKNOWN;
	return cpu->flag;
}

/* Threads of the stop class and of real time preempt at once; they are victims when they do not. */
static bool is_told(const struct vw_sched *s, const struct vw_sched_task *t)
{
	bool rt = t->prio >= 0 && t->prio < PRIO_RT;

	return !t->gone && (!rt || s->now_ns - t->wait.start_ns >= s->config.threshold_ns);
}

static void add_waiters(struct vw_sched *s, const struct vw_sched_cpu *cpu,
			struct vw_obs_stint *stint)
{
	const struct vw_sched_task *t;

	for (t = cpu->first; t && stint->n_waiters < VW_MAX_VICTIMS; t = t->next) {
		struct vw_waiter *w = &stint->waiters[stint->n_waiters];

		if (!is_told(s, t))
			continue;
		w->tid = t->tid;
		w->start_ns = vw_sched_start_of(t);
		w->wait_ns = s->now_ns - t->wait.start_ns;
		w->weight = vw_sched_weight(t->prio);
		stint->n_waiters++;
	}
}

static void tell_names(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	struct vw_sched_task *t;
	unsigned int n = 0;

	vw_sched_tell_task(s, cpu->curr);
	for (t = cpu->first; t && n < VW_MAX_VICTIMS; t = t->next) {
		if (!is_told(s, t))
			continue;
		vw_sched_tell_task(s, t);
		n++;
	}
}

void vw_sched_tell_stint(struct vw_sched *s, struct vw_sched_cpu *cpu, bool final)
{
	struct vw_sched_task *t = cpu->curr;
	struct vw_obs_stint *stint;

	if (!t || t->gone || s->now_ns - cpu->since_ns < s->config.threshold_ns)
		return;
	tell_names(s, cpu);
	stint = &vw_sched_obs(s, VW_OBS_STINT, s->now_ns)->stint;
	stint->cpu = cpu->id;
	stint->tid = t->tid;
	stint->start_ns = vw_sched_start_of(t);
	stint->final = final;
	stint->rt = t->prio >= 0 && t->prio < PRIO_RT;
	stint->oncpu_ns = s->now_ns - cpu->since_ns;
	stint->resched = resched_of(cpu);
	if (cpu->full_since_ns)
		stint->pending_ns = s->now_ns - cpu->full_since_ns;
	/* All is seen here, no clock looks: it must not hold a finding back. */
	stint->ticks = stint->pending_ticks = UINT32_MAX;
	stint->weight = vw_sched_weight(t->prio);
	stint->nr_running = cpu->queue_known ? 1 + cpu->n_waiting : 0;
	stint->softirq_ns = vw_sched_grown(vw_sched_softirq(s, cpu, s->now_ns), cpu->softirq_at);
	stint->irq_ns = vw_sched_grown(vw_sched_irq(s, cpu, s->now_ns), cpu->irq_at);
	stint->clock = "trace";
	add_waiters(s, cpu, stint);
	vw_sched_tell(s);
	cpu->stint_told = !final;
}

static void look_at_stint(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	struct vw_sched_task *t = cpu->curr;

	cpu->stint_due_ns = t ? s->now_ns + STINT_REPEAT_NS : UINT64_MAX;
	if (!t)
		return;
	/* Once nobody waits any more that is news, too. */
	if (t->watched || cpu->first || cpu->stint_told) {
		vw_sched_tell_stint(s, cpu, false);
		cpu->stint_told = cpu->first;
	}
	vw_sched_charge_look(s, t);
	vw_sched_item_lasts(s, t);
}

void vw_sched_look(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	if (s->now_ns >= cpu->stint_due_ns)
		look_at_stint(s, cpu);
	if (s->now_ns >= cpu->wait_due_ns)
		cpu->wait_due_ns = vw_sched_tell_waits(s, cpu);
	cpu->due_ns = vw_sched_min(cpu->stint_due_ns, cpu->wait_due_ns);
}
