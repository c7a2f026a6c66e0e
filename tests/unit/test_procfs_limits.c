// SPDX-License-Identifier: GPL-2.0-or-later
/* The source without BPF: identity, limits, and what must not be taken for a wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "procfs_env.h"

/* B6 and F7: the number of a worker that is gone goes to a shell. */
static void test_reused_tid(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);
	struct fixture_task shell = { .tid = 158, .comm = "bash", .state = 'R', .cpu = 1,
				      .run_ns = 100 * SEC, .slices = 3, .voluntary = 3,
				      .start_ticks = 99000 };
	size_t i;

	pair(env, &hog, &loser);
	hold(env, &hog, 4);
	assert_int_equal(stint(env)->tid, 158);
	fixture_remove(&env->f, "proc/158");
	put(env, &shell);
	look(env);
	assert_true(env->obs[0].stint.final);
	assert_int_equal(env->obs[0].stint.start_ns, 10 * SEC);
	assert_int_equal(env->obs[1].kind, VW_OBS_TASK_EXIT);
	assert_int_equal(env->obs[1].tid, 158);
	for (i = 2; i < env->n; i++)
		assert_true(env->obs[i].kind != VW_OBS_STINT || env->obs[i].stint.tid != 158);
	/* Watched under its new identity it starts from nothing. */
	watch(env, 158);
	look(env);
	for (i = 0; i < env->n; i++)
		assert_true(env->obs[i].kind != VW_OBS_STINT || env->obs[i].stint.tid != 158);
}

/* The same between two looks, and watched at once: nothing of the old one is left. */
static void test_reused_and_watched(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);
	size_t i;

	pair(env, &hog, &loser);
	hold(env, &hog, 4);
	assert_int_equal(stint(env)->tid, 158);
	hog.start_ticks = 99000;
	put(env, &hog);
	watch(env, 158);
	look(env);
	assert_true(env->n > 0);
	for (i = 0; i < env->n; i++)
		assert_true(env->obs[i].kind != VW_OBS_STINT || env->obs[i].stint.final);
}

/* Nobody is named after its exit, in the last word on a stint neither. */
static void test_all_exit(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);

	pair(env, &loser, &hog); /* in this order: the loser is looked at first */
	hold(env, &hog, 4);
	fixture_remove(&env->f, "proc/158");
	fixture_remove(&env->f, "proc/159");
	look(env);
	assert_int_equal(env->n, 3);
	assert_int_equal(env->obs[0].kind, VW_OBS_TASK_EXIT);
	assert_int_equal(env->obs[0].tid, 159);
	assert_true(env->obs[1].stint.final);
	assert_int_equal(env->obs[1].stint.n_waiters, 0);
	assert_int_equal(env->obs[2].tid, 158);
}

/* A kernel that counts no schedstat shows zeros for ever: no proof of anything. */
static void test_no_schedstat(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);
	int i;

	hog.run_ns = hog.slices = loser.run_ns = loser.slices = 0;
	pair(env, &hog, &loser);
	for (i = 0; i < 20; i++) {
		look(env);
		assert_int_equal(env->n, 0);
	}
}

/* More victims than fit: the longest waits are kept, in order. */
static void test_many_waiters(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser;
	const struct vw_obs_stint *seen;
	int i;

	put(env, &hog);
	watch(env, 158);
	for (i = 0; i < 12; i++) {
		loser = worker(200 + i);
		put(env, &loser);
		watch(env, 200 + i);
		look(env);
		run(env, &hog);
	}
	/* The first one gets a slice, and waits anew. */
	loser = worker(200);
	loser.slices++;
	put(env, &loser);
	hold(env, &hog, 4);
	seen = stint(env);
	assert_int_equal(count(env, VW_OBS_STINT), 1);
	assert_int_equal(seen->n_waiters, VW_MAX_VICTIMS);
	for (i = 0; i < VW_MAX_VICTIMS; i++) {
		assert_int_equal(seen->waiters[i].tid, 201 + i);
		assert_int_equal(seen->waiters[i].wait_ns, (14 - i) * STEP);
	}
}

static void test_config(void **state)
{
	struct env *env = *state;
	const struct vw_procfs_config config = { .min_ns = 10 * SEC, .min_samples = 5 };
	struct fixture_task hog = worker(158), loser = worker(159);
	int i;

	vw_procfs_free(env->src);
	env->src = vw_procfs_new(env->attr, &config);
	pair(env, &hog, &loser);
	for (i = 0; i <= 20; i++) {
		look(env);
		assert_int_equal(stint(env) != NULL, i == 20);
		run(env, &hog);
	}
	vw_procfs_free(NULL);
}

/* However long the time between them, a few looks are no proof. */
static void test_few_samples(void **state)
{
	struct env *env = *state;
	const struct vw_procfs_config config = { .min_ns = STEP, .min_samples = 4 };
	struct fixture_task hog = worker(158), loser = worker(159);
	int i;

	vw_procfs_free(env->src);
	env->src = vw_procfs_new(env->attr, &config);
	pair(env, &hog, &loser);
	for (i = 0; i < 4; i++) {
		look(env);
		assert_int_equal(stint(env) != NULL, i == 3);
		run(env, &hog);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_reused_tid),
		TEST(test_no_schedstat),
		TEST(test_many_waiters),
		TEST(test_reused_and_watched),
		TEST(test_all_exit),
		TEST(test_config),
		TEST(test_few_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
