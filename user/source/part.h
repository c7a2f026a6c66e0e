/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the live source: each turns what one set of hooks tells into observations
 * (model/obs.h).
 *
 * A part reads BPF maps and the kernel's files; it loads and attaches nothing of the core object.
 * All calls come from the one thread of the source.  Times are CLOCK_MONOTONIC nanoseconds and
 * never fall from one observation to the next: what happened earlier is told with the time of the
 * telling.
 */
#ifndef VW_SOURCE_PART_H
#define VW_SOURCE_PART_H

#include "attr/attr.h"
#include "load/sight.h"
#include "model/obs.h"
#include "source/choice.h"
#include "source/workers.h"

/* What the source lends to its parts for as long as they live. */
struct vw_part_env {
	const struct vw_features *features;
	const struct vw_plan *plan;
	const struct vw_sight *sight; /* NULL: no BPF here */
	const struct vw_choice *choice;
	uint64_t threshold_ns; /* T */
	int proc_fd, sys_fd;
	int log_fd; /* the kernel's log as /dev/kmsg gives it, not blocking; -1: cannot be read */
	struct vw_attr *attr;
	struct vw_workers *workers; /* the watched tasks */
	/* To be called within record, poll and second only. */
	void (*emit)(void *ctx, const struct vw_obs *obs);
	/* Before an observation that names a task: tells the detectors who that is. */
	void (*know)(void *ctx, const struct vw_task *hint, uint64_t ts_ns);
	void *ctx;
};

/* Functions that a part has no use for are NULL.  0 or a negative errno, which ends the run. */
struct vw_part_ops {
	/* *@ret_part may stay NULL where the plan leaves this part nothing to do. */
	int (*open)(const struct vw_part_env *env, void **ret_part);
	int (*record)(void *part, const struct vw_rec_hdr *hdr); /* each one that came */
	int (*poll)(void *part, uint64_t now_ns); /* after the records of each round */
	int (*second)(void *part, uint64_t now_ns); /* about once a second, after poll */
	void (*row)(void *part, struct vw_worker_row *row); /* fills in what it knows */
	void (*lost)(void *part); /* records were lost since the last call of record */
	void (*close)(void *part);
};

/* Each in the file of its name. */
extern const struct vw_part_ops vw_part_moves; /* MOVE */
extern const struct vw_part_ops vw_part_place; /* SHARE, PAIR */
extern const struct vw_part_ops vw_part_busy; /* BUSY, BLOCKED */
extern const struct vw_part_ops vw_part_wait; /* WAIT */
extern const struct vw_part_ops vw_part_stall;

struct vw_parts;

/* 0 or a negative errno; what cannot work here is no error. @env outlives the parts. */
int vw_parts_open(const struct vw_part_env *env, struct vw_parts **ret_parts);
int vw_parts_record(struct vw_parts *parts, const struct vw_rec_hdr *hdr);
int vw_parts_poll(struct vw_parts *parts, uint64_t now_ns);
void vw_parts_row(struct vw_parts *parts, struct vw_worker_row *row);
void vw_parts_lost(struct vw_parts *parts);
void vw_parts_close(struct vw_parts *parts);

#endif
