/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source for hosts without BPF: starved tasks told by /proc alone.
 *
 * A task's waiting time does not show in /proc while it waits: the kernel adds it up when the task
 * gets the CPU.  What shows is a task in state R whose time on CPU and number of slices stand
 * still. Its hog is the task in state R on the same CPU whose time grows while its context switches
 * stand still.  The request to reschedule cannot be seen here, nor a wait below the configured
 * time.
 *
 * The state is bounded; the time comes from the caller.  Waits and stints are lower bounds: they
 * count from the first sample that saw them.
 */
#ifndef VW_SOURCE_PROCFS_H
#define VW_SOURCE_PROCFS_H

#include "attr/attr.h"
#include "model/obs.h"

#define VW_PROCFS_CLOCK "procfs"
#define VW_PROCFS_MAX_WATCHED 8192
#define VW_PROCFS_MAX_STINTS 64

struct vw_procfs_config {
	uint64_t min_ns; /* a wait is told from so long on; 0: 1 s */
	uint32_t min_samples; /* and from so many samples on; 0: 3 */
	/*
	 * Where no hog is found; 0: three times min_ns.  Longer, as the counters of a task that
	 * runs alone on a tickless CPU stand still for a second too.
	 */
	uint64_t alone_ns;
};

struct vw_procfs_source;

typedef void (*vw_procfs_emit_fn)(void *ctx, const struct vw_obs *obs);

/* @attr stays the caller's and must outlive the source.  @config may be NULL. */
struct vw_procfs_source *vw_procfs_new(struct vw_attr *attr, const struct vw_procfs_config *config);
void vw_procfs_free(struct vw_procfs_source *src);

/* Watches @task from now on; new facts about a watched one are taken over.  0, -ENOMEM or -ENOSPC.
 * */
int vw_procfs_watch(struct vw_procfs_source *src, const struct vw_task *task);

/*
 * Looks once.  Emits, each TASK before the first STINT that names it: a STINT for each hog while it
 * lasts and at its end (final), clock "procfs", with the waiters of its CPU; one with tid 0 where a
 * task waits and nobody is seen to run; a TASK_EXIT for each watched task that is gone (it is no
 * longer watched then).  @now_ns must not fall.  0 or a negative errno.
 */
int vw_procfs_sample(struct vw_procfs_source *src, uint64_t now_ns, vw_procfs_emit_fn emit,
		     void *ctx);

#endif
