/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who keeps a CPU that another task should have: non_yielding_worker, starved_task (a) and (b),
 * busy_worker.
 *
 * Works on stints (model/obs.h).  At most one finding is open per CPU.
 */
#ifndef VW_DETECT_HOG_H
#define VW_DETECT_HOG_H

#include "detect/detect.h"

struct vw_hog;

struct vw_hog *vw_hog_create(const struct vw_detect_config *config, const struct vw_tasks *tasks,
			     vw_emit_fn emit, void *ctx);
int vw_hog_feed(struct vw_hog *hog, const struct vw_obs *obs);
void vw_hog_tick(struct vw_hog *hog, uint64_t ts_ns);
void vw_hog_destroy(struct vw_hog *hog);

#endif
