// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The part of workers that do not come to rest: BUSY of watched tasks that leave their CPU now and
 * then but never sleep, BLOCKED of their owners' threads in D state.
 *
 * That a worker sleeps is known from the switch hook (bpf/vw_rest.bpf.h), that one waits for its
 * CPU also from the clock.  Threads in D state are looked for in /proc, once a second and only of
 * owners one of whose workers has not slept for a second; so the state is told from when it was
 * first seen, up to two seconds late.
 */
#include <errno.h>
#include <stdlib.h>

#include "source/rota.h"
#include "source/part.h"
#include "source/totals.h"
#include "util/hash.h"
#include "util/parse.h"

#define AWAKE_NS VW_NS_PER_SEC
#define OWNERS 64 /* are looked at in one second */
#define MAX_BLOCKED 1024

/* An owner whose workers are busy. */
struct owner {
	struct vw_turn base; /* seen: one of its workers was awake then */
	/* The worker of them that has been awake for the longest time. */
	int32_t worker_tid;
	uint64_t worker_start_ns, awake_ns;
};

struct blocked {
	int32_t tid;
	struct vw_task task;
	uint64_t sleeps; /* the number of this sleep */
	uint64_t since_ns, seen_ns;
	UT_hash_handle hh;
};

struct busy {
	const struct vw_part_env *env;
	struct vw_rota owners; /* each a struct owner */
	struct blocked *blocked;
	uint64_t now_ns; /* nothing is told with an earlier time */
	int err;
};

static int open_busy(const struct vw_part_env *env, void **ret_part)
{
	struct busy *p;

	if (!env->sight || !env->plan->tp[VW_TP_SWITCH])
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->env = env;
	p->owners.size = sizeof(struct owner);
	*ret_part = p;
	return 0;
}

static void tell_busy(struct busy *p, const struct vw_worker *w, const struct vw_abi_totals *t,
		      uint64_t end_ns, bool final)
{
	struct vw_obs obs = { .kind = VW_OBS_BUSY, .ts_ns = end_ns };

	obs.busy = (struct vw_obs_busy){
		.cpu = (int32_t)t->cpu,
		.tid = w->task.tid,
		.start_ns = w->task.start_ns,
		.final = final,
		.busy_ns = end_ns - t->awake_ns,
		.oncpu_ns = vw_totals_oncpu(t, end_ns) - t->awake_oncpu_ns,
		.wait_ns = vw_totals_wait(t, end_ns) - t->awake_wait_ns,
		.longest_wait_ns = t->followed_ns,
		.items = VW_UNKNOWN,
	};
	p->env->emit(p->env->ctx, &obs);
}

static int record(void *part, const struct vw_rec_hdr *hdr)
{
	const struct vw_rec_rest *rec = (const void *)hdr;
	struct busy *p = part;
	const struct vw_worker *w;

	if (hdr->kind != VW_REC_REST || rec->what != VW_REST_SLEEPS)
		return 0;
	w = vw_workers_get(p->env->workers, (int32_t)rec->task.tid);
	if (!w || !vw_task_same_start(w->task.start_ns, rec->task.start_ns))
		return 0;
	if (hdr->ts_ns > p->now_ns)
		p->now_ns = hdr->ts_ns;
	tell_busy(p, w, &rec->totals, p->now_ns, true);
	return 0;
}

/* Since when @w has not slept, as far as that is known; 0 when it sleeps. */
static uint64_t awake_since(const struct busy *p, const struct vw_worker *w,
			    const struct vw_abi_totals *t)
{
	struct vw_proc_counters c;

	if (t->awake_ns)
		return t->awake_ns;
	/* Woken, and has not had the CPU since: then the clock has seen it wait. */
	if (!w->waiting_since_ns || vw_attr_sample(p->env->attr, &w->task, &c) || c.state != 'R' ||
	    c.slices != w->waiting_slices)
		return 0;
	return w->waiting_since_ns;
}

static void note_owner(struct busy *p, const struct vw_worker *w, uint64_t awake_ns)
{
	struct owner *owner = (struct owner *)vw_rota_note(&p->owners, w->task.owner_pid);

	if (!owner) {
		p->err = -ENOMEM;
		return;
	}
	if (owner->base.seen_ns != p->now_ns || awake_ns < owner->awake_ns) {
		owner->worker_tid = w->task.tid;
		owner->worker_start_ns = w->task.start_ns;
		owner->awake_ns = awake_ns;
	}
	owner->base.seen_ns = p->now_ns;
}

static void look_at_worker(struct busy *p, const struct vw_worker *w)
{
	struct vw_abi_totals t;
	uint64_t since;

	if (vw_totals_read(p->env->sight, &w->task, &t))
		return;
	since = awake_since(p, w, &t);
	if (!since || p->now_ns < since + AWAKE_NS)
		return;
	if (t.awake_ns && t.flags & VW_TOTALS_SWITCHED)
		tell_busy(p, w, &t, p->now_ns, false);
	if (w->task.role == VW_ROLE_VHOST_WORKER && w->task.owner_pid > 0)
		note_owner(p, w, since);
}

static void drop_blocked(struct busy *p, struct blocked *b)
{
	HASH_DEL(p->blocked, b);
	free(b);
}

static void on_blocked(void *ctx, const struct vw_task *task, uint64_t sleeps)
{
	struct busy *p = ctx;
	struct blocked *b;

	HASH_FIND(hh, p->blocked, &task->tid, sizeof(task->tid), b);
	if (b && (b->sleeps != sleeps || !vw_task_same(&b->task, task))) {
		drop_blocked(p, b);
		b = NULL;
	}
	if (!b) {
		if (HASH_COUNT(p->blocked) >= MAX_BLOCKED)
			return;
		b = calloc(1, sizeof(*b));
		if (!b) {
			p->err = -ENOMEM;
			return;
		}
		b->tid = task->tid;
		b->task = *task;
		b->sleeps = sleeps;
		b->since_ns = p->now_ns;
		HASH_ADD(hh, p->blocked, tid, sizeof(b->tid), b);
		if (!VW_HASH_ADDED(b)) {
			free(b);
			p->err = -ENOMEM;
			return;
		}
	}
	b->seen_ns = p->now_ns;
}

/* @owner NULL: none of its workers is awake any more, or the thread is. */
static void tell_blocked(struct busy *p, const struct blocked *b, const struct owner *owner)
{
	struct vw_obs obs = { .kind = VW_OBS_BLOCKED, .ts_ns = p->now_ns };

	if (p->now_ns - b->since_ns < VW_NS_PER_SEC)
		return;
	p->env->know(p->env->ctx, &b->task, p->now_ns);
	obs.blocked = (struct vw_obs_blocked){
		.tid = b->tid,
		.start_ns = b->task.start_ns,
		.final = !owner,
		.state_ns = p->now_ns - b->since_ns,
	};
	if (owner) {
		obs.blocked.worker_tid = owner->worker_tid;
		obs.blocked.worker_start_ns = owner->worker_start_ns;
		obs.blocked.worker_busy_ns = p->now_ns - owner->awake_ns;
	}
	p->env->emit(p->env->ctx, &obs);
}

/*
 * Owners are looked at in turn, so that many busy ones cost no more than OWNERS do: whom it was
 * goes to the end of the list.
 */
static void look_at_owners(struct busy *p)
{
	unsigned int left = HASH_COUNT(p->owners.head), looks = 0;
	struct vw_turn *owner, *next;

	HASH_ITER(hh, p->owners.head, owner, next)
	{
		if (!left--)
			break;
		if (owner->seen_ns == p->now_ns && looks == OWNERS)
			continue;
		if (owner->seen_ns != p->now_ns) {
			vw_rota_drop(&p->owners, owner);
			continue;
		}
		vw_attr_blocked(p->env->attr, owner->pid, on_blocked, p);
		if (vw_rota_looked(&p->owners, owner, p->now_ns)) {
			p->err = -ENOMEM;
			return;
		}
		looks++;
	}
}

static void look_at_blocked(struct busy *p)
{
	struct blocked *b, *next;
	struct owner *owner;

	HASH_ITER(hh, p->blocked, b, next)
	{
		owner = (struct owner *)vw_rota_get(&p->owners, b->task.tgid);
		/* One of too many, whose turn was not in this second. */
		if (owner && owner->base.looked_ns != p->now_ns)
			continue;
		if (b->seen_ns != p->now_ns)
			owner = NULL;
		tell_blocked(p, b, owner);
		if (!owner)
			drop_blocked(p, b);
	}
}

static int second(void *part, uint64_t now_ns)
{
	struct busy *p = part;
	struct vw_workers *workers = p->env->workers;
	unsigned int i;

	p->now_ns = now_ns;
	p->err = 0;
	for (i = 0; i < vw_workers_count(workers); i++)
		look_at_worker(p, vw_workers_at(workers, i));
	look_at_owners(p);
	look_at_blocked(p);
	return p->err;
}

static void close_busy(void *part)
{
	struct busy *p = part;
	struct blocked *b, *next;

	HASH_ITER(hh, p->blocked, b, next)
	{
		drop_blocked(p, b);
	}
	vw_rota_free(&p->owners);
	free(p);
}

const struct vw_part_ops vw_part_busy = {
	.open = open_busy,
	.record = record,
	.second = second,
	.close = close_busy,
};
