/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the switch hook adds up of a task (struct vw_abi_totals), read with what is still open.
 *
 * Times are CLOCK_MONOTONIC nanoseconds; sums count since the task came to be watched.
 */
#ifndef VW_SOURCE_TOTALS_H
#define VW_SOURCE_TOTALS_H

#include "load/sight.h"
#include "model/task.h"

/* -ENOENT without the switch hook, and when @task is not watched. */
int vw_totals_read(const struct vw_sight *sight, const struct vw_task *task,
		   struct vw_abi_totals *ret_totals);

/* What is still open is counted up to @now_ns. */
uint64_t vw_totals_oncpu(const struct vw_abi_totals *totals, uint64_t now_ns);
/* A wait that began with a wake-up counts only when it is over. */
uint64_t vw_totals_wait(const struct vw_abi_totals *totals, uint64_t now_ns);
/* Runnable while its group had no quota left; a part of its wait. */
uint64_t vw_totals_throttled(const struct vw_abi_totals *totals, uint64_t now_ns);

#endif
