// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/sched_internal.h"

struct vw_sched *vw_sched_new(const struct vw_sched_config *config, const struct vw_replay *out)
{
	struct vw_sched *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->config = *config;
	s->out = out;
	return s;
}

static void free_all(struct vw_sched *s)
{
	struct vw_sched_task *t, *next;
	unsigned int i;

	vw_sched_items_free(s);
	HASH_ITER(hh, s->tasks, t, next)
	{
		HASH_DEL(s->tasks, t);
		vw_sched_task_free(t);
	}
	for (i = 0; i < s->n_cpus; i++)
		vw_sched_cpu_free(s->active[i]);
}

void vw_sched_free(struct vw_sched *s)
{
	if (!s)
		return;
	free_all(s);
	free(s);
}

struct vw_obs *vw_sched_obs(struct vw_sched *s, enum vw_obs_kind kind, uint64_t ts_ns)
{
	static const size_t sizes[] = {
		[VW_OBS_TASK] = sizeof(s->obs.task),	 [VW_OBS_TASK_EXIT] = sizeof(s->obs.tid),
		[VW_OBS_STINT] = sizeof(s->obs.stint),	 [VW_OBS_LOSS] = sizeof(s->obs.loss),
		[VW_OBS_WAIT] = sizeof(s->obs.wait),	 [VW_OBS_WORK] = sizeof(s->obs.work),
		[VW_OBS_BUSY] = sizeof(s->obs.busy),	 [VW_OBS_CHARGE] = sizeof(s->obs.charge),
		[VW_OBS_MOVE] = sizeof(s->obs.move),	 [VW_OBS_SHARE] = sizeof(s->obs.share),
		[VW_OBS_PAIR] = sizeof(s->obs.pair),	 [VW_OBS_BLOCKED] = sizeof(s->obs.blocked),
		[VW_OBS_REPORT] = sizeof(s->obs.report),
	};

	s->obs.kind = kind;
	s->obs.ts_ns = ts_ns;
	memset(&s->obs.task, 0, sizes[kind]);
	return &s->obs;
}

void vw_sched_tell(struct vw_sched *s)
{
	if (!s->err)
		s->err = s->out->obs(s->out->ctx, &s->obs);
}

void vw_sched_oom(struct vw_sched *s)
{
	if (!s->err)
		s->err = -ENOMEM;
}

void vw_sched_tell_loss(struct vw_sched *s, int32_t cpu, uint64_t count)
{
	struct vw_obs *obs = vw_sched_obs(s, VW_OBS_LOSS, s->now_ns);

	obs->loss.cpu = cpu;
	obs->loss.count = count;
	vw_sched_tell(s);
}

/*
 * The line stands before the first event after the gap, which may be long after the last one before
 * it.  So all that was open on that CPU counts up to when it was last heard of.
 */
static void lose(struct vw_sched *s, const struct vw_event *e)
{
	unsigned int i;

	s->lost += e->lost;
	s->gap++;
	for (i = 0; i < s->n_cpus; i++)
		if (e->cpu < 0 || s->active[i]->id == e->cpu)
			vw_sched_break(s, s->active[i]);
	vw_sched_tell_loss(s, e->cpu, e->lost);
}

void vw_sched_contradict(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	vw_sched_break(s, cpu);
	/* Without switches it is no wonder that another task runs. */
	if (!s->seen.switches)
		return;
	s->breaks++;
	vw_sched_tell_loss(s, cpu->id, 0);
}

/* About once a second of the trace: what no event of its own would tell. */
static void second(struct vw_sched *s)
{
	unsigned int i;

	for (i = 0; i < s->n_cpus; i++)
		vw_sched_shares_second(s, s->active[i], false);
	vw_sched_blocked_second(s, false);
	vw_sched_items_second(s, false);
	vw_sched_moves_second(s);
	if (!s->err)
		s->err = s->out->tick(s->out->ctx, s->now_ns);
	s->second_ns = s->now_ns + VW_NS_PER_SEC;
}

static void on_exit_event(struct vw_sched *s, const struct vw_event *e)
{
	struct vw_sched_task *t = vw_sched_find(s, e->exit.tid);

	if (t)
		vw_sched_exit(s, t);
}

static void on_fork(struct vw_sched *s, const struct vw_event *e)
{
	struct vw_sched_task *t = vw_sched_find(s, e->fork.child.tid);

	if (t)
		vw_sched_drop(s, t);
	vw_sched_take(s, &e->fork.child, false);
}

static void on_numa(struct vw_sched *s, const struct vw_event *e)
{
	struct vw_sched_task *t = vw_sched_take_tid(s, e->numa.tid);

	if (t)
		t->numa_ns = s->now_ns;
	t = vw_sched_take_tid(s, e->numa.other_tid);
	if (t)
		t->numa_ns = s->now_ns;
}

static void dispatch(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e)
{
	switch (e->kind) {
	case VW_EVENT_SWITCH:
		if (cpu)
			vw_sched_switch(s, cpu, e);
		break;
	case VW_EVENT_WAKING:
	case VW_EVENT_WAKEUP:
	case VW_EVENT_WAKEUP_NEW:
		vw_sched_wake(s, e);
		break;
	case VW_EVENT_MIGRATE:
		vw_sched_migrate(s, e);
		break;
	case VW_EVENT_STAT_RUNTIME:
		vw_sched_charge(s, e);
		break;
	case VW_EVENT_FORK:
		on_fork(s, e);
		break;
	case VW_EVENT_EXIT:
		on_exit_event(s, e);
		break;
	case VW_EVENT_SOFTIRQ_ENTRY:
	case VW_EVENT_SOFTIRQ_EXIT:
	case VW_EVENT_IRQ_ENTRY:
	case VW_EVENT_IRQ_EXIT:
		if (cpu)
			vw_sched_interrupt(s, cpu, e);
		break;
	case VW_EVENT_NUMA:
		on_numa(s, e);
		break;
	case VW_EVENT_RCU_STALL:
	case VW_EVENT_CONSOLE:
		s->seen.console++;
		break;
	case VW_EVENT_WORK_QUEUE:
	case VW_EVENT_WORK_START:
	case VW_EVENT_WORK_END:
		vw_sched_work(s, e);
		break;
	case VW_EVENT_OTHER:
	case VW_EVENT_LOST:
		break;
	}
}

int vw_sched_event(struct vw_sched *s, const struct vw_event *e)
{
	struct vw_sched_cpu *cpu;

	if (e->kind == VW_EVENT_LOST) {
		lose(s, e);
		return s->err;
	}
	if (!s->started) {
		s->started = true;
		s->start_ns = e->ts_ns;
		s->second_ns = e->ts_ns + VW_NS_PER_SEC;
	}
	s->now_ns = e->ts_ns;
	if (s->now_ns >= s->second_ns)
		second(s);
	cpu = vw_sched_cpu(s, e->cpu);
	if (cpu)
		vw_sched_hear(s, cpu, e);
	dispatch(s, cpu, e);
	if (cpu && s->now_ns >= cpu->due_ns)
		vw_sched_look(s, cpu);
	return s->err;
}

static int by_tid(const struct vw_sched_task *a, const struct vw_sched_task *b)
{
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* What lasts can be believed if nothing is known to be missing: a silent CPU is one at rest. */
static void finish_open(struct vw_sched *s)
{
	struct vw_sched_task *t;
	unsigned int i;

	for (i = 0; i < s->n_cpus; i++) {
		s->active[i]->stint_due_ns = s->active[i]->wait_due_ns = s->now_ns;
		DL_FOREACH(s->active[i]->first, t)
		t->wait.due_ns = s->now_ns;
		vw_sched_look(s, s->active[i]);
	}
	vw_sched_blocked_second(s, true);
	vw_sched_items_second(s, true);
	for (t = s->tasks; t; t = t->hh.next)
		vw_sched_tell_busy(s, t, false);
}

int vw_sched_finish(struct vw_sched *s)
{
	struct vw_sched_task *t;
	unsigned int i;

	HASH_SRT(hh, s->tasks, by_tid);
	if (!s->lost && !s->breaks)
		finish_open(s);
	vw_sched_moves_finish(s);
	for (i = 0; i < s->n_cpus; i++)
		vw_sched_shares_second(s, s->active[i], true);
	for (t = s->tasks; t; t = t->hh.next)
		vw_sched_charge_finish(s, t);
	for (t = s->tasks; t; t = t->hh.next)
		if (t->watched && !t->gone)
			vw_sched_row(s, t);
	return s->err;
}

uint64_t vw_sched_lost(const struct vw_sched *s)
{
	return s->lost;
}

unsigned int vw_sched_workers(const struct vw_sched *s)
{
	return s->workers;
}
