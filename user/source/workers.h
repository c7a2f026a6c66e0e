/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watched tasks of a live run and their counters since the run began.
 *
 * A row is what the kernel counts now, less what it had counted when the task came to be watched.
 * A wait that is not over is in none of the kernel's counters; it comes from the observations.
 */
#ifndef VW_SOURCE_WORKERS_H
#define VW_SOURCE_WORKERS_H

#include "attr/attr.h"
#include "model/obs.h"

struct vw_worker {
	struct vw_task task;
	struct vw_worker_row base;
	bool born; /* it began within the run: its counters began with it */
	uint64_t seen_ns; /* when it came to be watched */
	uint64_t longest_pending_ns;
	/* The open wait: since when, and the slices it had had then; since 0: none. */
	uint64_t waiting_since_ns, waiting_slices;
};

struct vw_workers;

struct vw_workers *vw_workers_new(struct vw_attr *attr);
void vw_workers_free(struct vw_workers *set);

/* Adds @task, or takes over new facts of one already there.  *@ret_new says which. 0 or -ENOMEM. */
int vw_workers_put(struct vw_workers *set, const struct vw_task *task, bool born, uint64_t now_ns,
		   bool *ret_new);
/* NULL when not watched; valid until the next put or remove. */
struct vw_worker *vw_workers_get(struct vw_workers *set, int32_t tid);
void vw_workers_remove(struct vw_workers *set, int32_t tid);
unsigned int vw_workers_count(const struct vw_workers *set);
/* The @i-th in order of tid, 0 <= @i < count. */
struct vw_worker *vw_workers_at(struct vw_workers *set, unsigned int i);

/* Takes from a stint what rows show: pending requests, open waits. */
void vw_workers_note(struct vw_workers *set, const struct vw_obs *obs);

/* Fills @row but for oncpu_ns (VW_UNKNOWN).  -ESRCH when the task is gone. */
int vw_workers_row(struct vw_workers *set, struct vw_worker *worker, uint64_t now_ns,
		   struct vw_worker_row *ret_row);

#endif
