// SPDX-License-Identifier: GPL-2.0-or-later
/* Time charged against time on a CPU. */
#include "sched_env.h"

/* @tid runs on CPU 2 for @ns and is charged @percent of it at ticks of 4 ms and when it leaves. */
static uint64_t run_charged(struct env *env, uint64_t ts, int32_t tid, uint64_t ns,
			    uint64_t percent)
{
	uint64_t end = ts + ns, since = ts;

	sw(env, ts, 2, 0, 'R', tid);
	while (ts + 4 * MS < end) {
		ts += 4 * MS;
		rt(env, ts, 2, tid, (ts - since) * percent / 100);
		since = ts;
	}
	rt(env, end, 2, tid, (end - since) * percent / 100);
	sw(env, end, 2, tid, 'S', 0);
	return end;
}

static void test_as_it_ran(void **state)
{
	struct env *env = *state;

	run_charged(env, START, OTHER, 5 * SEC, 100);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 0);
	/* A watched one's windows are told all. */
	restart(env);
	call(env, WORKER, "vhost-3077");
	run_charged(env, START, WORKER, 5 * SEC, 100);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 5);
	assert_int_equal(last(env, VW_OBS_CHARGE)->charge.oncpu_ns, SEC);
	assert_int_equal(last(env, VW_OBS_CHARGE)->charge.charged_ns, SEC);
	assert_int_equal(row_of(env, WORKER)->charged_ns, 5 * SEC);
	assert_int_equal(row_of(env, WORKER)->oncpu_ns, 5 * SEC);
}

/* C4 of the public cases. */
static void test_less(void **state)
{
	struct env *env = *state;
	const struct vw_obs_charge *c;

	call(env, WORKER, "vhost-3077");
	run_charged(env, START, WORKER, SEC, 65);
	c = &only(env, VW_OBS_CHARGE)->charge;
	assert_int_equal(c->tid, WORKER);
	assert_int_equal(c->cpu, 2);
	assert_int_equal(c->window_ns, SEC);
	assert_int_equal(c->oncpu_ns, SEC);
	assert_int_equal(c->charged_ns, 650 * MS);
	assert_true(c->irq_ns == VW_SAMPLE_UNKNOWN);
	assert_true(c->softirq_ns == VW_SAMPLE_UNKNOWN);
	assert_true(c->steal_ns == VW_SAMPLE_UNKNOWN);
	assert_false(c->taken_out_known);
	assert_false(c->totals);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 1);
}

/* One with a difference is told, and the one after it, and no more. */
static void test_and_then(void **state)
{
	struct env *env = *state;
	uint64_t ts;

	ts = run_charged(env, START, OTHER, SEC, 110);
	ts = run_charged(env, ts, OTHER, 3 * SEC, 100);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 2);
	assert_int_equal(nth(env, VW_OBS_CHARGE, 0)->charge.charged_ns, 1100 * MS);
	assert_int_equal(nth(env, VW_OBS_CHARGE, 1)->charge.charged_ns, SEC);
}

static void test_note_boundary(void **state)
{
	struct env *env = *state;

	/* 1 % is noise, and so is 1 ms. */
	run_charged(env, START, OTHER, SEC, 99);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 0);
	restart(env);
	run_charged(env, START, OTHER, SEC, 98);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 1);
	restart(env);
	run_charged(env, START, OTHER, 2 * MS, 50);
	seen(env, START + SEC, 2, 0, VW_RESCHED_NONE);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 0);
}

/* C8 of the public cases: it runs between the ticks only, and is charged all the same. */
static void test_between_ticks(void **state)
{
	struct env *env = *state;
	uint64_t ts;

	call(env, WORKER, "vhost-3077");
	for (ts = START; ts < START + SEC; ts += 4 * MS)
		run_charged(env, ts, WORKER, 2 * MS, 100);
	finish(env);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.oncpu_ns, 500 * MS);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.charged_ns, 500 * MS);
}

/* What it is charged first may be of before the trace. */
static void test_before_trace(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;
	const struct vw_obs_charge *c;

	call(env, WORKER, "vhost-3077");
	seen(env, ts, 2, WORKER, VW_RESCHED_NONE);
	rt(env, ts += MS, 2, WORKER, 4 * MS);
	while (ts < START + SEC / 2)
		rt(env, ts += 4 * MS, 2, WORKER, 4 * MS);
	/* Its class is told by the switch only. */
	sw(env, ts, 2, WORKER, 'R', 0);
	sw(env, ts, 2, 0, 'R', WORKER);
	while (ts < START + SEC)
		rt(env, ts += 4 * MS, 2, WORKER, 4 * MS);
	c = &only(env, VW_OBS_CHARGE)->charge;
	assert_int_equal(c->oncpu_ns, c->charged_ns);
	assert_int_equal(c->window_ns, c->oncpu_ns);
}

/*
 * As real kernels record it: charged from when they began to choose it, and up to when they began
 * to choose another.  With 30 000 switches a second that is a lot.
 */
static void test_choosing(void **state)
{
	struct env *env = *state;
	uint64_t ts = START, tail;

	call(env, WORKER, "vhost-3077");
	for (tail = 7 * US; tail <= 57 * US; tail += 50 * US) {
		restart(env);
		for (ts = START; ts < START + SEC; ts += 200 * US) {
			sw(env, ts, 2, 0, 'R', WORKER);
			rt(env, ts + 13 * US, 2, WORKER, 16 * US);
			rt(env, ts + 50 * US, 2, WORKER, 37 * US);
			sw(env, ts + 50 * US + tail, 2, WORKER, 'S', 0);
		}
		finish(env);
		/* More than that, and it ran and was not charged. */
		assert_int_equal(only(env, VW_OBS_CHARGE)->charge.charged_ns, 5000 * 50 * US);
		assert_int_equal(only(env, VW_OBS_CHARGE)->charge.oncpu_ns,
				 5000 * (50 * US + (tail > 50 * US ? tail : 0)));
	}
}

/* It was put on a CPU unseen and charged for that: such a window says nothing. */
static void test_unseen_arrival(void **state)
{
	struct env *env = *state;
	uint64_t ts;

	for (ts = START; ts < START + 3 * SEC; ts += 20 * MS) {
		wk(env, ts, OTHER, 2);
		seen(env, ts + 9 * MS, 2, OTHER, VW_RESCHED_NONE);
		rt(env, ts + 10 * MS, 2, OTHER, 10 * MS);
		sw(env, ts + 10 * MS, 2, OTHER, 'S', 0);
	}
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 0);
}

/* Charged by another CPU, in whose trace that stands; and several CPUs. */
static void test_remote(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;

	call(env, WORKER, "vhost-3077");
	sw(env, ts, 5, 0, 'R', OTHER);
	sw(env, ts, 2, 0, 'R', WORKER);
	rt(env, ts += 600 * MS, 5, WORKER, 600 * MS);
	sw(env, ts, 2, WORKER, 'R', 0);
	mg(env, ts, WORKER, 2, 3);
	sw(env, ts, 3, 0, 'R', WORKER);
	rt(env, ts += 600 * MS, 5, WORKER, 600 * MS);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.oncpu_ns, 1200 * MS);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.charged_ns, 1200 * MS);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.cpu, -1);
	assert_int_equal(count(env, VW_OBS_LOSS), 0);
}

static void test_interrupts(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;

	sw(env, ts, 2, 0, 'R', OTHER);
	irq(env, VW_EVENT_IRQ_ENTRY, ts += MS, 2);
	irq(env, VW_EVENT_IRQ_EXIT, ts += 200 * MS, 2);
	irq(env, VW_EVENT_SOFTIRQ_ENTRY, ts, 2);
	irq(env, VW_EVENT_SOFTIRQ_EXIT, ts += 150 * MS, 2);
	sw(env, ts += 149 * MS, 2, OTHER, 'S', 0);
	/* Others' interrupts are not its. */
	irq(env, VW_EVENT_SOFTIRQ_ENTRY, ts, 2);
	irq(env, VW_EVENT_SOFTIRQ_EXIT, ts += MS, 2);
	sw(env, ts, 2, 0, 'R', OTHER);
	rt(env, ts += 500 * MS, 2, OTHER, 650 * MS);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.oncpu_ns, SEC);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.irq_ns, 200 * MS);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.softirq_ns, 150 * MS);
}

/* Some kernels do not tell of tasks that are not of the fair class. */
static void test_not_fair(void **state)
{
	struct env *env = *state;

	set_prio(env, OTHER, 98);
	run_charged(env, START, OTHER, 3 * SEC, 0);
	/* For a while only. */
	set_prio(env, VICTIM, 120);
	sw(env, 5 * SEC, 2, 0, 'R', VICTIM);
	rt(env, 5 * SEC + 100 * MS, 2, VICTIM, 100 * MS);
	set_prio(env, VICTIM, 50);
	sw(env, 5 * SEC + 500 * MS, 2, VICTIM, 'R', 0);
	set_prio(env, VICTIM, 120);
	sw(env, 6 * SEC + MS, 2, 0, 'R', VICTIM);
	rt(env, 6 * SEC + 2 * MS, 2, VICTIM, MS);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 0);
}

/* Nobody is ever charged: the trace just does not have these events. */
static void test_none(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	seen(env, START + 9 * SEC, 2, WORKER, VW_RESCHED_NONE);
	sw(env, START + 10 * SEC, 2, WORKER, 'S', 0);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 0);
	assert_true(row_of(env, WORKER)->charged_ns == VW_UNKNOWN);
}

/* All others are charged, one is not: while it runs, when it leaves, at the end of the trace. */
static void play_uncharged(struct env *env, uint64_t ns)
{
	uint64_t ts;

	restart(env);
	call(env, WORKER, "vhost-3077");
	sw(env, START, 3, 0, 'R', OTHER);
	sw(env, START, 2, 0, 'R', WORKER);
	for (ts = START; ts < START + ns; ts += 4 * MS) {
		rt(env, ts + 4 * MS, 3, OTHER, 4 * MS);
		seen(env, ts + 4 * MS, 2, WORKER, VW_RESCHED_NONE);
	}
}

static void test_never_charged(void **state)
{
	struct env *env = *state;

	play_uncharged(env, 11 * SEC);
	assert_int_equal(count(env, VW_OBS_CHARGE), 2);
	assert_int_equal(nth(env, VW_OBS_CHARGE, 0)->charge.tid, WORKER);
	assert_in_range(nth(env, VW_OBS_CHARGE, 0)->charge.oncpu_ns, 5 * SEC, 5 * SEC + 8 * MS);
	assert_int_equal(nth(env, VW_OBS_CHARGE, 0)->charge.charged_ns, 0);
	sw(env, START + 11 * SEC + 4 * MS, 2, WORKER, 'S', 0);
	assert_int_equal(count(env, VW_OBS_CHARGE), 3);
	play_uncharged(env, 3 * SEC);
	assert_int_equal(count(env, VW_OBS_CHARGE), 0);
	finish(env);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.tid, WORKER);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.charged_ns, 0);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.oncpu_ns, 3 * SEC);
	/* Less than a second may just be pending. */
	play_uncharged(env, 900 * MS);
	finish(env);
	assert_int_equal(count(env, VW_OBS_CHARGE), 0);
}

/* These events of one task only: of the others nothing can be said. */
static void test_filtered(void **state)
{
	struct env *env = *state;
	int32_t i;

	call(env, WORKER, "vhost-3077");
	call(env, WORKER + 1, "vhost-3077");
	for (i = 0; i < 10; i++) {
		sw(env, START + (uint64_t)i * SEC, 5, 0, 'R', 1000 + i);
		sw(env, START + (uint64_t)i * SEC + MS, 5, 1000 + i, 'S', 0);
	}
	run_charged(env, 20 * SEC, WORKER, SEC, 100);
	sw(env, 30 * SEC, 3, 0, 'R', WORKER + 1);
	sw(env, 32 * SEC, 3, WORKER + 1, 'S', 0);
	finish(env);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.tid, WORKER);
}

/* Lost events may have charged anybody. */
static void test_lost_charge(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	rt(env, START + 100 * MS, 2, WORKER, 100 * MS);
	lose(env, 5, 1);
	rt(env, START + 700 * MS, 2, WORKER, 100 * MS);
	sw(env, START + 1200 * MS, 2, WORKER, 'S', 0);
	finish(env);
	/* What was seen since: 500 ms, of which nothing was charged. */
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.window_ns, 500 * MS);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.oncpu_ns, 500 * MS);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.charged_ns, 0);
	/* A gap of its own CPU: a new window at its next stint. */
	restart(env);
	sw(env, START, 2, 0, 'R', WORKER);
	rt(env, START + 100 * MS, 2, WORKER, 100 * MS);
	lose(env, 2, 1);
	rt(env, START + 700 * MS, 2, WORKER, 100 * MS);
	rt(env, START + 800 * MS, 2, WORKER, 100 * MS);
	sw(env, START + 800 * MS, 2, WORKER, 'S', 0);
	finish(env);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.window_ns, 100 * MS);
	assert_int_equal(only(env, VW_OBS_CHARGE)->charge.charged_ns, 100 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_as_it_ran),	  TEST(test_less),	    TEST(test_and_then),
		TEST(test_note_boundary), TEST(test_between_ticks), TEST(test_before_trace),
		TEST(test_remote),	  TEST(test_interrupts),    TEST(test_not_fair),
		TEST(test_none),	  TEST(test_never_charged), TEST(test_filtered),
		TEST(test_lost_charge),	  TEST(test_choosing),	    TEST(test_unseen_arrival),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
