// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detector.h"

static const struct vw_detector_ops *const detectors[] = {
	&vw_hog_ops,   &vw_wait_ops, &vw_work_ops,    &vw_busy_ops,  &vw_gap_ops,
	&vw_boost_ops, &vw_vcpu_ops, &vw_blocked_ops, &vw_stall_ops,
};

#define N_DETECTORS (sizeof(detectors) / sizeof(detectors[0]))

struct vw_detect {
	struct vw_detect_env env;
	struct vw_tasks *tasks;
	void *state[N_DETECTORS];
};

struct vw_detect *vw_detect_create(const struct vw_detect_config *config, vw_emit_fn emit,
				   void *ctx)
{
	struct vw_detect *set = calloc(1, sizeof(*set));
	size_t i;

	if (!set)
		return NULL;
	set->tasks = vw_tasks_new();
	if (!set->tasks)
		goto fail;
	set->env.config = *config;
	set->env.tasks = set->tasks;
	set->env.emit = emit;
	set->env.ctx = ctx;
	for (i = 0; i < N_DETECTORS; i++) {
		set->state[i] = detectors[i]->create(&set->env);
		if (!set->state[i])
			goto fail;
	}
	return set;
fail:
	vw_detect_destroy(set);
	return NULL;
}

int vw_detect_feed(struct vw_detect *set, const struct vw_obs *obs)
{
	int err = 0;
	size_t i;

	if (obs->kind == VW_OBS_TASK)
		return vw_tasks_put(set->tasks, &obs->task);
	set->env.joined = false;
	for (i = 0; i < N_DETECTORS; i++)
		err = detectors[i]->feed(set->state[i], obs) ?: err;
	/* After the detectors: a last finding still names the task in full. */
	if (obs->kind == VW_OBS_TASK_EXIT)
		vw_tasks_remove(set->tasks, obs->tid);
	return err;
}

void vw_detect_tick(struct vw_detect *set, uint64_t ts_ns)
{
	size_t i;

	for (i = 0; i < N_DETECTORS; i++)
		if (detectors[i]->tick)
			detectors[i]->tick(set->state[i], ts_ns);
}

void vw_detect_finish(struct vw_detect *set, uint64_t ts_ns)
{
	size_t i;

	for (i = 0; i < N_DETECTORS; i++)
		detectors[i]->finish(set->state[i], ts_ns);
}

uint64_t vw_detect_invalid_samples(const struct vw_detect *set)
{
	return set->env.invalid_samples;
}

void vw_detect_destroy(struct vw_detect *set)
{
	size_t i;

	if (!set)
		return;
	for (i = 0; i < N_DETECTORS; i++)
		detectors[i]->destroy(set->state[i]);
	vw_tasks_free(set->tasks);
	free(set);
}

void vw_detect_task(const struct vw_detect_env *env, int32_t tid, uint64_t start_ns,
		    struct vw_task *dst)
{
	const struct vw_task *known = vw_tasks_get(env->tasks, tid);

	if (known) {
		*dst = *known;
		return;
	}
	memset(dst, 0, sizeof(*dst));
	dst->tid = tid;
	dst->start_ns = start_ns;
}

bool vw_detect_watched(const struct vw_detect_env *env, int32_t tid)
{
	const struct vw_task *task = vw_tasks_get(env->tasks, tid);

	return task && task->watched;
}
