/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short ways to make work items, for the tests of detect/work.c. */
#ifndef VW_TESTS_WORK_ENV_H
#define VW_TESTS_WORK_ENV_H

#include "detect_env.h"

#define TX 0x1000
#define RX 0x2000
#define AT (100 * SEC)

static inline struct vw_obs work(enum vw_work_phase phase, uint64_t which, uint64_t ts_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_WORK, .ts_ns = ts_ns };
	struct vw_obs_work *w = &obs.work;

	w->phase = phase;
	w->cpu = 2;
	w->tid = WORKER;
	w->start_ns = WORKER * SEC;
	w->work = which;
	snprintf(w->function, sizeof(w->function), "%s",
		 which == TX ? "handle_tx_kick" : "handle_rx_net");
	w->oncpu_ns = w->wait_ns = w->throttled_ns = VW_UNKNOWN;
	return obs;
}

static inline void put(struct env *env, enum vw_work_phase phase, uint64_t which, uint64_t ts_ns)
{
	struct vw_obs obs = work(phase, which, ts_ns);

	feed(env, &obs);
}

/* With what the worker has had. */
static inline void put_figures(struct env *env, enum vw_work_phase phase, uint64_t which,
			       uint64_t ts_ns, uint64_t oncpu_ns, uint64_t wait_ns,
			       uint64_t throttled_ns)
{
	struct vw_obs obs = work(phase, which, ts_ns);

	obs.work.oncpu_ns = oncpu_ns;
	obs.work.wait_ns = wait_ns;
	obs.work.throttled_ns = throttled_ns;
	feed(env, &obs);
}

#endif
