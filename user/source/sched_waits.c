// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who waits for a CPU, since when, and what that CPU did meanwhile.
 *
 * The latter is cheap: counters of the CPU are compared with what they were when the wait began,
 * and the stints are looked up in the CPU's log.  Only what waits for longer than the log reaches
 * back is kept up to date as the log goes on, and only for the first ones of each queue.
 */
#include <stdlib.h>
#include <string.h>

#include "source/sched_internal.h"

#define KEEP_UP 16 /* of each queue */
#define LOOK_NS VW_NS_PER_MS /* a queue is looked through at most that often */
#define PRIO_RT 100
/* From the decision on one sibling to the switch on the other one. */
#define RELEASE_NS UINT64_C(50000)

static uint64_t idle_of(const struct vw_sched *s, const struct vw_sched_cpu *cpu)
{
	return cpu->idle_ns + (cpu->known && !cpu->curr ? s->now_ns - cpu->since_ns : 0);
}

static bool is_rt(int32_t prio)
{
	return prio >= 0 && prio < PRIO_RT;
}

static uint64_t rt_of(const struct vw_sched *s, const struct vw_sched_cpu *cpu)
{
	bool rt = cpu->curr && is_rt(cpu->curr->prio);

	return cpu->rt_ns + (rt ? s->now_ns - cpu->since_ns : 0);
}

static void add_run(struct vw_sched_runs *runs, int32_t tid, int32_t prio, uint64_t ns)
{
	uint32_t weight = vw_sched_weight(prio);
	unsigned int i;

	if (!ns)
		return;
	if (ns > runs->longest_ns)
		runs->longest_ns = ns;
	if (weight > runs->heaviest)
		runs->heaviest = weight;
	for (i = 0; i < runs->n; i++)
		if (runs->runs[i].tid == tid)
			break;
	if (i == VW_WAIT_RUNNERS) {
		runs->more = true;
		return;
	}
	if (i == runs->n) {
		runs->runs[i].tid = tid;
		runs->runs[i].total_ns = runs->runs[i].longest_ns = 0;
		runs->n++;
	}
	runs->runs[i].total_ns += ns;
	if (ns > runs->runs[i].longest_ns)
		runs->runs[i].longest_ns = ns;
}

/* Adds what the log of its CPU has beyond what was added before. */
static void catch_up(struct vw_sched_wait *w, const struct vw_sched_cpu *cpu,
		     struct vw_sched_runs *runs)
{
	uint64_t i = w->log_at;

	if (cpu->n_log - i > VW_SCHED_LOG) {
		runs->incomplete = true;
		i = cpu->n_log - VW_SCHED_LOG;
	}
	for (; i < cpu->n_log; i++) {
		const struct vw_sched_run *run = &cpu->log[i % VW_SCHED_LOG];
		uint64_t begin = vw_sched_max(run->end_ns - run->ns, w->joined_ns);

		if (run->end_ns > begin)
			add_run(runs, run->tid, run->prio, run->end_ns - begin);
	}
}

static struct vw_sched_runs *runs_of(struct vw_sched *s, struct vw_sched_wait *w)
{
	if (!w->runs)
		w->runs = calloc(1, sizeof(*w->runs));
	if (!w->runs)
		vw_sched_oom(s);
	return w->runs;
}

static void keep_up(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_runs *runs = runs_of(s, &t->wait);

	if (!runs)
		return;
	catch_up(&t->wait, t->cpu, runs);
	t->wait.log_at = t->cpu->n_log;
}

void vw_sched_log(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_sched_task *t,
		  uint64_t ns, uint64_t end_ns)
{
	struct vw_sched_run *run = &cpu->log[cpu->n_log % VW_SCHED_LOG];
	struct vw_sched_task *waiter;
	unsigned int i = 0;

	run->tid = t->tid;
	run->prio = t->prio;
	run->ns = ns;
	run->end_ns = end_ns;
	if (++cpu->n_log % (VW_SCHED_LOG / 2))
		return;
	for (waiter = cpu->first; waiter && i < KEEP_UP; waiter = waiter->next, i++)
		if (cpu->n_log - waiter->wait.log_at >= VW_SCHED_LOG / 2)
			keep_up(s, waiter);
}

/* Longest first: a task that comes from another queue may have waited for longer than some here. */
static void queue(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_cpu *cpu = t->cpu;
	struct vw_sched_task *after;

	if (!cpu)
		return;
	after = cpu->first ? cpu->first->prev : NULL;
	while (after && after->wait.start_ns > t->wait.start_ns)
		after = after == cpu->first ? NULL : after->prev;
	DL_APPEND_ELEM(cpu->first, after, t);
	cpu->n_waiting++;
	cpu->wait_due_ns = vw_sched_min(cpu->wait_due_ns, t->wait.due_ns);
	cpu->due_ns = vw_sched_min(cpu->due_ns, t->wait.due_ns);
	vw_sched_masks(s, cpu);
}

static void dequeue(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_cpu *cpu = t->cpu;

	if (!cpu)
		return;
	DL_DELETE(cpu->first, t);
	cpu->n_waiting--;
	vw_sched_masks(s, cpu);
}

static void join(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *cpu)
{
	struct vw_sched_wait *w = &t->wait;

	t->cpu = cpu;
	w->joined_ns = s->now_ns;
	if (!cpu || !cpu->known)
		w->parts_known = false;
	if (cpu) {
		w->idle_at = idle_of(s, cpu);
		w->rt_at = rt_of(s, cpu);
		w->softirq_at = vw_sched_softirq(s, cpu, s->now_ns);
		w->log_at = cpu->n_log;
	}
	queue(s, t);
}

void vw_sched_wait_begin(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *cpu,
			 bool preempted)
{
	struct vw_sched_wait *w = &t->wait;

	memset(w, 0, sizeof(*w));
	w->start_ns = s->now_ns;
	w->preempted = preempted;
	w->woken_cpu = preempted || !cpu ? -1 : cpu->id;
	w->due_ns = s->now_ns + 2 * s->config.threshold_ns;
	w->parts_known = true;
	t->state = VW_SCHED_WAITS;
	join(s, t, cpu);
	vw_sched_awake(s, t, cpu);
}

/* What its CPU did up to now is added to what others did before. */
static void add_parts(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_sched_wait *w = &t->wait;
	uint64_t softirq;

	if (!t->cpu)
		return;
	w->idle_ns += idle_of(s, t->cpu) - w->idle_at;
	w->rt_ns += rt_of(s, t->cpu) - w->rt_at;
	softirq = vw_sched_softirq(s, t->cpu, s->now_ns);
	if (softirq == VW_UNKNOWN || w->softirq_ns == VW_UNKNOWN)
		w->softirq_ns = VW_UNKNOWN;
	else
		w->softirq_ns += softirq - (w->softirq_at == VW_UNKNOWN ? 0 : w->softirq_at);
	w->idle_at = idle_of(s, t->cpu);
	w->rt_at = rt_of(s, t->cpu);
	w->softirq_at = softirq;
}

/* The stint that is under way, as far as it fell into the wait. */
static void add_open(const struct vw_sched *s, const struct vw_sched_task *t,
		     struct vw_sched_runs *runs)
{
	const struct vw_sched_cpu *cpu = t->cpu;

	if (cpu && cpu->curr)
		add_run(runs, cpu->curr->tid, cpu->curr->prio,
			s->now_ns - vw_sched_max(cpu->since_ns, t->wait.joined_ns));
}

void vw_sched_wait_move(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *to)
{
	struct vw_sched_wait *w = &t->wait;

	/* It may be what ends the starvation: a last look at the stint that it waited for. */
	if (!s->lost && t->cpu && t->cpu->curr && s->now_ns - w->start_ns >= s->config.threshold_ns)
		vw_sched_tell_stint(s, t->cpu, false);
	add_parts(s, t);
	if (t->cpu && s->now_ns > w->joined_ns && runs_of(s, w)) {
		keep_up(s, t);
		add_open(s, t, w->runs);
	}
	dequeue(s, t);
	w->moved = true;
	join(s, t, to);
	vw_sched_awake(s, t, to);
}

void vw_sched_wait_restart(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *cpu)
{
	dequeue(s, t);
	free(t->wait.runs);
	vw_sched_wait_begin(s, t, cpu, false);
}

static void top_of(const struct vw_sched *s, const struct vw_sched_runs *runs,
		   struct vw_obs_wait *wait)
{
	const struct vw_sched_task *top;
	unsigned int i;

	wait->longest_stint_ns = runs->longest_ns;
	wait->runners = runs->n;
	wait->heaviest = runs->heaviest;
	wait->fair_ns = 0;
	for (i = 0; i < runs->n; i++) {
		wait->fair_ns += runs->runs[i].longest_ns;
		if (runs->runs[i].total_ns <= wait->top_ns)
			continue;
		wait->top_ns = runs->runs[i].total_ns;
		wait->top_tid = runs->runs[i].tid;
	}
	if (runs->more)
		wait->fair_ns = VW_UNKNOWN;
	top = vw_sched_find(s, wait->top_tid);
	wait->top_start_ns = top ? vw_sched_start_of(top) : 0;
}

/*
 * Core scheduling keeps a CPU idle while its sibling runs a task that may not run beside the one
 * that waits.  What shows in a trace is the end: the sibling lets go, and the waiter runs at once.
 */
static bool was_released(const struct vw_sched *s, const struct vw_sched_cpu *cpu,
			 uint64_t start_ns)
{
	unsigned int i;

	if (cpu->left_tid != 0 || cpu->since_ns != s->now_ns)
		return false;
	for (i = 0; i < s->n_cpus; i++) {
		const struct vw_sched_cpu *other = s->active[i];

		if (other != cpu && other->known && other->left_tid > 0 &&
		    s->now_ns - other->since_ns <= RELEASE_NS && other->left_since_ns <= start_ns)
			return true;
	}
	return false;
}

static void fill_parts(const struct vw_sched *s, const struct vw_sched_task *t,
		       const struct vw_sched_runs *runs, struct vw_obs_wait *wait)
{
	const struct vw_sched_wait *w = &t->wait;

	wait->idle_ns = wait->rt_ns = wait->softirq_ns = VW_UNKNOWN;
	wait->longest_stint_ns = wait->fair_ns = VW_UNKNOWN;
	if (!w->parts_known)
		return;
	wait->idle_ns = w->idle_ns;
	wait->rt_ns = w->rt_ns;
	wait->softirq_ns = w->softirq_ns;
	if (!runs->incomplete)
		top_of(s, runs, wait);
}

/* @ran: on which CPU it runs now, NULL while it waits. */
static void tell_wait(struct vw_sched *s, struct vw_sched_task *t, const struct vw_sched_cpu *ran)
{
	struct vw_sched_runs runs = { 0 };
	struct vw_sched_task *top = NULL;
	struct vw_obs_wait *wait, parts = { 0 };

	if (t->gone)
		return;
	add_parts(s, t);
	if (t->cpu && runs_of(s, &t->wait)) {
		keep_up(s, t);
		runs = *t->wait.runs;
		add_open(s, t, &runs);
	}
	fill_parts(s, t, &runs, &parts);
	if (parts.top_tid)
		top = vw_sched_find(s, parts.top_tid);
	vw_sched_tell_task(s, t);
	if (top)
		vw_sched_tell_task(s, top);
	wait = &vw_sched_obs(s, VW_OBS_WAIT, s->now_ns)->wait;
	*wait = parts;
	wait->cpu = ran ? ran->id : t->cpu ? t->cpu->id : -1;
	wait->tid = t->tid;
	wait->start_ns = vw_sched_start_of(t);
	wait->final = ran;
	wait->weight = vw_sched_weight(t->prio);
	wait->wait_ns = s->now_ns - t->wait.start_ns;
	wait->released = ran && was_released(s, ran, t->wait.start_ns);
	wait->woken_cpu = t->wait.woken_cpu;
	vw_sched_tell(s);
	t->wait.due_ns = s->now_ns + VW_SCHED_REPEAT_NS;
}

uint64_t vw_sched_tell_waits(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	uint64_t due_ns = UINT64_MAX;
	struct vw_sched_task *t;

	for (t = cpu->first; t; t = t->next) {
		bool late = s->now_ns - t->wait.start_ns >= 2 * s->config.threshold_ns;

		if (late && s->now_ns >= t->wait.due_ns)
			tell_wait(s, t, NULL);
		due_ns = vw_sched_min(due_ns, t->wait.due_ns);
		if (!late)
			break;
	}
	/* With very many of them somebody would always be due. */
	return vw_sched_max(due_ns, s->now_ns + LOOK_NS);
}

static void end_wait(struct vw_sched *s, struct vw_sched_task *t, uint64_t end_ns)
{
	t->wait_ns += end_ns - t->wait.start_ns;
	dequeue(s, t);
	free(t->wait.runs);
	t->wait.runs = NULL;
	t->state = VW_SCHED_UNKNOWN;
	DL_APPEND(s->sleepers, t);
}

void vw_sched_wait_end(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *ran)
{
	uint64_t ns = s->now_ns - t->wait.start_ns;

	vw_sched_others_wait(s, ran, t, ns);
	if (ns >= 2 * s->config.threshold_ns)
		tell_wait(s, t, ran);
	end_wait(s, t, s->now_ns);
}

void vw_sched_wait_drop(struct vw_sched *s, struct vw_sched_task *t)
{
	uint64_t heard_ns = t->cpu ? t->cpu->heard_ns : s->now_ns;

	end_wait(s, t, vw_sched_max(heard_ns, t->wait.start_ns));
	vw_sched_asleep(s, t, false);
	vw_sched_move_drop(s, t);
}
