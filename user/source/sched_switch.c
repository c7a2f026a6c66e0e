// SPDX-License-Identifier: GPL-2.0-or-later
/* What switches, wake-ups and migrations make of tasks and CPUs. */
#include <string.h>

#include "source/sched_internal.h"

void vw_sched_set_unknown(struct vw_sched *s, struct vw_sched_task *t)
{
	t->state = VW_SCHED_UNKNOWN;
	t->charge.open = false;
	vw_sched_asleep(s, t, false);
	vw_sched_move_drop(s, t);
	DL_APPEND(s->sleepers, t);
}

static bool is_dead(char state)
{
	return state == 'X' || state == 'Z' || state == 'x';
}

/* @t has left @cpu, which others have by now. */
static void leave(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *cpu,
		  const struct vw_event *e)
{
	char state = e->sw.prev_state;

	vw_sched_charge_out(s, t);
	if (!state && !e->sw.preempted) {
		vw_sched_set_unknown(s, t);
		return;
	}
	if (e->sw.preempted || state == 'R') {
		t->involuntary++;
		t->switched = true;
		vw_sched_wait_begin(s, t, cpu, true);
		if (t->watched && s->now_ns >= t->busy_due_ns)
			vw_sched_tell_busy(s, t, false);
		return;
	}
	t->voluntary++;
	vw_sched_asleep(s, t, true);
	t->state = VW_SCHED_SLEEPS;
	DL_APPEND(s->sleepers, t);
	if (is_dead(state))
		vw_sched_drop(s, t);
	else if (state == 'D' && !t->gone)
		vw_sched_blocked_begin(s, t);
}

/* A task that waited elsewhere was moved; if moves are recorded, more than that was not seen. */
static void end_wait(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *cpu)
{
	if (t->cpu && t->cpu != cpu && s->seen.migrations)
		vw_sched_wait_drop(s, t);
	else
		vw_sched_wait_end(s, t, cpu);
}

void vw_sched_switch(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e)
{
	bool runnable = e->sw.preempted || e->sw.prev_state == 'R';
	struct vw_sched_task *prev = cpu->curr, *next;

	if (prev) {
		if (*e->sw.prev.comm && strcmp(prev->comm, e->sw.prev.comm))
			vw_sched_name(s, prev, e->sw.prev.comm);
		if (e->sw.prev.prio >= 0)
			prev->prio = e->sw.prev.prio;
	}
	next = vw_sched_take(s, &e->sw.next, true);
	if (!next && e->sw.next.tid) {
		/* No room for it: who runs here is not known. */
		vw_sched_contradict(s, cpu);
		return;
	}
	if (next && next->state == VW_SCHED_RUNS) {
		vw_sched_contradict(s, next->cpu);
		/* From and to itself: the line makes no sense. */
		if (!cpu->known)
			return;
	}
	vw_sched_tell_stint(s, cpu, true);
	vw_sched_shares(s, cpu, prev, next, runnable);
	vw_sched_move_leave(s, cpu, prev);
	if (cpu->known)
		vw_sched_end(s, cpu);
	if (next && next->state == VW_SCHED_WAITS)
		end_wait(s, next, cpu);
	vw_sched_begin(s, cpu, next, true);
	vw_sched_moves_switch(s, cpu, prev, next, runnable);
	if (prev)
		leave(s, prev, cpu, e);
}

/*
 * One that waits anyway may be woken again where it waits, if it was taken off its CPU on its way
 * to sleep.  Else it must have run and slept in between, which was not seen.
 */
static bool is_new_wait(const struct vw_sched *s, const struct vw_sched_task *t,
			const struct vw_sched_cpu *cpu, bool by_waking)
{
	if (cpu && cpu != t->cpu)
		return true;
	/* Until the first sched_wakeup nobody knew that there would be any. */
	if (t->wait.by_waking && !by_waking)
		return true;
	return !t->wait.preempted && (s->lost || s->breaks);
}

/* It is on a queue now. */
static void woken(struct vw_sched *s, struct vw_sched_task *t, int32_t target, bool by_waking)
{
	struct vw_sched_cpu *cpu = vw_sched_cpu(s, target);

	if (t->state == VW_SCHED_RUNS)
		return;
	if (t->state == VW_SCHED_WAITS) {
		if (is_new_wait(s, t, cpu, by_waking))
			vw_sched_wait_restart(s, t, cpu ? cpu : t->cpu);
		return;
	}
	vw_sched_blocked_end(s, t, true);
	DL_DELETE(s->sleepers, t);
	vw_sched_wait_begin(s, t, cpu ? cpu : t->cpu, false);
	t->wait.by_waking = by_waking;
	t->lived = true;
}

void vw_sched_wake(struct vw_sched *s, const struct vw_event *e)
{
	struct vw_sched_task *t;

	if (e->kind == VW_EVENT_WAKING)
		s->seen.wakings++;
	else
		s->seen.wakeups++;
	t = vw_sched_take(s, &e->wake.task, true);
	if (!t)
		return;
	/* A new task: the one of that number before it ended unseen. */
	if (e->kind == VW_EVENT_WAKEUP_NEW && t->lived) {
		vw_sched_drop(s, t);
		t = vw_sched_take(s, &e->wake.task, true);
		if (!t)
			return;
	}
	/* On its way to a queue; sched_wakeup says when it is there, where that is recorded. */
	if (e->kind == VW_EVENT_WAKING && s->seen.wakeups)
		return;
	woken(s, t, e->wake.target_cpu, e->kind == VW_EVENT_WAKING);
}

void vw_sched_migrate(struct vw_sched *s, const struct vw_event *e)
{
	struct vw_sched_cpu *from = vw_sched_cpu(s, e->migrate.from_cpu);
	struct vw_sched_cpu *to = vw_sched_cpu(s, e->migrate.to_cpu);
	struct vw_sched_task *t = vw_sched_take(s, &e->migrate.task, true);

	s->seen.migrations++;
	if (!t)
		return;
	if (from != to)
		t->migrations++;
	if (t->state == VW_SCHED_RUNS) {
		/* What runs cannot be moved: it has left its CPU, and that was not seen. */
		vw_sched_move_unseen(s, t, from, to);
	} else if (t->state == VW_SCHED_WAITS && to) {
		/* It got to where it comes from unseen: it may have run there. */
		if (t->cpu && from && t->cpu != from)
			vw_sched_wait_restart(s, t, from);
		vw_sched_move(s, t, from, to);
	} else if (t->state == VW_SCHED_UNKNOWN) {
		vw_sched_move_unseen(s, t, from, to);
	} else if (to) {
		t->cpu = to;
	}
}
