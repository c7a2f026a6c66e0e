/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the /proc source start from: two workers on one CPU, looks half a second apart.
 */
#ifndef VW_TESTS_PROCFS_ENV_H
#define VW_TESTS_PROCFS_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attr/proc.h"
#include "fixture.h"
#include "source/procfs.h"

#define MS 1000000ull
#define SEC (1000 * MS)
#define STEP (500 * MS)
#define MAX_OBS 256

struct env {
	struct fixture f;
	struct vw_attr *attr;
	struct vw_procfs_source *src;
	uint64_t now;
	struct vw_obs obs[MAX_OBS]; /* of the last look */
	size_t n;
};

static inline int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	fixture_open(&env->f);
	env->attr = vw_attr_new(env->f.proc_fd, env->f.sys_fd);
	assert_non_null(env->attr);
	env->src = vw_procfs_new(env->attr, NULL);
	assert_non_null(env->src);
	env->now = 1000 * SEC;
	*state = env;
	return 0;
}

static inline int teardown(void **state)
{
	struct env *env = *state;

	vw_procfs_free(env->src);
	vw_attr_free(env->attr);
	fixture_close(&env->f);
	free(env);
	return 0;
}

static inline void keep(void *ctx, const struct vw_obs *obs)
{
	struct env *env = ctx;

	assert_true(env->n < MAX_OBS);
	assert_int_equal(obs->ts_ns, env->now);
	env->obs[env->n++] = *obs;
}

static inline void look(struct env *env)
{
	env->now += STEP;
	env->n = 0;
	assert_int_equal(vw_procfs_sample(env->src, env->now, keep, env), 0);
}

static inline struct fixture_task worker(int32_t tid)
{
	return (struct fixture_task){
		.tid = tid, .comm = "vhost-155", .flags = VW_PF_KTHREAD, .ppid = 2, .state = 'R',
		.cpu = 1, .run_ns = 5 * MS, .slices = 3, .voluntary = 3,
	};
}

static inline void put(struct env *env, const struct fixture_task *task)
{
	fixture_task(&env->f, task);
}

static inline void watch(struct env *env, int32_t tid)
{
	struct vw_task task;

	assert_int_equal(vw_attr_task(env->attr, tid, &task), 0);
	assert_int_equal(vw_procfs_watch(env->src, &task), 0);
}

/* Two tasks, both watched. */
static inline void pair(struct env *env, const struct fixture_task *a, const struct fixture_task *b)
{
	put(env, a);
	put(env, b);
	watch(env, a->tid);
	watch(env, b->tid);
}

/* Ran for the whole step without a switch. */
static inline void run(struct env *env, struct fixture_task *task)
{
	task->run_ns += STEP;
	put(env, task);
}

/* @looks looks, and @task runs for a step after each. */
static inline void hold(struct env *env, struct fixture_task *task, int looks)
{
	while (looks--) {
		look(env);
		run(env, task);
	}
}

static inline const struct vw_obs_stint *stint(const struct env *env)
{
	size_t i;

	for (i = 0; i < env->n; i++)
		if (env->obs[i].kind == VW_OBS_STINT)
			return &env->obs[i].stint;
	return NULL;
}

static inline size_t count(const struct env *env, enum vw_obs_kind kind)
{
	size_t i, n = 0;

	for (i = 0; i < env->n; i++)
		n += env->obs[i].kind == kind;
	return n;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
