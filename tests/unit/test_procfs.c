// SPDX-License-Identifier: GPL-2.0-or-later
/* The source without BPF: who waits, and who holds the CPU, from snapshots of /proc alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "procfs_env.h"

/* As measured: the loser's schedstat stands still while it starves, its wait stays 0. */
static void test_starved_worker(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);
	const struct vw_obs_stint *seen;

	pair(env, &hog, &loser);
	look(env);
	run(env, &hog);
	look(env);
	assert_int_equal(env->n, 0);
	run(env, &hog);
	look(env);
	assert_int_equal(count(env, VW_OBS_TASK), 2);
	assert_int_equal(count(env, VW_OBS_STINT), 1);
	assert_int_equal(env->obs[2].kind, VW_OBS_STINT);
	seen = stint(env);
	assert_int_equal(seen->cpu, 1);
	assert_int_equal(seen->tid, 158);
	assert_int_equal(seen->start_ns, 10 * SEC);
	assert_false(seen->final);
	assert_false(seen->rt);
	assert_int_equal(seen->oncpu_ns, 2 * STEP);
	assert_int_equal(seen->resched, VW_RESCHED_UNKNOWN);
	assert_int_equal(seen->pending_ns, 0);
	assert_int_equal(seen->ticks, 3);
	assert_int_equal(seen->nr_running, 0);
	assert_true(seen->softirq_ns == VW_UNKNOWN);
	assert_true(seen->irq_ns == VW_UNKNOWN);
	assert_string_equal(seen->clock, "procfs");
	assert_int_equal(seen->n_waiters, 1);
	assert_int_equal(seen->waiters[0].tid, 159);
	assert_int_equal(seen->waiters[0].start_ns, 10 * SEC);
	assert_int_equal(seen->waiters[0].wait_ns, 2 * STEP);
	/* It lasts: told again, the tasks not. */
	run(env, &hog);
	look(env);
	assert_int_equal(env->n, 1);
	assert_int_equal(stint(env)->oncpu_ns, 3 * STEP);
	assert_int_equal(stint(env)->waiters[0].wait_ns, 3 * STEP);
	/* The hog yields, the loser runs. */
	hog.involuntary++;
	put(env, &hog);
	loser.run_ns += MS;
	loser.slices++;
	loser.delay_ns += 2 * SEC;
	put(env, &loser);
	look(env);
	assert_int_equal(env->n, 1);
	assert_true(stint(env)->final);
	assert_int_equal(stint(env)->tid, 158);
	assert_int_equal(stint(env)->oncpu_ns, 3 * STEP);
	look(env);
	assert_int_equal(env->n, 0);
}

/* Healthy: both switch all the time. */
static void test_fair_sharing(void **state)
{
	struct env *env = *state;
	struct fixture_task a = worker(158), b = worker(159);
	int i;

	pair(env, &a, &b);
	for (i = 0; i < 20; i++) {
		look(env);
		assert_int_equal(env->n, 0);
		a.run_ns += STEP / 2;
		b.run_ns += STEP / 2;
		a.slices += 30;
		b.slices += 30;
		a.involuntary += 30;
		b.involuntary += 30;
		put(env, &a);
		put(env, &b);
	}
}

/* One that runs alone is no waiter, not even with a clock that lags by a tick. */
static void test_running_alone(void **state)
{
	struct env *env = *state;
	struct fixture_task task = worker(158);
	int i;

	put(env, &task);
	watch(env, 158);
	for (i = 0; i < 20; i++) {
		look(env);
		assert_int_equal(env->n, 0);
		/* Two looks of three see no progress: a remote tick comes once a second. */
		if (i % 3 == 2)
			task.run_ns += 3 * STEP;
		put(env, &task);
	}
}

static void test_sleeping_is_no_wait(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), sleeper = worker(159);
	int i;

	sleeper.state = 'S';
	pair(env, &hog, &sleeper);
	for (i = 0; i < 20; i++) {
		look(env);
		assert_int_equal(env->n, 0);
		run(env, &hog);
	}
}

/* A hog on another CPU is none of the loser's. */
static void test_other_cpu(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);
	int i;

	hog.cpu = 2;
	pair(env, &hog, &loser);
	for (i = 0; i < 7; i++) {
		look(env);
		assert_int_equal(env->n, i < 6 ? 0 : 2);
		run(env, &hog);
	}
	/* Nobody is seen to run there: told later, and of nobody. */
	assert_int_equal(stint(env)->tid, 0);
	assert_int_equal(stint(env)->cpu, 1);
	assert_int_equal(stint(env)->oncpu_ns, 0);
	assert_int_equal(stint(env)->waiters[0].tid, 159);
	assert_int_equal(stint(env)->waiters[0].wait_ns, 6 * STEP);
	loser.slices++;
	put(env, &loser);
	look(env);
	assert_true(stint(env)->final);
	assert_int_equal(stint(env)->tid, 0);
}

/* The hog is no worker at all: found in all of /proc. */
static void test_unwatched_hog(void **state)
{
	struct env *env = *state;
	struct fixture_task loser = worker(159);
	struct fixture_task hog = { .pid = 900, .tid = 901, .comm = "spin", .state = 'R', .cpu = 1,
				    .run_ns = SEC, .slices = 9, .involuntary = 9, .policy = 1 };
	struct fixture_task main_thread = { .tid = 900, .comm = "spin-main" };
	/* Starves like the worker: in state R, yet it holds nothing. */
	struct fixture_task fellow = { .tid = 890, .comm = "fellow", .state = 'R', .cpu = 1,
				       .run_ns = SEC, .slices = 9, .involuntary = 9 };
	struct fixture_task other = { .tid = 950, .comm = "else", .state = 'R', .cpu = 2,
				      .run_ns = SEC, .slices = 9 };
	int i;

	put(env, &loser);
	put(env, &fellow);
	put(env, &main_thread);
	put(env, &hog);
	put(env, &other);
	watch(env, 159);
	for (i = 0; i < 4; i++) {
		look(env);
		if (i < 3)
			assert_int_equal(env->n, 0);
		run(env, &hog);
		run(env, &other);
	}
	assert_int_equal(count(env, VW_OBS_TASK), 2);
	assert_int_equal(stint(env)->tid, 901);
	assert_true(stint(env)->rt);
	assert_int_equal(stint(env)->n_waiters, 1);
	assert_int_equal(stint(env)->oncpu_ns, 2 * STEP);
	for (i = 0; i < 2; i++)
		if (env->obs[i].task.tid == 901)
			assert_string_equal(env->obs[i].task.comm, "spin");
	/* The hog ends: its stint first, then it. */
	fixture_remove(&env->f, "proc/900/task/901");
	look(env);
	assert_int_equal(env->n, 2);
	assert_true(env->obs[0].stint.final);
	assert_int_equal(env->obs[1].kind, VW_OBS_TASK_EXIT);
	assert_int_equal(env->obs[1].tid, 901);
}

/* Two strangers alternate: nobody holds the CPU, though the worker waits. */
static void test_no_single_hog(void **state)
{
	struct env *env = *state;
	struct fixture_task loser = worker(159);
	struct fixture_task a = { .tid = 900, .comm = "a", .state = 'R', .cpu = 1, .run_ns = SEC };
	struct fixture_task b = { .tid = 901, .comm = "b", .state = 'R', .cpu = 1, .run_ns = SEC };
	int i;

	put(env, &loser);
	put(env, &a);
	put(env, &b);
	watch(env, 159);
	for (i = 0; i < 7; i++) {
		look(env);
		a.slices++;
		a.involuntary++;
		b.slices++;
		b.involuntary++;
		run(env, &a);
		run(env, &b);
	}
	assert_int_equal(stint(env)->tid, 0);
	assert_int_equal(stint(env)->n_waiters, 1);
}

/* Workers come first when a stranger looks like a hog too, though it was there before. */
static void test_worker_first(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);
	struct fixture_task stranger = { .tid = 100, .comm = "spin", .state = 'R', .cpu = 1,
					 .run_ns = SEC, .slices = 9 };
	int i;

	put(env, &stranger);
	put(env, &loser);
	watch(env, 159);
	for (i = 0; i < 8; i++) {
		if (i == 4) {
			assert_int_equal(stint(env)->tid, 100);
			put(env, &hog);
			watch(env, 158);
		}
		look(env);
		if (i >= 4)
			run(env, &hog);
		run(env, &stranger);
	}
	assert_int_equal(count(env, VW_OBS_STINT), 1);
	assert_int_equal(stint(env)->tid, 158);
}

/* Its time on the CPU before does not count for the one it is moved to. */
static void test_moved_hog(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);
	int i;

	hog.cpu = 2;
	pair(env, &hog, &loser);
	for (i = 0; i < 6; i++) {
		if (i == 3)
			hog.cpu = 1;
		run(env, &hog);
		look(env);
		assert_int_equal(stint(env) != NULL, i == 5);
	}
	assert_int_equal(stint(env)->oncpu_ns, 2 * STEP);
	assert_int_equal(stint(env)->waiters[0].wait_ns, 5 * STEP);
}

/* Moved while it waits: the kernel books the delay so far, but it has not run. */
static void test_moved_waiter(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);
	int i;

	loser.cpu = 3;
	pair(env, &hog, &loser);
	for (i = 0; i < 4; i++) {
		look(env);
		run(env, &hog);
		loser.cpu = 1;
		loser.delay_ns += STEP;
		put(env, &loser);
	}
	assert_int_equal(stint(env)->tid, 158);
	assert_int_equal(stint(env)->waiters[0].wait_ns, 3 * STEP);
}

/* The waiter goes away, the hog goes on: its stint does, without a waiter. */
static void test_waiter_leaves(void **state)
{
	struct env *env = *state;
	struct fixture_task hog = worker(158), loser = worker(159);

	pair(env, &hog, &loser);
	hold(env, &hog, 4);
	assert_int_equal(stint(env)->n_waiters, 1);
	fixture_remove(&env->f, "proc/159");
	look(env);
	assert_int_equal(env->n, 2);
	assert_int_equal(env->obs[0].kind, VW_OBS_TASK_EXIT);
	assert_int_equal(env->obs[0].tid, 159);
	assert_false(stint(env)->final);
	assert_int_equal(stint(env)->tid, 158);
	assert_int_equal(stint(env)->n_waiters, 0);
	hog.state = 'S';
	put(env, &hog);
	look(env);
	assert_true(stint(env)->final);
	assert_int_equal(stint(env)->n_waiters, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_starved_worker),
		TEST(test_fair_sharing),
		TEST(test_running_alone),
		TEST(test_sleeping_is_no_wait),
		TEST(test_other_cpu),
		TEST(test_unwatched_hog),
		TEST(test_no_single_hog),
		TEST(test_worker_first),
		TEST(test_moved_hog),
		TEST(test_moved_waiter),
		TEST(test_waiter_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
