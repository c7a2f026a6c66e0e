/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read from its beginning to its end (a recording, a trace, a log): where its observations
 * go, and what it said of itself.
 */
#ifndef VW_MODEL_REPLAY_H
#define VW_MODEL_REPLAY_H

#include "model/host.h"
#include "model/obs.h"
#include "model/worker.h"

/* The functions return 0, or a negative errno that ends the reading and is passed on. */
struct vw_replay {
	int (*obs)(void *ctx, const struct vw_obs *obs);
	/* Time has come to @ts_ns with nothing to tell; about once a second of the run. */
	int (*tick)(void *ctx, uint64_t ts_ns);
	/* The last state of a worker's counters. */
	int (*row)(void *ctx, const struct vw_worker_row *row);
	void *ctx;
};

#define VW_COMPLAINT_LEN 256

/* What it said. */
struct vw_replay_result {
	struct vw_header header;
	uint64_t end_ns; /* of the last thing read; VW_UNKNOWN: times are not known */
	uint64_t duration_ns;
	uint64_t lost_events;
	uint64_t skipped_lines; /* that could not be made sense of, or came from the past */
	uint64_t other_events; /* of kinds that are of no use */
	uint32_t workers;
	/* For people, "" without: the first bad line ("FILE:LINE: why"), an input that ends early. */
	char complaint[VW_COMPLAINT_LEN];
	char unfinished[VW_COMPLAINT_LEN];
};

#endif
