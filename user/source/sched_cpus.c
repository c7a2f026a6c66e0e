// SPDX-License-Identifier: GPL-2.0-or-later
/* The CPUs of the model: who runs there, since when, and what is known of it at all. */
#include <stdlib.h>

#include "source/sched_internal.h"

/*
 * Between the moment at which a switch is recorded and the one at which it is made, interrupts are
 * off and a few events may still be recorded, with the task that leaves in their heads.
 */
#define SWITCHING_NS UINT64_C(100000)

struct vw_sched_cpu *vw_sched_cpu(struct vw_sched *s, int32_t id)
{
	struct vw_sched_cpu *cpu;

	if (id < 0 || id >= VW_SCHED_CPUS)
		return NULL;
	if (s->cpus[id])
		return s->cpus[id];
	cpu = calloc(1, sizeof(*cpu));
	if (cpu)
		cpu->log = calloc(VW_SCHED_LOG, sizeof(*cpu->log));
	if (!cpu || !cpu->log) {
		free(cpu);
		vw_sched_oom(s);
		return NULL;
	}
	cpu->id = id;
	cpu->left_tid = -1;
	cpu->due_ns = cpu->stint_due_ns = cpu->wait_due_ns = UINT64_MAX;
	s->cpus[id] = cpu;
	s->active[s->n_cpus++] = cpu;
	s->seen_mask[id / 64] |= UINT64_C(1) << (id % 64);
	if ((unsigned int)id / 64 >= s->n_words)
		s->n_words = (unsigned int)id / 64 + 1;
	return cpu;
}

void vw_sched_cpu_free(struct vw_sched_cpu *cpu)
{
	free(cpu->log);
	free(cpu);
}

/* An idle task that runs while others wait there is no free CPU: it may not run them. */
void vw_sched_masks(struct vw_sched *s, const struct vw_sched_cpu *cpu)
{
	uint64_t bit = UINT64_C(1) << (cpu->id % 64);
	unsigned int word = (unsigned int)cpu->id / 64;

	if (cpu->known)
		s->known_mask[word] |= bit;
	else
		s->known_mask[word] &= ~bit;
	if (cpu->known && !cpu->curr && !cpu->n_waiting)
		s->idle_mask[word] |= bit;
	else
		s->idle_mask[word] &= ~bit;
}

static uint64_t total(const struct vw_sched_irq *irq, uint64_t ts_ns)
{
	return irq->total_ns + (irq->depth && irq->since_ns ? ts_ns - irq->since_ns : 0);
}

uint64_t vw_sched_softirq(const struct vw_sched *s, const struct vw_sched_cpu *cpu, uint64_t ts_ns)
{
	return s->seen.softirqs && !cpu->softirq.bad ? total(&cpu->softirq, ts_ns) : VW_UNKNOWN;
}

uint64_t vw_sched_irq(const struct vw_sched *s, const struct vw_sched_cpu *cpu, uint64_t ts_ns)
{
	return s->seen.irqs && !cpu->irq.bad ? total(&cpu->irq, ts_ns) : VW_UNKNOWN;
}

static void enter(struct vw_sched_irq *irq, uint64_t ts_ns)
{
	if (!irq->depth++)
		irq->since_ns = ts_ns;
}

/* An exit without its entry belongs to what began before the trace. */
static void leave(struct vw_sched_irq *irq, uint64_t ts_ns)
{
	if (!irq->depth || --irq->depth)
		return;
	if (irq->since_ns)
		irq->total_ns += ts_ns - irq->since_ns;
	irq->since_ns = 0;
}

/* A hard interrupt within a soft one takes its time from it; since_ns is 0 meanwhile. */
void vw_sched_interrupt(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e)
{
	struct vw_sched_irq *soft = &cpu->softirq;

	switch (e->kind) {
	case VW_EVENT_SOFTIRQ_ENTRY:
		s->seen.softirqs++;
		enter(soft, s->now_ns);
		break;
	case VW_EVENT_SOFTIRQ_EXIT:
		s->seen.softirqs++;
		leave(soft, s->now_ns);
		break;
	case VW_EVENT_IRQ_ENTRY:
		s->seen.irqs++;
		if (!cpu->irq.depth && soft->depth) {
			soft->total_ns += s->now_ns - soft->since_ns;
			soft->since_ns = 0;
		}
		enter(&cpu->irq, s->now_ns);
		break;
	default:
		s->seen.irqs++;
		leave(&cpu->irq, s->now_ns);
		if (!cpu->irq.depth && soft->depth && !soft->since_ns)
			soft->since_ns = s->now_ns;
		break;
	}
}

/*
 * No switch is made within an interrupt.  One that is still open has no exits in this trace, or the
 * kernel runs it in a task (PREEMPT_RT) that can be switched out: then its time cannot be told.
 */
static void close_interrupts(struct vw_sched_cpu *cpu)
{
	if (cpu->softirq.depth)
		cpu->softirq.bad = true;
	if (cpu->irq.depth)
		cpu->irq.bad = true;
	cpu->softirq.depth = cpu->irq.depth = 0;
}

static void add(uint64_t *sum, uint64_t ns)
{
	*sum += ns == VW_UNKNOWN ? 0 : ns;
}

/* What the stint was, up to @ts_ns, is added to the sums. */
static void account(struct vw_sched *s, struct vw_sched_cpu *cpu, uint64_t ts_ns)
{
	uint64_t ns = ts_ns > cpu->since_ns ? ts_ns - cpu->since_ns : 0;
	struct vw_sched_task *t = cpu->curr;

	if (!t) {
		cpu->idle_ns += ns;
		return;
	}
	t->oncpu_ns += ns;
	add(&t->irq_ns, vw_sched_grown(vw_sched_irq(s, cpu, ts_ns), cpu->irq_at));
	add(&t->softirq_ns, vw_sched_grown(vw_sched_softirq(s, cpu, ts_ns), cpu->softirq_at));
	if (t->prio >= 0 && t->prio < 100)
		cpu->rt_ns += ns;
	if (cpu->full_since_ns)
		t->longest_pending_ns = vw_sched_max(
			t->longest_pending_ns, ts_ns - vw_sched_min(ts_ns, cpu->full_since_ns));
	vw_sched_log(s, cpu, t, ns, ts_ns);
}

void vw_sched_end(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	account(s, cpu, s->now_ns);
	cpu->left_tid = cpu->curr ? cpu->curr->tid : 0;
	cpu->left_since_ns = cpu->since_ns;
	cpu->since_ns = s->now_ns;
}

void vw_sched_begin(struct vw_sched *s, struct vw_sched_cpu *cpu, struct vw_sched_task *t,
		    bool whole)
{
	if (t && t->state == VW_SCHED_RUNS && t->cpu != cpu)
		vw_sched_contradict(s, t->cpu);
	if (t && t->state == VW_SCHED_WAITS)
		vw_sched_wait_drop(s, t);
	cpu->known = true;
	cpu->whole = whole;
	cpu->curr = t;
	cpu->since_ns = s->now_ns;
	cpu->flag = VW_RESCHED_UNKNOWN;
	cpu->flag_ns = cpu->full_since_ns = 0;
	cpu->softirq_at = vw_sched_softirq(s, cpu, s->now_ns);
	cpu->irq_at = vw_sched_irq(s, cpu, s->now_ns);
	cpu->stint_told = false;
	cpu->stint_due_ns = t ? s->now_ns + s->config.threshold_ns : UINT64_MAX;
	cpu->due_ns = vw_sched_min(cpu->stint_due_ns, cpu->wait_due_ns);
	if (!t) {
		cpu->queue_known = true;
	} else {
		DL_DELETE(s->sleepers, t);
		vw_sched_blocked_end(s, t, true);
		t->state = VW_SCHED_RUNS;
		t->lived = true;
		t->cpu = cpu;
		vw_sched_awake(s, t, cpu);
		vw_sched_charge_in(s, t, whole);
	}
	vw_sched_masks(s, cpu);
}

void vw_sched_break(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	struct vw_sched_task *t = cpu->curr;

	if (cpu->known)
		account(s, cpu, cpu->heard_ns);
	cpu->known = cpu->queue_known = false;
	cpu->curr = NULL;
	cpu->left_tid = -1;
	cpu->softirq.depth = cpu->irq.depth = 0;
	cpu->stint_due_ns = cpu->due_ns = cpu->wait_due_ns = UINT64_MAX;
	vw_sched_shares_drop(cpu);
	vw_sched_items_lost(s, cpu);
	vw_sched_moves_lost(s, cpu);
	if (t)
		vw_sched_set_unknown(s, t);
	while (cpu->first)
		vw_sched_wait_drop(s, cpu->first);
	vw_sched_masks(s, cpu);
}

/* @t is NULL for the idle task; and if there was no room for it: who runs is unknown then. */
static void first_sight(struct vw_sched *s, struct vw_sched_cpu *cpu, struct vw_sched_task *t,
			int32_t tid)
{
	if (t || !tid)
		vw_sched_begin(s, cpu, t, false);
}

/*
 * Some kernels leave switches out of the trace by which a CPU leaves its idle task.  When it then
 * runs the only one that waits there, nothing else can have happened.
 */
static bool left_idle(const struct vw_sched_cpu *cpu, int32_t tid)
{
	return cpu->known && !cpu->curr && cpu->n_waiting == 1 && cpu->first->tid == tid;
}

/* The CPU runs another task than was thought. */
static void hear_other(struct vw_sched *s, struct vw_sched_cpu *cpu, int32_t tid)
{
	if (left_idle(cpu, tid)) {
		s->unseen++;
		account(s, cpu, cpu->heard_ns);
	} else if (cpu->known) {
		vw_sched_contradict(s, cpu);
	}
}

static void hear_switch(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e)
{
	int32_t tid = cpu->curr ? cpu->curr->tid : 0;

	s->seen.switches++;
	close_interrupts(cpu);
	if (!cpu->known || tid != e->sw.prev.tid) {
		hear_other(s, cpu, e->sw.prev.tid);
		first_sight(s, cpu, vw_sched_take(s, &e->sw.prev, false), e->sw.prev.tid);
	}
}

/*
 * The head names the task that the CPU runs, in interrupts too: there it is the interrupted one.
 */
void vw_sched_hear(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e)
{
	int32_t tid = cpu->curr ? cpu->curr->tid : 0;

	if (e->kind == VW_EVENT_SWITCH) {
		hear_switch(s, cpu, e);
		tid = e->sw.prev.tid;
	} else if (e->tid >= 0 && (!cpu->known || tid != e->tid)) {
		if (cpu->known && e->tid == cpu->left_tid &&
		    s->now_ns - cpu->since_ns < SWITCHING_NS)
			goto out;
		hear_other(s, cpu, e->tid);
		first_sight(s, cpu, vw_sched_take_tid(s, e->tid), e->tid);
		tid = e->tid;
	}
	if (cpu->curr && e->tid == tid) {
		if ((e->tgid > 0 && e->tgid != cpu->curr->tgid) || !*cpu->curr->comm)
			vw_sched_head_facts(s, cpu->curr, e);
		vw_sched_flag(s, cpu, e);
	}
out:
	cpu->heard_ns = s->now_ns;
}
