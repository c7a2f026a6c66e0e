/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Getting our own threads and children from behind a hog. */
#ifndef VW_UTIL_AFFINITY_H
#define VW_UTIL_AFFINITY_H

#include <sys/types.h>

/*
 * Binds thread or process @tid to the CPU that we run on: as we run, it is not hogged.  The kernel
 * moves a task that waits for another CPU at once, from here.  0 is nobody; a task that is gone is
 * no error.
 */
void vw_affinity_bring_here(pid_t tid);

#endif
