// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The part of waits that no stint explains, as WAIT: of watched tasks, while their group has no
 * quota left or while their CPU idles.
 *
 * From the switch hook (bpf/vw_rest.bpf.h); without it from what /proc counts for the task and
 * cpu.stat for its cgroup, once a second.
 */
#include <errno.h>
#include <stdlib.h>

#include "source/part.h"
#include "source/totals.h"
#include "util/hash.h"
#include "util/parse.h"

/* What was counted of a task and its cgroup a second ago. */
struct sample {
	int32_t tid;
	uint64_t start_ns;
	uint64_t delay_ns; /* VW_UNKNOWN: nothing yet */
	struct vw_quota quota;
	uint64_t seen_ns;
	UT_hash_handle hh;
};

struct wait {
	const struct vw_part_env *env;
	bool switches; /* the hook is there */
	struct sample *samples;
	uint64_t now_ns; /* nothing is told with an earlier time */
};

static int open_wait(const struct vw_part_env *env, void **ret_part)
{
	struct wait *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->env = env;
	p->switches = env->sight && env->plan->tp[VW_TP_SWITCH];
	*ret_part = p;
	return 0;
}

/* All that is not seen of such a wait. */
static struct vw_obs obs_of(const struct vw_task *task, int32_t cpu, uint64_t wait_ns,
			    uint64_t ts_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_WAIT, .ts_ns = ts_ns };

	obs.wait = (struct vw_obs_wait){
		.cpu = cpu,
		.tid = task->tid,
		.start_ns = task->start_ns,
		.wait_ns = wait_ns,
		.idle_ns = VW_UNKNOWN,
		.rt_ns = VW_UNKNOWN,
		.softirq_ns = VW_UNKNOWN,
		.longest_stint_ns = VW_UNKNOWN,
		.fair_ns = VW_UNKNOWN,
		.woken_cpu = -1,
	};
	return obs;
}

static int record(void *part, const struct vw_rec_hdr *hdr)
{
	const struct vw_rec_rest *rec = (const void *)hdr;
	struct wait *p = part;
	const struct vw_worker *w;
	struct vw_obs obs;

	if (hdr->kind != VW_REC_REST || rec->what != VW_REST_WAITED)
		return 0;
	w = vw_workers_get(p->env->workers, (int32_t)rec->task.tid);
	if (!w || !vw_task_same_start(w->task.start_ns, rec->task.start_ns))
		return 0;
	if (hdr->ts_ns > p->now_ns)
		p->now_ns = hdr->ts_ns;
	obs = obs_of(&w->task, (int32_t)hdr->cpu, rec->wait_ns, p->now_ns);
	obs.wait.final = true;
	obs.wait.throttled = rec->throttled_ns > rec->wait_ns / 2;
	obs.wait.weight = rec->task.weight;
	if (rec->idle_ns != VW_ABI_UNKNOWN)
		obs.wait.idle_ns = rec->idle_ns;
	if (rec->flags & VW_REST_WOKEN)
		obs.wait.woken_cpu = (int32_t)hdr->cpu;
	p->env->emit(p->env->ctx, &obs);
	return 0;
}

/* It left its CPU because its group had no quota left, and has not come back for a second. */
static void tell_open(struct wait *p, const struct vw_worker *w)
{
	struct vw_abi_totals t;
	struct vw_obs obs;

	if (vw_totals_read(p->env->sight, &w->task, &t) || t.in_ts_ns ||
	    !(t.flags & VW_TOTALS_THROTTLED) || p->now_ns < t.out_ts_ns + VW_NS_PER_SEC)
		return;
	obs = obs_of(&w->task, (int32_t)t.cpu, p->now_ns - t.out_ts_ns, p->now_ns);
	obs.wait.throttled = true;
	p->env->emit(p->env->ctx, &obs);
}

static struct sample *sample_of(struct wait *p, const struct vw_task *task)
{
	struct sample *s;

	HASH_FIND(hh, p->samples, &task->tid, sizeof(task->tid), s);
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return NULL;
		s->tid = task->tid;
		s->delay_ns = VW_UNKNOWN;
		HASH_ADD(hh, p->samples, tid, sizeof(s->tid), s);
		if (!VW_HASH_ADDED(s)) {
			free(s);
			return NULL;
		}
	}
	if (!vw_task_same_start(s->start_ns, task->start_ns))
		s->delay_ns = VW_UNKNOWN;
	s->start_ns = task->start_ns;
	s->seen_ns = p->now_ns;
	return s;
}

/*
 * Single waits do not show in /proc.  Told is the mean of what it waited each time that its group
 * was throttled, and no more than that took.
 */
static void tell_mean(struct wait *p, const struct vw_worker *w, const struct sample *old,
		      const struct vw_proc_counters *c, const struct vw_quota *quota)
{
	uint64_t wait_ns;
	struct vw_obs obs;

	if (old->delay_ns == VW_UNKNOWN || c->delay_ns < old->delay_ns ||
	    quota->throttled <= old->quota.throttled ||
	    quota->throttled_ns < old->quota.throttled_ns)
		return;
	wait_ns = c->delay_ns - old->delay_ns;
	if (wait_ns > quota->throttled_ns - old->quota.throttled_ns)
		wait_ns = quota->throttled_ns - old->quota.throttled_ns;
	wait_ns /= quota->throttled - old->quota.throttled;
	if (wait_ns < 2 * p->env->threshold_ns || wait_ns > p->now_ns)
		return;
	obs = obs_of(&w->task, c->cpu, wait_ns, p->now_ns);
	obs.wait.final = obs.wait.throttled = true;
	p->env->emit(p->env->ctx, &obs);
}

static int look(struct wait *p, const struct vw_worker *w)
{
	struct sample *s = sample_of(p, &w->task);
	struct vw_proc_counters c;
	struct vw_quota quota;

	if (!s)
		return -ENOMEM;
	/* One that sleeps at this moment is not asked for more, and begins anew. */
	if (vw_attr_sample(p->env->attr, &w->task, &c) || c.delay_ns == VW_UNKNOWN ||
	    vw_attr_quota(p->env->attr, w->task.cgroup, &quota)) {
		s->delay_ns = VW_UNKNOWN;
		return 0;
	}
	tell_mean(p, w, s, &c, &quota);
	s->delay_ns = c.delay_ns;
	s->quota = quota;
	return 0;
}

static void drop_samples(struct wait *p, bool all)
{
	struct sample *s, *next;

	HASH_ITER(hh, p->samples, s, next)
	{
		if (!all && s->seen_ns == p->now_ns)
			continue;
		HASH_DEL(p->samples, s);
		free(s);
	}
}

static int second(void *part, uint64_t now_ns)
{
	struct wait *p = part;
	struct vw_workers *workers = p->env->workers;
	unsigned int i;
	int err = 0;

	p->now_ns = now_ns;
	for (i = 0; i < vw_workers_count(workers) && !err; i++) {
		const struct vw_worker *w = vw_workers_at(workers, i);

		if (p->switches)
			tell_open(p, w);
		else
			err = look(p, w);
	}
	drop_samples(p, false);
	return err;
}

static void close_wait(void *part)
{
	struct wait *p = part;

	drop_samples(p, true);
	free(p);
}

const struct vw_part_ops vw_part_wait = {
	.open = open_wait,
	.record = record,
	.second = second,
	.close = close_wait,
};
