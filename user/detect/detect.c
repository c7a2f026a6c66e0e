// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "detect/detect.h"
#include "detect/hog.h"

struct vw_detect {
	struct vw_tasks *tasks;
	struct vw_hog *hog;
};

struct vw_detect *vw_detect_create(const struct vw_detect_config *config, vw_emit_fn emit,
				   void *ctx)
{
	struct vw_detect *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->tasks = vw_tasks_new();
	if (set->tasks)
		set->hog = vw_hog_create(config, set->tasks, emit, ctx);
	if (!set->hog) {
		vw_detect_destroy(set);
		return NULL;
	}
	return set;
}

int vw_detect_feed(struct vw_detect *set, const struct vw_obs *obs)
{
	int err;

	if (obs->kind == VW_OBS_TASK)
		return vw_tasks_put(set->tasks, &obs->task);
	err = vw_hog_feed(set->hog, obs);
	/* After the detectors: a last finding still names the task in full. */
	if (obs->kind == VW_OBS_TASK_EXIT)
		vw_tasks_remove(set->tasks, obs->tid);
	return err;
}

void vw_detect_tick(struct vw_detect *set, uint64_t ts_ns)
{
	vw_hog_tick(set->hog, ts_ns);
}

void vw_detect_finish(struct vw_detect *set, uint64_t ts_ns)
{
	vw_hog_tick(set->hog, ts_ns);
}

void vw_detect_destroy(struct vw_detect *set)
{
	if (!set)
		return;
	vw_hog_destroy(set->hog);
	vw_tasks_free(set->tasks);
	free(set);
}
