// SPDX-License-Identifier: GPL-2.0-or-later
/* The life of a finding: opened once, told again, closed once; and what ends it. */
#include "hog_env.h"

static size_t count(const struct env *env, enum vw_status status)
{
	size_t i, n = 0;

	for (i = 0; i < env->n; i++)
		n += env->seen[i].status == status;
	return n;
}

/* WORKER hogs from @from: one observation each 100 ms, a tick after each. */
static void hog_for(struct env *env, uint64_t from, uint64_t ns)
{
	struct vw_obs obs;
	uint64_t t;

	for (t = 100 * MS; t <= ns; t += 100 * MS) {
		obs = hogging(WORKER, from + t, t);
		feed(env, &obs);
		vw_detect_tick(env->set, from + t);
	}
}

static void test_open_updates_closed(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	size_t i;

	tell_worker(env);
	hog_for(env, 100 * SEC, SEC);
	obs = hogging(WORKER, 101 * SEC + MS, SEC + MS);
	obs.stint.final = true;
	feed(env, &obs);
	assert_int_equal(count(env, VW_CLOSED), 1);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->duration_ns, SEC + MS);
	assert_int_equal(last(env)->end_ns, 101 * SEC + MS);
	assert_int_equal(last(env)->victims[0].wait_ns, SEC + MS);
	assert_int_equal(last(env)->victims[0].wait_total_ns, SEC + MS);
	/* At the opening, at each tick with news, at the end. */
	assert_int_equal(env->n, 11);
	for (i = 0; i < env->n; i++) {
		assert_int_equal(env->seen[i].kind, VW_NON_YIELDING_WORKER);
		assert_int_equal(env->seen[i].start_ns, 100 * SEC);
		assert_int_equal(env->seen[i].culprit.tid, WORKER);
		assert_int_equal(env->seen[i].cpu, 2);
		assert_int_equal(env->seen[i].evidence.count, 1);
	}
	/* Nothing more is said of it. */
	vw_detect_tick(env->set, 102 * SEC);
	vw_detect_finish(env->set, 110 * SEC);
	assert_int_equal(env->n, 11);
}

/* The same worker again is another finding. */
static void test_next_episode(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;

	tell_worker(env);
	hog_for(env, 100 * SEC, 300 * MS);
	obs = hogging(WORKER, 100 * SEC + 301 * MS, 301 * MS);
	obs.stint.final = true;
	feed(env, &obs);
	env->n = 0;
	hog_for(env, 200 * SEC, 300 * MS);
	assert_int_equal(env->seen[0].start_ns, 200 * SEC);
	assert_int_equal(env->seen[0].status, VW_OPEN);
	assert_int_equal(env->seen[0].victims[0].wait_total_ns, 100 * MS);
}

/* First nobody asks, then somebody does, and it does not listen: two findings. */
static void test_kind_changes_in_a_stint(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(2, WORKER, 100 * SEC, 50 * MS);

	tell_worker(env);
	waiter(&obs, VICTIM, 50 * MS);
	feed(env, &obs);
	assert_int_equal(last(env)->kind, VW_STARVED_TASK);
	obs = stint(2, WORKER, 100 * SEC + 100 * MS, 150 * MS);
	waiter(&obs, VICTIM, 150 * MS);
	pending(&obs, 40 * MS);
	feed(env, &obs);
	assert_int_equal(env->n, 3);
	assert_int_equal(env->seen[1].kind, VW_STARVED_TASK);
	assert_int_equal(env->seen[1].status, VW_CLOSED);
	assert_int_equal(env->seen[1].end_ns, 100 * SEC + 100 * MS);
	assert_int_equal(env->seen[1].start_ns, env->seen[0].start_ns);
	assert_int_equal(env->seen[2].kind, VW_NON_YIELDING_WORKER);
	assert_int_equal(env->seen[2].status, VW_OPEN);
	assert_int_equal(env->seen[2].start_ns, 100 * SEC + 60 * MS);
}

/* Somebody comes while a worker is busy: the busy one ends, its victims are not its victims. */
static void test_busy_ends_when_somebody_waits(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(2, WORKER, 100 * SEC, 6 * SEC);

	tell_worker(env);
	feed(env, &obs);
	assert_int_equal(last(env)->kind, VW_BUSY_WORKER);
	obs = hogging(WORKER, 101 * SEC, 50 * MS);
	obs.stint.oncpu_ns = 7 * SEC;
	feed(env, &obs);
	assert_int_equal(env->n, 3);
	assert_int_equal(env->seen[1].kind, VW_BUSY_WORKER);
	assert_int_equal(env->seen[1].status, VW_CLOSED);
	assert_int_equal(env->seen[1].severity, VW_INFO);
	assert_int_equal(env->seen[2].kind, VW_NON_YIELDING_WORKER);
	assert_int_equal(env->seen[2].start_ns, 101 * SEC - 50 * MS);
	assert_int_equal(env->seen[2].duration_ns, 50 * MS);
}

/* What it does meanwhile may become clear later: the finding is the same, its cause is the last. */
static void test_cause_changes(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 100 * MS);

	tell_worker(env);
	feed(env, &obs);
	assert_int_equal(last(env)->cause, VW_CAUSE_IGNORES_RESCHED);
	obs = hogging(WORKER, 101 * SEC, SEC + 100 * MS);
	obs.stint.softirq_ns = SEC;
	feed(env, &obs);
	vw_detect_tick(env->set, 101 * SEC);
	assert_int_equal(env->n, 2);
	assert_int_equal(last(env)->status, VW_OPEN);
	assert_int_equal(last(env)->cause, VW_CAUSE_SOFTIRQ_IN_WORKER);
	assert_int_equal(last(env)->start_ns, env->seen[0].start_ns);
}

/* It called the scheduler and was chosen again: it yields, if only to itself. */
static void test_flag_cleared_without_switch(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;

	tell_worker(env);
	hog_for(env, 100 * SEC, 200 * MS);
	obs = stint(2, WORKER, 100 * SEC + 300 * MS, 304 * MS);
	waiter(&obs, VICTIM, 15 * MS);
	feed(env, &obs);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->end_ns, 100 * SEC + 200 * MS);
	assert_int_equal(last(env)->duration_ns, 200 * MS);
	assert_int_equal(last(env)->victims[0].wait_ns, 200 * MS);
}

/* The last record of a hog whose flag was cleared by the switch itself still ends it there. */
static void test_final_without_flag(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;

	tell_worker(env);
	hog_for(env, 100 * SEC, 200 * MS);
	obs = stint(2, WORKER, 100 * SEC + 203 * MS, 207 * MS);
	obs.stint.final = true;
	feed(env, &obs);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->end_ns, 100 * SEC + 203 * MS);
	assert_int_equal(last(env)->duration_ns, 203 * MS);
	assert_int_equal(last(env)->kind, VW_NON_YIELDING_WORKER);
}

/* Over before anybody looked: one finding, closed, not an open one first. */
static void test_final_of_unreported_stint(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 45 * MS);

	tell_worker(env);
	obs.stint.final = true;
	feed(env, &obs);
	vw_detect_tick(env->set, 100 * SEC);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->seen[0].status, VW_CLOSED);
	assert_int_equal(env->seen[0].start_ns, 100 * SEC - 45 * MS);
	assert_int_equal(env->seen[0].duration_ns, 45 * MS);
}

/* Guard level: the next task is seen and the end was not. */
static void test_other_task_closes(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;

	tell_worker(env);
	hog_for(env, 100 * SEC, 200 * MS);
	obs = stint(2, VICTIM, 105 * SEC, 4 * MS);
	feed(env, &obs);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->culprit.tid, WORKER);
	assert_int_equal(last(env)->end_ns, 100 * SEC + 200 * MS);
	assert_int_equal(count(env, VW_CLOSED), 1);
}

static void test_stale(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 50 * MS);

	tell_worker(env);
	feed(env, &obs);
	vw_detect_tick(env->set, 101 * SEC);
	assert_int_equal(last(env)->status, VW_OPEN);
	vw_detect_tick(env->set, 101 * SEC + 1);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->end_ns, 100 * SEC);
	assert_int_equal(last(env)->duration_ns, 50 * MS);
}

/* At the end of a run what lasts is told as lasting. */
static void test_finish_keeps_open(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 50 * MS);

	tell_worker(env);
	feed(env, &obs);
	/* Nothing new, nothing told. */
	vw_detect_tick(env->set, 100 * SEC + MS);
	assert_int_equal(env->n, 1);
	obs = hogging(WORKER, 100 * SEC + 100 * MS, 150 * MS);
	feed(env, &obs);
	vw_detect_finish(env->set, 100 * SEC + 101 * MS);
	assert_int_equal(env->n, 2);
	assert_int_equal(last(env)->status, VW_OPEN);
	assert_int_equal(last(env)->end_ns, 100 * SEC + 100 * MS);
}

/* Case F6: what is open when records are lost was last seen where it was last seen. */
static void test_loss(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 50 * MS);

	tell_worker(env);
	feed(env, &obs);
	lose(env, 3, 100 * SEC + 10 * MS);
	assert_int_equal(env->n, 1);
	lose(env, 2, 100 * SEC + 20 * MS);
	assert_int_equal(env->n, 2);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->end_ns, 100 * SEC);
	/* What comes next rests on no gap: another finding. */
	feed(env, &obs);
	assert_int_equal(last(env)->status, VW_OPEN);
	obs.stint.cpu = 1;
	feed(env, &obs);
	env->n = 0;
	lose(env, -1, 100 * SEC + 30 * MS);
	assert_int_equal(env->n, 2);
	assert_int_equal(count(env, VW_CLOSED), 2);
}

/* Case F7: the same number is not the same task. */
static void test_tid_reuse(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 50 * MS);

	tell_worker(env);
	feed(env, &obs);
	obs = hogging(WORKER, 200 * SEC, 60 * MS);
	obs.stint.start_ns++;
	feed(env, &obs);
	assert_int_equal(env->n, 3);
	assert_int_equal(env->seen[1].status, VW_CLOSED);
	assert_int_equal(env->seen[1].end_ns, 100 * SEC);
	assert_int_equal(env->seen[2].status, VW_OPEN);
	assert_int_equal(env->seen[2].start_ns, 200 * SEC - 60 * MS);
	/* A source that does not know the start cannot contradict. */
	obs = hogging(WORKER, 200 * SEC + 100 * MS, 160 * MS);
	obs.stint.start_ns = 0;
	feed(env, &obs);
	assert_int_equal(env->n, 3);
}

/* B6, F7: the worker is gone; what comes under its number is nobody's worker. */
static void test_exit(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 50 * MS);

	tell_worker(env);
	feed(env, &obs);
	leave(env, OTHER, 100 * SEC + 10 * MS);
	assert_int_equal(env->n, 1);
	leave(env, WORKER, 100 * SEC + 20 * MS);
	assert_int_equal(env->n, 2);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_string_equal(last(env)->culprit.comm, "vhost-3077");
	obs = stint(2, WORKER, 200 * SEC, 10 * SEC);
	assert_null(first_of(env, &obs));
	obs = hogging(WORKER, 201 * SEC, 50 * MS);
	assert_int_equal(first_of(env, &obs)->kind, VW_STARVED_TASK);
}

/* Case E1 as a source tells it: looks while it lasts, then the hog is moved away. */
static void test_case_e1(void **state)
{
	static const struct {
		uint64_t ts, oncpu, wait;
	} looks[] = {
		{ 1010000000, 9984000, 9957000 },   { 1020000000, 19984000, 19957000 },
		{ 1030000000, 29984000, 29957000 }, { 1040000000, 39984000, 39957000 },
		{ 1040036000, 40020000, 39993000 },
	};
	struct env *env = *state;
	const size_t n = sizeof(looks) / sizeof(looks[0]);
	struct vw_obs obs;
	size_t i;

	tell(env, 7101, "vhost-7050", VW_ROLE_VHOST_WORKER, true);
	tell(env, 812, "kworker/6:1", VW_ROLE_KWORKER, false);
	for (i = 0; i < n; i++) {
		obs = stint(6, 7101, looks[i].ts, looks[i].oncpu);
		/* The report's own number is of the moment at which it got the CPU. */
		waiter(&obs, 812, i == n - 1 ? 39999000 : looks[i].wait);
		obs.stint.final = i == n - 1;
		feed(env, &obs);
		assert_int_equal(env->n, (i >= 2) + (i == n - 1));
	}
	assert_int_equal(last(env)->kind, VW_STARVED_TASK);
	assert_int_equal(last(env)->cause, VW_CAUSE_SCHEDULER_NO_REQUEST);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->culprit.tid, 7101);
	assert_int_equal(last(env)->victims[0].task.tid, 812);
	assert_int_equal(last(env)->victims[0].wait_ns, 39999000);
	assert_int_equal(last(env)->evidence.oncpu_ns, 40020000);
	assert_int_equal(last(env)->evidence.resched, VW_RESCHED_NONE);
	assert_int_equal(last(env)->evidence.resched_pending_ns, 0);
	assert_null(strstr(last(env)->remedy, "cond_resched"));
}

static void test_victims_sorted_and_merged(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(2, WORKER, 100 * SEC, SEC);
	const struct vw_finding *f;

	tell_worker(env);
	pending(&obs, SEC);
	waiter(&obs, 1, 300 * MS);
	waiter(&obs, 2, 200 * MS);
	feed(env, &obs);
	obs = stint(2, WORKER, 101 * SEC, 2 * SEC);
	pending(&obs, 2 * SEC);
	waiter(&obs, 3, 1200 * MS);
	waiter(&obs, 2, 1100 * MS);
	/* Another wait: it found a CPU in between and came back. */
	waiter(&obs, 1, 50 * MS);
	feed(env, &obs);
	obs.ts_ns += 100 * MS;
	obs.stint.waiters[0].wait_ns += 100 * MS;
	obs.stint.waiters[1].wait_ns += 100 * MS;
	obs.stint.waiters[2].wait_ns += 100 * MS;
	obs.stint.final = true;
	feed(env, &obs);
	f = last(env);
	assert_int_equal(f->status, VW_CLOSED);
	assert_int_equal(f->n_victims, 3);
	assert_int_equal(f->victims[0].task.tid, 3);
	assert_int_equal(f->victims[0].wait_ns, 1300 * MS);
	assert_int_equal(f->victims[1].task.tid, 2);
	assert_int_equal(f->victims[1].wait_ns, 1200 * MS);
	assert_int_equal(f->victims[1].wait_total_ns, 1200 * MS);
	assert_int_equal(f->victims[2].task.tid, 1);
	assert_int_equal(f->victims[2].wait_ns, 300 * MS);
	/* 300 ms, and the second wait of 150 ms, however often it was looked at. */
	assert_int_equal(f->victims[2].wait_total_ns, 450 * MS);
}

/* Eight are kept, and those are the eight that waited longest. */
static void test_many_victims(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	const struct vw_finding *f;
	unsigned int round, i;

	tell_worker(env);
	for (round = 0; round < 3; round++) {
		obs = stint(2, WORKER, (100 + round) * SEC, (1 + round) * SEC);
		pending(&obs, (1 + round) * SEC);
		for (i = 0; i < VW_MAX_VICTIMS; i++)
			waiter(&obs, (int32_t)(10 * (round + 1) + i),
			       (round + 1) * 100 * MS - i * MS);
		obs.stint.final = round == 2;
		feed(env, &obs);
	}
	f = last(env);
	assert_int_equal(f->n_victims, VW_MAX_VICTIMS);
	for (i = 0; i < VW_MAX_VICTIMS; i++) {
		assert_int_equal(f->victims[i].task.tid, 30 + i);
		assert_int_equal(f->victims[i].wait_ns, 300 * MS - i * MS);
		assert_int_equal(f->victims[i].wait_total_ns, 300 * MS - i * MS);
	}
}

/* One finding a CPU, told in the order of CPUs, whatever the order of their records. */
static void test_many_cpus(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	int32_t cpu;

	for (cpu = 511; cpu >= 0; cpu--) {
		tell(env, 10000 + cpu, "vhost-1", VW_ROLE_VHOST_WORKER, true);
		obs = hogging(10000 + cpu, 100 * SEC, 50 * MS);
		obs.stint.cpu = cpu;
		feed(env, &obs);
	}
	assert_int_equal(env->n, 512);
	for (cpu = 511; cpu >= 0; cpu--) {
		obs = hogging(10000 + cpu, 100 * SEC + 100 * MS, 150 * MS);
		obs.stint.cpu = cpu;
		feed(env, &obs);
	}
	assert_int_equal(env->n, 512);
	env->n = 0;
	vw_detect_tick(env->set, 100 * SEC + 100 * MS);
	assert_int_equal(env->n, 512);
	for (cpu = 0; cpu < 512; cpu++) {
		assert_int_equal(env->seen[cpu].cpu, cpu);
		assert_int_equal(env->seen[cpu].culprit.tid, 10000 + cpu);
	}
	/* No CPU at all: refused, not taken for memory. */
	obs.stint.cpu = -1;
	assert_true(vw_detect_feed(env->set, &obs) < 0);
	obs.stint.cpu = 1 << 20;
	assert_true(vw_detect_feed(env->set, &obs) < 0);
	/* Losing the records of a CPU that was never seen is no event. */
	lose(env, 4000, 101 * SEC);
	assert_int_equal(env->n, 512);
}

/* What becomes known of a task later is told with the finding. */
static void test_late_facts(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 50 * MS);
	struct vw_obs known = { .kind = VW_OBS_TASK };

	tell_worker(env);
	feed(env, &obs);
	known.task = last(env)->culprit;
	strcpy(known.task.vm, "web01");
	feed(env, &known);
	obs = hogging(WORKER, 100 * SEC + 100 * MS, 150 * MS);
	obs.stint.final = true;
	feed(env, &obs);
	assert_string_equal(last(env)->culprit.vm, "web01");
	assert_non_null(strstr(last(env)->message, "VM web01"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open_updates_closed),
		TEST(test_next_episode),
		TEST(test_kind_changes_in_a_stint),
		TEST(test_busy_ends_when_somebody_waits),
		TEST(test_cause_changes),
		TEST(test_flag_cleared_without_switch),
		TEST(test_final_without_flag),
		TEST(test_final_of_unreported_stint),
		TEST(test_other_task_closes),
		TEST(test_stale),
		TEST(test_finish_keeps_open),
		TEST(test_loss),
		TEST(test_tid_reuse),
		TEST(test_exit),
		TEST(test_case_e1),
		TEST(test_victims_sorted_and_merged),
		TEST(test_many_victims),
		TEST(test_many_cpus),
		TEST(test_late_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
