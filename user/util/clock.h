/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time, for the few who may ask: sources and commands. */
#ifndef VW_UTIL_CLOCK_H
#define VW_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns, the base of bpf_ktime_get_ns(). */
static inline uint64_t vw_clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

/* ns since 1970, UTC; for people. */
static inline uint64_t vw_clock_utc(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

#endif
