// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running tasks that are taken off their CPU and moved to another one.
 *
 * A move goes through two stages: until the task runs it belongs to that task; then, if another one
 * made room for it, to that one until it is back.
 */
#include <stdlib.h>
#include <string.h>

#include "source/sched_internal.h"
#include "util/cpulist.h"

/* Who takes a task off its CPU to move it does so at once, but for the stopper that runs first. */
#define AT_ONCE_NS UINT64_C(100000)
/*
 * migrate_task_to() and migrate_swap() record the event and then wait for the stopper, as long as
 * it takes; an event is good for one move of each task that it names.
 */
#define NUMA_NS (100 * VW_NS_PER_MS)
#define BACK_NS VW_NS_PER_SEC
#define MAX_ARRIVALS 64 /* the kernel moves 32 at a time (sched_nr_migrate) */

struct vw_sched_move {
	struct vw_obs_move obs;
	struct vw_sched_cpu *from, *to; /* in whose lists it is; NULL: in none any more */
	struct vw_sched_task *owner; /* who is moved, or made room */
	uint64_t left_ns; /* it was taken off its CPU */
	uint64_t ran_ns; /* 0: not yet */
	struct vw_sched_move *f_prev, *f_next, *a_prev, *a_next, *d_prev, *d_next;
};

static void unlink_from(struct vw_sched_move *m)
{
	if (m->from)
		DL_DELETE2(m->from->moves, m, f_prev, f_next);
	m->from = NULL;
}

static void unlink_to(struct vw_sched_move *m)
{
	if (m->to)
		DL_DELETE2(m->to->arriving, m, a_prev, a_next);
	m->to = NULL;
}

static void discard(struct vw_sched *s, struct vw_sched_move *m)
{
	unlink_from(m);
	unlink_to(m);
	if (m->ran_ns) {
		DL_DELETE2(s->displaced, m, d_prev, d_next);
		m->owner->displaced = NULL;
	} else {
		m->owner->move = NULL;
	}
	free(m);
}

static void finish(struct vw_sched *s, struct vw_sched_move *m)
{
	if (!m->ran_ns)
		m->obs.wait_ns = s->now_ns - m->left_ns;
	else
		m->obs.displaced_wait_ns = s->now_ns - m->ran_ns;
	vw_sched_obs(s, VW_OBS_MOVE, s->now_ns)->move = m->obs;
	vw_sched_tell(s);
	discard(s, m);
}

void vw_sched_move_over(struct vw_sched *s, struct vw_sched_task *t)
{
	if (t->move)
		finish(s, t->move);
	if (t->displaced)
		finish(s, t->displaced);
}

void vw_sched_move_drop(struct vw_sched *s, struct vw_sched_task *t)
{
	if (t->move)
		discard(s, t->move);
	if (t->displaced)
		discard(s, t->displaced);
}

void vw_sched_moves_lost(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	while (cpu->moves)
		discard(s, cpu->moves);
	while (cpu->arriving)
		discard(s, cpu->arriving);
}

void vw_sched_moves_second(struct vw_sched *s)
{
	/* In order of ran_ns. */
	while (s->displaced && s->now_ns - s->displaced->ran_ns >= VW_SCHED_REPEAT_NS)
		finish(s, s->displaced);
}

void vw_sched_moves_finish(struct vw_sched *s)
{
	struct vw_sched_task *t;

	for (t = s->tasks; t; t = t->hh.next)
		vw_sched_move_over(s, t);
}

/* Of others than the stopper, which comes only to move somebody. */
static uint64_t longest_wait(const struct vw_sched *s, const struct vw_sched_cpu *cpu,
			     const struct vw_sched_task *but)
{
	const struct vw_sched_task *t = cpu->first;

	while (t && (t->stopper || t == but))
		t = t->next;
	return t ? s->now_ns - t->wait.start_ns : 0;
}

void vw_sched_move_leave(struct vw_sched *s, struct vw_sched_cpu *cpu, struct vw_sched_task *prev)
{
	if (prev)
		prev->left_wait_ns = longest_wait(s, cpu, prev);
}

static void add_idle(struct vw_obs_move *o, int32_t cpu)
{
	unsigned int i;

	for (i = 0; i < o->n_idle; i++)
		if (o->idle_cpus[i] == cpu)
			return;
	if (o->n_idle < VW_MAX_LIST)
		o->idle_cpus[o->n_idle++] = cpu;
}

/* False when the list is empty, or is none. */
static bool parse_cpus(const char *list, uint64_t mask[VW_SCHED_CPUS / 64])
{
	uint32_t first, last;
	bool any = false;
	int err;

	memset(mask, 0, VW_SCHED_CPUS / 8);
	while ((err = vw_cpulist_next(&list, &first, &last)) > 0) {
		for (; first <= last && first < VW_SCHED_CPUS; first++)
			mask[first / 64] |= UINT64_C(1) << (first % 64);
		any = true;
	}
	return any && !err;
}

/*
 * What is idle now, of the CPUs that @t may use; of all that were seen when that is not known: then
 * there may be others, as a CPU that idles all the time is in no trace.
 */
static void fill_idle(struct vw_sched *s, struct vw_sched_task *t, struct vw_obs_move *o)
{
	uint64_t parsed[VW_SCHED_CPUS / 64], idle;
	const uint64_t *may = s->seen_mask;
	unsigned int i, words = s->n_words;

	vw_sched_ask(s, t);
	if (t->proc && parse_cpus(t->proc->cpus_allowed, parsed)) {
		o->allowed_known = true;
		memcpy(o->allowed, t->proc->cpus_allowed, sizeof(o->allowed));
		may = parsed;
		words = VW_SCHED_CPUS / 64;
	}
	o->idle_known = o->allowed_known;
	for (i = 0; i < words; i++) {
		if (may[i] & ~s->known_mask[i])
			o->idle_known = false;
		for (idle = may[i] & s->idle_mask[i]; idle; idle &= idle - 1)
			add_idle(o, (int32_t)(i * 64) + __builtin_ctzll(idle));
	}
}

static bool asked_by_numa(const struct vw_sched *s, const struct vw_sched_task *t)
{
	return t->numa_ns && s->now_ns - t->numa_ns <= NUMA_NS;
}

static void begin(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *from,
		  struct vw_sched_cpu *to, uint64_t left_ns)
{
	struct vw_sched_move *m = calloc(1, sizeof(*m));
	struct vw_obs_move *o;

	if (!m) {
		vw_sched_oom(s);
		return;
	}
	o = &m->obs;
	o->tid = t->tid;
	o->start_ns = vw_sched_start_of(t);
	o->from_cpu = from->id;
	o->to_cpu = to->id;
	o->moved_ns = s->now_ns;
	o->relieved_ns = vw_sched_max(t->left_wait_ns, longest_wait(s, from, t));
	o->old_cpu_idle_ns = VW_UNKNOWN;
	if (from->known && !from->curr)
		o->old_cpu_idle_ns = vw_sched_max(from->since_ns, left_ns) - left_ns;
	o->numa = asked_by_numa(s, t);
	t->numa_ns = 0;
	o->back = t->last_from == to->id && t->last_to == from->id &&
		  s->now_ns - t->last_move_ns < BACK_NS;
	fill_idle(s, t, o);
	vw_sched_tell_task(s, t);
	m->left_ns = left_ns;
	m->owner = t;
	m->from = from;
	m->to = to;
	DL_APPEND2(from->moves, m, f_prev, f_next);
	DL_APPEND2(to->arriving, m, a_prev, a_next);
	t->move = m;
	t->last_from = from->id;
	t->last_to = to->id;
	t->last_move_ns = s->now_ns;
}

static bool taken_off(const struct vw_sched *s, const struct vw_sched_task *t,
		      const struct vw_sched_cpu *from)
{
	const struct vw_sched_wait *w = &t->wait;

	if (!w->preempted || w->moved || t->cpu != from)
		return false;
	return s->now_ns - w->start_ns <= AT_ONCE_NS ||
	       (from->curr && from->curr->stopper && from->since_ns == w->start_ns);
}

void vw_sched_move(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *from,
		   struct vw_sched_cpu *to)
{
	if (t->move)
		finish(s, t->move);
	if (!t->gone && from && from != to && taken_off(s, t, from))
		begin(s, t, from, to, t->wait.start_ns);
	vw_sched_wait_move(s, t, to);
}

/*
 * NUMA balancing says that it moves a running task, so that much is known of one whose switches
 * were not seen.
 */
void vw_sched_move_unseen(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *from,
			  struct vw_sched_cpu *to)
{
	if (t->state == VW_SCHED_RUNS)
		vw_sched_contradict(s, t->cpu);
	if (t->move)
		finish(s, t->move);
	t->left_wait_ns = 0;
	if (!t->gone && from && to && from != to && asked_by_numa(s, t))
		begin(s, t, from, to, s->now_ns);
	if (to)
		t->cpu = to;
}

/* Of what has run or waits on @cpu since, nothing was there before @ts_ns. */
static bool had_no_others(const struct vw_sched_cpu *cpu, const struct vw_sched_task *next,
			  uint64_t ts_ns)
{
	const struct vw_sched_task *t;

	if (cpu->n_waiting > MAX_ARRIVALS || (next && next->wait.joined_ns < ts_ns))
		return false;
	/* The longest waiters come first, but those who were moved here waited elsewhere before. */
	DL_FOREACH(cpu->first, t)
	if (t->wait.joined_ns < ts_ns)
		return false;
	return true;
}

/*
 * A CPU that is about to go idle pulls tasks before its own last one has left: then the switch
 * comes at once, and what it had was a free CPU.
 */
static void settle(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_sched_task *prev,
		   const struct vw_sched_task *next, bool runnable)
{
	bool leaves = prev && !prev->stopper && !runnable;
	struct vw_sched_move *m;

	while ((m = cpu->arriving)) {
		if (leaves && s->now_ns - m->obs.moved_ns <= AT_ONCE_NS &&
		    had_no_others(cpu, next, m->obs.moved_ns))
			add_idle(&m->obs, cpu->id);
		unlink_to(m);
	}
}

/* Those that waited on @cpu before it came, and still do. */
static void fill_overtaken(struct vw_sched *s, const struct vw_sched_cpu *cpu,
			   struct vw_obs_move *o)
{
	struct vw_sched_task *t;

	for (t = cpu->first; t && o->n_overtaken < VW_MAX_VICTIMS; t = t->next) {
		struct vw_waiter *w = &o->overtaken[o->n_overtaken];

		if (t->gone || t->wait.joined_ns >= o->moved_ns)
			continue;
		vw_sched_tell_task(s, t);
		w->tid = t->tid;
		w->start_ns = vw_sched_start_of(t);
		w->wait_ns = s->now_ns - t->wait.start_ns;
		w->weight = vw_sched_weight(t->prio);
		o->n_overtaken++;
	}
}

static void ran(struct vw_sched *s, struct vw_sched_move *m, struct vw_sched_cpu *cpu,
		struct vw_sched_task *made_room)
{
	struct vw_obs_move *o = &m->obs;

	o->ran = true;
	o->wait_ns = s->now_ns - m->left_ns;
	fill_overtaken(s, cpu, o);
	if (!made_room || made_room->gone) {
		finish(s, m);
		return;
	}
	vw_sched_tell_task(s, made_room);
	o->displaced_tid = made_room->tid;
	o->displaced_start_ns = vw_sched_start_of(made_room);
	unlink_from(m);
	m->owner->move = NULL;
	if (made_room->displaced)
		finish(s, made_room->displaced);
	m->owner = made_room;
	m->ran_ns = s->now_ns;
	made_room->displaced = m;
	DL_APPEND2(s->displaced, m, d_prev, d_next);
}

void vw_sched_moves_switch(struct vw_sched *s, struct vw_sched_cpu *cpu, struct vw_sched_task *prev,
			   struct vw_sched_task *next, bool runnable)
{
	struct vw_sched_move *m;

	if (cpu->arriving)
		settle(s, cpu, prev, next, runnable);
	if (!next) {
		DL_FOREACH2(cpu->moves, m, f_next)
		if (m->obs.old_cpu_idle_ns == VW_UNKNOWN)
			m->obs.old_cpu_idle_ns = s->now_ns - m->left_ns;
		return;
	}
	if (next->displaced)
		finish(s, next->displaced);
	if (next->move)
		ran(s, next->move, cpu, runnable ? prev : NULL);
}
