// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks that do not sleep, and tasks that sleep in D state. */
#include "source/sched_internal.h"

/* A worker woken by what its owner then waits for may be a little late on its CPU. */
#define TOGETHER_NS VW_NS_PER_MS

/* Of the watched tasks of one CPU, of all workers, of all blocked tasks, so many are looked at. */
#define MAX_WATCHED 64
#define MAX_WORKERS 4096
#define MAX_BLOCKED 1024

static void place(struct vw_sched_task *t, struct vw_sched_cpu *cpu)
{
	if (t->w_cpu == cpu)
		return;
	if (t->w_cpu) {
		DL_DELETE2(t->w_cpu->watched, t, w_prev, w_next);
		t->w_cpu->n_watched--;
	}
	t->w_cpu = NULL;
	if (!cpu)
		return;
	if (cpu->n_watched >= MAX_WATCHED) {
		t->others_wait_ns = VW_UNKNOWN;
		return;
	}
	DL_APPEND2(cpu->watched, t, w_prev, w_next);
	cpu->n_watched++;
	t->w_cpu = cpu;
}

void vw_sched_awake(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *cpu)
{
	if (!t->awake_ns) {
		t->awake_ns = s->now_ns;
		t->awake_oncpu = t->oncpu_ns;
		t->awake_wait = t->wait_ns;
		t->awake_items = t->items;
		t->switched = false;
		t->others_wait_ns = 0;
		t->busy_due_ns = s->now_ns + VW_SCHED_REPEAT_NS;
	}
	if (t->watched)
		place(t, cpu);
}

void vw_sched_asleep(struct vw_sched *s, struct vw_sched_task *t, bool tell)
{
	if (tell)
		vw_sched_tell_busy(s, t, true);
	place(t, NULL);
	t->awake_ns = 0;
}

void vw_sched_set_watched(struct vw_sched *s, struct vw_sched_task *t, bool watched)
{
	t->watched = watched;
	/* Who waited beside it so far was not noted. */
	t->others_wait_ns = VW_UNKNOWN;
	place(t, watched && t->awake_ns ? t->cpu : NULL);
}

void vw_sched_others_wait(struct vw_sched *s, struct vw_sched_cpu *cpu,
			  const struct vw_sched_task *t, uint64_t ns)
{
	struct vw_sched_task *w;

	DL_FOREACH2(cpu->watched, w, w_next)
	{
		if (w == t || w->others_wait_ns == VW_UNKNOWN)
			continue;
		w->others_wait_ns =
			vw_sched_max(w->others_wait_ns, vw_sched_min(ns, s->now_ns - w->awake_ns));
	}
}

/* Those that still wait count, too. */
static uint64_t others_wait(const struct vw_sched *s, const struct vw_sched_task *t)
{
	const struct vw_sched_task *first = t->cpu ? t->cpu->first : NULL;
	uint64_t ns;

	if (t->others_wait_ns == VW_UNKNOWN || (!s->seen.wakeups && !s->seen.wakings))
		return VW_UNKNOWN;
	if (first == t)
		first = t->next;
	ns = first ? s->now_ns - vw_sched_max(first->wait.start_ns, t->awake_ns) : 0;
	return vw_sched_max(ns, t->others_wait_ns);
}

void vw_sched_tell_busy(struct vw_sched *s, struct vw_sched_task *t, bool final)
{
	struct vw_obs_busy *busy;

	if (!t->watched || t->gone || !t->awake_ns || !t->switched ||
	    s->now_ns - t->awake_ns < VW_SCHED_REPEAT_NS)
		return;
	vw_sched_tell_task(s, t);
	busy = &vw_sched_obs(s, VW_OBS_BUSY, s->now_ns)->busy;
	busy->cpu = t->cpu ? t->cpu->id : -1;
	busy->tid = t->tid;
	busy->start_ns = vw_sched_start_of(t);
	busy->final = final;
	busy->busy_ns = s->now_ns - t->awake_ns;
	busy->oncpu_ns = vw_sched_oncpu(t, s->now_ns) - t->awake_oncpu;
	busy->wait_ns = vw_sched_waited(t, s->now_ns) - t->awake_wait;
	busy->longest_wait_ns = others_wait(s, t);
	busy->items = s->seen.works ? t->items - t->awake_items : VW_UNKNOWN;
	vw_sched_tell(s);
	t->busy_due_ns = s->now_ns + VW_SCHED_REPEAT_NS;
}

static bool is_of(const struct vw_sched_task *worker, const struct vw_sched_task *t)
{
	if (t->tgid && (worker->tgid == t->tgid || worker->owner_pid == t->tgid))
		return true;
	return worker->owner_pid == t->tid;
}

/* A worker of @t's process that has been awake for as long as @t has slept: the longest. */
static struct vw_sched_task *worker_of(const struct vw_sched *s, const struct vw_sched_task *t)
{
	struct vw_sched_task *w, *best = NULL;
	unsigned int n = 0;

	DL_FOREACH2(s->worker_list, w, worker_next)
	{
		if (++n > MAX_WORKERS)
			break;
		if (w == t || w->gone || !w->awake_ns || !is_of(w, t) ||
		    w->awake_ns > t->since_ns + TOGETHER_NS)
			continue;
		if (!best || w->awake_ns < best->awake_ns)
			best = w;
	}
	return best;
}

static void tell_blocked(struct vw_sched *s, struct vw_sched_task *t, bool final)
{
	struct vw_sched_task *worker;
	struct vw_obs_blocked *blocked;

	t->blocked_due_ns = s->now_ns + VW_SCHED_REPEAT_NS;
	if (t->gone)
		return;
	worker = worker_of(s, t);
	vw_sched_tell_task(s, t);
	if (worker)
		vw_sched_tell_task(s, worker);
	blocked = &vw_sched_obs(s, VW_OBS_BLOCKED, s->now_ns)->blocked;
	blocked->tid = t->tid;
	blocked->start_ns = vw_sched_start_of(t);
	blocked->final = final;
	blocked->state_ns = s->now_ns - t->since_ns;
	if (worker) {
		blocked->worker_tid = worker->tid;
		blocked->worker_start_ns = vw_sched_start_of(worker);
		blocked->worker_busy_ns = s->now_ns - worker->awake_ns;
	}
	vw_sched_tell(s);
}

void vw_sched_blocked_begin(struct vw_sched *s, struct vw_sched_task *t)
{
	t->state = VW_SCHED_BLOCKED;
	t->since_ns = s->now_ns;
	t->blocked_due_ns = s->now_ns + VW_SCHED_REPEAT_NS;
	DL_APPEND2(s->blocked, t, b_prev, b_next);
}

void vw_sched_blocked_end(struct vw_sched *s, struct vw_sched_task *t, bool tell)
{
	if (t->state != VW_SCHED_BLOCKED)
		return;
	if (tell && s->now_ns - t->since_ns >= VW_SCHED_REPEAT_NS)
		tell_blocked(s, t, true);
	DL_DELETE2(s->blocked, t, b_prev, b_next);
	t->state = VW_SCHED_SLEEPS;
}

void vw_sched_blocked_second(struct vw_sched *s, bool all)
{
	struct vw_sched_task *t;
	unsigned int n = 0;

	/* The longest blocked first. */
	DL_FOREACH2(s->blocked, t, b_next)
	{
		if (++n > MAX_BLOCKED || s->now_ns - t->since_ns < VW_SCHED_REPEAT_NS)
			break;
		if (all || s->now_ns >= t->blocked_due_ns)
			tell_blocked(s, t, false);
	}
}
