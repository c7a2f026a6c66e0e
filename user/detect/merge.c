// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "detect/merge.h"
#include "detect/words.h"
#include "util/format.h"
#include "util/hash.h"

/* What episodes of one finding have in common. */
struct key {
	int32_t kind, cause, cpu, tid;
};

/* What was emitted and may be emitted again. */
struct open {
	struct open *next;
	struct vw_finding finding;
};

struct group {
	struct key key;
	struct group *next; /* same key, another task of that tid */
	struct vw_finding finding;
	uint64_t longest_ns; /* the episode that message and evidence are from */
	uint64_t merged; /* findings that became this one */
	UT_hash_handle hh;
};

struct vw_merge {
	struct open *open;
	struct group *groups;
	unsigned int n_groups;
	uint64_t dropped;
};

struct vw_merge *vw_merge_new(void)
{
	return calloc(1, sizeof(struct vw_merge));
}

void vw_merge_free(struct vw_merge *merge)
{
	struct group *group, *tmp, *next;
	struct open *open;

	if (!merge)
		return;
	while ((open = merge->open)) {
		merge->open = open->next;
		free(open);
	}
	HASH_ITER(hh, merge->groups, group, tmp)
	{
		HASH_DEL(merge->groups, group);
		for (; group; group = next) {
			next = group->next;
			free(group);
		}
	}
	free(merge);
}

static bool same_culprit(const struct vw_finding *a, const struct vw_finding *b)
{
	if (a->has_culprit != b->has_culprit)
		return false;
	return !a->has_culprit || vw_task_same(&a->culprit, &b->culprit);
}

static struct group *find_group(struct vw_merge *merge, const struct key *key,
				const struct vw_finding *f, struct group **ret_head)
{
	struct group *group;

	HASH_FIND(hh, merge->groups, key, sizeof(*key), group);
	*ret_head = group;
	while (group && !same_culprit(&group->finding, f))
		group = group->next;
	return group;
}

static int new_group(struct vw_merge *merge, const struct key *key, const struct vw_finding *f,
		     struct group *head)
{
	struct group *group;

	if (merge->n_groups == VW_MERGE_MAX) {
		merge->dropped++;
		return 0;
	}
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	merge->n_groups++;
	group->key = *key;
	group->finding = *f;
	group->longest_ns = f->duration_ns;
	group->merged = 1;
	if (head) {
		group->next = head->next;
		head->next = group;
	} else {
		HASH_ADD(hh, merge->groups, key, sizeof(group->key), group);
	}
	return 0;
}

/* Times may be unknown, where a log has no time stamps. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	return a == VW_UNKNOWN || b == VW_UNKNOWN ? VW_UNKNOWN : a + b;
}

static void add_episode(struct group *group, const struct vw_finding *f)
{
	struct vw_finding *sofar = &group->finding, all = *sofar;
	unsigned int i;

	group->merged++;
	/* The longest episode tells the story. */
	if (f->duration_ns != VW_UNKNOWN && f->duration_ns > group->longest_ns) {
		group->longest_ns = f->duration_ns;
		*sofar = *f;
		sofar->n_victims = all.n_victims;
		memcpy(sofar->victims, all.victims, sizeof(sofar->victims));
	}
	sofar->start_ns = all.start_ns < f->start_ns ? all.start_ns : f->start_ns;
	sofar->end_ns = all.end_ns > f->end_ns ? all.end_ns : f->end_ns;
	sofar->duration_ns = sum(all.duration_ns, f->duration_ns);
	sofar->evidence.count = all.evidence.count + f->evidence.count;
	sofar->severity = all.severity > f->severity ? all.severity : f->severity;
	if (all.status == VW_OPEN || f->status == VW_OPEN)
		sofar->status = VW_OPEN;
	for (i = 0; i < f->n_victims; i++)
		vw_finding_merge_victim(sofar, &f->victims[i]);
}

static int fold(struct vw_merge *merge, const struct vw_finding *f)
{
	struct key key = { f->kind, f->cause, f->cpu, f->has_culprit ? f->culprit.tid : 0 };
	struct group *head, *group = find_group(merge, &key, f, &head);

	if (!group)
		return new_group(merge, &key, f, head);
	add_episode(group, f);
	return 0;
}

static bool same_episode(const struct vw_finding *a, const struct vw_finding *b)
{
	return a->kind == b->kind && a->start_ns == b->start_ns && a->cpu == b->cpu &&
	       same_culprit(a, b);
}

int vw_merge_put(struct vw_merge *merge, const struct vw_finding *finding)
{
	struct open **at, *open;
	int err;

	for (at = &merge->open; *at && !same_episode(&(*at)->finding, finding); at = &(*at)->next)
		;
	open = *at;
	if (finding->status == VW_CLOSED) {
		err = fold(merge, finding);
		if (open) {
			*at = open->next;
			free(open);
		}
		return err;
	}
	if (!open) {
		open = calloc(1, sizeof(*open));
		if (!open)
			return -ENOMEM;
		*at = open;
	}
	open->finding = *finding;
	return 0;
}

static int by_start(struct group *a, struct group *b)
{
	const struct vw_finding *x = &a->finding, *y = &b->finding;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return memcmp(&a->key, &b->key, sizeof(a->key));
}

static void tell_sum(struct group *group)
{
	struct vw_finding *f = &group->finding;
	struct vw_words line = { f->message, sizeof(f->message), strlen(f->message) };
	char total[VW_FORMAT_LEN];

	f->evidence.span_ns = f->start_ns == VW_UNKNOWN || f->end_ns == VW_UNKNOWN ?
				      VW_UNKNOWN :
				      f->end_ns - f->start_ns;
	f->printed_after_ns = VW_UNKNOWN;
	/* A detector says in its own words how much one of its findings is made of. */
	if (group->merged > 1 && f->duration_ns != VW_UNKNOWN)
		vw_words_put(&line, " (%" PRIu64 " episodes, %s in all)", f->evidence.count,
			     vw_format_ns(total, f->duration_ns));
}

int vw_merge_finish(struct vw_merge *merge, vw_emit_fn emit, void *ctx)
{
	struct group *group, *tmp, *other;
	struct open *open;
	int err = 0;

	while ((open = merge->open)) {
		err = fold(merge, &open->finding) ?: err;
		merge->open = open->next;
		free(open);
	}
	HASH_SORT(merge->groups, by_start);
	HASH_ITER(hh, merge->groups, group, tmp)
	{
		for (other = group; other; other = other->next) {
			tell_sum(other);
			emit(ctx, &other->finding);
		}
	}
	return err;
}

uint64_t vw_merge_dropped(const struct vw_merge *merge)
{
	return merge->dropped;
}
