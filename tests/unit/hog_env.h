/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the detectors start from: a set with T = 10 ms and a clock of 250 Hz, short
 * ways to make stints, and everything that was emitted.
 */
#ifndef VW_TESTS_HOG_ENV_H
#define VW_TESTS_HOG_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "detect/detect.h"

#define MS UINT64_C(1000000)
#define SEC (1000 * MS)
#define T (10 * MS)
#define TICK (4 * MS)
#define MAX_SEEN 4096

/* Looks that T and 2 T take with this tick, less the one that is forgiven. */
#define PENDING_LOOKS 2
#define STINT_LOOKS 4

#define WORKER 3101
#define OWNER 3077
#define OTHER 950
#define VICTIM 812

struct env {
	struct vw_detect *set;
	size_t n;
	struct vw_finding *seen; /* all, in order */
};

static inline void keep(void *ctx, const struct vw_finding *finding)
{
	struct env *env = ctx;

	assert_true(env->n < MAX_SEEN);
	env->seen[env->n++] = *finding;
}

static inline int setup(void **state)
{
	const struct vw_detect_config config = {
		.threshold_ns = T,
		.tick_ns = TICK,
		.stale_ns = SEC,
		.host = { .preempt = VW_PREEMPT_NONE },
	};
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	env->seen = calloc(MAX_SEEN, sizeof(*env->seen));
	assert_non_null(env->seen);
	env->set = vw_detect_create(&config, keep, env);
	assert_non_null(env->set);
	*state = env;
	return 0;
}

static inline int teardown(void **state)
{
	struct env *env = *state;

	vw_detect_destroy(env->set);
	free(env->seen);
	free(env);
	return 0;
}

static inline void feed(struct env *env, const struct vw_obs *obs)
{
	assert_int_equal(vw_detect_feed(env->set, obs), 0);
}

/* Tells of a task; a worker when @role says so, else watched as @watched says (-p, -t). */
static inline void tell(struct env *env, int32_t tid, const char *comm, enum vw_role role,
			bool watched)
{
	struct vw_obs obs = { .kind = VW_OBS_TASK };

	obs.task.tid = tid;
	obs.task.start_ns = (uint64_t)tid * SEC;
	obs.task.role = role;
	obs.task.watched = watched || role == VW_ROLE_VHOST_WORKER;
	snprintf(obs.task.comm, sizeof(obs.task.comm), "%s", comm);
	feed(env, &obs);
}

static inline void tell_worker(struct env *env)
{
	tell(env, WORKER, "vhost-3077", VW_ROLE_VHOST_WORKER, true);
}

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

static inline void lose(struct env *env, int32_t cpu, uint64_t ts_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_LOSS, .ts_ns = ts_ns };

	obs.loss.cpu = cpu;
	obs.loss.count = 5000;
	feed(env, &obs);
}

static inline void leave(struct env *env, int32_t tid, uint64_t ts_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_TASK_EXIT, .ts_ns = ts_ns };

	obs.tid = tid;
	feed(env, &obs);
}

static inline const struct vw_finding *last(const struct env *env)
{
	assert_true(env->n > 0);
	return &env->seen[env->n - 1];
}

/* One observation as the only one: what it is a case of, by the first finding; NULL for none. */
static inline const struct vw_finding *first_of(struct env *env, const struct vw_obs *obs)
{
	env->n = 0;
	feed(env, obs);
	return env->n ? &env->seen[0] : NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
