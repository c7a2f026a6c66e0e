// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits: since when, where, and what that CPU did meanwhile. */
#include "sched_env.h"

static void test_boundary(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START + MS, VICTIM, 2);
	sw(env, START + MS + 2 * T - 1, 2, OTHER, 'S', VICTIM);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
	sw(env, START + SEC, 2, VICTIM, 'S', OTHER);
	wk(env, START + SEC + MS, VICTIM, 2);
	sw(env, START + SEC + MS + 2 * T, 2, OTHER, 'S', VICTIM);
	assert_int_equal(only(env, VW_OBS_WAIT)->wait.wait_ns, 2 * T);
	assert_true(only(env, VW_OBS_WAIT)->wait.final);
	assert_int_equal(only(env, VW_OBS_WAIT)->wait.woken_cpu, 2);
	assert_int_equal(only(env, VW_OBS_WAIT)->wait.cpu, 2);
}

/* Others come and go; whoever waits waits on, from when it lost its CPU or was woken. */
static void test_not_restarted(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;
	const struct vw_obs_wait *w;
	int i;

	set_prio(env, 901, 110);
	sw(env, ts, 2, 0, 'R', VICTIM);
	sw(env, ts += MS, 2, VICTIM, 'R', 901);
	for (i = 0; i < 50; i++) {
		wk(env, ts += MS, 902, 2);
		sw(env, ts += MS, 2, 901, 'R', 902);
		/* On its way to sleep it was preempted, and is woken where it waits. */
		wk(env, ts, VICTIM, 2);
		sw(env, ts += 2 * MS, 2, 902, 'S', 901);
	}
	sw(env, ts += MS, 2, 901, 'R', VICTIM);
	w = &last(env, VW_OBS_WAIT)->wait;
	assert_int_equal(w->tid, VICTIM);
	assert_int_equal(w->wait_ns, 201 * MS);
	assert_true(w->final);
	assert_int_equal(w->woken_cpu, -1);
	assert_int_equal(w->runners, 2);
	/* 50 times 2 ms of each, and the first and last stints of 901. */
	assert_int_equal(w->top_tid, 901);
	assert_int_equal(w->top_ns, 101 * MS);
	assert_int_equal(w->longest_stint_ns, 2 * MS);
	assert_int_equal(w->fair_ns, 4 * MS);
	assert_int_equal(w->idle_ns, 0);
	assert_int_equal(w->rt_ns, 0);
	assert_true(w->softirq_ns == VW_UNKNOWN);
	assert_int_equal(w->weight, 1024);
	assert_in_range(w->heaviest, 9400, 9700);
	assert_false(w->throttled);
	assert_false(w->released);
}

/* The stint under way when the wait begins counts for what is left of it. */
static void test_clipped(void **state)
{
	struct env *env = *state;
	const struct vw_obs_wait *w;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START + 90 * MS, VICTIM, 2);
	seen(env, START + 112 * MS, 2, OTHER, VW_RESCHED_NONE);
	w = &only(env, VW_OBS_WAIT)->wait;
	assert_false(w->final);
	assert_int_equal(w->longest_stint_ns, 22 * MS);
	assert_int_equal(w->top_tid, OTHER);
	assert_int_equal(w->top_ns, 22 * MS);
	sw(env, START + 115 * MS, 2, OTHER, 'S', 901);
	sw(env, START + 145 * MS, 2, 901, 'S', VICTIM);
	w = &last(env, VW_OBS_WAIT)->wait;
	assert_true(w->final);
	assert_int_equal(w->wait_ns, 55 * MS);
	assert_int_equal(w->longest_stint_ns, 30 * MS);
	assert_int_equal(w->fair_ns, 55 * MS);
	assert_int_equal(w->top_tid, 901);
	assert_int_equal(w->top_ns, 30 * MS);
}

static void test_idle_rt_softirq(void **state)
{
	struct env *env = *state;
	const struct vw_obs_wait *w;

	set_prio(env, 901, 50);
	irq(env, VW_EVENT_SOFTIRQ_EXIT, START - MS, 2);
	sw(env, START, 2, 0, 'R', OTHER);
	irq(env, VW_EVENT_SOFTIRQ_ENTRY, START, 2);
	irq(env, VW_EVENT_SOFTIRQ_EXIT, START + 4 * MS, 2);
	sw(env, START + 10 * MS, 2, OTHER, 'S', 0);
	wk(env, START + 20 * MS, VICTIM, 2);
	sw(env, START + 30 * MS, 2, 0, 'R', 901);
	irq(env, VW_EVENT_SOFTIRQ_ENTRY, START + 31 * MS, 2);
	irq(env, VW_EVENT_SOFTIRQ_EXIT, START + 33 * MS, 2);
	sw(env, START + 37 * MS, 2, 901, 'S', 0);
	sw(env, START + 42 * MS, 2, 0, 'R', OTHER);
	sw(env, START + 43 * MS, 2, OTHER, 'S', VICTIM);
	w = &last(env, VW_OBS_WAIT)->wait;
	assert_int_equal(w->wait_ns, 23 * MS);
	assert_int_equal(w->idle_ns, 15 * MS);
	assert_int_equal(w->rt_ns, 7 * MS);
	assert_int_equal(w->softirq_ns, 2 * MS);
	assert_int_equal(w->runners, 2);
	assert_false(w->released);
}

/* E8 of the public cases: idle until the sibling lets go of its task. */
static void play_forced_idle(struct env *env, uint64_t let_go_ns, uint64_t run_ns)
{
	sw(env, 999000000, 0, 0, 'R', 5001);
	sw(env, 1000000000, 1, OTHER, 'S', 0);
	wk(env, 1000100000, 6001, 1);
	sw(env, let_go_ns, 0, 5001, 'S', 0);
	sw(env, run_ns, 1, 0, 'R', 6001);
}

static void test_forced_idle(void **state)
{
	struct env *env = *state;
	const struct vw_obs_wait *w;

	play_forced_idle(env, 1030000000, 1030000000);
	w = &only(env, VW_OBS_WAIT)->wait;
	assert_int_equal(w->cpu, 1);
	assert_int_equal(w->wait_ns, 29900000);
	assert_int_equal(w->idle_ns, 29900000);
	assert_int_equal(w->runners, 0);
	assert_int_equal(w->top_tid, 0);
	assert_int_equal(w->woken_cpu, 1);
	assert_true(w->released);
	/* A little earlier is the same moment, much earlier is not. */
	restart(env);
	play_forced_idle(env, 1030000000, 1030050000);
	assert_true(only(env, VW_OBS_WAIT)->wait.released);
	restart(env);
	play_forced_idle(env, 1030000000, 1030050001);
	assert_false(only(env, VW_OBS_WAIT)->wait.released);
	/* The other CPU got its task after the wait had begun. */
	restart(env);
	sw(env, 999000000, 0, 0, 'R', 5001);
	sw(env, 1000000000, 1, OTHER, 'S', 0);
	wk(env, 1000100000, 6001, 1);
	sw(env, 1000200000, 0, 5001, 'S', 5002);
	sw(env, 1030000000, 0, 5002, 'S', 0);
	sw(env, 1030000000, 1, 0, 'R', 6001);
	assert_false(only(env, VW_OBS_WAIT)->wait.released);
}

/* Moved while it waits: one wait, and what each CPU did while it was there. */
static void test_moved(void **state)
{
	struct env *env = *state;
	const struct vw_obs_wait *w;

	sw(env, START, 2, 0, 'R', 901);
	sw(env, START, 3, 902, 'S', 0);
	wk(env, START + 10 * MS, VICTIM, 2);
	sw(env, START + 15 * MS, 2, 901, 'R', 903);
	mg(env, START + 20 * MS, VICTIM, 2, 3);
	sw(env, START + 26 * MS, 3, 0, 'R', 904);
	sw(env, START + 33 * MS, 3, 904, 'S', VICTIM);
	w = &only(env, VW_OBS_WAIT)->wait;
	assert_int_equal(w->wait_ns, 23 * MS);
	assert_int_equal(w->cpu, 3);
	assert_int_equal(w->woken_cpu, 2);
	assert_int_equal(w->idle_ns, 6 * MS);
	assert_int_equal(w->runners, 3);
	assert_int_equal(w->longest_stint_ns, 7 * MS);
	assert_int_equal(w->fair_ns, 17 * MS);
	assert_int_equal(w->top_tid, 904);
}

/* What the CPU does is not known where the wait begins. */
static void test_parts_unknown(void **state)
{
	struct env *env = *state;
	const struct vw_obs_wait *w;

	wake_by(env, VW_EVENT_WAKEUP, START, 7, VICTIM, 2);
	sw(env, START + 10 * MS, 2, 901, 'S', 902);
	sw(env, START + 30 * MS, 2, 902, 'S', VICTIM);
	w = &only(env, VW_OBS_WAIT)->wait;
	assert_int_equal(w->wait_ns, 30 * MS);
	assert_true(w->idle_ns == VW_UNKNOWN && w->rt_ns == VW_UNKNOWN);
	assert_true(w->longest_stint_ns == VW_UNKNOWN && w->fair_ns == VW_UNKNOWN);
	assert_int_equal(w->runners, 0);
	assert_int_equal(w->top_tid, 0);
	assert_int_equal(w->heaviest, 0);
}

/* More stints than the log of a CPU holds: kept up to date while it waits. */
static void test_long_log(void **state)
{
	struct env *env = *state;
	const struct vw_obs_wait *w;
	uint64_t ts = START;
	int i;

	sw(env, ts, 2, 0, 'R', 901);
	wk(env, ts, VICTIM, 2);
	for (i = 0; i < 5000; i++) {
		sw(env, ts += 20 * US, 2, 901, 'R', 902);
		sw(env, ts += 30 * US, 2, 902, 'R', 901);
	}
	sw(env, ts += 40 * US, 2, 901, 'R', VICTIM);
	w = &last(env, VW_OBS_WAIT)->wait;
	assert_true(w->final);
	assert_int_equal(w->wait_ns, 5000 * 50 * US + 40 * US);
	assert_int_equal(w->runners, 2);
	assert_int_equal(w->top_tid, 902);
	assert_int_equal(w->top_ns, 5000 * 30 * US);
	assert_int_equal(w->longest_stint_ns, 40 * US);
	assert_int_equal(w->fair_ns, 70 * US);
}

/* The first ones of a queue are kept up to date; of those behind, less is known, and it is said. */
static void test_long_queue(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;
	size_t i, known = 0, unknown = 0;

	sw(env, ts, 2, 0, 'R', 901);
	for (i = 0; i < 40; i++)
		wk(env, ts, 1000 + (int32_t)i, 2);
	for (i = 0; i < 5000; i++) {
		sw(env, ts += 20 * US, 2, 901, 'R', 902);
		sw(env, ts += 30 * US, 2, 902, 'R', 901);
	}
	finish(env);
	for (i = 0; i < env->n; i++) {
		const struct vw_obs_wait *w = &env->seen[i].wait;

		if (env->seen[i].kind != VW_OBS_WAIT || env->seen[i].ts_ns != ts)
			continue;
		assert_int_equal(w->idle_ns, 0);
		if (w->fair_ns == VW_UNKNOWN)
			unknown++;
		else
			known += w->fair_ns == 50 * US && w->runners == 2;
	}
	/* 901 or 902 waits, too, but not for that long. */
	assert_int_equal(known + unknown, 40);
	assert_true(known >= 16);
	assert_true(unknown > 0);
}

/* More tasks than are told apart. */
static void test_many_runners(void **state)
{
	struct env *env = *state;
	const struct vw_obs_wait *w;
	uint64_t ts = START;
	int32_t i, n;

	for (n = VW_WAIT_RUNNERS; n <= VW_WAIT_RUNNERS + 1; n++) {
		restart(env);
		sw(env, ts, 2, 0, 'R', 1000);
		wk(env, ts, VICTIM, 2);
		for (i = 1; i < n; i++)
			sw(env, ts += MS, 2, 999 + i, 'S', 1000 + i);
		sw(env, ts += 2 * MS, 2, 999 + i, 'S', VICTIM);
		w = &last(env, VW_OBS_WAIT)->wait;
		assert_int_equal(w->wait_ns, (uint64_t)(n + 1) * MS);
		assert_int_equal(w->runners, VW_WAIT_RUNNERS);
		assert_int_equal(w->longest_stint_ns, 2 * MS);
		if (n == VW_WAIT_RUNNERS)
			assert_int_equal(w->fair_ns, w->wait_ns);
		else
			assert_true(w->fair_ns == VW_UNKNOWN);
	}
}

/* Wakings say when somebody is about to be woken; where wake-ups are recorded those count. */
static void test_waking(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	wake_by(env, VW_EVENT_WAKING, START + MS, 2, VICTIM, 2);
	sw(env, START + 31 * MS, 2, OTHER, 'S', VICTIM);
	assert_int_equal(last(env, VW_OBS_WAIT)->wait.wait_ns, 30 * MS);
	restart(env);
	sw(env, START, 2, 0, 'R', OTHER);
	wake_by(env, VW_EVENT_WAKING, START + MS, 2, VICTIM, 2);
	wk(env, START + 3 * MS, VICTIM, 2);
	sw(env, START + 31 * MS, 2, OTHER, 'S', VICTIM);
	assert_int_equal(last(env, VW_OBS_WAIT)->wait.wait_ns, 28 * MS);
	/* From then on a waking alone is no wait. */
	sw(env, START + 40 * MS, 2, VICTIM, 'S', OTHER);
	wake_by(env, VW_EVENT_WAKING, START + 50 * MS, 2, VICTIM, 2);
	sw(env, START + 90 * MS, 2, OTHER, 'S', VICTIM);
	assert_int_equal(count(env, VW_OBS_WAIT), 1);
}

/* What was not seen to begin is no wait; nor is a wake-up of one that runs. */
static void test_no_wait(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, OTHER, 'S', VICTIM);
	wk(env, START + MS, VICTIM, 2);
	sw(env, START + 50 * MS, 2, VICTIM, 'S', OTHER);
	/* It sleeps since: nobody was seen to wake it. */
	sw(env, START + 99 * MS, 2, OTHER, 'S', VICTIM);
	/* How it left is not known. */
	sw(env, START + 100 * MS, 2, VICTIM, 0, OTHER);
	sw(env, START + 150 * MS, 2, OTHER, 'S', VICTIM);
	finish(env);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
}

/* Without a record of moves, a waiter that runs elsewhere was moved; with it, more is missing. */
static void test_runs_elsewhere(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START, VICTIM, 2);
	sw(env, START + 30 * MS, 3, 0, 'R', VICTIM);
	assert_int_equal(only(env, VW_OBS_WAIT)->wait.wait_ns, 30 * MS);
	assert_int_equal(only(env, VW_OBS_WAIT)->wait.cpu, 3);
	restart(env);
	mg(env, START, 4444, 5, 6);
	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START, VICTIM, 2);
	sw(env, START + 30 * MS, 3, 0, 'R', VICTIM);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
}

/* Woken where it does not wait, or moved from there: it ran in between, unseen. */
static void test_unseen_run(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	sw(env, START, 3, 0, 'R', OTHER + 1);
	wk(env, START, VICTIM, 2);
	wk(env, START + 40 * MS, VICTIM, 3);
	sw(env, START + 65 * MS, 3, OTHER + 1, 'S', VICTIM);
	assert_int_equal(last(env, VW_OBS_WAIT)->wait.wait_ns, 25 * MS);
	wk(env, START + 65 * MS, 901, 2);
	mg(env, START + 80 * MS, 901, 3, 4);
	sw(env, START + 105 * MS, 4, 0, 'R', 901);
	assert_int_equal(last(env, VW_OBS_WAIT)->wait.tid, 901);
	assert_int_equal(last(env, VW_OBS_WAIT)->wait.wait_ns, 25 * MS);
}

/* It waits nobody knows where. */
static void test_no_target(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	wake_by(env, VW_EVENT_WAKEUP, START, 2, VICTIM, -1);
	sw(env, START + 30 * MS, 2, OTHER, 'S', VICTIM);
	assert_int_equal(only(env, VW_OBS_WAIT)->wait.wait_ns, 30 * MS);
	assert_int_equal(only(env, VW_OBS_WAIT)->wait.woken_cpu, -1);
	assert_true(only(env, VW_OBS_WAIT)->wait.idle_ns == VW_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_boundary),	    TEST(test_not_restarted), TEST(test_clipped),
		TEST(test_idle_rt_softirq), TEST(test_forced_idle),   TEST(test_moved),
		TEST(test_parts_unknown),   TEST(test_long_log),      TEST(test_long_queue),
		TEST(test_many_runners),    TEST(test_waking),	      TEST(test_no_wait),
		TEST(test_runs_elsewhere),  TEST(test_unseen_run),    TEST(test_no_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
