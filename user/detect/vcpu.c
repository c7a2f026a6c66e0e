// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What happens on the CPUs of vCPUs: worker_on_vcpu_cpu, from VW_OBS_SHARE, and yield_ping_pong,
 * from VW_OBS_PAIR.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "detect/episode.h"
#include "detect/words.h"
#include "util/format.h"
#include "util/parse.h"

/* docs/FORMATS: from 1 % of the CPU; in less than a second of what that is in a second. */
#define SHARE_PART 100

/*
 * Fair slices take 0.7 ms and more, so that two busy tasks switch at most 1400 times a second, and
 * each of them gets somewhere.
 */
#define PING_PONG_PER_SEC 2000
#define PROGRESS_NS VW_NS_PER_MS

struct vcpu_episode {
	struct vw_episode base;
	uint64_t window_ns; /* sum of the windows */
	uint64_t switches, longest_stint_ns; /* of a pair */
};

static uint64_t per_second(uint64_t count, uint64_t window_ns)
{
	return count * VW_NS_PER_MS / (window_ns / 1000 ?: 1);
}

static void put_share(struct vw_finding *f, const struct vcpu_episode *e)
{
	struct vw_words message = VW_WORDS(f->message);
	struct vw_words remedy = VW_WORDS(f->remedy);
	const struct vw_vcpu_evidence *v = &f->evidence.vcpu;
	const struct vw_task *vcpu = &f->victims[0].task;
	uint64_t per_sec = per_second(v->interruptions, e->window_ns);
	char ns[VW_FORMAT_LEN];

	vw_words_task(&message, &f->culprit, true);
	vw_words_put(&message, " shares CPU %d with ", f->cpu);
	vw_words_task(&message, vcpu, true);
	vw_words_put(&message,
		     ", which is pinned there, and took %s from it: %" PRIu64
		     " interruptions/s, %" PRIu64 ".%" PRIu64 " %% of the CPU",
		     vw_format_ns(ns, v->taken_ns), per_sec, v->share_ppm / 10000,
		     v->share_ppm / 1000 % 10);
	if (f->culprit.backend == VW_BACKEND_VHOST_TASK && f->culprit.owner_pid == vcpu->tgid)
		vw_words_put(&remedy,
			     "pin the worker to other CPUs, as it is a thread of the VM and not"
			     " covered by vcpupin: taskset -pc CPUS %d",
			     f->culprit.tid);
	else
		vw_words_put(&remedy, "keep the worker off the CPUs of vCPUs: taskset -pc CPUS %d",
			     f->culprit.tid);
}

static void put_pair(struct vw_finding *f, const struct vcpu_episode *e)
{
	struct vw_words message = VW_WORDS(f->message);
	struct vw_words remedy = VW_WORDS(f->remedy);
	char ns[VW_FORMAT_LEN], per_sec[VW_FORMAT_LEN];

	vw_words_task(&message, &f->victims[0].task, true);
	vw_words_put(&message, " and ");
	vw_words_task(&message, &f->victims[1].task, true);
	vw_format_count(per_sec, per_second(e->switches, e->window_ns));
	vw_words_put(&message,
		     " hand CPU %d to each other %s times a second, none keeping it longer than %s",
		     f->cpu, per_sec, vw_format_ns(ns, e->longest_stint_ns));
	vw_words_put(&remedy, "both wait for something that neither can finish in so short a time:"
			      " give the VM's vCPUs more CPUs, or fewer vCPUs to the VM");
}

static void words(struct vw_episode *base, const struct vw_host *host)
{
	struct vw_finding *f = &base->finding;

	(void)host;
	if (f->kind == VW_WORKER_ON_VCPU_CPU)
		put_share(f, (struct vcpu_episode *)base);
	else
		put_pair(f, (struct vcpu_episode *)base);
}

static void *create(struct vw_detect_env *env)
{
	return vw_episodes_new(env, sizeof(struct vcpu_episode), words);
}

/* Counts window after window; NULL when out of memory. */
static struct vcpu_episode *at(struct vw_episodes *set, const struct vw_episode_key *key,
			       enum vw_kind kind, const struct vw_obs *obs, uint64_t window_ns,
			       bool *ret_new)
{
	struct vcpu_episode *e;

	e = (struct vcpu_episode *)vw_episodes_at(set, key, kind, obs->ts_ns - window_ns, key->cpu,
						  ret_new);
	if (!e)
		return NULL;
	vw_episode_cover(&e->base, obs->ts_ns - window_ns, obs->ts_ns);
	e->base.lasts = true;
	e->base.keep_ns = 3 * window_ns;
	e->window_ns += window_ns;
	return e;
}

/* This window is as it should be. */
static void close_at(struct vw_episodes *set, const struct vw_episode_key *key, uint64_t ts_ns)
{
	struct vw_episode *episode = vw_episodes_get(set, key, ts_ns);

	if (episode)
		vw_episodes_close(set, episode);
}

static uint64_t at_least_a_second(uint64_t window_ns)
{
	return window_ns > VW_NS_PER_SEC ? window_ns : VW_NS_PER_SEC;
}

static int feed_share(struct vw_episodes *set, const struct vw_obs *obs)
{
	const struct vw_obs_share *s = &obs->share;
	struct vw_episode_key key = { s->worker_tid, s->cpu, VW_WORKER_ON_VCPU_CPU, s->vcpu_tid };
	struct vw_vcpu_evidence *v;
	struct vcpu_episode *e;
	struct vw_finding *f;
	struct vw_task vcpu;
	bool is_new;

	vw_detect_task(set->env, s->vcpu_tid, s->vcpu_start_ns, &vcpu);
	if (!s->window_ns || s->window_ns > obs->ts_ns || !s->interruptions ||
	    !vw_words_one_cpu(vcpu.cpus_allowed))
		return 0;
	if (s->taken_ns < at_least_a_second(s->window_ns) / SHARE_PART) {
		close_at(set, &key, obs->ts_ns);
		return 0;
	}
	e = at(set, &key, VW_WORKER_ON_VCPU_CPU, obs, s->window_ns, &is_new);
	if (!e)
		return -ENOMEM;
	f = &e->base.finding;
	v = &f->evidence.vcpu;
	if (is_new) {
		f->cause = VW_CAUSE_PLACEMENT;
		f->severity = VW_WARNING;
		f->has_culprit = true;
		vw_detect_task(set->env, s->worker_tid, s->worker_start_ns, &f->culprit);
	}
	v->interruptions += s->interruptions;
	v->taken_ns += s->taken_ns;
	v->share_ppm = v->taken_ns * 1000 / (e->window_ns / 1000 ?: 1);
	/* The longest single wait is not known; it is no shorter than the mean. */
	vw_finding_add_victim(f, &vcpu, s->taken_ns / s->interruptions, false);
	f->victims[0].wait_total_ns = v->taken_ns;
	vw_episodes_tell(set, &e->base);
	return 0;
}

static bool one_vm(const struct vw_task *a, const struct vw_task *b)
{
	if (a->role != VW_ROLE_VCPU || b->role != VW_ROLE_VCPU)
		return false;
	if (a->tgid && b->tgid)
		return a->tgid == b->tgid;
	if (a->owner_pid && b->owner_pid)
		return a->owner_pid == b->owner_pid;
	return a->vm[0] && !strcmp(a->vm, b->vm);
}

static int feed_pair(struct vw_episodes *set, const struct vw_obs *obs)
{
	const struct vw_obs_pair *p = &obs->pair;
	int low = p->tid[0] > p->tid[1];
	struct vw_episode_key key = { p->tid[low], p->cpu, VW_YIELD_PING_PONG, p->tid[!low] };
	struct vcpu_episode *e;
	struct vw_task tasks[2];
	bool is_new;
	int i;

	for (i = 0; i < 2; i++)
		vw_detect_task(set->env, p->tid[i], p->start_ns[i], &tasks[i]);
	if (!p->window_ns || p->window_ns > obs->ts_ns || !one_vm(&tasks[0], &tasks[1]))
		return 0;
	if (p->longest_stint_ns > PROGRESS_NS ||
	    p->switches <
		    PING_PONG_PER_SEC * (at_least_a_second(p->window_ns) / 1000) / VW_NS_PER_MS) {
		close_at(set, &key, obs->ts_ns);
		return 0;
	}
	e = at(set, &key, VW_YIELD_PING_PONG, obs, p->window_ns, &is_new);
	if (!e)
		return -ENOMEM;
	e->base.finding.cause = VW_CAUSE_DIRECTED_YIELD;
	e->base.finding.severity = VW_INFO;
	e->switches += p->switches;
	if (p->longest_stint_ns > e->longest_stint_ns)
		e->longest_stint_ns = p->longest_stint_ns;
	/* Each of them waits while the other one runs. */
	for (i = 0; i < 2; i++)
		vw_finding_add_victim(&e->base.finding, &tasks[low ^ i], e->longest_stint_ns,
				      !is_new);
	vw_episodes_tell(set, &e->base);
	return 0;
}

static int feed(void *detector, const struct vw_obs *obs)
{
	switch (obs->kind) {
	case VW_OBS_SHARE:
		return feed_share(detector, obs);
	case VW_OBS_PAIR:
		return feed_pair(detector, obs);
	default:
		vw_episodes_feed(detector, obs);
		return 0;
	}
}

const struct vw_detector_ops vw_vcpu_ops = {
	.create = create,
	.feed = feed,
	.tick = vw_episodes_tick,
	.finish = vw_episodes_finish,
	.destroy = vw_episodes_destroy,
};
