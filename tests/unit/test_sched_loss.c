// SPDX-License-Identifier: GPL-2.0-or-later
/* What is not known: lost events, events that do not fit together, the beginning. */
#include "sched_env.h"

/* Rests on a gap: 3101 ran for 5 s, 950 waited for 5 s (F6 of the public cases). */
static void test_lost(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	sw(env, 998000000, 2, 0, 'R', OTHER);
	wk(env, 999000000, 950, 2);
	sw(env, 1000000000, 2, OTHER, 'S', WORKER);
	seen(env, 1000100000, 2, WORKER, VW_RESCHED_FULL);
	lose(env, 2, 5000);
	assert_int_equal(only(env, VW_OBS_LOSS)->loss.count, 5000);
	assert_int_equal(only(env, VW_OBS_LOSS)->loss.cpu, 2);
	assert_int_equal(vw_sched_lost(env->s), 5000);
	sw(env, 6000000000, 2, OTHER, 'R', 0);
	sw(env, 6000100000, 2, 0, 'R', 950);
	finish(env);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
	assert_int_equal(row_of(env, WORKER)->oncpu_ns, 100000);
	assert_int_equal(count(env, VW_OBS_LOSS), 1);
}

/* A gap at the end is announced by nothing: in a lossy trace what is open may be long over. */
static void test_lost_end(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	seen(env, START + 5 * MS, 2, WORKER, VW_RESCHED_NONE);
	wk(env, START + 6 * MS, VICTIM, 2);
	seen(env, START + 9 * SEC, 3, OTHER, VW_RESCHED_NONE);
	lose(env, 5, 1);
	finish(env);
	assert_int_equal(row_of(env, WORKER)->oncpu_ns, 6 * MS);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
}

/* In a trace the line comes before the next event of that CPU, which may be seconds later. */
static void test_lost_late(void **state)
{
	struct env *env = *state;
	uint64_t ts;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	wk(env, START + MS, VICTIM, 2);
	sw(env, START, 3, 0, 'R', OTHER);
	for (ts = START + MS; ts < START + 5 * SEC; ts += MS)
		seen(env, ts, 3, OTHER, VW_RESCHED_NONE);
	lose(env, 2, 1);
	sw(env, START + 5 * SEC, 2, 0, 'R', WORKER);
	finish(env);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
	/* Up to the last that was heard of that CPU: the wake-up. */
	assert_int_equal(row_of(env, WORKER)->oncpu_ns, MS);
}

/* What was told before the gap was true, and another CPU's gap is no gap here. */
static void test_lost_elsewhere(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START + MS, VICTIM, 2);
	seen(env, START + 25 * MS, 2, OTHER, VW_RESCHED_FULL);
	assert_int_equal(count(env, VW_OBS_STINT), 1);
	lose(env, 3, 7);
	assert_int_equal(last(env, VW_OBS_LOSS)->loss.cpu, 3);
	sw(env, START + 30 * MS, 2, OTHER, 'R', VICTIM);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.oncpu_ns, 30 * MS);
	assert_true(last(env, VW_OBS_STINT)->stint.final);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.pending_ns, 5 * MS);
	assert_int_equal(last(env, VW_OBS_WAIT)->wait.wait_ns, 29 * MS);
}

/* Lost of which CPU: of any. */
static void test_lost_anywhere(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	sw(env, START, 3, 0, 'R', WORKER);
	wk(env, START + MS, VICTIM, 2);
	wk(env, START + MS, VICTIM + 1, 3);
	lose(env, -1, 3);
	sw(env, START + SEC, 2, OTHER, 'R', VICTIM);
	sw(env, START + SEC, 3, WORKER, 'R', VICTIM + 1);
	assert_int_equal(only(env, VW_OBS_LOSS)->loss.cpu, -1);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
}

/* The request that was seen before a gap is not pending after it. */
static void test_lost_request(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	seen(env, START + MS, 2, OTHER, VW_RESCHED_FULL);
	lose(env, 2, 1);
	seen(env, START + 2 * MS, 2, OTHER, VW_RESCHED_UNKNOWN);
	wk(env, START + 2 * MS, VICTIM, 2);
	sw(env, START + 40 * MS, 2, OTHER, 'R', VICTIM);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.pending_ns, 0);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.resched, VW_RESCHED_UNKNOWN);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.oncpu_ns, 38 * MS);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.nr_running, 0);
}

/* Another task runs than the one that was put there: events are missing, lines say so or not. */
static void test_contradiction(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START + MS, VICTIM, 2);
	seen(env, START + 9 * MS, 2, OTHER, VW_RESCHED_NONE);
	seen(env, START + 40 * MS, 2, 4444, VW_RESCHED_NONE);
	assert_int_equal(only(env, VW_OBS_LOSS)->loss.cpu, 2);
	assert_int_equal(only(env, VW_OBS_LOSS)->loss.count, 0);
	sw(env, START + 41 * MS, 2, 4444, 'S', VICTIM);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
	/* By the switch itself. */
	sw(env, START + 90 * MS, 2, 5555, 'S', 0);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_LOSS), 2);
	assert_int_equal(vw_sched_lost(env->s), 0);
}

/*
 * Switches away from the idle task are missing in the traces of some kernels.  Who then runs is the
 * one that was woken there, from when on is not known.
 */
static void test_unseen_start(void **state)
{
	struct env *env = *state;
	uint64_t ts;

	sw(env, START - MS, 2, OTHER, 'S', 0);
	for (ts = START; ts < START + SEC; ts += 100 * MS) {
		wk(env, ts, OTHER, 2);
		seen(env, ts + 30 * MS, 2, OTHER, VW_RESCHED_NONE);
		wk(env, ts + 31 * MS, VICTIM, 2);
		sw(env, ts + 55 * MS, 2, OTHER, 'S', VICTIM);
		sw(env, ts + 56 * MS, 2, VICTIM, 'S', 0);
	}
	assert_int_equal(count(env, VW_OBS_LOSS), 0);
	assert_int_equal(nth(env, VW_OBS_STINT, 0)->stint.oncpu_ns, 25 * MS);
	assert_int_equal(count(env, VW_OBS_WAIT), 10);
	assert_int_equal(nth(env, VW_OBS_WAIT, 0)->wait.tid, VICTIM);
	/* By the switch that ends it. */
	wk(env, ts, OTHER, 2);
	sw(env, ts + 50 * MS, 2, OTHER, 'S', 0);
	assert_int_equal(count(env, VW_OBS_LOSS), 0);
	assert_int_equal(count(env, VW_OBS_WAIT), 10);
	/* Two waited: what became of the other one is not known. */
	ts += 100 * MS;
	wk(env, ts, OTHER, 2);
	wk(env, ts, VICTIM, 2);
	seen(env, ts + 30 * MS, 2, OTHER, VW_RESCHED_NONE);
	assert_int_equal(count(env, VW_OBS_LOSS), 1);
}

/* One task cannot run twice, nor be moved while it runs. */
static void test_impossible(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	sw(env, START + 30 * MS, 3, 0, 'R', OTHER);
	assert_int_equal(only(env, VW_OBS_LOSS)->loss.cpu, 2);
	mg(env, START + 60 * MS, OTHER, 3, 2);
	assert_int_equal(last(env, VW_OBS_LOSS)->loss.cpu, 3);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_MOVE), 0);
	/* A switch from a task to itself. */
	sw(env, START + 70 * MS, 4, 4444, 'R', 4444);
	sw(env, START + 71 * MS, 4, 4444, 'R', 4444);
	finish(env);
}

/*
 * A trace of one task only: others come and go unseen, and what the CPU does meanwhile is not
 * known.  Nobody is blamed.
 */
static void test_filtered(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;
	int32_t i;

	call(env, WORKER, "vhost-3077");
	for (i = 0; i < 50; i++) {
		sw(env, ts, 2, 4000 + 2 * i, 'R', WORKER);
		sw(env, ts + MS, 2, WORKER, 'R', 4001 + 2 * i);
		ts += 40 * MS;
	}
	finish(env);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
	assert_int_equal(row_of(env, WORKER)->oncpu_ns, 50 * MS);
}

/* Without switches the heads tell who is where, and that is all. */
static void test_no_switches(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	seen(env, START, 2, OTHER, VW_RESCHED_NONE);
	seen(env, START + 30 * MS, 2, WORKER, VW_RESCHED_NONE);
	seen(env, START + 60 * MS, 2, OTHER, VW_RESCHED_NONE);
	finish(env);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_LOSS), 0);
	assert_true(row_of(env, WORKER)->oncpu_ns == VW_UNKNOWN);
	assert_true(row_of(env, WORKER)->wait_ns == VW_UNKNOWN);
	assert_true(row_of(env, WORKER)->voluntary == VW_UNKNOWN);
	assert_true(row_of(env, WORKER)->migrations == VW_UNKNOWN);
	assert_true(row_of(env, WORKER)->charged_ns == VW_UNKNOWN);
	assert_true(row_of(env, WORKER)->work_items == VW_UNKNOWN);
}

/* CPUs and tasks that cannot be are left alone. */
static void test_absurd(void **state)
{
	struct env *env = *state;
	struct vw_event e;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START, VICTIM, -1);
	wk(env, START, VICTIM + 1, 1 << 30);
	mg(env, START, VICTIM, -1, 1 << 20);
	e = event(env, VW_EVENT_SWITCH, 1 << 24, START);
	e.sw.prev = who(env, OTHER);
	e.sw.next = who(env, 0);
	give(env, &e);
	e = event(env, VW_EVENT_SWITCH, 5, START);
	e.sw.prev.tid = -1;
	e.sw.next.tid = -1;
	give(env, &e);
	lose(env, 1 << 20, 1);
	sw(env, START + SEC, 4095, 0, 'R', 4194304);
	sw(env, START + 2 * SEC, 4095, 4194304, 'S', 0);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.cpu, 4095);
	finish(env);
}

/* What the callbacks return ends the reading. */
static void test_errors(void **state)
{
	struct env *env = *state;
	struct vw_event e;

	sw(env, START, 2, 0, 'R', OTHER);
	env->err = -5;
	e = event(env, VW_EVENT_SWITCH, 2, START + SEC);
	e.sw.prev = who(env, OTHER);
	e.sw.next = who(env, 0);
	e.sw.prev_state = 'S';
	assert_int_equal(vw_sched_event(env->s, &e), -5);
	assert_int_equal(vw_sched_finish(env->s), -5);
	vw_sched_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lost),	   TEST(test_lost_late),     TEST(test_lost_end),
		TEST(test_lost_elsewhere), TEST(test_lost_anywhere), TEST(test_lost_request),
		TEST(test_contradiction),  TEST(test_impossible),    TEST(test_filtered),
		TEST(test_no_switches),	   TEST(test_absurd),	     TEST(test_errors),
		TEST(test_unseen_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
