// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * owner_blocked: a thread of a VM sits in D state while a worker of that VM does not come to rest.
 * Works on VW_OBS_BLOCKED.
 */
#include <errno.h>

#include "detect/episode.h"
#include "detect/words.h"
#include "util/format.h"
#include "util/parse.h"

/* docs/FORMATS */
#define WARNING_NS (10 * VW_NS_PER_SEC)
#define CRITICAL_NS (60 * VW_NS_PER_SEC)

/* The worker's last sleep is known to about the second. */
#define SLACK_NS VW_NS_PER_SEC

struct blocked_episode {
	struct vw_episode base;
	uint64_t worker_busy_ns;
};

static void words(struct vw_episode *base, const struct vw_host *host)
{
	const struct blocked_episode *e = (struct blocked_episode *)base;
	struct vw_finding *f = &base->finding;
	struct vw_words message = VW_WORDS(f->message);
	struct vw_words remedy = VW_WORDS(f->remedy);
	char state[VW_FORMAT_LEN], busy[VW_FORMAT_LEN];

	(void)host;
	vw_words_task(&message, &f->victims[0].task, true);
	vw_words_put(&message, " %s in D state for %s while ", base->lasts ? "has been" : "was",
		     vw_format_ns(state, f->evidence.blocked.state_ns));
	vw_words_task(&message, &f->culprit, true);
	vw_words_put(&message, " %s for %s", base->lasts ? "has not slept" : "did not sleep",
		     vw_format_ns(busy, e->worker_busy_ns));
	vw_words_put(&remedy,
		     "it waits for the worker to finish, and cannot be killed until then:"
		     " /proc/%d/stack says what for, /proc/%d/stack what keeps the worker busy",
		     f->victims[0].task.tid, f->culprit.tid);
}

static void *create(struct vw_detect_env *env)
{
	return vw_episodes_new(env, sizeof(struct blocked_episode), words);
}

static int feed_blocked(struct vw_episodes *set, const struct vw_obs *obs)
{
	const struct vw_obs_blocked *b = &obs->blocked;
	struct vw_episode_key key = { .tid = b->tid };
	struct blocked_episode *e;
	struct vw_finding *f;
	struct vw_task task;
	bool is_new;

	if (b->state_ns > obs->ts_ns)
		return 0;
	e = (struct blocked_episode *)vw_episodes_get(set, &key, obs->ts_ns - b->state_ns);
	/* Its worker slept, or it is another one: it was true up to then. */
	if (e && (b->worker_tid != e->base.finding.culprit.tid ||
		  obs->ts_ns - b->state_ns > e->base.finding.end_ns)) {
		vw_episodes_close(set, &e->base);
		e = NULL;
	}
	if (b->state_ns < WARNING_NS || b->worker_tid <= 0 ||
	    b->worker_busy_ns + SLACK_NS < b->state_ns)
		return 0;
	is_new = !e;
	if (is_new)
		e = (struct blocked_episode *)vw_episodes_open(set, &key, VW_OWNER_BLOCKED,
							       obs->ts_ns - b->state_ns, -1);
	if (!e)
		return -ENOMEM;
	f = &e->base.finding;
	if (is_new) {
		f->cause = VW_CAUSE_WAITS_FOR_WORKER;
		f->has_culprit = true;
		vw_detect_task(set->env, b->worker_tid, b->worker_start_ns, &f->culprit);
	}
	vw_detect_task(set->env, b->tid, b->start_ns, &task);
	vw_finding_add_victim(f, &task, b->state_ns, !is_new);
	vw_episode_cover(&e->base, obs->ts_ns - b->state_ns, obs->ts_ns);
	f->severity = b->state_ns >= CRITICAL_NS ? VW_CRITICAL : VW_WARNING;
	f->evidence.blocked.state_ns = b->state_ns;
	e->worker_busy_ns = b->worker_busy_ns;
	e->base.lasts = !b->final;
	vw_episodes_tell(set, &e->base);
	if (b->final)
		vw_episodes_close(set, &e->base);
	return 0;
}

static int feed(void *detector, const struct vw_obs *obs)
{
	if (obs->kind == VW_OBS_BLOCKED)
		return feed_blocked(detector, obs);
	vw_episodes_feed(detector, obs);
	return 0;
}

const struct vw_detector_ops vw_blocked_ops = {
	.create = create,
	.feed = feed,
	.tick = vw_episodes_tick,
	.finish = vw_episodes_finish,
	.destroy = vw_episodes_destroy,
};
