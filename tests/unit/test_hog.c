// SPDX-License-Identifier: GPL-2.0-or-later
/* Which stints are a case of what, at both sides of each threshold. */
#include "hog_env.h"

static void test_non_yielding_worker(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 45 * MS);
	const struct vw_finding *f;

	tell_worker(env);
	tell(env, VICTIM, "kworker/6:1", VW_ROLE_KWORKER, false);
	obs.stint.n_stack = 2;
	strcpy(obs.stint.stack[0], "handle_tx");
	strcpy(obs.stint.stack[1], "vhost_worker");
	obs.stint.irq_ns = MS;
	obs.stint.softirq_ns = 2 * MS;
	f = first_of(env, &obs);
	assert_non_null(f);
	assert_int_equal(env->n, 1);
	assert_int_equal(f->kind, VW_NON_YIELDING_WORKER);
	assert_int_equal(f->cause, VW_CAUSE_IGNORES_RESCHED);
	assert_int_equal(f->severity, VW_WARNING);
	assert_int_equal(f->status, VW_OPEN);
	assert_int_equal(f->start_ns, 100 * SEC - 45 * MS);
	assert_int_equal(f->end_ns, 100 * SEC);
	assert_int_equal(f->duration_ns, 45 * MS);
	assert_int_equal(f->cpu, 2);
	assert_true(f->has_culprit);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_string_equal(f->culprit.comm, "vhost-3077");
	assert_int_equal(f->n_victims, 1);
	assert_int_equal(f->victims[0].task.tid, VICTIM);
	assert_int_equal(f->victims[0].task.role, VW_ROLE_KWORKER);
	assert_int_equal(f->victims[0].wait_ns, 45 * MS);
	assert_int_equal(f->victims[0].wait_total_ns, 45 * MS);
	assert_int_equal(f->evidence.count, 1);
	assert_int_equal(f->evidence.span_ns, 45 * MS);
	assert_int_equal(f->evidence.resched, VW_RESCHED_FULL);
	assert_int_equal(f->evidence.resched_pending_ns, 45 * MS);
	assert_int_equal(f->evidence.oncpu_ns, 49 * MS);
	assert_int_equal(f->evidence.irq_ns, MS);
	assert_int_equal(f->evidence.softirq_ns, 2 * MS);
	assert_int_equal(f->evidence.nr_running, 2);
	assert_string_equal(f->evidence.clock, "tp_btf/local_timer_entry");
	assert_int_equal(f->evidence.n_stack, 2);
	assert_string_equal(f->evidence.stack[0], "handle_tx");
	assert_true(f->printed_after_ns == VW_UNKNOWN);
	assert_non_null(strstr(f->message, "vhost-3077"));
}

static void test_pending_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, T - 1);

	tell_worker(env);
	obs.stint.pending_ticks = PENDING_LOOKS;
	assert_null(first_of(env, &obs));
	obs.stint.pending_ns = T;
	assert_non_null(first_of(env, &obs));
}

/* A virtual CPU that stood still: the request is old, but no look saw it being ignored. */
static void test_pending_looks_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, SEC);

	tell_worker(env);
	obs.stint.ticks = STINT_LOOKS - 1;
	obs.stint.pending_ticks = PENDING_LOOKS - 1;
	assert_null(first_of(env, &obs));
	obs.stint.pending_ticks = PENDING_LOOKS;
	assert_non_null(first_of(env, &obs));
}

static void test_worker_severity(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, 10 * T - 1);

	tell_worker(env);
	assert_int_equal(first_of(env, &obs)->severity, VW_WARNING);
	obs = hogging(WORKER, 100 * SEC + 1, 10 * T);
	feed(env, &obs);
	vw_detect_tick(env->set, 100 * SEC + 1);
	assert_int_equal(last(env)->severity, VW_CRITICAL);
	assert_int_equal(last(env)->duration_ns, 10 * T);
}

/* The same load by a task that nobody watches is a starved task, whoever it is. */
static void test_ignores_request_unwatched(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(OTHER, 100 * SEC, 2 * T);
	const struct vw_finding *f;

	f = first_of(env, &obs);
	assert_non_null(f);
	assert_int_equal(f->kind, VW_STARVED_TASK);
	assert_int_equal(f->cause, VW_CAUSE_IGNORES_RESCHED);
	assert_int_equal(f->severity, VW_WARNING);
	assert_int_equal(f->culprit.tid, OTHER);
	assert_int_equal(f->culprit.start_ns, OTHER * SEC);
	assert_string_equal(f->culprit.comm, "");
	obs = hogging(OTHER, 100 * SEC + 18 * T - 1, 20 * T - 1);
	feed(env, &obs);
	vw_detect_tick(env->set, obs.ts_ns);
	assert_int_equal(last(env)->severity, VW_WARNING);
	obs = hogging(OTHER, 100 * SEC + 18 * T, 20 * T);
	feed(env, &obs);
	vw_detect_tick(env->set, obs.ts_ns);
	assert_int_equal(last(env)->severity, VW_CRITICAL);
}

/* docs/FORMATS: starved_task is a warning from 2 T; what is shorter is told, and alarms nobody. */
static void test_ignores_request_below_2t(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(OTHER, 100 * SEC, 2 * T - 1);

	obs.stint.pending_ticks = STINT_LOOKS;
	assert_null(first_of(env, &obs));
	obs.stint.pending_ns = 2 * T;
	obs.stint.pending_ticks = STINT_LOOKS - 1;
	assert_null(first_of(env, &obs));
	obs.stint.pending_ticks = STINT_LOOKS;
	assert_non_null(first_of(env, &obs));
	assert_int_equal(env->seen[0].kind, VW_STARVED_TASK);
	assert_int_equal(env->seen[0].severity, VW_WARNING);
}

/* Named with -t, any task is held to what workers are held to. */
static void test_named_task(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(OTHER, 100 * SEC, 2 * T);

	tell(env, OTHER, "hog", VW_ROLE_OTHER, true);
	assert_non_null(first_of(env, &obs));
	assert_int_equal(env->seen[0].kind, VW_NON_YIELDING_WORKER);
	assert_int_equal(env->seen[0].culprit.role, VW_ROLE_OTHER);
}

/* Case E1: nobody asked the hog to yield. */
static void test_starved_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, 2 * T + 1);

	tell_worker(env);
	waiter(&obs, VICTIM, 2 * T - 1);
	assert_null(first_of(env, &obs));
	obs.stint.waiters[0].wait_ns = 2 * T;
	assert_non_null(first_of(env, &obs));
	assert_int_equal(env->seen[0].kind, VW_STARVED_TASK);
	assert_int_equal(env->seen[0].cause, VW_CAUSE_SCHEDULER_NO_REQUEST);
	assert_int_equal(env->seen[0].severity, VW_WARNING);
	assert_int_equal(env->seen[0].start_ns, 100 * SEC - 2 * T);
	assert_int_equal(env->seen[0].evidence.resched_pending_ns, 0);
}

static void test_starved_oncpu_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, 2 * T);

	waiter(&obs, VICTIM, 3 * T);
	assert_null(first_of(env, &obs));
	obs.stint.oncpu_ns = 2 * T + 1;
	assert_non_null(first_of(env, &obs));
	/* It waited behind others first: this stint answers for its own part. */
	assert_int_equal(env->seen[0].duration_ns, 2 * T + 1);
	assert_int_equal(env->seen[0].victims[0].wait_ns, 3 * T);
}

static void test_starved_looks_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, SEC);

	waiter(&obs, VICTIM, SEC);
	obs.stint.ticks = STINT_LOOKS - 1;
	assert_null(first_of(env, &obs));
	obs.stint.ticks = STINT_LOOKS;
	assert_non_null(first_of(env, &obs));
	assert_int_equal(env->seen[0].severity, VW_CRITICAL);
}

static void test_starved_severity(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, SEC);

	waiter(&obs, VICTIM, 20 * T - 1);
	assert_int_equal(first_of(env, &obs)->severity, VW_WARNING);
	leave(env, WORKER, 101 * SEC);
	obs = stint(6, WORKER, 102 * SEC, SEC);
	waiter(&obs, VICTIM, 20 * T);
	assert_int_equal(first_of(env, &obs)->severity, VW_CRITICAL);
}

static void test_causes_without_request(void **state)
{
	static const struct {
		enum vw_resched resched;
		enum vw_cause cause;
	} cases[] = {
		{ VW_RESCHED_NONE, VW_CAUSE_SCHEDULER_NO_REQUEST },
		{ VW_RESCHED_LAZY, VW_CAUSE_LAZY_PREEMPTION },
		{ VW_RESCHED_UNKNOWN, VW_CAUSE_UNKNOWN },
	};
	struct env *env = *state;
	struct vw_obs asked = stint(7, WORKER, 100 * SEC, 3 * T);
	size_t i;

	/* The request is there, and too young to have been ignored. */
	waiter(&asked, VICTIM, 3 * T);
	asked.stint.resched = VW_RESCHED_FULL;
	assert_null(first_of(env, &asked));

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vw_obs obs = stint((int32_t)i, WORKER, 100 * SEC, 3 * T);

		waiter(&obs, VICTIM, 3 * T);
		obs.stint.resched = cases[i].resched;
		assert_non_null(first_of(env, &obs));
		assert_int_equal(env->seen[0].kind, VW_STARVED_TASK);
		assert_int_equal(env->seen[0].cause, cases[i].cause);
		assert_int_equal(env->seen[0].evidence.resched, cases[i].resched);
		/* Where the flag cannot be read there is no time to tell. */
		assert_true((env->seen[0].evidence.resched_pending_ns == VW_UNKNOWN) ==
			    (cases[i].resched == VW_RESCHED_UNKNOWN));
	}
}

/* A task of nice 5 rightly waits three times as long behind one of nice 0. */
static void test_weights(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, SEC);
	uint64_t limit = 2 * T * 1024 / 335;

	waiter(&obs, VICTIM, limit - 1)->weight = 335;
	assert_null(first_of(env, &obs));
	obs.stint.waiters[0].wait_ns = limit;
	assert_non_null(first_of(env, &obs));
}

/* A heavier one has no right to more than 2 T, and one of unknown weight none to less. */
static void test_weights_that_excuse_nothing(void **state)
{
	struct env *env = *state;
	static const uint32_t weights[] = { 1024, 3121, 0 };
	size_t i;

	for (i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		struct vw_obs obs = stint((int32_t)i, WORKER, 100 * SEC, SEC);

		waiter(&obs, VICTIM, 2 * T - 1)->weight = weights[i];
		assert_null(first_of(env, &obs));
		obs.stint.waiters[0].wait_ns = 2 * T;
		assert_non_null(first_of(env, &obs));
	}
}

/* One light waiter that is served fairly does not hide another that is not. */
static void test_worst_unfair_wait_counts(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, SEC);

	waiter(&obs, VICTIM, 60 * MS)->weight = 15;
	waiter(&obs, VICTIM + 1, 30 * MS);
	waiter(&obs, VICTIM + 2, 45 * MS);
	waiter(&obs, VICTIM + 3, 25 * MS);
	assert_non_null(first_of(env, &obs));
	assert_int_equal(env->seen[0].duration_ns, 45 * MS);
	assert_int_equal(env->seen[0].n_victims, 4);
	assert_int_equal(env->seen[0].victims[0].task.tid, VICTIM);
}

/* Real-time tasks are served first, that is what they are for. */
static void test_rt_culprit(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, SEC);

	tell_worker(env);
	waiter(&obs, VICTIM, SEC);
	obs.stint.rt = true;
	assert_null(first_of(env, &obs));
	/* One that was told to go is another matter: a higher one waits. */
	pending(&obs, 2 * T);
	assert_non_null(first_of(env, &obs));
	assert_int_equal(env->seen[0].kind, VW_NON_YIELDING_WORKER);
}

/* Real-time waiters are not in the list of waiters, but counted. */
static void test_rt_waiter(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, SEC);

	tell_worker(env);
	pending(&obs, 5 * T);
	assert_null(first_of(env, &obs));
	obs.stint.nr_running = 2;
	assert_non_null(first_of(env, &obs));
	assert_int_equal(env->seen[0].n_victims, 0);
	assert_non_null(strstr(env->seen[0].message, "while another task waits"));
}

/* A group without quota left could not run anyway. */
static void test_throttled_waiter(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, SEC);

	tell_worker(env);
	waiter(&obs, VICTIM, SEC)->throttled = true;
	assert_null(first_of(env, &obs));
	pending(&obs, SEC);
	assert_null(first_of(env, &obs));
	waiter(&obs, VICTIM + 1, 15 * MS);
	assert_non_null(first_of(env, &obs));
	assert_int_equal(env->seen[0].n_victims, 1);
	assert_int_equal(env->seen[0].victims[0].task.tid, VICTIM + 1);
}

/* A request, but the one it was made for has found another CPU. */
static void test_nobody_waits(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(6, WORKER, 100 * SEC, SEC);

	tell_worker(env);
	pending(&obs, SEC);
	assert_null(first_of(env, &obs));
}

/* Case A4: 60 s on a CPU with no waiter is no hog. */
static void test_busy_but_alone(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	uint64_t ns;

	tell_worker(env);
	for (ns = 4 * MS; ns <= 60 * SEC; ns += 100 * MS) {
		obs = stint(5, WORKER, SEC + ns, ns);
		feed(env, &obs);
	}
	assert_int_equal(env->n, 1);
	assert_int_equal(env->seen[0].kind, VW_BUSY_WORKER);
	assert_int_equal(env->seen[0].severity, VW_INFO);
	vw_detect_finish(env->set, 61 * SEC);
	assert_int_equal(last(env)->severity, VW_INFO);
	assert_int_equal(last(env)->start_ns, env->seen[0].start_ns);
	assert_int_equal(last(env)->n_victims, 0);
}

static void test_busy_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(5, WORKER, 100 * SEC, 5 * SEC - 1);

	tell_worker(env);
	assert_null(first_of(env, &obs));
	obs.stint.oncpu_ns = 5 * SEC;
	assert_non_null(first_of(env, &obs));
	assert_int_equal(env->seen[0].cause, VW_CAUSE_SATURATED);
	assert_int_equal(env->seen[0].start_ns, 95 * SEC);
	/* Of no interest where nobody watches, nor once somebody waits. */
	obs.stint.tid = OTHER;
	obs.stint.cpu = 4;
	assert_null(first_of(env, &obs));
	obs = stint(3, WORKER, 100 * SEC, 6 * SEC);
	waiter(&obs, VICTIM, MS);
	assert_null(first_of(env, &obs));
}

static void test_softirq(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = hogging(WORKER, 100 * SEC, SEC);

	tell_worker(env);
	obs.stint.softirq_ns = SEC / 2;
	assert_int_equal(first_of(env, &obs)->cause, VW_CAUSE_IGNORES_RESCHED);
	obs.stint.cpu = 3;
	obs.stint.softirq_ns = SEC / 2 + 1;
	assert_int_equal(first_of(env, &obs)->cause, VW_CAUSE_SOFTIRQ_IN_WORKER);
	assert_int_equal(env->seen[0].kind, VW_NON_YIELDING_WORKER);
	/* Nobody's business but a worker's. */
	obs.stint.cpu = 4;
	obs.stint.tid = OTHER;
	assert_int_equal(first_of(env, &obs)->cause, VW_CAUSE_IGNORES_RESCHED);
	/* Unknown is not much. */
	obs.stint.cpu = 5;
	obs.stint.tid = WORKER;
	obs.stint.softirq_ns = VW_UNKNOWN;
	assert_int_equal(first_of(env, &obs)->cause, VW_CAUSE_IGNORES_RESCHED);
}

/* Case A5: four workers of one name; the one that hogs is named. */
static void test_same_comm(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	int32_t tid;

	for (tid = 4201; tid <= 4204; tid++)
		tell(env, tid, "vhost-4190", VW_ROLE_VHOST_WORKER, true);
	for (tid = 4201; tid <= 4204; tid++) {
		obs = stint(tid - 4200, tid, 100 * SEC, tid == 4203 ? 45 * MS : 200000);
		waiter(&obs, OTHER + tid, tid == 4203 ? 44 * MS : 100000);
		if (tid == 4203)
			pending(&obs, 44 * MS);
		feed(env, &obs);
	}
	assert_int_equal(env->n, 1);
	assert_int_equal(env->seen[0].culprit.tid, 4203);
	assert_int_equal(env->seen[0].cpu, 3);
	assert_int_equal(env->seen[0].victims[0].task.tid, OTHER + 4203);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_non_yielding_worker),
		TEST(test_pending_boundary),
		TEST(test_pending_looks_boundary),
		TEST(test_worker_severity),
		TEST(test_ignores_request_unwatched),
		TEST(test_ignores_request_below_2t),
		TEST(test_named_task),
		TEST(test_starved_boundary),
		TEST(test_starved_oncpu_boundary),
		TEST(test_starved_looks_boundary),
		TEST(test_starved_severity),
		TEST(test_causes_without_request),
		TEST(test_weights),
		TEST(test_weights_that_excuse_nothing),
		TEST(test_worst_unfair_wait_counts),
		TEST(test_rt_culprit),
		TEST(test_rt_waiter),
		TEST(test_throttled_waiter),
		TEST(test_nobody_waits),
		TEST(test_busy_but_alone),
		TEST(test_busy_boundary),
		TEST(test_softirq),
		TEST(test_same_comm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
