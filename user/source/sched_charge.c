// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time charged (sched_stat_runtime) against time on a CPU, in windows of about a second.
 *
 * An event charges what the task ran since it was charged last: at ticks and when it leaves its
 * CPU.  So a window begins and ends where all is charged: when the task gets a CPU, at such an
 * event, when it leaves.  The event may be recorded by another CPU, and loss anywhere may be loss
 * of it.
 *
 * The scheduler reads its clock once, when it begins to choose: the task that leaves is charged up
 * to there and the next one from there on, while the switch is recorded some microseconds later.
 * With many thousand switches a second that would make a gap, so that much at either end is left
 * out.
 */
#include <stdlib.h>

#include "source/sched_internal.h"

#define WINDOW_NS VW_NS_PER_SEC
/* A tickless CPU is charged once a second at least (sched_tick_remote()). */
#define SILENT_NS (5 * VW_NS_PER_SEC)
#define RECENT_NS VW_NS_PER_SEC
#define NOTE_NS VW_NS_PER_MS
#define CHOOSING_NS UINT64_C(50000)
#define PRIO_RT 100

static uint64_t irq_of(const struct vw_sched *s, const struct vw_sched_task *t)
{
	uint64_t open = 0;

	if (t->state == VW_SCHED_RUNS)
		open = vw_sched_grown(vw_sched_irq(s, t->cpu, s->now_ns), t->cpu->irq_at);
	return t->irq_ns + (open == VW_UNKNOWN ? 0 : open);
}

static uint64_t softirq_of(const struct vw_sched *s, const struct vw_sched_task *t)
{
	uint64_t open = 0;

	if (t->state == VW_SCHED_RUNS)
		open = vw_sched_grown(vw_sched_softirq(s, t->cpu, s->now_ns), t->cpu->softirq_at);
	return t->softirq_ns + (open == VW_UNKNOWN ? 0 : open);
}

static void sync(const struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_charge *c = &t->charge;

	c->sync_ns = s->now_ns;
	c->sync_oncpu = vw_sched_oncpu(t, s->now_ns) - c->choosing_ns;
	c->sync_irq = irq_of(s, t);
	c->sync_softirq = softirq_of(s, t);
}

static bool is_rt(const struct vw_sched_task *t)
{
	return t->prio >= 0 && t->prio < PRIO_RT;
}

/* The next window begins where the last one ended, or where all is charged now. */
static void begin(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_charge *c = &t->charge;

	c->open = true;
	c->gap = s->gap;
	c->rt = is_rt(t);
	c->cpu = t->cpu ? t->cpu->id : -1;
	c->start_ns = c->sync_ns;
	c->oncpu_at = c->sync_oncpu;
	c->irq_at = c->sync_irq;
	c->softirq_at = c->sync_softirq;
	c->charged_ns = 0;
}

static bool is_open(const struct vw_sched *s, const struct vw_sched_charge *c)
{
	return c->open && c->gap == s->gap;
}

/*
 * Whether the trace would tell if this task were charged.  It may have these events of chosen tasks
 * only: then most of those that ran have none.
 */
static bool is_observable(const struct vw_sched *s, const struct vw_sched_task *t)
{
	return t->charge.any || (s->charged_tasks && 2 * s->charged_tasks >= s->ran_tasks);
}

static void tell(struct vw_sched *s, struct vw_sched_task *t)
{
	const struct vw_sched_charge *c = &t->charge;
	struct vw_obs_charge *charge;

	vw_sched_tell_task(s, t);
	charge = &vw_sched_obs(s, VW_OBS_CHARGE, s->now_ns)->charge;
	charge->tid = t->tid;
	charge->start_ns = vw_sched_start_of(t);
	charge->cpu = c->cpu;
	charge->window_ns = c->sync_ns - c->start_ns;
	charge->oncpu_ns = (int64_t)(c->sync_oncpu - c->oncpu_at);
	charge->charged_ns = (int64_t)c->charged_ns;
	charge->irq_ns = charge->softirq_ns = charge->steal_ns = VW_SAMPLE_UNKNOWN;
	if (s->seen.irqs)
		charge->irq_ns = (int64_t)(c->sync_irq - c->irq_at);
	if (s->seen.softirqs)
		charge->softirq_ns = (int64_t)(c->sync_softirq - c->softirq_at);
	vw_sched_tell(s);
}

static void close_window(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_charge *c = &t->charge;
	uint64_t oncpu = c->sync_oncpu - c->oncpu_at;
	uint64_t diff = oncpu > c->charged_ns ? oncpu - c->charged_ns : c->charged_ns - oncpu;
	bool off = diff > NOTE_NS && diff > oncpu / 100;

	if (!c->rt && t->prio >= PRIO_RT && !t->gone && s->seen.charges && is_observable(s, t)) {
		if (off || c->off || t->watched)
			tell(s, t);
		c->off = off;
	}
	begin(s, t);
}

static void note(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_charge *c = &t->charge;

	if (is_rt(t))
		c->rt = true;
	if (t->cpu && c->cpu != t->cpu->id)
		c->cpu = -1;
	sync(s, t);
	if (s->now_ns - c->start_ns >= WINDOW_NS)
		close_window(s, t);
}

/* What it is charged for the time before its stint was recorded to begin. */
static uint64_t early(const struct vw_sched *s, const struct vw_sched_task *t, uint64_t runtime_ns)
{
	uint64_t ran;

	if (t->state != VW_SCHED_RUNS || t->charge.last_ns)
		return 0;
	ran = s->now_ns - t->cpu->since_ns;
	return runtime_ns > ran && runtime_ns - ran <= CHOOSING_NS ? runtime_ns - ran : 0;
}

void vw_sched_charge(struct vw_sched *s, const struct vw_event *e)
{
	const struct vw_sched_cpu *cpu = vw_sched_cpu(s, e->cpu);
	struct vw_sched_task *t = cpu ? cpu->curr : NULL;

	s->seen.charges++;
	s->last_charge_ns = s->now_ns;
	if (!t || t->tid != e->runtime.task.tid)
		t = vw_sched_take(s, &e->runtime.task, false);
	if (!t)
		return;
	t->charged_ns += e->runtime.runtime_ns;
	if (!t->charge.any)
		s->charged_tasks++;
	t->charge.any = true;
	if (is_open(s, &t->charge)) {
		t->charge.charged_ns += e->runtime.runtime_ns - early(s, t, e->runtime.runtime_ns);
		t->charge.last_ns = s->now_ns;
		note(s, t);
	} else if (t->state == VW_SCHED_RUNS) {
		/* What it is charged now may be from before it was seen. */
		t->charge.last_ns = s->now_ns;
		sync(s, t);
		begin(s, t);
	}
}

void vw_sched_charge_in(struct vw_sched *s, struct vw_sched_task *t, bool whole)
{
	struct vw_sched_charge *c = &t->charge;

	c->last_ns = 0;
	/* It ran for some time before that was seen. */
	if (!whole)
		c->open = false;
	if (is_open(s, c) && c->cpu != t->cpu->id)
		c->cpu = -1;
	if (is_open(s, c) || !whole)
		return;
	if (!t->ran && t->prio >= PRIO_RT) {
		t->ran = true;
		s->ran_tasks++;
	}
	sync(s, t);
	begin(s, t);
}

void vw_sched_charge_out(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_charge *c = &t->charge;

	if (!is_open(s, c))
		return;
	if (c->last_ns && s->now_ns - c->last_ns <= CHOOSING_NS)
		c->choosing_ns += s->now_ns - c->last_ns;
	note(s, t);
}

static bool others_are_charged(const struct vw_sched *s)
{
	return s->seen.charges && s->now_ns - s->last_charge_ns <= RECENT_NS;
}

void vw_sched_charge_look(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_charge *c = &t->charge;

	if (is_open(s, c) && s->now_ns - c->sync_ns >= SILENT_NS && others_are_charged(s))
		note(s, t);
}

/* The last window is a shorter one, up to where all was charged. */
void vw_sched_charge_finish(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_charge *c = &t->charge;

	if (!is_open(s, c))
		return;
	if (t->state == VW_SCHED_RUNS && !s->lost && !s->breaks &&
	    s->now_ns - c->sync_ns >= WINDOW_NS && others_are_charged(s))
		sync(s, t);
	if (c->sync_ns > c->start_ns)
		close_window(s, t);
}
