/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The findings of a whole run in their final states.
 *
 * Findings come as detectors emit them: when they open, while they last, when they close.  The last
 * state of each counts, and those of one kind, culprit, CPU and cause become one: first start, last
 * end, durations and episodes summed, victims by task.  Pure, as the detectors are.
 */
#ifndef VW_DETECT_MERGE_H
#define VW_DETECT_MERGE_H

#include "detect/detect.h"

#define VW_MERGE_MAX 4096 /* merged findings; what would be another is only counted */

struct vw_merge;

/* NULL when out of memory. */
struct vw_merge *vw_merge_new(void);
void vw_merge_free(struct vw_merge *merge);

/* 0 or -ENOMEM. */
int vw_merge_put(struct vw_merge *merge, const struct vw_finding *finding);

/*
 * The run is over: calls @emit for each merged finding, in order of start.  Nothing may be put
 * after that.  0 or -ENOMEM.
 */
int vw_merge_finish(struct vw_merge *merge, vw_emit_fn emit, void *ctx);

/* Episodes that had no room. */
uint64_t vw_merge_dropped(const struct vw_merge *merge);

#endif
