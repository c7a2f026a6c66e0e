/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who holds which CPU, by the stints that are told while they last.  Nanoseconds of the run. */
#ifndef VW_DETECT_HOLDER_H
#define VW_DETECT_HOLDER_H

#include "detect/detector.h"

#define VW_HOLDERS_MAX 64 /* the one longest unseen makes room */

struct vw_holder {
	int32_t cpu, tid; /* tid 0: this slot is free */
	uint64_t start_ns, seen_ns;
};

/* All zeros: nobody holds any. */
struct vw_holders {
	struct vw_holder slots[VW_HOLDERS_MAX];
};

/* @obs is a STINT. */
void vw_holders_note(struct vw_holders *holders, const struct vw_obs *obs);

/* The task that has held @cpu for a second at least, and still did shortly before @ts_ns. */
bool vw_holders_of(const struct vw_holders *holders, const struct vw_detect_env *env, int32_t cpu,
		   uint64_t ts_ns, struct vw_task *ret_task);

#endif
