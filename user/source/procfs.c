// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/procfs.h"
#include "util/hash.h"

#define NSEC_PER_SEC 1000000000ull
#define DEFAULT_SAMPLES 3
#define MAX_SUSPECTS 64
/* A search through all of /proc that found no hog is not repeated at each sample. */
#define SEARCH_EVERY 4

/* A task that is looked at: watched, or suspected to hold a CPU that a watched one waits for. */
struct entry {
	struct vw_task task;
	bool watched; /* else only suspected */
	bool described; /* its TASK was emitted */
	bool valid; /* @now holds counters of a task in state R */
	struct vw_proc_counters now;
	/* Neither ran nor got a slice since: a waiter. */
	uint64_t frozen_ns;
	uint32_t frozen_samples;
	/* Stayed on one CPU without a context switch since: a hog, if its time grew meanwhile. */
	uint64_t steady_ns, steady_run_ns;
	uint32_t steady_samples;
	UT_hash_handle hh;
};

struct stint {
	bool used, seen;
	struct vw_obs_stint obs; /* the last that was emitted */
	uint64_t since_ns;
};

struct vw_procfs_source {
	struct vw_attr *attr;
	struct vw_procfs_config config;
	struct entry *head;
	uint32_t n[2]; /* entries: suspects, watched */
	uint32_t samples, search_at, n_wanted;
	int32_t wanted[MAX_SUSPECTS]; /* CPUs to search for a hog */
	struct stint stints[VW_PROCFS_MAX_STINTS];
};

/* One look: what all its steps need. */
struct look {
	struct vw_procfs_source *src;
	uint64_t now_ns;
	vw_procfs_emit_fn emit;
	void *ctx;
};

struct vw_procfs_source *vw_procfs_new(struct vw_attr *attr, const struct vw_procfs_config *config)
{
	struct vw_procfs_source *src = calloc(1, sizeof(*src));

	if (!src)
		return NULL;
	src->attr = attr;
	if (config)
		src->config = *config;
	if (!src->config.min_ns)
		src->config.min_ns = NSEC_PER_SEC;
	if (src->config.min_samples < 2)
		src->config.min_samples = src->config.min_samples ? 2 : DEFAULT_SAMPLES;
	if (!src->config.alone_ns)
		src->config.alone_ns = 3 * src->config.min_ns;
	return src;
}

static void drop(struct vw_procfs_source *src, struct entry *entry)
{
	src->n[entry->watched]--;
	HASH_DEL(src->head, entry);
	free(entry);
}

void vw_procfs_free(struct vw_procfs_source *src)
{
	struct entry *entry, *next;

	if (!src)
		return;
	HASH_ITER(hh, src->head, entry, next)
	drop(src, entry);
	free(src);
}

static struct entry *find(const struct vw_procfs_source *src, int32_t tid)
{
	struct entry *entry;

	HASH_FIND(hh, src->head, &tid, sizeof(tid), entry);
	return entry;
}

static int add(struct vw_procfs_source *src, const struct vw_task *task, bool watched)
{
	static const uint32_t limits[2] = { MAX_SUSPECTS, VW_PROCFS_MAX_WATCHED };
	struct entry *entry;

	if (src->n[watched] >= limits[watched])
		return -ENOSPC;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->task = *task;
	entry->watched = watched;
	HASH_ADD(hh, src->head, task.tid, sizeof(entry->task.tid), entry);
	if (!VW_HASH_ADDED(entry)) {
		free(entry);
		return -ENOMEM;
	}
	src->n[watched]++;
	return 0;
}

int vw_procfs_watch(struct vw_procfs_source *src, const struct vw_task *task)
{
	struct entry *entry = find(src, task->tid);
	uint64_t start_ns;

	/* Another task of that number must inherit nothing. */
	if (entry && (!vw_task_same(&entry->task, task) || !entry->watched)) {
		drop(src, entry);
		entry = NULL;
	}
	if (!entry)
		return add(src, task, true);
	start_ns = entry->task.start_ns;
	entry->described = entry->described && !memcmp(&entry->task, task, sizeof(*task));
	entry->task = *task;
	if (!entry->task.start_ns)
		entry->task.start_ns = start_ns;
	return 0;
}

static void forget_history(struct entry *entry)
{
	entry->valid = false;
	entry->frozen_samples = 0;
	entry->steady_samples = 0;
}

/* Compares what was just read with the sample before. */
static void follow(struct entry *entry, const struct vw_proc_counters *now, uint64_t now_ns)
{
	const struct vw_proc_counters *old = &entry->now;

	if (now->state != 'R' || now->run_ns == VW_UNKNOWN || now->cpu < 0) {
		forget_history(entry);
		return;
	}
	if (!entry->valid || now->run_ns != old->run_ns || now->slices != old->slices) {
		entry->frozen_ns = now_ns;
		entry->frozen_samples = 0;
	}
	if (!entry->valid || now->cpu != old->cpu || now->slices != old->slices ||
	    now->voluntary != old->voluntary || now->involuntary != old->involuntary) {
		entry->steady_ns = now_ns;
		entry->steady_run_ns = now->run_ns;
		entry->steady_samples = 0;
	}
	entry->frozen_samples++;
	entry->steady_samples++;
	entry->valid = true;
	entry->now = *now;
}

static bool is_long(const struct look *look, uint32_t samples, uint64_t since_ns)
{
	const struct vw_procfs_config *config = &look->src->config;

	return samples >= config->min_samples && look->now_ns - since_ns >= config->min_ns;
}

static bool is_waiter(const struct look *look, const struct entry *entry)
{
	return entry->watched && entry->valid &&
	       is_long(look, entry->frozen_samples, entry->frozen_ns);
}

/* @cpu is held by @entry: it runs, and has not switched for long. */
static bool is_hog(const struct look *look, const struct entry *entry, int32_t cpu)
{
	return entry->valid && entry->now.cpu == cpu && entry->now.voluntary != VW_UNKNOWN &&
	       entry->now.run_ns > entry->steady_run_ns && !is_waiter(look, entry) &&
	       is_long(look, entry->steady_samples, entry->steady_ns);
}

static void emit_stint(const struct look *look, struct stint *stint, bool final)
{
	struct vw_obs obs = { .kind = VW_OBS_STINT, .ts_ns = look->now_ns };
	unsigned int i, n = 0;

	/* Nobody is named after its exit. */
	for (i = 0; i < stint->obs.n_waiters; i++)
		if (find(look->src, stint->obs.waiters[i].tid))
			stint->obs.waiters[n++] = stint->obs.waiters[i];
	stint->obs.n_waiters = n;
	stint->obs.final = final;
	obs.stint = stint->obs;
	look->emit(look->ctx, &obs);
	if (final)
		stint->used = false;
}

/* Its stint ends first, then it. */
static void drop_gone(const struct look *look, struct entry *entry)
{
	struct vw_obs obs = { .kind = VW_OBS_TASK_EXIT, .ts_ns = look->now_ns };
	struct stint *stint;
	unsigned int i;

	for (i = 0; i < VW_PROCFS_MAX_STINTS; i++) {
		stint = &look->src->stints[i];
		if (stint->used && stint->obs.tid == entry->task.tid)
			emit_stint(look, stint, true);
	}
	obs.tid = entry->task.tid;
	if (entry->watched || entry->described)
		look->emit(look->ctx, &obs);
	drop(look->src, entry);
}

static int read_all(const struct look *look)
{
	struct vw_proc_counters counters;
	struct entry *entry, *next;
	int err;

	HASH_ITER(hh, look->src->head, entry, next)
	{
		err = vw_attr_sample(look->src->attr, &entry->task, &counters);
		if (err == -EMFILE || err == -ENFILE || err == -ENOMEM)
			return err;
		/* What cannot be read this time cannot be a proof. */
		if (!err)
			follow(entry, &counters, look->now_ns);
		else if (err != -ESRCH)
			forget_history(entry);
		else
			drop_gone(look, entry);
	}
	return 0;
}

/* Watched ones first. */
static struct entry *find_hog(const struct look *look, int32_t cpu)
{
	struct entry *entry, *best = NULL;

	for (entry = look->src->head; entry; entry = entry->hh.next)
		if ((!best || entry->watched > best->watched) && is_hog(look, entry, cpu))
			best = entry;
	return best;
}

static int suspect(void *ctx, const struct vw_task *task, int32_t cpu)
{
	const struct look *look = ctx;
	struct vw_procfs_source *src = look->src;
	struct vw_proc_counters counters;
	uint32_t i;
	int err;

	for (i = 0; i < src->n_wanted; i++)
		if (src->wanted[i] == cpu)
			break;
	if (i == src->n_wanted || find(src, task->tid))
		return 0;
	err = add(src, task, false);
	/* Enough of them: what there is will do. */
	if (err)
		return err == -ENOSPC ? 1 : err;
	if (!vw_attr_sample(src->attr, task, &counters))
		follow(find(src, task->tid), &counters, look->now_ns);
	return 0;
}

/* True when somebody on @cpu may turn out to be the hog at one of the next samples. */
static bool has_candidate(const struct vw_procfs_source *src, int32_t cpu)
{
	const struct entry *entry;

	for (entry = src->head; entry; entry = entry->hh.next)
		if (!entry->watched && entry->valid && entry->now.cpu == cpu &&
		    (entry->frozen_samples < 2 || entry->steady_samples < src->config.min_samples))
			return true;
	return false;
}

/* A watched task stands still on @cpu and nobody looked at holds it. */
static void want_search(struct vw_procfs_source *src, int32_t cpu)
{
	uint32_t i;

	for (i = 0; i < src->n_wanted; i++)
		if (src->wanted[i] == cpu)
			return;
	if (src->n_wanted < MAX_SUSPECTS && !has_candidate(src, cpu))
		src->wanted[src->n_wanted++] = cpu;
}

/* Everybody who could run on such a CPU is looked at from now on. */
static int search(const struct look *look)
{
	struct vw_procfs_source *src = look->src;

	if (!src->n_wanted || src->samples < src->search_at)
		return 0;
	src->search_at = src->samples + SEARCH_EVERY;
	return vw_attr_runnable(src->attr, suspect, (void *)look);
}

static void emit_task(const struct look *look, struct entry *entry)
{
	struct vw_obs obs = { .kind = VW_OBS_TASK, .ts_ns = look->now_ns };
	struct vw_task full;

	if (entry->described)
		return;
	/* A suspect is known by number only; ask for the rest once it matters. */
	if (!entry->watched && !vw_attr_task(look->src->attr, entry->task.tid, &full) &&
	    vw_task_same(&full, &entry->task))
		entry->task = full;
	obs.task = entry->task;
	entry->described = true;
	look->emit(look->ctx, &obs);
}

static struct stint *stint_of(struct vw_procfs_source *src, int32_t cpu, bool want_new)
{
	struct stint *free_one = NULL;
	unsigned int i;

	for (i = 0; i < VW_PROCFS_MAX_STINTS; i++) {
		if (src->stints[i].used && src->stints[i].obs.cpu == cpu)
			return &src->stints[i];
		if (!src->stints[i].used && !free_one)
			free_one = &src->stints[i];
	}
	if (!want_new || !free_one)
		return NULL;
	memset(free_one, 0, sizeof(*free_one));
	free_one->obs.cpu = cpu;
	return free_one;
}

static void add_waiter(const struct look *look, struct vw_obs_stint *obs, struct entry *entry)
{
	struct vw_waiter waiter = {
		.tid = entry->task.tid,
		.start_ns = entry->task.start_ns,
		.wait_ns = look->now_ns - entry->frozen_ns,
	};
	unsigned int at = obs->n_waiters;

	while (at && obs->waiters[at - 1].wait_ns < waiter.wait_ns)
		at--;
	if (at == VW_MAX_VICTIMS)
		return;
	if (obs->n_waiters == VW_MAX_VICTIMS)
		obs->n_waiters--;
	memmove(&obs->waiters[at + 1], &obs->waiters[at],
		(obs->n_waiters - at) * sizeof(obs->waiters[0]));
	obs->waiters[at] = waiter;
	obs->n_waiters++;
	emit_task(look, entry);
}

/* All that one CPU's stint says now; @hog NULL: nobody is seen to run. */
static void fill(const struct look *look, struct stint *stint, struct entry *hog)
{
	struct vw_obs_stint *obs = &stint->obs;
	struct entry *entry;

	obs->tid = hog ? hog->task.tid : 0;
	obs->start_ns = hog ? hog->task.start_ns : 0;
	obs->rt = hog && hog->now.rt;
	obs->oncpu_ns = hog ? look->now_ns - hog->steady_ns : 0;
	obs->resched = VW_RESCHED_UNKNOWN;
	obs->softirq_ns = obs->irq_ns = VW_UNKNOWN;
	obs->clock = VW_PROCFS_CLOCK;
	obs->ticks = hog ? hog->steady_samples : obs->ticks + 1;
	obs->n_waiters = 0;
	stint->since_ns = hog ? hog->steady_ns : 0;
	if (hog)
		emit_task(look, hog);
	for (entry = look->src->head; entry; entry = entry->hh.next)
		if (entry->now.cpu == obs->cpu && is_waiter(look, entry))
			add_waiter(look, obs, entry);
}

/* The stint that @hog has on @cpu; ends the one of somebody else before. */
static void show(const struct look *look, int32_t cpu, struct entry *hog)
{
	struct stint *stint = stint_of(look->src, cpu, false);

	if (stint && stint->seen)
		return;
	if (stint && (stint->obs.tid != (hog ? hog->task.tid : 0) ||
		      stint->since_ns != (hog ? hog->steady_ns : 0)))
		emit_stint(look, stint, true);
	stint = stint_of(look->src, cpu, true);
	if (!stint)
		return;
	stint->used = true;
	stint->seen = true;
	fill(look, stint, hog);
	emit_stint(look, stint, false);
}

static int look_at_waiters(const struct look *look)
{
	struct vw_procfs_source *src = look->src;
	struct entry *entry, *hog;

	src->n_wanted = 0;
	for (entry = src->head; entry; entry = entry->hh.next) {
		if (!entry->watched || !entry->valid || entry->frozen_samples < 2)
			continue;
		hog = find_hog(look, entry->now.cpu);
		if (!hog)
			want_search(src, entry->now.cpu);
		if (is_waiter(look, entry) &&
		    (hog || look->now_ns - entry->frozen_ns >= src->config.alone_ns))
			show(look, entry->now.cpu, hog);
	}
	return search(look);
}

/* Stints with no waiter left: they go on while their hog does. */
static void look_at_stints(const struct look *look)
{
	struct stint *stint;
	struct entry *hog;
	unsigned int i;

	for (i = 0; i < VW_PROCFS_MAX_STINTS; i++) {
		stint = &look->src->stints[i];
		if (!stint->used || stint->seen)
			continue;
		hog = stint->obs.tid ? find(look->src, stint->obs.tid) : NULL;
		if (hog && is_hog(look, hog, stint->obs.cpu) && hog->steady_ns == stint->since_ns)
			show(look, stint->obs.cpu, hog);
		else
			emit_stint(look, stint, true);
	}
}

/* A suspect is kept while a watched task stands still on its CPU, or while its stint lasts. */
static bool is_needed(const struct vw_procfs_source *src, const struct entry *entry)
{
	const struct entry *other;
	unsigned int i;

	if (!entry->valid)
		return false;
	for (i = 0; i < VW_PROCFS_MAX_STINTS; i++)
		if (src->stints[i].used && src->stints[i].obs.tid == entry->task.tid)
			return true;
	for (other = src->head; other; other = other->hh.next)
		if (other->watched && other->valid && other->frozen_samples >= 2 &&
		    other->now.cpu == entry->now.cpu)
			return true;
	return false;
}

static void drop_suspects(struct vw_procfs_source *src)
{
	struct entry *entry, *next;

	if (!src->n[false])
		return;
	HASH_ITER(hh, src->head, entry, next)
	if (!entry->watched && !is_needed(src, entry))
		drop(src, entry);
}

int vw_procfs_sample(struct vw_procfs_source *src, uint64_t now_ns, vw_procfs_emit_fn emit,
		     void *ctx)
{
	struct look look = { .src = src, .now_ns = now_ns, .emit = emit, .ctx = ctx };
	unsigned int i;
	int err;

	src->samples++;
	for (i = 0; i < VW_PROCFS_MAX_STINTS; i++)
		src->stints[i].seen = false;
	err = read_all(&look);
	if (err)
		return err;
	err = look_at_waiters(&look);
	look_at_stints(&look);
	drop_suspects(src);
	return err;
}
