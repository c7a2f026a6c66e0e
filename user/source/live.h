/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live source: this host, now.  BPF where it may be loaded, /proc where not.
 *
 * One thread uses it.  Nothing here prints; times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef VW_SOURCE_LIVE_H
#define VW_SOURCE_LIVE_H

#include "load/plan.h"
#include "source/choice.h"
#include "model/obs.h"
#include "model/worker.h"

struct vw_live_config {
	struct vw_plan_wanted wanted;
	uint64_t threshold_ns;
	uint64_t poll_ns; /* how often vw_live_poll() will be called */
	const char *procfs, *sysfs;
	struct vw_choice choice;
	bool verbose;
};

struct vw_live;
typedef void (*vw_obs_fn)(void *ctx, const struct vw_obs *obs);
typedef void (*vw_row_fn)(void *ctx, const struct vw_worker_row *row);

/*
 * Opens the source: probes, loads, attaches, finds the workers.  On success *@ret_header holds
 * host, hooks and detectors.  Else a negative errno and in @e what to say.
 */
int vw_live_open(const struct vw_live_config *config, struct vw_header *ret_header,
		 struct vw_live **ret_live, struct vw_error *e);
void vw_live_close(struct vw_live *live);

/* Looks without attaching for longer than it takes to try; for doctor.  Always fills *@ret_header;
 * the return value and @e say why vw_live_open() would fail, if it would. */
int vw_live_survey(const struct vw_live_config *config, struct vw_header *ret_header,
		   unsigned int *ret_workers, struct vw_error *e);

/* One round: emits what came since the last. 0 or a negative errno. */
int vw_live_poll(struct vw_live *live, vw_obs_fn fn, void *ctx);

/*
 * A row for each task that is watched (and asked for), in order of tid; to be called each interval.
 */
void vw_live_rows(struct vw_live *live, uint64_t now_ns, vw_row_fn fn, void *ctx);

uint64_t vw_live_lost(struct vw_live *live);
/* Vhost workers seen since the start. */
unsigned int vw_live_workers_seen(const struct vw_live *live);

#endif
