/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of attribution start from: an empty /proc, an object that reads it, and short ways
 * to put processes in.
 */
#ifndef VW_TESTS_ATTR_ENV_H
#define VW_TESTS_ATTR_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attr/attr.h"
#include "attr/proc.h"
#include "fixture.h"

#define KTHREAD VW_PF_KTHREAD
#define USER_WORKER VW_PF_USER_WORKER

struct seen {
	struct vw_task tasks[32];
	size_t n;
};

struct env {
	struct fixture f;
	struct vw_attr *attr;
	struct seen seen;
};

static inline int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	fixture_open(&env->f);
	env->attr = vw_attr_new(env->f.proc_fd, env->f.sys_fd);
	assert_non_null(env->attr);
	*state = env;
	return 0;
}

static inline int teardown(void **state)
{
	struct env *env = *state;

	vw_attr_free(env->attr);
	fixture_close(&env->f);
	free(env);
	return 0;
}

static inline void keep(void *ctx, const struct vw_task *task)
{
	struct seen *seen = ctx;

	assert_true(seen->n < sizeof(seen->tasks) / sizeof(seen->tasks[0]));
	seen->tasks[seen->n++] = *task;
}

static inline void scan(struct env *env, int expected)
{
	env->seen.n = 0;
	assert_int_equal(vw_attr_scan(env->attr, keep, &env->seen), expected);
	assert_int_equal(env->seen.n, expected);
}

static inline void add(struct env *env, int32_t pid, int32_t tid, const char *comm, uint32_t flags,
		int32_t ppid)
{
	const struct fixture_task task = {
		.pid = pid, .tid = tid, .comm = comm, .flags = flags, .ppid = ppid,
	};

	fixture_task(&env->f, &task);
}

static inline void add_qemu(struct env *env, int32_t pid, const char *name)
{
	const char *const args[] = { "/usr/bin/qemu-system-x86_64", "-name", name, NULL };

	add(env, pid, pid, "qemu-system-x86", 0, 1);
	fixture_cmdline(&env->f, pid, args);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
