// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports of the kernel as they come: told while they last, completed by what the clock saw. */
#include "hog_env.h"
#include "stall_env.h"

/* The last state of a finding of that kind, NULL without. */
static const struct vw_finding *last_of(const struct env *env, enum vw_kind kind)
{
	const struct vw_finding *f = NULL;
	size_t i;

	for (i = 0; i < env->n; i++)
		if (env->seen[i].kind == kind)
			f = &env->seen[i];
	return f;
}

/* Live: told as soon as it is reported, again with each report, and over when none comes. */
static void test_live(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, 7001, 21004);

	ran_worker(&obs);
	feed(env, &obs);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->seen[0].status, VW_OPEN);
	assert_int_equal(env->seen[0].culprit.tid, WORKER);
	vw_detect_tick(env->set, AT + 62 * SEC);
	assert_int_equal(env->n, 1);
	obs.ts_ns = AT + 63 * SEC;
	obs.report.jiffies = 36780;
	feed(env, &obs);
	assert_int_equal(env->n, 2);
	assert_int_equal(env->seen[1].start_ns, env->seen[0].start_ns);
	assert_int_equal(env->seen[1].evidence.stall.reports, 2);
	/* Its age is not known (this host has no HZ): 20 s are assumed, and 5 s more. */
	vw_detect_tick(env->set, AT + (63 + 85) * SEC);
	assert_int_equal(env->n, 2);
	vw_detect_tick(env->set, AT + (63 + 85) * SEC + 1);
	assert_int_equal(env->n, 3);
	assert_int_equal(env->seen[2].status, VW_CLOSED);
	assert_int_equal(env->seen[2].end_ns, AT + 63 * SEC);
	ends_with(env, 0);
}

/* The text is not there: who holds the CPU that reports is known from its stint. */
static void test_named_by_stint(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, VW_UNKNOWN, VW_UNKNOWN);
	struct vw_obs held = stint(2, WORKER, AT, 3 * SEC);

	tell_worker(env);
	obs.report.n_cpus = 0;
	obs.report.detector_cpu = 2;
	feed(env, &held);
	feed(env, &obs);
	assert_int_equal(last_of(env, VW_RCU_STALL)->culprit.tid, WORKER);
	assert_int_equal(last_of(env, VW_RCU_STALL)->cause, VW_CAUSE_WORKER);
	assert_int_equal(last_of(env, VW_RCU_STALL)->cpu, 2);
}

/* One that is over, too short, too long ago, or on another CPU holds nothing. */
static void test_not_named_by_stint(void **state)
{
	struct env *env = *state;
	static const struct {
		int32_t cpu;
		uint64_t oncpu_ns, age_ns;
		bool final;
	} no[] = {
		{ 2, 3 * SEC, 0, true },
		{ 2, SEC - 1, 0, false },
		{ 2, 3 * SEC, 2 * SEC + 1, false },
		{ 3, 3 * SEC, 0, false },
	};
	unsigned int i;

	tell_worker(env);
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		uint64_t at = AT + i * 1000 * SEC;
		struct vw_obs obs = rcu(at, i, VW_UNKNOWN);
		struct vw_obs held = stint(no[i].cpu, WORKER, at - no[i].age_ns, no[i].oncpu_ns);

		obs.report.n_cpus = 0;
		obs.report.detector_cpu = 2;
		held.stint.final = no[i].final;
		feed(env, &held);
		feed(env, &obs);
		assert_false(last_of(env, VW_RCU_STALL)->has_culprit);
		held.stint.final = true;
		feed(env, &held);
	}
}

/* The watchdog sees the task that stalls RCU: one finding; of another task, two. */
static void test_lockup_joins_stall(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, 7001, 21004), late = lockup(AT + SEC, 26 * SEC);

	ran_worker(&late);
	ran_worker(&obs);
	feed(env, &obs);
	assert_null(strstr(last_of(env, VW_RCU_STALL)->message, "lockup"));
	feed(env, &late);
	assert_null(last_of(env, VW_SOFT_LOCKUP));
	assert_non_null(strstr(last_of(env, VW_RCU_STALL)->message, "soft lockup there, too"));
	assert_int_equal(last_of(env, VW_RCU_STALL)->evidence.lockup_ns, 26 * SEC);
	late.report.culprit.tid++;
	feed(env, &late);
	assert_non_null(last_of(env, VW_SOFT_LOCKUP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_live),
		TEST(test_named_by_stint),
		TEST(test_not_named_by_stint),
		TEST(test_lockup_joins_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
