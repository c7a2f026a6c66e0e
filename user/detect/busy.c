// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * busy_worker of a worker that leaves its CPU now and then, yet never sleeps; from VW_OBS_BUSY.
 *
 * A stint without a break of that length is told by detect/hog.c; here counts what comes after.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "detect/episode.h"
#include "detect/words.h"
#include "util/format.h"
#include "util/parse.h"

#define BUSY_NS (5 * VW_NS_PER_SEC) /* docs/FORMATS */
#define MAX_STINTS 4096

/* The last stint of a task that was told as busy by itself. */
struct stint {
	int32_t tid;
	uint64_t end_ns;
	UT_hash_handle hh;
};

struct busy_episode {
	struct vw_episode base;
	struct vw_obs_busy busy;
};

struct detector {
	struct vw_detect_env *env;
	struct vw_episodes episodes;
	struct stint *stints;
};

static void words(struct vw_episode *base, const struct vw_host *host)
{
	const struct vw_obs_busy *b = &((struct busy_episode *)base)->busy;
	struct vw_finding *f = &base->finding;
	struct vw_words message = VW_WORDS(f->message);
	char ns[VW_FORMAT_LEN], ran[VW_FORMAT_LEN], waited[VW_FORMAT_LEN];

	(void)host;
	vw_words_task(&message, &f->culprit, true);
	vw_words_put(&message, " %s for %s", base->lasts ? "has not slept" : "did not sleep",
		     vw_format_ns(ns, b->busy_ns));
	if (b->oncpu_ns != VW_UNKNOWN && b->wait_ns != VW_UNKNOWN)
		vw_words_put(&message, ": it ran %s and waited %s for a CPU",
			     vw_format_ns(ran, b->oncpu_ns), vw_format_ns(waited, b->wait_ns));
	if (b->items != VW_UNKNOWN && b->items)
		vw_words_put(&message, "; %" PRIu64 " work items/s",
			     b->items * VW_NS_PER_MS / (b->busy_ns / 1000 ?: 1));
	if (b->longest_wait_ns == VW_UNKNOWN)
		vw_words_put(&message, "; whether others waited long is not known");
	else if (b->longest_wait_ns)
		vw_words_put(&message, "; nobody there waited longer than %s",
			     vw_format_ns(ns, b->longest_wait_ns));
	else
		vw_words_put(&message, "; nobody waited there");
	f->remedy[0] = '\0';
}

static void *create(struct vw_detect_env *env)
{
	struct detector *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->env = env;
	vw_episodes_init(&d->episodes, env, sizeof(struct busy_episode), words);
	return d;
}

static void forget(struct detector *d, struct stint *stint)
{
	HASH_DEL(d->stints, stint);
	free(stint);
}

static void destroy(void *detector)
{
	struct detector *d = detector;
	struct stint *stint, *next;

	if (!d)
		return;
	HASH_ITER(hh, d->stints, stint, next)
	{
		forget(d, stint);
	}
	vw_episodes_free(&d->episodes);
	free(d);
}

static struct stint *find(const struct detector *d, int32_t tid)
{
	struct stint *stint;

	HASH_FIND(hh, d->stints, &tid, sizeof(tid), stint);
	return stint;
}

static int feed_stint(struct detector *d, const struct vw_obs *obs)
{
	struct stint *stint;

	if (obs->stint.oncpu_ns < BUSY_NS || !vw_detect_watched(d->env, obs->stint.tid))
		return 0;
	stint = find(d, obs->stint.tid);
	if (!stint && HASH_COUNT(d->stints) < MAX_STINTS) {
		stint = calloc(1, sizeof(*stint));
		if (!stint)
			return -ENOMEM;
		stint->tid = obs->stint.tid;
		HASH_ADD(hh, d->stints, tid, sizeof(stint->tid), stint);
		if (!VW_HASH_ADDED(stint)) {
			free(stint);
			return -ENOMEM;
		}
	}
	if (stint)
		stint->end_ns = obs->ts_ns;
	return 0;
}

static int feed_busy(struct detector *d, const struct vw_obs *obs)
{
	const struct vw_obs_busy *b = &obs->busy;
	struct vw_episode_key key = { .tid = b->tid };
	const struct stint *stint = find(d, b->tid);
	/* Told as starved_task, too: then it is no harmless business. */
	bool harm = b->longest_wait_ns != VW_UNKNOWN &&
		    b->longest_wait_ns >= 2 * d->env->config.threshold_ns;
	struct busy_episode *e;
	uint64_t begin_ns;

	if (b->busy_ns > obs->ts_ns)
		return 0;
	begin_ns = obs->ts_ns - b->busy_ns;
	e = (struct busy_episode *)vw_episodes_get(&d->episodes, &key, begin_ns);
	/* It slept since, or somebody was kept waiting: it was true up to then. */
	if (e && (harm || begin_ns > e->base.finding.end_ns ||
		  (stint && stint->end_ns > e->base.finding.start_ns))) {
		vw_episodes_close(&d->episodes, &e->base);
		e = NULL;
	}
	if (stint && stint->end_ns > begin_ns)
		begin_ns = stint->end_ns;
	if (harm || obs->ts_ns < begin_ns + BUSY_NS)
		return 0;
	if (!e) {
		e = (struct busy_episode *)vw_episodes_open(&d->episodes, &key, VW_BUSY_WORKER,
							    begin_ns, b->cpu);
		if (!e)
			return -ENOMEM;
		e->base.finding.cause = VW_CAUSE_SATURATED;
		e->base.finding.severity = VW_INFO;
		e->base.finding.has_culprit = true;
		vw_detect_task(d->env, b->tid, b->start_ns, &e->base.finding.culprit);
	}
	vw_episode_cover(&e->base, begin_ns, obs->ts_ns);
	e->busy = *b;
	e->base.finding.evidence.oncpu_ns = b->oncpu_ns;
	e->base.lasts = !b->final;
	vw_episodes_tell(&d->episodes, &e->base);
	if (b->final)
		vw_episodes_close(&d->episodes, &e->base);
	return 0;
}

static int feed(void *detector, const struct vw_obs *obs)
{
	struct detector *d = detector;
	struct stint *stint;

	switch (obs->kind) {
	case VW_OBS_STINT:
		return feed_stint(d, obs);
	case VW_OBS_BUSY:
		return feed_busy(d, obs);
	case VW_OBS_TASK_EXIT:
		stint = find(d, obs->tid);
		if (stint)
			forget(d, stint);
		break;
	default:
		break;
	}
	vw_episodes_feed(&d->episodes, obs);
	return 0;
}

static void tick(void *detector, uint64_t ts_ns)
{
	struct detector *d = detector;

	vw_episodes_tick(&d->episodes, ts_ns);
}

static void finish(void *detector, uint64_t ts_ns)
{
	struct detector *d = detector;

	vw_episodes_finish(&d->episodes, ts_ns);
}

const struct vw_detector_ops vw_busy_ops = {
	.create = create,
	.feed = feed,
	.tick = tick,
	.finish = finish,
	.destroy = destroy,
};
