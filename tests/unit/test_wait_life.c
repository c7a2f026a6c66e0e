// SPDX-License-Identifier: GPL-2.0-or-later
/* What waits make findings of, when these open and what ends them. */
#include "wait_env.h"

/* Opens while it lasts, is told at each tick, closed once. */
static void test_life(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	uint64_t s;

	for (s = 1; s <= 4; s++) {
		obs = turns(s * SEC, false);
		feed(env, &obs);
		vw_detect_tick(env->set, obs.ts_ns);
	}
	assert_int_equal(env->n, 4);
	obs = turns(4 * SEC + MS, true);
	feed(env, &obs);
	vw_detect_tick(env->set, BEGIN + 5 * SEC);
	assert_int_equal(env->n, 4);
	vw_detect_tick(env->set, BEGIN + 6 * SEC);
	assert_int_equal(only(env, 200 * SEC)->status, VW_CLOSED);
	assert_int_equal(env->n, 5);
	assert_int_equal(last(env)->end_ns, BEGIN + 4 * SEC + MS);
	assert_int_equal(last(env)->duration_ns, 4 * SEC + MS);
	assert_int_equal(last(env)->victims[0].wait_total_ns, 4 * SEC + MS);
}

/* Several who wait for the same, and one who does so again and again: one finding. */
static void test_one_finding(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	uint64_t i;

	for (i = 0; i < 20; i++) {
		obs = turns(120 * MS, true);
		obs.ts_ns += i * 300 * MS;
		feed(env, &obs);
		obs.wait.tid = OTHER;
		obs.wait.start_ns = OTHER * SEC;
		feed(env, &obs);
	}
	assert_int_equal(only(env, 110 * SEC)->evidence.count, 40);
	assert_int_equal(last(env)->n_victims, 2);
	assert_int_equal(last(env)->victims[0].wait_total_ns, 20 * 120 * MS);
	assert_int_equal(last(env)->victims[0].wait_ns, 120 * MS);
	/* Side by side counts once. */
	assert_int_equal(last(env)->duration_ns, 20 * 120 * MS);
	assert_int_equal(last(env)->evidence.span_ns, 19 * 300 * MS + 120 * MS);
}

/* A second apart is another one. */
static void test_later_episode(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(120 * MS, true);

	feed(env, &obs);
	obs.ts_ns += 120 * MS + SEC;
	feed(env, &obs);
	assert_int_equal(env->n, 0);
	obs.ts_ns += 120 * MS + SEC + 1;
	feed(env, &obs);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->seen[0].evidence.count, 2);
	assert_int_equal(env->seen[0].status, VW_CLOSED);
	vw_detect_finish(env->set, 110 * SEC);
	assert_int_equal(env->n, 2);
	assert_int_equal(last(env)->evidence.count, 1);
}

/* The end of a wait was lost: the next one of that task is another. */
static void test_end_lost(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(SEC, false);

	feed(env, &obs);
	obs = turns(200 * MS, true);
	obs.ts_ns = BEGIN + SEC + 300 * MS;
	feed(env, &obs);
	assert_int_equal(only(env, 110 * SEC)->evidence.count, 2);
	assert_int_equal(last(env)->victims[0].wait_total_ns, SEC + 200 * MS);
	assert_int_equal(last(env)->status, VW_CLOSED);
}

/* Nothing is heard of it any more. */
static void test_stale(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(SEC, false);

	feed(env, &obs);
	vw_detect_tick(env->set, BEGIN + 4 * SEC);
	assert_int_equal(last(env)->status, VW_OPEN);
	vw_detect_tick(env->set, BEGIN + 4 * SEC + 1);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->end_ns, BEGIN + SEC);
}

static void test_open_at_the_end(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(SEC, false);

	feed(env, &obs);
	assert_int_equal(only(env, BEGIN + SEC)->status, VW_OPEN);
}

static void test_loss(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(SEC, false);

	feed(env, &obs);
	lose(env, 5, BEGIN + SEC);
	assert_int_equal(last(env)->status, VW_OPEN);
	lose(env, 6, BEGIN + SEC);
	assert_int_equal(last(env)->status, VW_CLOSED);
	/* What goes on has a part that was not seen. */
	obs = turns(2 * SEC, true);
	obs.wait.idle_ns = obs.wait.rt_ns = obs.wait.longest_stint_ns = obs.wait.fair_ns =
		VW_UNKNOWN;
	feed(env, &obs);
	assert_int_equal(env->n, 2);
	vw_detect_finish(env->set, 110 * SEC);
	assert_int_equal(env->n, 2);
}

static void test_exit(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(SEC, false);

	feed(env, &obs);
	leave(env, VICTIM, BEGIN + SEC + MS);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(env->n, 2);
	feed(env, &obs);
	leave(env, WORKER, BEGIN + SEC + MS);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(env->n, 4);
}

/* After a hog its victims take turns, and it waits for as long as it owes all of them. */
static void test_payback(void **state)
{
	struct env *env = *state;
	struct vw_obs hog = { .kind = VW_OBS_STINT, .ts_ns = BEGIN }, obs;
	const uint64_t owed = 2 * SEC;
	unsigned int i;

	tell_worker(env);
	hog.stint.cpu = 6;
	hog.stint.tid = VICTIM; /* it was the hog */
	hog.stint.start_ns = VICTIM * SEC;
	hog.stint.oncpu_ns = owed;
	hog.stint.ticks = 500;
	hog.stint.resched = VW_RESCHED_NONE;
	hog.stint.nr_running = hog.stint.n_waiters = 2;
	hog.stint.final = true;
	for (i = 0; i < 2; i++) {
		hog.stint.waiters[i].tid = i ? OTHER : WORKER;
		hog.stint.waiters[i].wait_ns = owed;
	}
	feed(env, &hog);
	assert_int_equal(env->n, 1);
	obs = turns(2 * owed + owed / 2, true);
	obs.wait.runners = 2;
	feed(env, &obs);
	vw_detect_finish(env->set, 110 * SEC);
	assert_int_equal(env->n, 1);
	obs.wait.wait_ns += owed / 2 + 1;
	obs.ts_ns = BEGIN + 3 * owed + 1;
	feed(env, &obs);
	vw_detect_finish(env->set, 110 * SEC);
	assert_int_equal(env->n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_life),     TEST(test_one_finding), TEST(test_later_episode),
		TEST(test_end_lost), TEST(test_stale),	     TEST(test_open_at_the_end),
		TEST(test_loss),     TEST(test_exit),	     TEST(test_payback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
