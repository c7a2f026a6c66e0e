// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * starved_task (c) and (d): a task waits though nobody keeps its CPU from it without a break.
 * Works on waits (model/obs.h); what one long stint explains is told by detect/hog.c.
 *
 * One finding a CPU, sort and culprit is open; whoever waits for the same cause is its victim.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detect/episode.h"
#include "detect/words.h"
#include "util/format.h"
#include "util/parse.h"

#define SHARE_NS (100 * VW_NS_PER_MS) /* docs/FORMATS: (c) from 100 ms */
#define MAX_WAITS 8192

/* Why a wait is unfair.  The cause may become clear only at its end, the sort may not change. */
enum sort {
	SORT_NONE,
	SORT_SHARE, /* others had their turns, it had none */
	SORT_IDLE, /* nobody ran there, or nobody of its group was allowed to */
	SORT_SOFTIRQ,
};

struct wait_episode {
	struct vw_episode base;
	unsigned int under_way; /* waits */
	struct vw_obs_wait wait; /* the longest */
};

/* A wait that has been told of and goes on. */
struct under_way {
	int32_t tid;
	struct vw_episode_key key;
	uint64_t episode_start_ns; /* an episode of that key, but not another one */
	uint64_t seen_ns;
	UT_hash_handle hh;
};

struct detector {
	struct vw_detect_env *env;
	struct vw_episodes episodes;
	struct under_way *waits;
};

static uint64_t known(uint64_t ns)
{
	return ns == VW_UNKNOWN ? 0 : ns;
}

/* A stint as long as that is told by hog.c, with this wait as its victim's. */
static bool hogs(const struct detector *d, const struct vw_obs_wait *w)
{
	return w->longest_stint_ns != VW_UNKNOWN &&
	       w->longest_stint_ns > 2 * d->env->config.threshold_ns &&
	       w->longest_stint_ns >= known(w->idle_ns);
}

static bool took_turns(const struct detector *d, const struct vw_obs_wait *w)
{
	return w->longest_stint_ns != VW_UNKNOWN &&
	       w->longest_stint_ns <= 2 * d->env->config.threshold_ns;
}

/* Passed over again and again: after twice a fair round it should have had a turn. */
static bool passed_over(const struct detector *d, const struct vw_obs_wait *w)
{
	uint64_t rest, fair = w->fair_ns;

	if (w->runners < 2 || !took_turns(d, w) || fair == VW_UNKNOWN || w->rt_ns == VW_UNKNOWN)
		return false;
	/* A light task's turn comes more seldom, in the ratio of the weights. */
	if (w->weight && w->heaviest > w->weight)
		fair = fair * w->heaviest / w->weight;
	rest = w->rt_ns + known(w->softirq_ns);
	rest = w->wait_ns > rest ? w->wait_ns - rest : 0;
	return rest > SHARE_NS && rest > 2 * fair;
}

static enum sort classify(const struct detector *d, const struct vw_obs_wait *w, uint64_t ts_ns)
{
	uint64_t limit = 2 * d->env->config.threshold_ns;
	bool idle = w->idle_ns != VW_UNKNOWN && w->idle_ns > limit;

	if (w->wait_ns < limit || hogs(d, w))
		return SORT_NONE;
	if (known(w->softirq_ns) > w->wait_ns / 2 &&
	    (idle || (w->wait_ns > SHARE_NS && took_turns(d, w))))
		return SORT_SOFTIRQ;
	/* Where it is not known who ran, that it was not allowed to is reason enough. */
	if (w->throttled && w->longest_stint_ns == VW_UNKNOWN)
		return SORT_IDLE;
	if (!passed_over(d, w))
		return idle ? SORT_IDLE : SORT_NONE;
	if (w->throttled || (idle && w->idle_ns > w->wait_ns / 2))
		return SORT_IDLE;
	if (vw_debts_excuse_all(&d->env->debts, w->tid, w->wait_ns, ts_ns))
		return SORT_NONE;
	return SORT_SHARE;
}

static enum vw_cause cause_of(enum sort sort, const struct vw_obs_wait *w)
{
	if (sort == SORT_SHARE)
		return VW_CAUSE_GROUP_OR_PAIR;
	if (sort == SORT_SOFTIRQ)
		return VW_CAUSE_SOFTIRQ;
	if (w->throttled)
		return VW_CAUSE_THROTTLED;
	if (w->released)
		return VW_CAUSE_FORCED_IDLE;
	/* Who was preempted there has not been misplaced by a wake-up. */
	return w->woken_cpu >= 0 ? VW_CAUSE_MISPLACED_WAKEUP : VW_CAUSE_UNKNOWN;
}

/* The one that had more than half of the turns, 0 without one. */
static int32_t culprit_of(enum sort sort, const struct vw_obs_wait *w)
{
	uint64_t others = known(w->idle_ns) + known(w->rt_ns);

	others = w->wait_ns > others ? w->wait_ns - others : 0;
	return sort == SORT_SHARE && w->top_tid > 0 && w->top_ns > others / 2 ? w->top_tid : 0;
}

static void put_what(struct vw_words *l, const struct wait_episode *e)
{
	const struct vw_finding *f = &e->base.finding;
	const struct vw_obs_wait *w = &e->wait;
	char a[VW_FORMAT_LEN], b[VW_FORMAT_LEN];

	switch (f->cause) {
	case VW_CAUSE_GROUP_OR_PAIR:
		vw_words_put(l, " while %u tasks took turns there, none longer than %s at a time",
			     w->runners, vw_format_ns(a, w->longest_stint_ns));
		if (f->has_culprit) {
			vw_words_put(l, "; ");
			vw_words_task(l, &f->culprit, true);
			vw_words_put(l, " had %s of it", vw_format_ns(a, w->top_ns));
		}
		vw_words_put(l, "; a round of fair turns takes %s", vw_format_ns(b, w->fair_ns));
		break;
	case VW_CAUSE_THROTTLED:
		vw_words_put(l, " because its cgroup had used up its CPU quota");
		if (w->idle_ns != VW_UNKNOWN)
			vw_words_put(l, "; the CPU idled for %s of it",
				     vw_format_ns(a, w->idle_ns));
		break;
	case VW_CAUSE_FORCED_IDLE:
		vw_words_put(
			l,
			" while that CPU was idle for %s, until another CPU let go of its task:"
			" so does core scheduling",
			vw_format_ns(a, w->idle_ns));
		break;
	case VW_CAUSE_MISPLACED_WAKEUP:
		vw_words_put(l, " while that CPU was idle for %s: it did not hear of the wake-up",
			     vw_format_ns(a, w->idle_ns));
		break;
	case VW_CAUSE_SOFTIRQ:
		vw_words_put(l, ", which spent %s of it on softirqs",
			     vw_format_ns(a, w->softirq_ns));
		break;
	default:
		vw_words_put(l, " while that CPU was idle for %s", vw_format_ns(a, w->idle_ns));
		break;
	}
}

static void put_remedy(struct vw_words *l, const struct vw_finding *f)
{
	switch (f->cause) {
	case VW_CAUSE_GROUP_OR_PAIR:
		vw_words_put(l,
			     "compare cpu.weight and nice of those who share CPU %d: cgroups share"
			     " first, then the tasks in each; or give one of them another CPU",
			     f->cpu);
		break;
	case VW_CAUSE_THROTTLED:
		vw_words_quota(l, &f->victims[0].task);
		break;
	case VW_CAUSE_FORCED_IDLE:
		vw_words_put(l,
			     "give the threads of one VM one core-scheduling cookie, or keep tasks"
			     " with different cookies on different cores");
		break;
	case VW_CAUSE_MISPLACED_WAKEUP:
		vw_words_put(l,
			     "see what keeps CPU %d from reacting: deep idle states, or, where this"
			     " host is itself a VM, its own host not running that vCPU (steal)",
			     f->cpu);
		break;
	case VW_CAUSE_SOFTIRQ:
		vw_words_softirqs(l, f->cpu);
		break;
	default:
		break;
	}
}

static void words(struct vw_episode *base, const struct vw_host *host)
{
	const struct wait_episode *e = (struct wait_episode *)base;
	struct vw_finding *f = &base->finding;
	struct vw_words message = VW_WORDS(f->message);
	struct vw_words remedy = VW_WORDS(f->remedy);
	char wait[VW_FORMAT_LEN];

	(void)host;
	vw_words_task(&message, &f->victims[0].task, true);
	vw_words_put(&message, " %s %s for CPU %d", base->lasts ? "has waited" : "waited",
		     vw_format_ns(wait, f->victims[0].wait_ns), f->cpu);
	vw_words_more(&message, f);
	put_what(&message, e);
	put_remedy(&remedy, f);
}

static void *create(struct vw_detect_env *env)
{
	struct detector *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->env = env;
	vw_episodes_init(&d->episodes, env, sizeof(struct wait_episode), words);
	return d;
}

static void forget(struct detector *d, struct under_way *known_wait)
{
	HASH_DEL(d->waits, known_wait);
	free(known_wait);
}

static void destroy(void *detector)
{
	struct detector *d = detector;
	struct under_way *wait, *next;

	if (!d)
		return;
	HASH_ITER(hh, d->waits, wait, next)
	{
		forget(d, wait);
	}
	vw_episodes_free(&d->episodes);
	free(d);
}

static struct under_way *find(const struct detector *d, int32_t tid)
{
	struct under_way *wait;

	HASH_FIND(hh, d->waits, &tid, sizeof(tid), wait);
	return wait;
}

/* What @wait was counted in, if that is still open. */
static struct wait_episode *episode_of(struct detector *d, const struct under_way *wait)
{
	struct vw_episode *base = vw_episodes_get(&d->episodes, &wait->key, wait->seen_ns);

	if (!base || base->finding.start_ns != wait->episode_start_ns)
		return NULL;
	return (struct wait_episode *)base;
}

static void drop(struct detector *d, int32_t tid)
{
	struct under_way *wait = find(d, tid);
	struct wait_episode *e;

	if (!wait)
		return;
	e = episode_of(d, wait);
	if (e)
		e->base.lasts = --e->under_way > 0;
	forget(d, wait);
}

/* The episode that the wait under way belongs to, NULL when it is none that was told of. */
static struct wait_episode *resume(struct detector *d, const struct vw_obs *obs)
{
	struct under_way *wait = find(d, obs->wait.tid);
	struct wait_episode *e = NULL;

	if (!wait)
		return NULL;
	if (obs->ts_ns - obs->wait.wait_ns <= wait->seen_ns)
		e = episode_of(d, wait);
	if (!e)
		drop(d, obs->wait.tid);
	else
		wait->seen_ns = obs->ts_ns;
	return e;
}

static int keep(struct detector *d, struct wait_episode *e, const struct vw_obs *obs)
{
	struct under_way *wait;

	if (HASH_COUNT(d->waits) >= MAX_WAITS)
		return 0;
	wait = calloc(1, sizeof(*wait));
	if (!wait)
		return -ENOMEM;
	wait->tid = obs->wait.tid;
	wait->key = e->base.key;
	wait->episode_start_ns = e->base.finding.start_ns;
	wait->seen_ns = obs->ts_ns;
	HASH_ADD(hh, d->waits, tid, sizeof(wait->tid), wait);
	if (!VW_HASH_ADDED(wait)) {
		free(wait);
		return -ENOMEM;
	}
	e->under_way++;
	return 0;
}

static struct wait_episode *begin(struct detector *d, const struct vw_obs *obs, enum sort sort)
{
	const struct vw_obs_wait *w = &obs->wait;
	struct vw_episode_key key = { .tid = culprit_of(sort, w),
				      .cpu = w->cpu,
				      .what = (int32_t)sort };
	struct vw_episode *base;
	bool is_new;

	base = vw_episodes_at(&d->episodes, &key, VW_STARVED_TASK, obs->ts_ns - w->wait_ns, w->cpu,
			      &is_new);
	if (!base)
		return NULL;
	if (!is_new) {
		vw_episode_again(base);
	} else if (key.tid) {
		base->finding.has_culprit = true;
		vw_detect_task(d->env, w->top_tid, w->top_start_ns, &base->finding.culprit);
	}
	return (struct wait_episode *)base;
}

static void update(struct detector *d, struct wait_episode *e, const struct vw_obs *obs,
		   enum sort sort, bool longer)
{
	const struct vw_obs_wait *w = &obs->wait;
	struct vw_finding *f = &e->base.finding;
	struct vw_task task;

	vw_detect_task(d->env, w->tid, w->start_ns, &task);
	vw_finding_add_victim(f, &task, w->wait_ns, longer);
	vw_episode_cover(&e->base, obs->ts_ns - w->wait_ns, obs->ts_ns);
	if (w->wait_ns < e->base.longest_ns)
		return;
	e->base.longest_ns = w->wait_ns;
	f->severity = w->wait_ns >= 20 * d->env->config.threshold_ns ? VW_CRITICAL : VW_WARNING;
	/* By now it looks otherwise, or is not known so well: what it was told for stands. */
	if ((int32_t)sort != e->base.key.what)
		return;
	e->wait = *w;
	f->cause = cause_of(sort, w);
	f->evidence.softirq_ns = w->softirq_ns;
	f->evidence.oncpu_ns = f->has_culprit ? w->top_ns : VW_UNKNOWN;
}

static int feed_wait(struct detector *d, const struct vw_obs *obs)
{
	const struct vw_obs_wait *w = &obs->wait;
	enum sort sort = w->wait_ns <= obs->ts_ns ? classify(d, w, obs->ts_ns) : SORT_NONE;
	struct wait_episode *e;
	bool longer;
	int err = 0;

	if (sort == SORT_NONE) {
		drop(d, w->tid);
		return 0;
	}
	e = resume(d, obs);
	longer = e;
	if (!e)
		e = begin(d, obs, sort);
	if (!e)
		return -ENOMEM;
	if (!longer && !w->final)
		err = keep(d, e, obs);
	update(d, e, obs, sort, longer);
	if (longer && w->final)
		drop(d, w->tid);
	e->base.lasts = e->under_way > 0;
	vw_episodes_tell(&d->episodes, &e->base);
	return err;
}

static int feed(void *detector, const struct vw_obs *obs)
{
	struct detector *d = detector;

	if (obs->kind == VW_OBS_WAIT)
		return feed_wait(d, obs);
	if (obs->kind == VW_OBS_TASK_EXIT)
		drop(d, obs->tid);
	vw_episodes_feed(&d->episodes, obs);
	return 0;
}

static void tick(void *detector, uint64_t ts_ns)
{
	struct detector *d = detector;
	struct under_way *wait, *next;

	HASH_ITER(hh, d->waits, wait, next)
	{
		if (ts_ns > wait->seen_ns + vw_episodes_quiet_ns(&d->episodes))
			drop(d, wait->tid);
	}
	vw_episodes_tick(&d->episodes, ts_ns);
}

static void finish(void *detector, uint64_t ts_ns)
{
	struct detector *d = detector;

	vw_episodes_finish(&d->episodes, ts_ns);
}

const struct vw_detector_ops vw_wait_ops = {
	.create = create,
	.feed = feed,
	.tick = tick,
	.finish = finish,
	.destroy = destroy,
};
