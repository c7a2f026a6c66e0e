/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The findings of one detector that are open, each under a key of the detector's choice.
 *
 * An episode is one thing that lasts, or several of a kind that follow each other closely.  It is
 * emitted when something in it lasts long enough to be told, at ticks when there is news, and once
 * when it is over: a second after the last of it, and when what lasts is not heard of any more.
 * What was over at once, and stayed alone, is told once only, as closed.
 */
#ifndef VW_DETECT_EPISODE_H
#define VW_DETECT_EPISODE_H

#include "detect/detector.h"
#include "util/hash.h"

/* Open at a time; the one longest unseen makes room, of the minor ones while there are any. */
#define VW_EPISODES_MAX 1024

struct vw_episode_key {
	int32_t tid, cpu, what, other; /* as the detector likes; unused ones are 0 */
};

/* The first member of a detector's own struct. */
struct vw_episode {
	struct vw_episode_key key;
	bool lasts; /* something in it goes on right now */
	bool minor; /* not worth telling: nothing is emitted while this is set */
	bool told;
	bool news; /* since it was told */
	uint64_t keep_ns; /* where sources speak less often than usual: over after so long */
	uint64_t longest_ns; /* the longest single event; severity and sentence are about it */
	struct vw_finding finding; /* never edit start_ns, cpu, culprit once it was told */
	UT_hash_handle hh;
};

struct vw_episodes {
	struct vw_detect_env *env;
	size_t size; /* of the detector's own struct */
	/* Writes message and remedy from the rest, right before the finding is emitted. */
	void (*words)(struct vw_episode *episode, const struct vw_host *host);
	struct vw_episode *head;
};

/* What is told about once a second counts as over after so long without a word. */
uint64_t vw_episodes_quiet_ns(const struct vw_episodes *set);

/*
 * The open episode under @key, or NULL.  One that is too long ago for something that began at
 * @begin_ns is closed.
 */
struct vw_episode *vw_episodes_get(struct vw_episodes *set, const struct vw_episode_key *key,
				   uint64_t begin_ns);

/* Opens one that there is not yet.  NULL when out of memory. */
struct vw_episode *vw_episodes_open(struct vw_episodes *set, const struct vw_episode_key *key,
				    enum vw_kind kind, uint64_t begin_ns, int32_t cpu);

/* get, then open; *@ret_new (may be NULL) tells which. */
struct vw_episode *vw_episodes_at(struct vw_episodes *set, const struct vw_episode_key *key,
				  enum vw_kind kind, uint64_t begin_ns, int32_t cpu, bool *ret_new);

/*
 * It was seen to last from @begin_ns to @end_ns.  The finding's duration is the time covered by
 * what it is made of, so that things side by side count once.
 */
void vw_episode_cover(struct vw_episode *episode, uint64_t begin_ns, uint64_t end_ns);

/* One more of those that it is made of; the first one is counted. */
void vw_episode_again(struct vw_episode *episode);

/* Emits it right now if it lasts and was never told. */
void vw_episodes_tell(struct vw_episodes *set, struct vw_episode *episode);
/* It is over: emits its last state and forgets it. */
void vw_episodes_close(struct vw_episodes *set, struct vw_episode *episode);

/* For LOSS and TASK_EXIT, which close what they touch; others are no business of this. */
void vw_episodes_feed(struct vw_episodes *set, const struct vw_obs *obs);
/* As those of struct vw_detector_ops; @episodes is a struct vw_episodes. */
void vw_episodes_tick(void *episodes, uint64_t ts_ns);
void vw_episodes_finish(void *episodes, uint64_t ts_ns);
/* Makes an empty set of one that is all zeros; @size is that of the detector's own struct. */
void vw_episodes_init(struct vw_episodes *set, struct vw_detect_env *env, size_t size,
		      void (*words)(struct vw_episode *episode, const struct vw_host *host));
/* Forgets all without a word. */
void vw_episodes_free(struct vw_episodes *set);

/* For detectors that need to keep nothing else: new for create, destroy as it is. */
void *vw_episodes_new(struct vw_detect_env *env, size_t size,
		      void (*words)(struct vw_episode *episode, const struct vw_host *host));
void vw_episodes_destroy(void *episodes);

#endif
