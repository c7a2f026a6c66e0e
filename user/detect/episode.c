// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "detect/episode.h"

/* What comes again within this time goes on. */
#define APART_NS UINT64_C(1000000000)
#define QUIET_NS UINT64_C(3000000000)

static void emit(struct vw_episodes *set, struct vw_episode *episode)
{
	if (episode->minor)
		return;
	set->words(episode, &set->env->config.host);
	episode->told = true;
	episode->news = false;
	set->env->emit(set->env->ctx, &episode->finding);
}

static void forget(struct vw_episodes *set, struct vw_episode *episode)
{
	HASH_DEL(set->head, episode);
	free(episode);
}

void vw_episodes_close(struct vw_episodes *set, struct vw_episode *episode)
{
	episode->lasts = false;
	episode->finding.status = VW_CLOSED;
	emit(set, episode);
	forget(set, episode);
}

uint64_t vw_episodes_quiet_ns(const struct vw_episodes *set)
{
	uint64_t stale_ns = set->env->config.stale_ns;

	return stale_ns > QUIET_NS ? stale_ns : QUIET_NS;
}

static bool over(const struct vw_episodes *set, const struct vw_episode *episode, uint64_t ts_ns)
{
	uint64_t keep_ns = episode->lasts ? vw_episodes_quiet_ns(set) : APART_NS;

	if (keep_ns < episode->keep_ns)
		keep_ns = episode->keep_ns;
	return ts_ns > episode->finding.end_ns && ts_ns - episode->finding.end_ns > keep_ns;
}

struct vw_episode *vw_episodes_get(struct vw_episodes *set, const struct vw_episode_key *key,
				   uint64_t begin_ns)
{
	struct vw_episode *episode;

	HASH_FIND(hh, set->head, key, sizeof(*key), episode);
	if (episode && over(set, episode, begin_ns)) {
		vw_episodes_close(set, episode);
		episode = NULL;
	}
	return episode;
}

static void make_room(struct vw_episodes *set)
{
	struct vw_episode *episode, *next, *oldest = set->head;

	if (HASH_COUNT(set->head) < VW_EPISODES_MAX)
		return;
	HASH_ITER(hh, set->head, episode, next)
	{
		if (episode->minor != oldest->minor ?
			    episode->minor :
			    episode->finding.end_ns < oldest->finding.end_ns)
			oldest = episode;
	}
	vw_episodes_close(set, oldest);
}

struct vw_episode *vw_episodes_open(struct vw_episodes *set, const struct vw_episode_key *key,
				    enum vw_kind kind, uint64_t begin_ns, int32_t cpu)
{
	struct vw_episode *episode = calloc(1, set->size);

	if (!episode)
		return NULL;
	make_room(set);
	episode->key = *key;
	vw_finding_init(&episode->finding, kind, begin_ns, cpu);
	HASH_ADD(hh, set->head, key, sizeof(episode->key), episode);
	if (!VW_HASH_ADDED(episode)) {
		free(episode);
		return NULL;
	}
	return episode;
}

struct vw_episode *vw_episodes_at(struct vw_episodes *set, const struct vw_episode_key *key,
				  enum vw_kind kind, uint64_t begin_ns, int32_t cpu, bool *ret_new)
{
	struct vw_episode *episode = vw_episodes_get(set, key, begin_ns);

	if (ret_new)
		*ret_new = !episode;
	return episode ?: vw_episodes_open(set, key, kind, begin_ns, cpu);
}

void vw_episode_cover(struct vw_episode *episode, uint64_t begin_ns, uint64_t end_ns)
{
	struct vw_finding *f = &episode->finding;

	if (end_ns <= f->end_ns)
		return;
	episode->news = true;
	f->duration_ns += end_ns - (begin_ns > f->end_ns ? begin_ns : f->end_ns);
	f->end_ns = end_ns;
	f->evidence.span_ns = f->end_ns - f->start_ns;
}

void vw_episode_again(struct vw_episode *episode)
{
	episode->finding.evidence.count++;
	episode->news = true;
}

void vw_episodes_tell(struct vw_episodes *set, struct vw_episode *episode)
{
	if (episode->lasts && !episode->told)
		emit(set, episode);
}

static bool names(const struct vw_finding *f, int32_t tid)
{
	unsigned int i;

	for (i = 0; i < f->n_victims; i++)
		if (f->victims[i].task.tid == tid)
			return true;
	return f->has_culprit && f->culprit.tid == tid;
}

/* What is gone may come back under the same number as another. */
static bool touched(const struct vw_episode *episode, const struct vw_obs *obs)
{
	const struct vw_finding *f = &episode->finding;

	if (obs->kind == VW_OBS_LOSS)
		return obs->loss.cpu < 0 || f->cpu < 0 || f->cpu == obs->loss.cpu;
	return obs->kind == VW_OBS_TASK_EXIT &&
	       (episode->key.tid == obs->tid || names(f, obs->tid));
}

void vw_episodes_feed(struct vw_episodes *set, const struct vw_obs *obs)
{
	struct vw_episode *episode, *next;

	if (obs->kind != VW_OBS_LOSS && obs->kind != VW_OBS_TASK_EXIT)
		return;
	HASH_ITER(hh, set->head, episode, next)
	{
		if (touched(episode, obs))
			vw_episodes_close(set, episode);
	}
}

void vw_episodes_tick(void *episodes, uint64_t ts_ns)
{
	struct vw_episodes *set = episodes;
	struct vw_episode *episode, *next;

	HASH_ITER(hh, set->head, episode, next)
	{
		if (over(set, episode, ts_ns))
			vw_episodes_close(set, episode);
		else if (episode->news && (episode->lasts || episode->finding.evidence.count > 1))
			emit(set, episode);
	}
}

void vw_episodes_finish(void *episodes, uint64_t ts_ns)
{
	struct vw_episodes *set = episodes;
	struct vw_episode *episode, *next;

	HASH_ITER(hh, set->head, episode, next)
	{
		if (!episode->lasts || over(set, episode, ts_ns))
			vw_episodes_close(set, episode);
		else if (episode->news)
			emit(set, episode);
	}
}

void vw_episodes_free(struct vw_episodes *set)
{
	struct vw_episode *episode, *next;

	HASH_ITER(hh, set->head, episode, next)
	{
		forget(set, episode);
	}
}

void vw_episodes_init(struct vw_episodes *set, struct vw_detect_env *env, size_t size,
		      void (*words)(struct vw_episode *episode, const struct vw_host *host))
{
	set->env = env;
	set->size = size;
	set->words = words;
}

void *vw_episodes_new(struct vw_detect_env *env, size_t size,
		      void (*words)(struct vw_episode *episode, const struct vw_host *host))
{
	struct vw_episodes *set = calloc(1, sizeof(*set));

	if (set)
		vw_episodes_init(set, env, size, words);
	return set;
}

void vw_episodes_destroy(void *episodes)
{
	if (!episodes)
		return;
	vw_episodes_free(episodes);
	free(episodes);
}
