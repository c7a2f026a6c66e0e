/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler as a trace shows it: who runs where, who waits since when, what is idle.
 *
 * Events in, observations out (model/obs.h), in the order of time.  What was not seen is unknown
 * and stays so; lost events make unknown what they may have changed.  Memory is bounded by tasks
 * and CPUs, not by events.  Reads no clock, no file.
 */
#ifndef VW_SOURCE_SCHED_H
#define VW_SOURCE_SCHED_H

#include "attr/attr.h"
#include "model/replay.h"
#include "source/choice.h"
#include "source/event.h"

struct vw_sched_config {
	uint64_t threshold_ns; /* T; nothing shorter is told */
	struct vw_choice choice; /* these tasks are watched, too; the lists stay the caller's */
	/* What /proc knows of the tasks (names of VMs, allowed CPUs), NULL: nothing is known. */
	struct vw_attr *attr;
};

struct vw_sched;

/* NULL when out of memory. @out stays the caller's. */
struct vw_sched *vw_sched_new(const struct vw_sched_config *config, const struct vw_replay *out);
void vw_sched_free(struct vw_sched *sched);

/* Times never run backwards here; who reads the trace sees to that. 0 or a negative errno. */
int vw_sched_event(struct vw_sched *sched, const struct vw_event *event);

/* The trace ends: tells what lasts, then a row for each watched task. 0 or a negative errno. */
int vw_sched_finish(struct vw_sched *sched);

/*
 * Adds to @header the hooks (what kinds of events there were) and what detectors can be made of
 * them, and why not.
 */
void vw_sched_describe(const struct vw_sched *sched, struct vw_header *header);

uint64_t vw_sched_lost(const struct vw_sched *sched);
/* Vhost workers seen. */
unsigned int vw_sched_workers(const struct vw_sched *sched);

#endif
