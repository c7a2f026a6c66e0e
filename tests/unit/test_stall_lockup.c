// SPDX-License-Identifier: GPL-2.0-or-later
/* Which reports are one soft lockup, how long it lasted and who is to blame. */
#include "stall_env.h"

static void test_lockup(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = lockup(AT, 22 * SEC);
	const struct vw_finding *f;

	ran_worker(&obs);
	f = found(env, &obs);
	assert_int_equal(f->kind, VW_SOFT_LOCKUP);
	assert_int_equal(f->severity, VW_CRITICAL);
	assert_int_equal(f->cause, VW_CAUSE_WORKER);
	assert_int_equal(f->start_ns, AT - 22 * SEC);
	assert_int_equal(f->end_ns, AT);
	assert_int_equal(f->duration_ns, 22 * SEC);
	assert_string_equal(f->message,
			    "vhost worker vhost-3077 (tid 3101) kept CPU 2 in the kernel"
			    " for 22s");
	/* The oldest ones tell neither time nor task. */
	obs = lockup(AT, VW_UNKNOWN);
	f = found(env, &obs);
	assert_int_equal(f->cause, VW_CAUSE_UNKNOWN);
	assert_true(f->duration_ns == VW_UNKNOWN);
	assert_int_equal(f->start_ns, AT);
	/* No time but the report's own. */
	obs = lockup(VW_UNKNOWN, 22 * SEC);
	f = found(env, &obs);
	assert_int_equal(f->duration_ns, 22 * SEC);
	assert_true(f->start_ns == VW_UNKNOWN);
}

/* Reports of the time since the last report: the gap between them decides. */
static void test_lockup_gap(void **state)
{
	struct env *env = *state;
	struct vw_obs a = lockup(AT, 22 * SEC), b = lockup(AT + 44 * SEC, 22 * SEC);

	feed(env, &a);
	assert_int_equal(found(env, &b)->duration_ns, 66 * SEC);
	assert_non_null(strstr(env->seen[0].message, "at least 66s"));
	b.ts_ns++;
	feed(env, &a);
	feed(env, &b);
	ends_with(env, 2);
	assert_int_equal(env->seen[0].duration_ns, 22 * SEC);
	assert_int_equal(env->seen[1].duration_ns, 22 * SEC);
}

/* Reports of the whole time: one that began after the last report is another lockup. */
static void test_lockup_totals(void **state)
{
	struct env *env = *state;
	struct vw_obs a = lockup(AT, 26 * SEC), b = lockup(AT + 28 * SEC, 54 * SEC), c;

	feed(env, &a);
	feed(env, &b);
	c = lockup(AT + 28 * SEC + 32 * SEC, 26 * SEC);
	feed(env, &c);
	ends_with(env, 2);
	assert_int_equal(env->seen[0].duration_ns, 54 * SEC);
	assert_int_equal(env->seen[1].duration_ns, 26 * SEC);
	/* One that never ended has no gap, however far apart its reports are. */
	feed(env, &a);
	b = lockup(AT + 400 * SEC, 426 * SEC);
	assert_int_equal(found(env, &b)->duration_ns, 426 * SEC);
	assert_null(strstr(env->seen[0].message, "at least"));
}

static void test_lockup_of_others(void **state)
{
	struct env *env = *state;
	struct vw_obs a = lockup(AT, 22 * SEC), b = lockup(AT + 28 * SEC, 22 * SEC);

	/* Another task on that CPU, another CPU; a task that is not told may be the same. */
	ran_worker(&a);
	ran(&b, OTHER, "hog", VW_ROLE_OTHER);
	feed(env, &a);
	feed(env, &b);
	ends_with(env, 2);
	ran_worker(&b);
	b.report.cpus[0] = b.report.culprit_cpu = 3;
	feed(env, &a);
	feed(env, &b);
	ends_with(env, 2);
	b = lockup(AT + 28 * SEC, 22 * SEC);
	feed(env, &a);
	assert_int_equal(found(env, &b)->evidence.stall.reports, 2);
	assert_int_equal(env->seen[0].culprit.tid, WORKER);
}

/* Without times only the longest is known. */
static void test_lockup_without_times(void **state)
{
	struct env *env = *state;
	struct vw_obs a = lockup(VW_UNKNOWN, 22 * SEC), b = lockup(VW_UNKNOWN, 54 * SEC);
	const struct vw_finding *f;

	feed(env, &a);
	feed(env, &b);
	f = found(env, &a);
	assert_int_equal(f->evidence.stall.reports, 3);
	assert_int_equal(f->duration_ns, 54 * SEC);
}

static void test_interrupt_storm(void **state)
{
	struct env *env = *state;
	struct vw_obs a = lockup(AT, 26 * SEC), b = lockup(AT + 28 * SEC, 54 * SEC);
	const struct vw_finding *f;

	ran_worker(&a);
	ran_worker(&b);
	b.report.interrupts = true;
	feed(env, &a);
	f = found(env, &b);
	assert_int_equal(f->cause, VW_CAUSE_INTERRUPT_STORM);
	assert_false(f->has_culprit);
	assert_int_equal(f->cpu, 2);
	assert_int_equal(f->duration_ns, 54 * SEC);
	/* Nor is a later report's task to blame. */
	feed(env, &b);
	a.ts_ns = AT + 56 * SEC;
	assert_false(found(env, &a)->has_culprit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lockup),
		TEST(test_lockup_gap),
		TEST(test_lockup_totals),
		TEST(test_lockup_of_others),
		TEST(test_lockup_without_times),
		TEST(test_interrupt_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
