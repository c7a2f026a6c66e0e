/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short ways to make waits, for the tests of detect/wait.c. */
#ifndef VW_TESTS_WAIT_ENV_H
#define VW_TESTS_WAIT_ENV_H

#include "detect_env.h"

#define BEGIN (100 * SEC)

/* VICTIM has waited for CPU 6 for @wait_ns, and three others took turns there. */
static inline struct vw_obs turns(uint64_t wait_ns, bool final)
{
	struct vw_obs obs = { .kind = VW_OBS_WAIT, .ts_ns = BEGIN + wait_ns };
	struct vw_obs_wait *w = &obs.wait;

	w->cpu = 6;
	w->tid = VICTIM;
	w->start_ns = VICTIM * SEC;
	w->final = final;
	w->wait_ns = wait_ns;
	w->longest_stint_ns = 4 * MS;
	w->fair_ns = 12 * MS;
	w->runners = 3;
	w->top_tid = WORKER;
	w->top_start_ns = WORKER * SEC;
	w->top_ns = wait_ns * 6 / 10;
	w->softirq_ns = VW_UNKNOWN;
	w->woken_cpu = 6;
	return obs;
}

/* VICTIM has waited for CPU 1, which was idle all the time. */
static inline struct vw_obs idles(uint64_t wait_ns, bool final)
{
	struct vw_obs obs = turns(wait_ns, final);
	struct vw_obs_wait *w = &obs.wait;

	w->cpu = w->woken_cpu = 1;
	w->idle_ns = wait_ns;
	w->longest_stint_ns = w->fair_ns = w->top_ns = 0;
	w->runners = 0;
	w->top_tid = 0;
	return obs;
}

#endif
