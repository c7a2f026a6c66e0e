// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running tasks that are taken off their CPU and moved, live: MOVE.
 *
 * The kernel tells the move, when the task runs again, and when who made room for it does.  What
 * comes of these three here is what source/sched_moves.c makes of a trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/decode.h"
#include "source/part.h"
#include "util/cpulist.h"
#include "util/fs.h"
#include "util/hash.h"
#include "util/parse.h"
#include "util/str.h"

#include <utlist.h>

#define BACK_NS VW_NS_PER_SEC
#define REPEAT_NS VW_NS_PER_SEC /* who made room and has not run since is told after that */
#define CLEAR_NS (2 * VW_NS_PER_SEC) /* flags that nothing came of for so long */
#define MAX_MOVES 512

struct move {
	struct vw_obs_move obs;
	uint64_t left_ns;
	uint64_t ran_ns; /* 0: not yet */
	uint64_t arrivals; /* of whom we wait for: more of them mean that it ran unseen */
	bool doubted; /* it did, but the record may still come */
	struct move *prev, *next;
};

/* A task that the switch hook was told to look at. */
struct mark {
	int32_t tid;
	uint64_t used_ns;
	UT_hash_handle hh;
};

/* The last move of a task. */
struct last {
	int32_t tid;
	uint64_t start_ns;
	int32_t from_cpu, to_cpu;
	uint64_t moved_ns;
	UT_hash_handle hh;
};

struct moves {
	const struct vw_part_env *env;
	unsigned int n;
	struct move *list; /* oldest first */
	struct mark *marks;
	struct last *lasts;
	long stoppers; /* that are marked */
};

static void forget(struct moves *ms, struct move *m)
{
	DL_DELETE(ms->list, m);
	ms->n--;
	free(m);
}

static void tell(struct moves *ms, struct move *m, uint64_t ts_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_MOVE, .ts_ns = ts_ns, .move = m->obs };

	ms->env->emit(ms->env->ctx, &obs);
	forget(ms, m);
}

static void know(const struct moves *ms, const struct vw_abi_task *task, uint64_t ts_ns)
{
	struct vw_task hint;

	vw_decode_task(task, &hint);
	ms->env->know(ms->env->ctx, &hint, ts_ns);
}

static int mark(struct moves *ms, uint32_t number, uint64_t ts_ns)
{
	int32_t tid = (int32_t)number;
	struct mark *k;

	if (!tid)
		return 0;
	HASH_FIND_INT(ms->marks, &tid, k);
	if (!k) {
		k = calloc(1, sizeof(*k));
		if (!k)
			return -ENOMEM;
		k->tid = tid;
		HASH_ADD_INT(ms->marks, tid, k);
		if (!VW_HASH_ADDED(k)) {
			free(k);
			return -ENOMEM;
		}
	}
	k->used_ns = ts_ns;
	return 0;
}

/* Whether the task went back where it had come from; keeps this move for the next time. */
static int note_back(struct moves *ms, const struct vw_rec_move *rec, bool *ret_back)
{
	int32_t tid = (int32_t)rec->task.tid;
	struct last *l;

	HASH_FIND_INT(ms->lasts, &tid, l);
	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l)
			return -ENOMEM;
		l->tid = tid;
		HASH_ADD_INT(ms->lasts, tid, l);
		if (!VW_HASH_ADDED(l)) {
			free(l);
			return -ENOMEM;
		}
	}
	*ret_back = l->start_ns == rec->task.start_ns && l->from_cpu == (int32_t)rec->to_cpu &&
		    l->to_cpu == (int32_t)rec->from_cpu && rec->hdr.ts_ns - l->moved_ns < BACK_NS;
	l->start_ns = rec->task.start_ns;
	l->from_cpu = (int32_t)rec->from_cpu;
	l->to_cpu = (int32_t)rec->to_cpu;
	l->moved_ns = rec->hdr.ts_ns;
	return 0;
}

static void fill_cpus(const struct vw_rec_move *rec, struct vw_obs_move *o)
{
	uint32_t cpu, n = rec->n_cpus < VW_ABI_MOVE_CPUS ? rec->n_cpus : VW_ABI_MOVE_CPUS;
	uint64_t allowed[VW_ABI_MOVE_CPUS / 64], idle[VW_ABI_MOVE_CPUS / 64];

	memcpy(allowed, rec->allowed, sizeof(allowed));
	memcpy(idle, rec->idle, sizeof(idle));
	o->allowed_known = n && !vw_cpulist_write(o->allowed, sizeof(o->allowed), allowed, n);
	o->idle_known = o->allowed_known;
	for (cpu = 0; cpu < n && o->n_idle < VW_MAX_LIST; cpu++)
		if (idle[cpu / 64] >> (cpu % 64) & 1)
			o->idle_cpus[o->n_idle++] = (int32_t)cpu;
}

/* NULL: none. */
static struct move *find(const struct moves *ms, uint32_t tid, uint64_t moved_ns)
{
	struct move *m;

	DL_FOREACH(ms->list, m)
	if (m->obs.tid == (int32_t)tid && !m->ran_ns && (!moved_ns || m->obs.moved_ns == moved_ns))
		return m;
	return NULL;
}

static int on_move(struct moves *ms, const struct vw_rec_move *rec)
{
	struct move *m;
	bool back;
	int err;

	err = note_back(ms, rec, &back);
	/* No finding comes of a move to a CPU where nobody ran. */
	if (err || rec->flags & VW_MOVE_TO_IDLE)
		return err;
	err = mark(ms, rec->task.tid, rec->hdr.ts_ns) ?: mark(ms, rec->held_tid, rec->hdr.ts_ns);
	m = find(ms, rec->task.tid, 0);
	if (m)
		forget(ms, m);
	if (ms->n >= MAX_MOVES)
		forget(ms, ms->list);
	m = err ? NULL : calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	know(ms, &rec->task, rec->hdr.ts_ns);
	m->obs.tid = (int32_t)rec->task.tid;
	m->obs.start_ns = rec->task.start_ns;
	m->obs.from_cpu = (int32_t)rec->from_cpu;
	m->obs.to_cpu = (int32_t)rec->to_cpu;
	m->obs.moved_ns = rec->hdr.ts_ns;
	m->obs.old_cpu_idle_ns = VW_UNKNOWN;
	m->obs.relieved_ns = rec->relieved_ns;
	m->obs.numa = rec->flags & VW_MOVE_NUMA;
	m->obs.back = back;
	fill_cpus(rec, &m->obs);
	m->left_ns = rec->left_ts_ns;
	m->arrivals = rec->arrivals;
	DL_APPEND(ms->list, m);
	ms->n++;
	return 0;
}

static void add_idle(struct vw_obs_move *o, int32_t cpu)
{
	unsigned int i;

	for (i = 0; i < o->n_idle; i++)
		if (o->idle_cpus[i] == cpu)
			return;
	if (o->n_idle == VW_MAX_LIST)
		o->n_idle--;
	o->idle_cpus[o->n_idle++] = cpu;
}

/* Those that waited there before the task came, longest first. */
static void fill_overtaken(struct moves *ms, const struct vw_rec_move_ran *rec,
			   struct vw_obs_move *o)
{
	uint32_t i, n = rec->n_waiters < VW_ABI_WAITERS ? rec->n_waiters : VW_ABI_WAITERS;

	for (i = 0; i < n && o->n_overtaken < VW_MAX_VICTIMS; i++) {
		struct vw_abi_waiter a = rec->waiters[i];

		if (a.wait_ns < rec->before_ns)
			continue;
		/* Its lead over the one that was moved has nothing to say here. */
		a.flags &= ~(uint32_t)VW_WAITER_LEAD;
		a.lead_ns = 0;
		know(ms, &a.task, rec->hdr.ts_ns);
		vw_decode_waiter(&a, o->overtaken, &o->n_overtaken);
	}
}

static int on_ran(struct moves *ms, const struct vw_rec_move_ran *rec)
{
	struct move *m = find(ms, rec->tid, rec->moved_ts_ns);
	struct vw_obs_move *o;

	if (!m)
		return 0;
	o = &m->obs;
	o->wait_ns = rec->hdr.ts_ns - m->left_ns;
	if (rec->flags & VW_RAN_FREE)
		add_idle(o, o->to_cpu);
	if (rec->flags & VW_RAN_MOVED_ON) {
		tell(ms, m, rec->hdr.ts_ns);
		return 0;
	}
	o->ran = true;
	if (rec->flags & VW_RAN_OLD_IDLE)
		o->old_cpu_idle_ns = rec->old_idle_ns;
	fill_overtaken(ms, rec, o);
	if (!(rec->flags & VW_RAN_DISPLACED)) {
		tell(ms, m, rec->hdr.ts_ns);
		return 0;
	}
	know(ms, &rec->displaced, rec->hdr.ts_ns);
	o->displaced_tid = (int32_t)rec->displaced.tid;
	o->displaced_start_ns = rec->displaced.start_ns;
	m->ran_ns = rec->hdr.ts_ns;
	m->arrivals = rec->displaced_arrivals;
	m->doubted = false;
	return mark(ms, rec->displaced.tid, rec->hdr.ts_ns);
}

static void on_back(struct moves *ms, const struct vw_rec_move_back *rec)
{
	struct move *m;

	DL_FOREACH(ms->list, m)
	if (m->ran_ns == rec->ran_ts_ns && m->obs.displaced_tid == (int32_t)rec->tid)
		break;
	if (!m)
		return;
	m->obs.displaced_wait_ns = rec->hdr.ts_ns - m->ran_ns;
	tell(ms, m, rec->hdr.ts_ns);
}

static int record(void *part, const struct vw_rec_hdr *hdr)
{
	struct moves *ms = part;

	switch (hdr->kind) {
	case VW_REC_MOVE:
		return on_move(ms, (const void *)hdr);
	case VW_REC_MOVE_RAN:
		return on_ran(ms, (const void *)hdr);
	case VW_REC_MOVE_BACK:
		on_back(ms, (const void *)hdr);
		return 0;
	default:
		return 0;
	}
}

/* The switch hook may have missed it: a flag that was set while another one was, in its slot. */
static bool ran_unseen(const struct moves *ms, const struct move *m)
{
	struct vw_task task = { .tid = m->obs.tid, .start_ns = m->obs.start_ns };
	struct vw_proc_counters c;

	if (m->ran_ns) {
		task.tid = m->obs.displaced_tid;
		task.start_ns = m->obs.displaced_start_ns;
	}
	return vw_attr_counters(ms->env->attr, &task, &c) || c.slices != m->arrivals;
}

/* What has not come to its end after a second. */
static void check_open(struct moves *ms, uint64_t now_ns)
{
	struct move *m, *tmp;

	DL_FOREACH_SAFE(ms->list, m, tmp)
	{
		if (now_ns < (m->ran_ns ?: m->obs.moved_ns) + REPEAT_NS)
			continue;
		if (ran_unseen(ms, m)) {
			if (m->doubted)
				forget(ms, m);
			else
				m->doubted = true;
		} else if (m->ran_ns) {
			m->obs.displaced_wait_ns = now_ns - m->ran_ns;
			tell(ms, m, now_ns);
		}
	}
}

static bool in_use(const struct moves *ms, int32_t tid)
{
	const struct vw_sight *s = ms->env->sight;
	struct vw_proc_counters c;
	struct vw_abi_move move;
	struct vw_task task = { .tid = tid };
	uint32_t key = (uint32_t)tid;

	if (s->lookup(s->bpf, VW_MAP_MOVES, &key, &move))
		return false;
	task.start_ns = move.start_ns;
	if (vw_attr_counters(ms->env->attr, &task, &c) != -ESRCH)
		return true;
	s->remove(s->bpf, VW_MAP_MOVES, &key);
	return false;
}

/*
 * Takes the flag of @k away, but not from those in its slot that are in use.  The kernel makes an
 * entry in the map before it sets the flag: one that comes meanwhile is seen, or its flag stays.
 */
static bool clear_mark(struct moves *ms, const struct mark *k)
{
	const struct vw_sight *s = ms->env->sight;
	const struct mark *other;

	s->mark(s->bpf, k->tid, VW_WATCH_MOVED, false);
	for (other = ms->marks; other; other = other->hh.next)
		if (other != k && !((other->tid ^ k->tid) & (VW_ABI_WATCH_SLOTS - 1)))
			s->mark(s->bpf, other->tid, VW_WATCH_MOVED, true);
	return !in_use(ms, k->tid);
}

static void clear_marks(struct moves *ms, uint64_t now_ns)
{
	const struct vw_sight *s = ms->env->sight;
	struct mark *k, *tmp;

	HASH_ITER(hh, ms->marks, k, tmp)
	{
		if (now_ns < k->used_ns + CLEAR_NS)
			continue;
		if (!in_use(ms, k->tid) && clear_mark(ms, k)) {
			HASH_DEL(ms->marks, k);
			free(k);
			continue;
		}
		/* Also for those whose flag was lost: slots are bytes that several CPUs change. */
		s->mark(s->bpf, k->tid, VW_WATCH_MOVED, true);
	}
}

static void clear_lasts(struct moves *ms, uint64_t now_ns)
{
	struct last *l, *tmp;

	HASH_ITER(hh, ms->lasts, l, tmp)
	{
		if (now_ns < l->moved_ns + BACK_NS)
			continue;
		HASH_DEL(ms->lasts, l);
		free(l);
	}
}

static int mark_stopper(void *ctx, int fd, int32_t tid)
{
	struct moves *ms = ctx;
	const struct vw_sight *s = ms->env->sight;
	char path[32], comm[VW_COMM_LEN];

	snprintf(path, sizeof(path), "%d/comm", tid);
	if (vw_fs_read(fd, path, comm, sizeof(comm)) > 0 && vw_str_starts(comm, "migration/")) {
		s->mark(s->bpf, tid, VW_WATCH_STOPPER, true);
		ms->stoppers++;
	}
	return 0;
}

/* A CPU gets its stopper when it first comes online. */
static int mark_stoppers(struct moves *ms)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int err;

	if (ms->stoppers >= cpus)
		return 0;
	ms->stoppers = 0;
	err = vw_fs_each_number(ms->env->proc_fd, ".", mark_stopper, ms);
	/* Where /proc hides them they are not looked for each second. */
	if (ms->stoppers < cpus)
		ms->stoppers = cpus;
	return err == -ENOMEM ? err : 0;
}

static int second(void *part, uint64_t now_ns)
{
	struct moves *ms = part;

	check_open(ms, now_ns);
	clear_marks(ms, now_ns);
	clear_lasts(ms, now_ns);
	return mark_stoppers(ms);
}

/* Which record is missing is not known, so nothing that is open can come to a true end. */
static void lost(void *part)
{
	struct moves *ms = part;

	while (ms->list)
		forget(ms, ms->list);
}

static void close_part(void *part)
{
	struct moves *ms = part;
	struct mark *k, *tmp;

	lost(ms);
	HASH_ITER(hh, ms->marks, k, tmp)
	{
		HASH_DEL(ms->marks, k);
		free(k);
	}
	clear_lasts(ms, UINT64_MAX);
	free(ms);
}

static int open_part(const struct vw_part_env *env, void **ret_part)
{
	struct moves *ms;
	int err;

	if (!env->sight || !env->plan->tp[VW_TP_MIGRATE])
		return 0;
	ms = calloc(1, sizeof(*ms));
	if (!ms)
		return -ENOMEM;
	ms->env = env;
	err = mark_stoppers(ms);
	if (err) {
		close_part(ms);
		return err;
	}
	*ret_part = ms;
	return 0;
}

const struct vw_part_ops vw_part_moves = {
	.open = open_part,
	.record = record,
	.second = second,
	.lost = lost,
	.close = close_part,
};
