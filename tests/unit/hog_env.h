/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short ways to make stints, for the tests of detect/hog.c. */
#ifndef VW_TESTS_HOG_ENV_H
#define VW_TESTS_HOG_ENV_H

#include "detect_env.h"

/* Looks that T and 2 T take with this tick, less the one that is forgiven. */
#define PENDING_LOOKS 2
#define STINT_LOOKS 4

/* @tid has held @cpu for @oncpu_ns; seen by each tick, nothing asked, nobody else there. */
static inline struct vw_obs stint(int32_t cpu, int32_t tid, uint64_t ts_ns, uint64_t oncpu_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_STINT, .ts_ns = ts_ns };

	obs.stint.cpu = cpu;
	obs.stint.tid = tid;
	obs.stint.start_ns = (uint64_t)tid * SEC;
	obs.stint.oncpu_ns = oncpu_ns;
	obs.stint.resched = VW_RESCHED_NONE;
	obs.stint.ticks = (uint32_t)(oncpu_ns / TICK);
	obs.stint.weight = 1024;
	obs.stint.nr_running = 1;
	obs.stint.softirq_ns = obs.stint.irq_ns = VW_UNKNOWN;
	obs.stint.clock = "tp_btf/local_timer_entry";
	return obs;
}

static inline void pending(struct vw_obs *obs, uint64_t pending_ns)
{
	obs->stint.resched = VW_RESCHED_FULL;
	obs->stint.pending_ns = pending_ns;
	obs->stint.pending_ticks = (uint32_t)(pending_ns / TICK);
}

static inline struct vw_waiter *waiter(struct vw_obs *obs, int32_t tid, uint64_t wait_ns)
{
	struct vw_waiter *w = &obs->stint.waiters[obs->stint.n_waiters++];

	assert_true(obs->stint.n_waiters <= VW_MAX_VICTIMS);
	w->tid = tid;
	w->start_ns = (uint64_t)tid * SEC;
	w->wait_ns = wait_ns;
	w->weight = 1024;
	obs->stint.nr_running++;
	return w;
}

/* The bug: @tid ignores a request for @pending_ns on CPU 2 while VICTIM waits as long. */
static inline struct vw_obs hogging(int32_t tid, uint64_t ts_ns, uint64_t pending_ns)
{
	struct vw_obs obs = stint(2, tid, ts_ns, pending_ns + TICK);

	pending(&obs, pending_ns);
	waiter(&obs, VICTIM, pending_ns);
	return obs;
}

#endif
