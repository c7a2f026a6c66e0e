/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the detectors start from: a set with T = 10 ms and a clock of 250 Hz, short
 * ways to feed it, and everything that was emitted.
 */
#ifndef VW_TESTS_DETECT_ENV_H
#define VW_TESTS_DETECT_ENV_H

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

/* @tick_ns 0: as of a file, in which all is seen. */
static inline int setup_clock(void **state, uint64_t tick_ns)
{
	const struct vw_detect_config config = {
		.threshold_ns = T,
		.tick_ns = tick_ns,
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

static inline int setup(void **state)
{
	return setup_clock(state, TICK);
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

/* The run ends: the only finding that it has; its last state. */
static inline const struct vw_finding *only(struct env *env, uint64_t ts_ns)
{
	size_t i;

	vw_detect_finish(env->set, ts_ns);
	for (i = 0; i < env->n; i++) {
		assert_int_equal(env->seen[i].kind, last(env)->kind);
		assert_int_equal(env->seen[i].start_ns, last(env)->start_ns);
		assert_int_equal(env->seen[i].cpu, last(env)->cpu);
		assert_int_equal(env->seen[i].culprit.tid, last(env)->culprit.tid);
	}
	assert_true(last(env)->message[0]);
	return last(env);
}

/* The run ends without one. */
static inline void none(struct env *env, uint64_t ts_ns)
{
	vw_detect_finish(env->set, ts_ns);
	assert_int_equal(env->n, 0);
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
