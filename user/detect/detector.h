/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one detector is to the set that holds it (detect/detect.c): create, then any number of feed
 * and tick, then finish and destroy.  All are pure, as the set is (detect/detect.h).
 *
 * The set keeps the tasks: facts of a task are there before observations that name it, and stay
 * until all detectors were fed its exit.
 */
#ifndef VW_DETECT_DETECTOR_H
#define VW_DETECT_DETECTOR_H

#include "detect/debt.h"
#include "detect/detect.h"

/* What the set lends to its detectors for as long as they live. */
struct vw_detect_env {
	struct vw_detect_config config;
	const struct vw_tasks *tasks;
	vw_emit_fn emit;
	void *ctx; /* of emit */
	struct vw_debts debts; /* of hogs; what is paid back is no new starvation */
	/* The observation being fed was taken up by a finding: it is none of its own. */
	bool joined;
	uint64_t invalid_samples; /* detectors count here what no counter can have said */
};

struct vw_detector_ops {
	/* NULL when out of memory.  @env outlives the detector. */
	void *(*create)(struct vw_detect_env *env);
	/* 0 or -ENOMEM; observations that it has no use for are skipped. */
	int (*feed)(void *detector, const struct vw_obs *obs);
	void (*tick)(void *detector, uint64_t ts_ns); /* as vw_detect_tick(); NULL: no need */
	void (*finish)(void *detector, uint64_t ts_ns); /* as vw_detect_finish() */
	void (*destroy)(void *detector); /* NULL is fine */
};

/* The known facts of @tid in @dst; when there are none, tid and @start_ns only. */
void vw_detect_task(const struct vw_detect_env *env, int32_t tid, uint64_t start_ns,
		    struct vw_task *dst);

/* True when @tid is watched. */
bool vw_detect_watched(const struct vw_detect_env *env, int32_t tid);

/* Each says in its own file what it detects, from which observations. */
extern const struct vw_detector_ops vw_hog_ops;
extern const struct vw_detector_ops vw_wait_ops;
extern const struct vw_detector_ops vw_work_ops;
extern const struct vw_detector_ops vw_busy_ops;
extern const struct vw_detector_ops vw_gap_ops;
extern const struct vw_detector_ops vw_boost_ops;
extern const struct vw_detector_ops vw_vcpu_ops;
extern const struct vw_detector_ops vw_blocked_ops;
extern const struct vw_detector_ops vw_stall_ops;

#endif
