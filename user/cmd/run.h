/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live run from opening the source to the summary, the part that watch and check share.
 */
#ifndef VW_CMD_RUN_H
#define VW_CMD_RUN_H

#include "cli/options.h"
#include "sink/sink.h"

struct vw_run_result {
	struct vw_summary summary;
	bool has_worst;
	struct vw_finding worst; /* the gravest, of those the longest */
	uint32_t workers; /* seen */
};

/*
 * Runs until the duration is over, ^C, SIGTERM, or q on the screen.  @sink gets all of it; with
 * @rows also the workers each interval.  0, or a negative errno with @e filled; what was found
 * until then has been shown.
 */
int vw_run_live(const struct vw_options *options, struct vw_sink *sink, bool rows,
		struct vw_run_result *ret, struct vw_error *e);

/* How the options look to the live source. */
struct vw_live_config;
void vw_run_config(const struct vw_options *options, struct vw_live_config *ret);

#endif
