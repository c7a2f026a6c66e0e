/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What source/live.c and source/live_open.c share. */
#ifndef VW_SOURCE_LIVE_INTERNAL_H
#define VW_SOURCE_LIVE_INTERNAL_H

#include "load/decode.h"
#include "source/live.h"
#include "source/part.h"
#include "source/procfs.h"
#include "source/sentinel.h"

struct vw_live {
	struct vw_live_config config;
	int proc_fd, sys_fd;
	int log_fd; /* -1: cannot be read */
	struct vw_features features;
	struct vw_plan plan;
	struct vw_bpf *bpf;
	struct vw_procfs_source *procfs;
	struct vw_attr *attr;
	struct vw_workers *workers;
	struct vw_tasks *told; /* tasks the detectors have been told of */
	struct vw_decode *decode;
	struct vw_sentinel *sentinel;
	struct vw_sight sight;
	struct vw_part_env part_env;
	struct vw_parts *parts;
	uint64_t scanned_ns, settled_ns, lost_told;
	unsigned int seen;
	bool first_scan;
	/* Of the poll under way. */
	vw_obs_fn fn;
	void *ctx;
	int err;
};

/* Of struct vw_part_env; @ctx is the source. */
void vw_live_emit(void *ctx, const struct vw_obs *obs);
void vw_live_know(void *ctx, const struct vw_task *hint, uint64_t ts_ns);

#endif
