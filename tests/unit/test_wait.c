// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits that no single task explains, at both sides of each threshold. */
#include "wait_env.h"

static void test_turns(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(150 * MS, true);
	const struct vw_finding *f;

	tell_worker(env);
	tell(env, VICTIM, "kworker/6:1", VW_ROLE_KWORKER, false);
	feed(env, &obs);
	f = only(env, 101 * SEC);
	assert_int_equal(env->n, 1);
	assert_int_equal(f->kind, VW_STARVED_TASK);
	assert_int_equal(f->cause, VW_CAUSE_GROUP_OR_PAIR);
	assert_int_equal(f->severity, VW_WARNING);
	assert_int_equal(f->status, VW_CLOSED);
	assert_int_equal(f->start_ns, BEGIN);
	assert_int_equal(f->end_ns, BEGIN + 150 * MS);
	assert_int_equal(f->duration_ns, 150 * MS);
	assert_int_equal(f->cpu, 6);
	assert_true(f->has_culprit);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_string_equal(f->culprit.comm, "vhost-3077");
	assert_int_equal(f->n_victims, 1);
	assert_int_equal(f->victims[0].task.tid, VICTIM);
	assert_int_equal(f->victims[0].wait_ns, 150 * MS);
	assert_int_equal(f->evidence.count, 1);
	assert_int_equal(f->evidence.span_ns, 150 * MS);
	assert_int_equal(f->evidence.oncpu_ns, 90 * MS);
	assert_true(f->evidence.softirq_ns == VW_UNKNOWN);
	assert_string_equal(
		f->message,
		"kworker kworker/6:1 (tid 812) waited 150ms for CPU 6 while 3 tasks took "
		"turns there, none longer than 4ms at a time; vhost worker vhost-3077 (tid "
		"3101) had 90ms of it; a round of fair turns takes 12ms");
	assert_non_null(strstr(f->remedy, "cpu.weight"));
}

static void test_100_ms(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(100 * MS, true);

	feed(env, &obs);
	none(env, 101 * SEC);
	obs = turns(100 * MS + 1, true);
	feed(env, &obs);
	only(env, 101 * SEC);
}

/* A round of 24 ms and a wait of 24 ms, of two rounds: that is how sharing looks. */
static void test_fair_rounds(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(24 * MS, true);

	obs.wait.fair_ns = 24 * MS;
	feed(env, &obs);
	obs = turns(240 * MS, true);
	obs.wait.fair_ns = 120 * MS;
	feed(env, &obs);
	none(env, 101 * SEC);
	obs.wait.fair_ns = 120 * MS - 1;
	feed(env, &obs);
	only(env, 101 * SEC);
}

/* The turn of a light task comes more seldom. */
static void test_weights(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(240 * MS, true);

	obs.wait.weight = 128;
	obs.wait.heaviest = 1280;
	feed(env, &obs);
	none(env, 101 * SEC);
	obs.wait.wait_ns++;
	feed(env, &obs);
	only(env, 101 * SEC);
}

/* Real-time tasks and softirqs come first by right: what they took is no part of the wait. */
static void test_real_time(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(200 * MS, true);

	obs.wait.rt_ns = 60 * MS;
	obs.wait.softirq_ns = 40 * MS;
	feed(env, &obs);
	none(env, 101 * SEC);
	obs.wait.softirq_ns--;
	feed(env, &obs);
	only(env, 101 * SEC);
}

/* One stint that long is told by detect/hog.c. */
static void test_hog(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(SEC, true);

	obs.wait.longest_stint_ns = 2 * T + 1;
	obs.wait.fair_ns = 30 * MS;
	feed(env, &obs);
	none(env, 102 * SEC);
	obs.wait.longest_stint_ns = 2 * T;
	feed(env, &obs);
	assert_int_equal(only(env, 102 * SEC)->severity, VW_CRITICAL);
}

static void test_lone_runner(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(SEC, true);

	obs.wait.runners = 1;
	feed(env, &obs);
	none(env, 102 * SEC);
}

/* Nothing is claimed that rests on what was not seen. */
static void test_unknown_parts(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(SEC, true);

	obs.wait.fair_ns = VW_UNKNOWN;
	feed(env, &obs);
	obs = turns(SEC, true);
	obs.wait.rt_ns = VW_UNKNOWN;
	obs.wait.softirq_ns = MS;
	feed(env, &obs);
	obs = turns(SEC, true);
	obs.wait.longest_stint_ns = VW_UNKNOWN;
	feed(env, &obs);
	obs = idles(SEC, true);
	obs.wait.idle_ns = VW_UNKNOWN;
	feed(env, &obs);
	none(env, 102 * SEC);
	/* Whether the CPU idled now and then does not matter to who was passed over. */
	obs = turns(SEC, true);
	obs.wait.idle_ns = VW_UNKNOWN;
	feed(env, &obs);
	only(env, 102 * SEC);
}

static void test_culprit(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(200 * MS, true);

	obs.wait.top_ns = 100 * MS;
	feed(env, &obs);
	assert_false(only(env, 101 * SEC)->has_culprit);
	env->n = 0;
	obs.wait.top_ns++;
	feed(env, &obs);
	assert_true(only(env, 101 * SEC)->has_culprit);
}

static void test_severity(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(20 * T - 1, false);

	feed(env, &obs);
	assert_int_equal(last(env)->severity, VW_WARNING);
	obs = turns(20 * T, true);
	feed(env, &obs);
	assert_int_equal(only(env, 101 * SEC)->severity, VW_CRITICAL);
	assert_int_equal(last(env)->evidence.count, 1);
	assert_int_equal(last(env)->victims[0].wait_total_ns, 20 * T);
}

/* Case E8. */
static void test_forced_idle(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = idles(29900000, true);
	const struct vw_finding *f;

	obs.wait.released = true;
	feed(env, &obs);
	f = only(env, 101 * SEC);
	assert_int_equal(f->kind, VW_STARVED_TASK);
	assert_int_equal(f->cause, VW_CAUSE_FORCED_IDLE);
	assert_int_equal(f->severity, VW_WARNING);
	assert_false(f->has_culprit);
	assert_int_equal(f->victims[0].task.tid, VICTIM);
	assert_string_equal(
		f->message,
		"task ? (tid 812) waited 29.9ms for CPU 1 while that CPU was idle for "
		"29.9ms, until another CPU let go of its task: so does core scheduling");
}

static void test_idle_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = idles(5 * T, true);

	obs.wait.idle_ns = 2 * T;
	feed(env, &obs);
	none(env, 101 * SEC);
	obs.wait.idle_ns++;
	feed(env, &obs);
	assert_int_equal(only(env, 101 * SEC)->cause, VW_CAUSE_MISPLACED_WAKEUP);
}

static void test_idle_causes(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = idles(80 * MS, true);

	/* It was preempted there, nobody put it there. */
	obs.wait.woken_cpu = -1;
	feed(env, &obs);
	assert_int_equal(only(env, 101 * SEC)->cause, VW_CAUSE_UNKNOWN);
	env->n = 0;
	/* Case B7: its group may not run, whatever else there is. */
	obs.wait.throttled = true;
	obs.wait.released = true;
	feed(env, &obs);
	assert_int_equal(only(env, 101 * SEC)->cause, VW_CAUSE_THROTTLED);
	assert_non_null(strstr(last(env)->remedy, "cpu.max"));
	env->n = 0;
	obs.wait.softirq_ns = 40 * MS + 1;
	feed(env, &obs);
	assert_int_equal(only(env, 101 * SEC)->cause, VW_CAUSE_SOFTIRQ);
}

/* Only its end tells why: one finding all the same. */
static void test_cause_at_the_end(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = idles(25 * MS, false);

	feed(env, &obs);
	assert_int_equal(last(env)->status, VW_OPEN);
	assert_int_equal(last(env)->cause, VW_CAUSE_MISPLACED_WAKEUP);
	obs = idles(30 * MS, true);
	obs.wait.released = true;
	feed(env, &obs);
	assert_int_equal(only(env, 101 * SEC)->cause, VW_CAUSE_FORCED_IDLE);
	assert_int_equal(last(env)->duration_ns, 30 * MS);
	assert_int_equal(last(env)->evidence.count, 1);
}

static void test_throttled_busy(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(24 * MS, true);

	/* The others had their turns, and this one would have had its own: nothing to tell. */
	obs.wait.throttled = true;
	feed(env, &obs);
	none(env, 101 * SEC);
	obs = turns(300 * MS, true);
	obs.wait.throttled = true;
	feed(env, &obs);
	assert_int_equal(only(env, 101 * SEC)->cause, VW_CAUSE_THROTTLED);
	assert_false(last(env)->has_culprit);
}

/* Live, what others did meanwhile is not known; the quota is. */
static void test_throttled_alone(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(2 * T - 1, true);

	obs.wait.longest_stint_ns = obs.wait.fair_ns = obs.wait.idle_ns = obs.wait.rt_ns =
		VW_UNKNOWN;
	obs.wait.runners = 0;
	obs.wait.throttled = true;
	feed(env, &obs);
	none(env, 101 * SEC);
	obs.ts_ns++;
	obs.wait.wait_ns++;
	feed(env, &obs);
	assert_int_equal(only(env, 101 * SEC)->cause, VW_CAUSE_THROTTLED);
	assert_null(strstr(last(env)->message, "idle"));
	env->n = 0;
	obs.wait.throttled = false;
	obs.wait.wait_ns = 500 * MS;
	feed(env, &obs);
	none(env, 103 * SEC);
}

static void test_softirq(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = turns(150 * MS, true);

	obs.wait.softirq_ns = 75 * MS;
	feed(env, &obs);
	none(env, 101 * SEC);
	obs.wait.softirq_ns++;
	feed(env, &obs);
	assert_int_equal(only(env, 101 * SEC)->cause, VW_CAUSE_SOFTIRQ);
	assert_false(last(env)->has_culprit);
	assert_int_equal(last(env)->evidence.softirq_ns, 75 * MS + 1);
	assert_non_null(strstr(last(env)->remedy, "rps_cpus"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_turns),	TEST(test_100_ms),	     TEST(test_fair_rounds),
		TEST(test_weights),	TEST(test_real_time),	     TEST(test_hog),
		TEST(test_lone_runner), TEST(test_unknown_parts),    TEST(test_culprit),
		TEST(test_severity),	TEST(test_forced_idle),	     TEST(test_idle_boundary),
		TEST(test_idle_causes), TEST(test_cause_at_the_end), TEST(test_throttled_busy),
		TEST(test_throttled_alone),
		TEST(test_softirq),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
