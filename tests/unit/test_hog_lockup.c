// SPDX-License-Identifier: GPL-2.0-or-later
/* Hogs that the kernel's watchdog reports, too: one finding, or two. */
#include "hog_env.h"

static size_t count_kind(const struct env *env, enum vw_kind kind)
{
	size_t i, n = 0;

	for (i = 0; i < env->n; i++)
		n += env->seen[i].kind == kind;
	return n;
}

static struct vw_obs locked_up(int32_t cpu, int32_t tid, uint64_t ts_ns, uint64_t stuck_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_REPORT, .ts_ns = ts_ns };

	obs.report.kind = VW_REPORT_SOFT_LOCKUP;
	obs.report.n_cpus = 1;
	obs.report.cpus[0] = cpu;
	obs.report.culprit.tid = tid;
	obs.report.culprit_cpu = cpu;
	obs.report.gp = obs.report.jiffies = VW_UNKNOWN;
	obs.report.stuck_ns = stuck_ns;
	return obs;
}

/* The kernel's watchdog complains of the same hog: one finding, with two witnesses. */
static void test_joins(void **state)
{
	struct env *env = *state;
	struct vw_obs hog = hogging(WORKER, 100 * SEC, 23 * SEC);
	struct vw_obs report = locked_up(2, WORKER, 100 * SEC, 22 * SEC);

	tell_worker(env);
	feed(env, &hog);
	assert_int_equal(last(env)->evidence.lockup_ns, VW_UNKNOWN);
	assert_null(strstr(last(env)->message, "lockup"));
	feed(env, &report);
	hog = hogging(WORKER, 101 * SEC, 24 * SEC);
	feed(env, &hog);
	vw_detect_tick(env->set, 101 * SEC);
	assert_int_equal(last(env)->kind, VW_NON_YIELDING_WORKER);
	assert_int_equal(last(env)->evidence.lockup_ns, 22 * SEC);
	assert_non_null(strstr(last(env)->message,
			       "; the kernel reported it as a soft lockup (stuck for 22"));
	/* Who does not know how long knows that it was. */
	report = locked_up(2, 0, 102 * SEC, VW_UNKNOWN);
	feed(env, &report);
	assert_int_equal(count_kind(env, VW_SOFT_LOCKUP), 0);
	vw_detect_finish(env->set, 102 * SEC);
	assert_int_equal(count_kind(env, VW_SOFT_LOCKUP), 0);
	assert_int_equal(last(env)->evidence.lockup_ns, 22 * SEC);
}

/* Of another task, of another CPU, of a hog that is over: a trouble of its own. */
static void test_of_others(void **state)
{
	struct env *env = *state;
	struct vw_obs hog = hogging(WORKER, 100 * SEC, 23 * SEC), report;
	size_t n = 0;

	tell_worker(env);
	report = locked_up(2, WORKER, 50 * SEC, 22 * SEC);
	feed(env, &report);
	assert_int_equal(count_kind(env, VW_SOFT_LOCKUP), ++n);
	feed(env, &hog);
	report = locked_up(3, WORKER, 100 * SEC, 22 * SEC);
	feed(env, &report);
	assert_int_equal(count_kind(env, VW_SOFT_LOCKUP), ++n);
	report = locked_up(2, OTHER, 100 * SEC, 22 * SEC);
	feed(env, &report);
	assert_int_equal(count_kind(env, VW_SOFT_LOCKUP), ++n);
	report = locked_up(70000, WORKER, 100 * SEC, 22 * SEC);
	feed(env, &report);
	assert_int_equal(count_kind(env, VW_SOFT_LOCKUP), ++n);
}

/* Nobody waits: the watchdog is the only one that complains, and rightly. */
static void test_alone(void **state)
{
	struct env *env = *state;
	struct vw_obs busy = stint(2, WORKER, 100 * SEC, 25 * SEC);
	struct vw_obs report = locked_up(2, WORKER, 100 * SEC, 22 * SEC);

	tell_worker(env);
	feed(env, &busy);
	assert_int_equal(last(env)->kind, VW_BUSY_WORKER);
	feed(env, &report);
	assert_int_equal(last(env)->kind, VW_SOFT_LOCKUP);
	assert_int_equal(last(env)->severity, VW_CRITICAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_joins),
		TEST(test_of_others),
		TEST(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
