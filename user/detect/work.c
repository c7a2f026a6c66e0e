// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Vhost work items that wait long in the queue of their worker (delayed_work_item) or take long
 * (long_work_item).  Works on VW_OBS_WORK; at most one finding of a kind is open a worker.
 *
 * What is queued when its worker exits never runs, and that is nobody's fault.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "detect/episode.h"
#include "detect/queue.h"
#include "detect/work_text.h"
#include "util/parse.h"

/* docs/FORMATS */
#define DELAYED_NS (50 * VW_NS_PER_MS)
#define DELAYED_CRITICAL_NS VW_NS_PER_SEC
#define LONG_NS (100 * VW_NS_PER_MS)
#define LONG_CRITICAL_NS (10 * VW_NS_PER_SEC)

#define MAX_WORKERS 8192

struct worker {
	int32_t tid;
	uint64_t start_ns; /* 0 unknown */
	int32_t cpu; /* where it was last seen, -1 unknown */
	struct vw_queue queue;
	struct vw_figures figures; /* the last ones */
	uint64_t figures_ns;
	UT_hash_handle hh;
};

struct detector {
	struct vw_detect_env *env;
	struct vw_episodes episodes;
	struct worker *workers;
	struct vw_queue unclaimed; /* queued, not known for whom */
};

/* One item as it is now: since when, until when, is it still like that. */
struct event {
	const struct vw_work_item *item;
	uint64_t ts_ns;
	bool lasts;
	enum vw_cause cause;
	uint64_t oncpu_ns;
};

static void *create(struct vw_detect_env *env)
{
	struct detector *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->env = env;
	vw_episodes_init(&d->episodes, env, sizeof(struct vw_work_episode), vw_work_words);
	return d;
}

static void forget(struct detector *d, struct worker *worker)
{
	HASH_DEL(d->workers, worker);
	vw_queue_done(&worker->queue);
	free(worker);
}

static void destroy(void *detector)
{
	struct detector *d = detector;
	struct worker *worker, *next;

	if (!d)
		return;
	HASH_ITER(hh, d->workers, worker, next)
	{
		forget(d, worker);
	}
	vw_queue_done(&d->unclaimed);
	vw_episodes_free(&d->episodes);
	free(d);
}

static struct vw_work_episode *open_episode(struct detector *d, const struct worker *worker,
					    enum vw_kind kind, uint64_t begin_ns)
{
	struct vw_episode_key key = { .tid = worker->tid, .what = (int32_t)kind };

	return (struct vw_work_episode *)vw_episodes_get(&d->episodes, &key, begin_ns);
}

static bool same_item(const struct vw_work_episode *e, const struct event *event)
{
	return e->base.lasts && e->work == event->item->work &&
	       e->since_ns == event->item->since_ns;
}

static enum vw_severity severity_of(enum vw_kind kind, uint64_t ns)
{
	uint64_t critical = kind == VW_LONG_WORK_ITEM ? LONG_CRITICAL_NS : DELAYED_CRITICAL_NS;

	return ns >= critical ? VW_CRITICAL : VW_WARNING;
}

static void update(struct vw_work_episode *e, const struct event *event)
{
	struct vw_finding *f = &e->base.finding;
	struct vw_work_evidence *evidence = &f->evidence.work;
	uint64_t ns = event->ts_ns - event->item->since_ns;

	vw_episode_cover(&e->base, event->item->since_ns, event->ts_ns);
	e->base.lasts = event->lasts;
	e->work = event->item->work;
	e->since_ns = event->item->since_ns;
	if (ns < e->base.longest_ns)
		return;
	e->base.longest_ns = ns;
	e->ahead_ns = event->item->ahead_ns;
	f->cause = event->cause;
	f->severity = severity_of(f->kind, ns);
	f->evidence.oncpu_ns = event->oncpu_ns;
	memcpy(evidence->function, event->item->function, sizeof(evidence->function));
	evidence->behind[0] = '\0';
	if (event->cause == VW_CAUSE_HEAD_OF_LINE && event->item->ahead_ns > ns / 2)
		memcpy(evidence->behind, event->item->ahead, sizeof(evidence->behind));
}

static int tell(struct detector *d, const struct worker *worker, enum vw_kind kind,
		const struct event *event)
{
	struct vw_episode_key key = { .tid = worker->tid, .what = (int32_t)kind };
	struct vw_work_episode *e = open_episode(d, worker, kind, event->item->since_ns);

	/* Items that wait for another cause are another finding. */
	if (e && kind == VW_DELAYED_WORK_ITEM && e->base.finding.cause != event->cause &&
	    !same_item(e, event)) {
		vw_episodes_close(&d->episodes, &e->base);
		e = NULL;
	}
	if (!e) {
		e = (struct vw_work_episode *)vw_episodes_open(&d->episodes, &key, kind,
							       event->item->since_ns, worker->cpu);
		if (!e)
			return -ENOMEM;
		e->base.finding.has_culprit = true;
		vw_detect_task(d->env, worker->tid, worker->start_ns, &e->base.finding.culprit);
	} else if (!same_item(e, event)) {
		vw_episode_again(&e->base);
	}
	update(e, event);
	vw_episodes_tell(&d->episodes, &e->base);
	return 0;
}

/* VW_UNKNOWN where one of the two is. */
static uint64_t delta(uint64_t now, uint64_t then)
{
	return now == VW_UNKNOWN || then == VW_UNKNOWN || now < then ? VW_UNKNOWN : now - then;
}

static bool exceeds(uint64_t ns, uint64_t limit)
{
	return ns != VW_UNKNOWN && ns > limit;
}

/* @now: what the worker has had up to @unseen_ns before the end of the wait. */
static enum vw_cause cause_of(const struct vw_work_item *item, const struct vw_figures *now,
			      uint64_t unseen_ns, uint64_t wait_ns, uint64_t ran_ns)
{
	uint64_t half = wait_ns / 2;
	uint64_t oncpu = delta(now->oncpu_ns, item->then.oncpu_ns);
	uint64_t waited = delta(now->wait_ns, item->then.wait_ns);

	if (exceeds(delta(now->throttled_ns, item->then.throttled_ns), half))
		return VW_CAUSE_WORKER_THROTTLED;
	if (exceeds(waited, half))
		return VW_CAUSE_WORKER_NOT_RUNNING;
	/* Without one item that ran for most of it, there were several, or it began unseen. */
	if (item->ahead_ns > half || ran_ns > half || exceeds(oncpu, half))
		return VW_CAUSE_HEAD_OF_LINE;
	if (oncpu != VW_UNKNOWN && waited != VW_UNKNOWN && oncpu + waited + unseen_ns <= half)
		return VW_CAUSE_WORKER_STOPPED;
	return VW_CAUSE_WORKER_NOT_RUNNING;
}

static int tell_delayed(struct detector *d, const struct worker *worker,
			const struct vw_work_item *item, uint64_t ts_ns, bool lasts)
{
	struct vw_work_item view = vw_queue_view(&worker->queue, item, ts_ns);
	struct event event = {
		.item = &view,
		.ts_ns = ts_ns,
		.lasts = lasts,
		.oncpu_ns = VW_UNKNOWN,
	};

	event.cause = cause_of(&view, &worker->figures, ts_ns - worker->figures_ns,
			       ts_ns - item->since_ns, vw_queue_ran(&worker->queue, item, ts_ns));
	return tell(d, worker, VW_DELAYED_WORK_ITEM, &event);
}

static int tell_long(struct detector *d, const struct worker *worker, uint64_t ts_ns, bool lasts)
{
	const struct vw_work_item *item = &worker->queue.now;
	struct event event = {
		.item = item,
		.ts_ns = ts_ns,
		.lasts = lasts,
		.cause = lasts ? VW_CAUSE_STILL_RUNNING : VW_CAUSE_LONG,
		.oncpu_ns = delta(worker->figures.oncpu_ns, item->then.oncpu_ns),
	};

	return tell(d, worker, VW_LONG_WORK_ITEM, &event);
}

/* Nobody saw how the running item ended. */
static void lose_running(struct detector *d, struct worker *worker)
{
	struct vw_work_episode *e =
		open_episode(d, worker, VW_LONG_WORK_ITEM, worker->queue.seen_ns);

	worker->queue.running = false;
	if (e && e->base.lasts)
		vw_episodes_close(&d->episodes, &e->base);
}

static void lose(struct detector *d, struct worker *worker)
{
	struct vw_work_episode *e = open_episode(d, worker, VW_DELAYED_WORK_ITEM, 0);

	lose_running(d, worker);
	vw_queue_clear(&worker->queue);
	if (e && e->base.lasts)
		vw_episodes_close(&d->episodes, &e->base);
}

static struct worker *find(const struct detector *d, int32_t tid)
{
	struct worker *worker;

	HASH_FIND(hh, d->workers, &tid, sizeof(tid), worker);
	return worker;
}

/* NULL: out of memory, or (*@ret_full) of room. */
static struct worker *worker_of(struct detector *d, const struct vw_obs_work *w, bool *ret_full)
{
	struct worker *worker = find(d, w->tid);

	*ret_full = false;
	if (worker && !vw_task_same_start(worker->start_ns, w->start_ns)) {
		lose(d, worker);
		worker->cpu = -1;
		worker->start_ns = w->start_ns;
	}
	if (worker)
		return worker;
	*ret_full = HASH_COUNT(d->workers) >= MAX_WORKERS;
	if (*ret_full)
		return NULL;
	worker = calloc(1, sizeof(*worker));
	if (!worker)
		return NULL;
	worker->tid = w->tid;
	worker->start_ns = w->start_ns;
	worker->cpu = -1;
	HASH_ADD(hh, d->workers, tid, sizeof(worker->tid), worker);
	if (!VW_HASH_ADDED(worker)) {
		free(worker);
		return NULL;
	}
	return worker;
}

static int started(struct detector *d, struct worker *worker, const struct vw_obs *obs)
{
	struct vw_work_item item;
	uint64_t work = obs->work.work;
	bool queued;
	int err = 0;

	if (worker->queue.running)
		lose_running(d, worker);
	queued = vw_queue_take(&worker->queue, work, true, &item);
	if (!queued && vw_queue_take(&d->unclaimed, work, false, &item)) {
		queued = true;
		vw_queue_claim(&worker->queue, &item);
	}
	if (queued && obs->ts_ns - item.since_ns >= DELAYED_NS)
		err = tell_delayed(d, worker, &item, obs->ts_ns, false);
	vw_queue_begin(&worker->queue, obs);
	return err;
}

/* The one that has waited longest; those behind it are told when they begin. */
static int wait_goes_on(struct detector *d, const struct worker *worker, uint64_t ts_ns)
{
	const struct vw_queue *queue = &worker->queue;

	if (!queue->n || ts_ns < queue->items[0].since_ns + DELAYED_NS)
		return 0;
	return tell_delayed(d, worker, &queue->items[0], ts_ns, true);
}

/* An item of which nothing is known may run or wait: it is let alone. */
static int goes_on(struct detector *d, struct worker *worker, const struct vw_obs *obs)
{
	struct vw_queue *queue = &worker->queue;

	if (!queue->running || queue->now.work != obs->work.work)
		return wait_goes_on(d, worker, obs->ts_ns);
	queue->seen_ns = obs->ts_ns;
	if (obs->ts_ns - queue->now.since_ns < LONG_NS)
		return 0;
	return tell_long(d, worker, obs->ts_ns, true);
}

static int ended(struct detector *d, struct worker *worker, const struct vw_obs *obs)
{
	struct vw_queue *queue = &worker->queue;
	int err = 0;

	if (!queue->running)
		return 0;
	if (queue->now.work != obs->work.work) {
		lose_running(d, worker);
		return 0;
	}
	if (obs->ts_ns - queue->now.since_ns >= LONG_NS)
		err = tell_long(d, worker, obs->ts_ns, false);
	vw_queue_end(queue, obs->ts_ns);
	return err;
}

static int feed_work(struct detector *d, const struct vw_obs *obs)
{
	const struct vw_obs_work *w = &obs->work;
	struct worker *worker;
	bool full;

	if (!w->tid)
		return w->phase == VW_WORK_QUEUED ? vw_queue_add(&d->unclaimed, obs) : 0;
	worker = worker_of(d, w, &full);
	if (!worker)
		return full ? 0 : -ENOMEM;
	worker->figures = (struct vw_figures){ w->oncpu_ns, w->wait_ns, w->throttled_ns };
	worker->figures_ns = obs->ts_ns;
	if (w->cpu >= 0)
		worker->cpu = w->cpu;
	switch (w->phase) {
	case VW_WORK_QUEUED:
		return vw_queue_add(&worker->queue, obs);
	case VW_WORK_STARTED:
		return started(d, worker, obs);
	case VW_WORK_LASTS:
		return goes_on(d, worker, obs);
	case VW_WORK_ENDED:
		return ended(d, worker, obs);
	}
	return 0;
}

/* A worker whose CPU is not known may have been there. */
static void feed_loss(struct detector *d, int32_t cpu)
{
	struct worker *worker, *next;

	vw_queue_clear(&d->unclaimed);
	HASH_ITER(hh, d->workers, worker, next)
	{
		if (cpu < 0 || worker->cpu < 0 || worker->cpu == cpu)
			lose(d, worker);
	}
}

static int feed(void *detector, const struct vw_obs *obs)
{
	struct detector *d = detector;
	struct worker *worker;

	if (obs->kind == VW_OBS_WORK)
		return feed_work(d, obs);
	if (obs->kind == VW_OBS_LOSS)
		feed_loss(d, obs->loss.cpu);
	worker = obs->kind == VW_OBS_TASK_EXIT ? find(d, obs->tid) : NULL;
	if (worker)
		forget(d, worker);
	vw_episodes_feed(&d->episodes, obs);
	return 0;
}

/* What lasts is told on, though nothing happens in it. */
static void look(struct detector *d, struct worker *worker, uint64_t ts_ns)
{
	struct vw_queue *queue = &worker->queue;

	if (queue->running && ts_ns > queue->seen_ns + vw_episodes_quiet_ns(&d->episodes))
		lose_running(d, worker);
	/* Out of memory: told when it ends. */
	if (queue->running && ts_ns >= queue->now.since_ns + LONG_NS)
		(void)tell_long(d, worker, ts_ns, true);
	(void)wait_goes_on(d, worker, ts_ns);
}

static void tick(void *detector, uint64_t ts_ns)
{
	struct detector *d = detector;
	struct worker *worker, *next;

	HASH_ITER(hh, d->workers, worker, next)
	{
		look(d, worker, ts_ns);
	}
	vw_episodes_tick(&d->episodes, ts_ns);
}

static void finish(void *detector, uint64_t ts_ns)
{
	struct detector *d = detector;
	struct worker *worker, *next;

	HASH_ITER(hh, d->workers, worker, next)
	{
		look(d, worker, ts_ns);
	}
	vw_episodes_finish(&d->episodes, ts_ns);
}

const struct vw_detector_ops vw_work_ops = {
	.create = create,
	.feed = feed,
	.tick = tick,
	.finish = finish,
	.destroy = destroy,
};
