/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live run from opening the source to the summary, the part that watch and check share.
 */
#ifndef VW_CMD_RUN_H
#define VW_CMD_RUN_H

#include "cli/options.h"
#include "detect/detect.h"
#include "model/worker.h"
#include "sink/sink.h"

struct vw_run_result {
	struct vw_summary summary;
	bool has_worst;
	struct vw_finding worst; /* the gravest, of those the longest */
	uint32_t workers; /* seen */
};

/*
 * Who wants a run as it is, not as it is shown: what the detectors get, in that order, and what
 * they find.  A negative errno ends the run.
 */
struct vw_run_tap {
	int (*begin)(void *ctx, const struct vw_header *header,
		     const struct vw_detect_config *config, uint64_t start_ns);
	int (*obs)(void *ctx, const struct vw_obs *obs);
	int (*tick)(void *ctx, uint64_t ts_ns);
	int (*row)(void *ctx, const struct vw_worker_row *row);
	int (*finding)(void *ctx, const struct vw_finding *finding);
	/* After all that came at once; at least each second. */
	int (*round)(void *ctx, uint64_t now_ns, uint64_t lost_events, uint32_t workers);
	/* The detectors were finished at @end_ns. */
	int (*finish)(void *ctx, uint64_t end_ns, uint64_t lost_events, uint32_t workers);
	void *ctx;
};

/*
 * Runs until the duration is over, ^C, SIGTERM, or q on the screen.  @sink gets all of it; with
 * @rows also the workers each interval; @tap may be NULL.  0, or a negative errno with @e filled;
 * what was found until then has been shown.
 */
int vw_run_live(const struct vw_options *options, struct vw_sink *sink, bool rows,
		const struct vw_run_tap *tap, struct vw_run_result *ret, struct vw_error *e);

/* How the options look to the live source. */
struct vw_live_config;
void vw_run_config(const struct vw_options *options, struct vw_live_config *ret);

#endif
