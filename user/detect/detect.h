/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detectors as one set: observations in, findings out.
 *
 * Pure: no clock, no file, no environment; the same input gives the same findings byte for byte.
 * State is bounded by tasks and CPUs.  Findings reach @emit by pointer, valid during the call.
 */
#ifndef VW_DETECT_DETECT_H
#define VW_DETECT_DETECT_H

#include "model/finding.h"
#include "model/host.h"
#include "model/obs.h"

typedef void (*vw_emit_fn)(void *ctx, const struct vw_finding *finding);

struct vw_detect_config {
	uint64_t threshold_ns; /* T of docs/FORMATS, default 10 ms */
	/* period of the clock that makes the looks; 0: all is seen, not looked at */
	uint64_t tick_ns;
	uint64_t stale_ns; /* an open finding unseen for so long is closed where last seen */
	struct vw_host host; /* remedies must be true on it */
};

struct vw_detect;

struct vw_detect *vw_detect_create(const struct vw_detect_config *config, vw_emit_fn emit,
				   void *ctx);
/* 0 or -ENOMEM. */
int vw_detect_feed(struct vw_detect *set, const struct vw_obs *obs);
/* Time has come to @ts_ns: emits what is open and has news again, closes what is stale. */
void vw_detect_tick(struct vw_detect *set, uint64_t ts_ns);
/* The run ends: emits the last state of what is open (still open). */
void vw_detect_finish(struct vw_detect *set, uint64_t ts_ns);
/* Samples that no counter can have given (backwards, more than the window): they were discarded. */
uint64_t vw_detect_invalid_samples(const struct vw_detect *set);
void vw_detect_destroy(struct vw_detect *set);

#endif
