// SPDX-License-Identifier: GPL-2.0-or-later
/* Which reports are one RCU stall, how long it lasted, how grave it is and who is to blame. */
#include "stall_env.h"

static void test_expedited_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, 91, 99);
	const struct vw_finding *f;

	obs.report.expedited = true;
	f = found(env, &obs);
	assert_int_equal(f->kind, VW_RCU_STALL);
	assert_int_equal(f->severity, VW_INFO);
	assert_int_equal(f->evidence.stall.gp, 91);
	assert_string_equal(f->message, "an expedited grace period of rcu_sched did not end for 99"
					" jiffies, waiting for CPU 2");
	assert_non_null(strstr(f->remedy, "no harm"));
	obs.report.jiffies = 100;
	assert_int_equal(found(env, &obs)->severity, VW_CRITICAL);
	/* Of the others each is grave, and one whose age is cut off. */
	obs.report.expedited = false;
	obs.report.jiffies = 99;
	assert_int_equal(found(env, &obs)->severity, VW_CRITICAL);
	obs.report.expedited = true;
	obs.report.jiffies = VW_UNKNOWN;
	assert_int_equal(found(env, &obs)->severity, VW_CRITICAL);
}

/* Short at first, grave at last. */
static void test_expedited_grows(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, 91, 7);

	obs.report.expedited = true;
	feed(env, &obs);
	obs.ts_ns = AT + 4 * SEC;
	obs.report.jiffies = 1007;
	assert_int_equal(found(env, &obs)->severity, VW_CRITICAL);
	assert_int_equal(env->seen[0].evidence.stall.reports, 2);
	assert_int_equal(env->seen[0].evidence.stall.jiffies, 1007);
}

/* Case D4: a sequence of expedited grace periods is no grace period. */
static void test_sequence_is_no_gp(void **state)
{
	struct env *env = *state;
	struct vw_obs normal = rcu(AT, 91, 21004), expedited = rcu(AT + SEC, 91, 21254);

	expedited.report.expedited = true;
	feed(env, &normal);
	feed(env, &expedited);
	ends_with(env, 2);
}

static void test_joined_by_gp(void **state)
{
	struct env *env = *state;
	struct vw_obs a = rcu(AT, 7001, 21004), b = rcu(AT + 63 * SEC + 104 * MS, 7001, 36780);
	const struct vw_finding *f;

	/* Told by another CPU, which saw one more that stalls. */
	a.report.detector_cpu = 0;
	b.report.n_cpus = 2;
	b.report.cpus[0] = 5;
	b.report.cpus[1] = 2;
	b.report.n_tasks = 1;
	b.report.tasks[0] = 4711;
	feed(env, &a);
	f = found(env, &b);
	assert_int_equal(f->evidence.stall.reports, 2);
	assert_int_equal(f->evidence.stall.n_cpus, 2);
	assert_int_equal(f->evidence.stall.cpus[0], 2);
	assert_int_equal(f->evidence.stall.cpus[1], 5);
	assert_int_equal(f->evidence.stall.tasks[0], 4711);
	assert_int_equal(f->evidence.stall.detector_cpu, 0);
	assert_int_equal(f->cpu, 2);
	assert_non_null(strstr(f->message, "waiting for CPUs 2, 5 and task 4711"));
	/* Another one, and another flavor. */
	feed(env, &a);
	b = rcu(AT + 63 * SEC, 7005, 21010);
	feed(env, &b);
	b = rcu(AT + 64 * SEC, 7001, 21010);
	strcpy(b.report.flavor, "rcu_bh");
	feed(env, &b);
	ends_with(env, 3);
}

/* The beginning of a report is missing, and with it the flavor. */
static void test_unknown_flavor(void **state)
{
	struct env *env = *state;
	struct vw_obs a = rcu(AT, 7001, 21004), b = rcu(AT + 63 * SEC, 7001, 36780);
	const struct vw_finding *f;

	a.report.flavor[0] = '\0';
	a.report.incomplete = true;
	feed(env, &a);
	f = found(env, &b);
	assert_string_equal(f->evidence.stall.flavor, "rcu_sched");
	assert_true(f->evidence.stall.incomplete);
}

/* Old kernels do not name the grace period: the same CPUs, and an age that grows with time. */
static void test_joined_without_gp(void **state)
{
	struct env *env = *state;
	struct vw_obs a = rcu(AT, VW_UNKNOWN, 15010), b = rcu(AT + 180 * SEC, VW_UNKNOWN, 60010);

	feed(env, &a);
	assert_int_equal(found(env, &b)->evidence.stall.reports, 2);
	assert_int_equal(env->seen[0].evidence.stall.jiffies, 60010);
	/* It began again. */
	feed(env, &a);
	b.report.jiffies = 15010;
	feed(env, &b);
	ends_with(env, 2);
	/* It is older, but not by the time that has passed: 3 ticks a second. */
	feed(env, &a);
	b.report.jiffies = 15010 + 3 * 180;
	feed(env, &b);
	ends_with(env, 2);
	/* 2000 ticks a second */
	feed(env, &a);
	b.report.jiffies = 15010 + 2000 * 180;
	feed(env, &b);
	ends_with(env, 2);
	/* Other CPUs. */
	feed(env, &a);
	b.report.jiffies = 60010;
	b.report.cpus[0] = 3;
	feed(env, &b);
	ends_with(env, 2);
	/* Of one the age is cut off. */
	b.report.cpus[0] = 2;
	b.report.jiffies = VW_UNKNOWN;
	feed(env, &a);
	feed(env, &b);
	ends_with(env, 2);
	b.report.jiffies = 60010;
	/* Nobody knows when, the age grows. */
	a.ts_ns = b.ts_ns = VW_UNKNOWN;
	b.report.cpus[0] = 2;
	feed(env, &a);
	ends_with(env, 1);
	feed(env, &a);
	assert_int_equal(found(env, &b)->evidence.stall.reports, 2);
}

/* RCU tasks: no number, no age, a report each ten minutes. */
static void test_ageless(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, VW_UNKNOWN, VW_UNKNOWN);

	obs.report.n_cpus = 0;
	obs.report.n_tasks = 1;
	obs.report.tasks[0] = 2133;
	feed(env, &obs);
	obs.ts_ns = AT + 660 * SEC;
	assert_int_equal(found(env, &obs)->evidence.stall.reports, 2);
	assert_int_equal(env->seen[0].duration_ns, 660 * SEC);
	obs.ts_ns = AT;
	feed(env, &obs);
	obs.ts_ns = AT + 660 * SEC + 1;
	feed(env, &obs);
	ends_with(env, 2);
	/* Without times it may well be the same. */
	feed(env, &obs);
	obs.ts_ns = VW_UNKNOWN;
	feed(env, &obs);
	ends_with(env, 1);
}

/* Seconds are known if two reports tell how many ticks there are in one. */
static void test_hz(void **state)
{
	static const struct {
		uint64_t jiffies; /* in 60 seconds */
		uint32_t hz; /* 0 unknown */
	} cases[] = {
		{ 6000, 100 }, { 15000, 250 }, { 18000, 300 }, { 60000, 1000 }, { 15779, 250 },
		{ 15780, 0 },  { 14280, 250 }, { 14279, 0 },   { 30000, 0 },	{ 7800, 0 },
	};
	struct env *env = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vw_obs a = rcu(AT, 7001, 2000), b = rcu(AT + 60 * SEC, 7001, 2000);
		uint64_t age = cases[i].hz ? 2000 * SEC / cases[i].hz : 0;
		const struct vw_finding *f;

		b.report.jiffies += cases[i].jiffies;
		feed(env, &a);
		f = found(env, &b);
		assert_int_equal(f->start_ns, AT - age);
		assert_int_equal(f->end_ns, AT + 60 * SEC);
		assert_int_equal(f->duration_ns, 60 * SEC + age);
	}
}

/* One report: its age is known in jiffies only. */
static void test_duration_unknown(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, 7001, 21004);
	const struct vw_finding *f = found(env, &obs);

	assert_true(f->duration_ns == VW_UNKNOWN);
	assert_true(f->evidence.span_ns == VW_UNKNOWN);
	assert_int_equal(f->start_ns, AT);
	assert_int_equal(f->end_ns, AT);
	assert_non_null(strstr(f->message, "for 21004 jiffies"));
	obs.ts_ns = VW_UNKNOWN;
	f = found(env, &obs);
	assert_true(f->start_ns == VW_UNKNOWN && f->end_ns == VW_UNKNOWN);
	assert_true(f->duration_ns == VW_UNKNOWN);
	/* It is older than the log's clock. */
	obs = rcu(SEC, 7001, 21004);
	feed(env, &obs);
	obs = rcu(61 * SEC, 7001, 36004);
	assert_int_equal(found(env, &obs)->start_ns, 0);
}

static void test_causes(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, 7001, 21004), plain = obs;
	const struct vw_finding *f = found(env, &obs);

	assert_int_equal(f->cause, VW_CAUSE_UNKNOWN);
	assert_false(f->has_culprit);
	assert_int_equal(f->cpu, 2);
	assert_string_equal(f->remedy, "");
	ran_worker(&obs);
	f = found(env, &obs);
	assert_int_equal(f->cause, VW_CAUSE_WORKER);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_non_null(strstr(f->remedy, "cond_resched"));
	ran(&obs, OTHER, "hog", VW_ROLE_OTHER);
	f = found(env, &obs);
	assert_int_equal(f->cause, VW_CAUSE_OTHER_TASK);
	assert_non_null(strstr(f->message, "task hog (tid 950) ran on CPU 2 while"));
	/* Who runs where the thread that drives RCU should. */
	obs.report.gp_kthread_starved = true;
	obs.report.culprit_cpu = 3;
	f = found(env, &obs);
	assert_int_equal(f->cause, VW_CAUSE_GP_KTHREAD_STARVED);
	assert_int_equal(f->culprit.tid, OTHER);
	assert_int_equal(f->cpu, 3);
	plain.report.gp_kthread_starved = true;
	f = found(env, &plain);
	assert_int_equal(f->cause, VW_CAUSE_GP_KTHREAD_STARVED);
	assert_false(f->has_culprit);
	/* A thread that no timer wakes is not starved by anybody. */
	obs.report.timer_late = true;
	f = found(env, &obs);
	assert_int_equal(f->cause, VW_CAUSE_TIMER_OR_PAUSE);
	assert_false(f->has_culprit);
	assert_int_equal(f->cpu, 2);
}

/* What the first report does not tell, a later one may; what it told stays. */
static void test_culprit_of_later_report(void **state)
{
	struct env *env = *state;
	struct vw_obs a = rcu(AT, 7001, 21004), b = rcu(AT + 63 * SEC, 7001, 36780);
	const struct vw_finding *f;

	ran_worker(&b);
	b.report.n_stack = 1;
	strcpy(b.report.stack[0], "handle_tx");
	feed(env, &a);
	f = found(env, &b);
	assert_int_equal(f->cause, VW_CAUSE_WORKER);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_string_equal(f->evidence.stack[0], "handle_tx");
	ran(&a, OTHER, "hog", VW_ROLE_OTHER);
	feed(env, &b);
	a.ts_ns = AT + 126 * SEC;
	assert_string_equal(found(env, &a)->evidence.stack[0], "handle_tx");
	assert_int_equal(env->seen[0].culprit.tid, WORKER);
	a.ts_ns = AT;
	feed(env, &a);
	assert_int_equal(found(env, &b)->culprit.tid, OTHER);
	assert_int_equal(env->seen[0].cause, VW_CAUSE_OTHER_TASK);
}

/* In a trace more is known of a task than its name; unless it is another one by now. */
static void test_known_task(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, 7001, 21004), task = { .kind = VW_OBS_TASK };

	task.task.tid = WORKER;
	strcpy(task.task.comm, "vhost-3077");
	strcpy(task.task.vm, "web1");
	feed(env, &task);
	ran_worker(&obs);
	assert_string_equal(found(env, &obs)->culprit.vm, "web1");
	strcpy(task.task.comm, "bash");
	feed(env, &task);
	assert_string_equal(found(env, &obs)->culprit.vm, "");
	assert_string_equal(env->seen[0].culprit.comm, "vhost-3077");
}

/* The host has booted, or nobody knows what happened meanwhile. */
static void test_loss(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, 7001, 21004);

	feed(env, &obs);
	lose(env, 2, AT + SEC);
	lose(env, 0, AT + SEC);
	assert_int_equal(env->n, 0);
	lose(env, -1, AT + SEC);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->seen[0].status, VW_CLOSED);
	obs.ts_ns = AT + 63 * SEC;
	obs.report.jiffies = 36780;
	assert_int_equal(found(env, &obs)->evidence.stall.reports, 1);
}

/* Ticks and exits change nothing: a report says what it says. */
static void test_told_once(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = rcu(AT, 7001, 21004);

	ran_worker(&obs);
	feed(env, &obs);
	vw_detect_tick(env->set, AT + 3600 * SEC);
	leave(env, WORKER, AT + 3600 * SEC);
	assert_int_equal(env->n, 0);
	ends_with(env, 1);
	ends_with(env, 0);
}

/* Memory is bounded; the oldest is told. */
static void test_many(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	uint64_t i;

	for (i = 0; i < 1000; i++) {
		obs = rcu(AT + i * SEC, i, 21004);
		feed(env, &obs);
	}
	assert_int_equal(env->n, 1000 - 64);
	assert_int_equal(env->seen[0].evidence.stall.gp, 0);
	vw_detect_finish(env->set, 9999 * SEC);
	assert_int_equal(env->n, 1000);
	for (i = 0; i < 1000; i++)
		assert_int_equal(env->seen[i].evidence.stall.gp, i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_expedited_boundary),
		TEST(test_expedited_grows),
		TEST(test_sequence_is_no_gp),
		TEST(test_joined_by_gp),
		TEST(test_unknown_flavor),
		TEST(test_joined_without_gp),
		TEST(test_ageless),
		TEST_OFFLINE(test_hz),
		TEST_OFFLINE(test_duration_unknown),
		TEST(test_causes),
		TEST(test_culprit_of_later_report),
		TEST(test_known_task),
		TEST_OFFLINE(test_loss),
		TEST_OFFLINE(test_told_once),
		TEST_OFFLINE(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
