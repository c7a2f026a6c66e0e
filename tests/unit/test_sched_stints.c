// SPDX-License-Identifier: GPL-2.0-or-later
/* Stints: how long one task kept a CPU, who waited, and what was asked of it. */
#include "sched_env.h"

#define KWORKER 812
#define STOPPER 41

/*
 * A worker that nobody asks to leave, until the balancer takes it away: E1 of the public cases.
 */
static void play_no_request(struct env *env)
{
	call(env, 7060, "CPU 1/KVM");
	call(env, 7101, "vhost-7050");
	call(env, KWORKER, "kworker/6:1");
	call(env, STOPPER, "migration/6");
	set_prio(env, STOPPER, 0);
	sw(env, 1000000000, 6, 7060, 'S', 7101);
	wk(env, 1000011000, KWORKER, 6);
	sw(env, 1000012000, 6, 7101, 'R', KWORKER);
	sw(env, 1000016000, 6, KWORKER, 'I', 7101);
	wk(env, 1000043000, KWORKER, 6);
	seen(env, 1000044000, 6, 7101, VW_RESCHED_NONE);
	rt(env, 1010000000, 6, 7101, 9957000);
	rt(env, 1020000000, 6, 7101, 10000000);
	rt(env, 1030000000, 6, 7101, 10000000);
	rt(env, 1040000000, 6, 7101, 10000000);
	wk(env, 1040020000, STOPPER, 6);
	sw(env, 1040036000, 6, 7101, 'R', STOPPER);
	mg(env, 1040038000, 7101, 6, 7);
	sw(env, 1040042000, 6, STOPPER, 'S', KWORKER);
}

static void test_no_request(void **state)
{
	struct env *env = *state;
	const struct vw_obs_stint *s;
	const struct vw_obs_wait *w;

	play_no_request(env);
	s = &last(env, VW_OBS_STINT)->stint;
	assert_int_equal(last(env, VW_OBS_STINT)->ts_ns, 1040036000);
	assert_int_equal(s->cpu, 6);
	assert_int_equal(s->tid, 7101);
	assert_true(s->final);
	assert_false(s->rt);
	assert_int_equal(s->oncpu_ns, 40020000);
	assert_int_equal(s->resched, VW_RESCHED_NONE);
	assert_int_equal(s->pending_ns, 0);
	assert_int_equal(s->ticks, UINT32_MAX);
	assert_int_equal(s->pending_ticks, UINT32_MAX);
	assert_int_equal(s->weight, 1024);
	/* The CPU was never seen idle: others may have waited all along. */
	assert_int_equal(s->nr_running, 0);
	assert_true(s->softirq_ns == VW_UNKNOWN);
	assert_true(s->irq_ns == VW_UNKNOWN);
	assert_string_equal(s->clock, "trace");
	/* The stopper has waited for 16 us: it is no victim. */
	assert_int_equal(s->n_waiters, 1);
	assert_int_equal(s->waiters[0].tid, KWORKER);
	assert_int_equal(s->waiters[0].wait_ns, 39993000);
	assert_int_equal(s->waiters[0].weight, 1024);
	w = &last(env, VW_OBS_WAIT)->wait;
	assert_true(w->final);
	assert_int_equal(w->tid, KWORKER);
	assert_int_equal(w->wait_ns, 39999000);
	assert_true(told(env, 7101)->watched);
	assert_int_equal(told(env, 7101)->role, VW_ROLE_VHOST_WORKER);
	assert_int_equal(told(env, 7101)->owner_pid, 7050);
	assert_int_equal(told(env, KWORKER)->role, VW_ROLE_KWORKER);
}

/* While it lasts there is news each few milliseconds, and no more. */
static void test_lasting(void **state)
{
	struct env *env = *state;
	uint64_t ts;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	wk(env, START + MS, VICTIM, 2);
	for (ts = START + MS; ts < START + 60 * SEC; ts += MS)
		seen(env, ts, 2, WORKER, VW_RESCHED_NONE);
	assert_true(count(env, VW_OBS_STINT) <= 60 * 250);
	assert_true(count(env, VW_OBS_STINT) >= 60 * 200);
	assert_int_equal(nth(env, VW_OBS_STINT, 0)->ts_ns, START + T);
	assert_false(last(env, VW_OBS_STINT)->stint.final);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.nr_running, 2);
	/* The wait is told from 2 T on, then each second. */
	assert_int_equal(nth(env, VW_OBS_WAIT, 0)->ts_ns, START + MS + 2 * T);
	assert_int_equal(nth(env, VW_OBS_WAIT, 1)->ts_ns, START + MS + 2 * T + SEC);
	assert_int_equal(count(env, VW_OBS_WAIT), 60);
	assert_int_equal(env->ticks, 59);
}

static void test_boundary(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	sw(env, START + T - 1, 2, OTHER, 'S', 0);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	sw(env, START + SEC, 2, 0, 'R', OTHER);
	sw(env, START + SEC + T, 2, OTHER, 'S', 0);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.oncpu_ns, T);
	assert_true(only(env, VW_OBS_STINT)->stint.final);
}

/* A CPU that is busy with one task is of interest to nobody while nobody waits. */
static void test_alone(void **state)
{
	struct env *env = *state;
	uint64_t ts;

	sw(env, START, 2, 0, 'R', OTHER);
	for (ts = START; ts < START + SEC; ts += MS)
		seen(env, ts, 2, OTHER, VW_RESCHED_NONE);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	finish(env);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	/* A worker is busy then. */
	restart(env);
	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	for (ts = START; ts < START + SEC; ts += MS)
		seen(env, ts, 2, WORKER, VW_RESCHED_NONE);
	assert_true(count(env, VW_OBS_STINT) > 200);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.n_waiters, 0);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.nr_running, 1);
}

/* The last waiter is taken elsewhere: a last look with it, one without, then silence. */
static void test_waiter_leaves(void **state)
{
	struct env *env = *state;
	const struct vw_obs_stint *s;
	uint64_t ts;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START + MS, VICTIM, 2);
	mg(env, START + 24 * MS, VICTIM, 2, 3);
	assert_int_equal(count(env, VW_OBS_STINT), 2);
	s = &nth(env, VW_OBS_STINT, 0)->stint;
	assert_int_equal(s->n_waiters, 1);
	assert_int_equal(s->waiters[0].wait_ns, 23 * MS);
	assert_false(s->final);
	for (ts = START + 25 * MS; ts < START + SEC; ts += MS)
		seen(env, ts, 2, OTHER, VW_RESCHED_NONE);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.n_waiters, 0);
	assert_true(last(env, VW_OBS_STINT)->ts_ns <= START + 30 * MS);
}

/* Switched in before the trace: it counts from the first sight. */
static void test_unknown_beginning(void **state)
{
	struct env *env = *state;

	seen(env, START, 2, OTHER, VW_RESCHED_NONE);
	wk(env, START, VICTIM, 2);
	sw(env, START + 15 * MS, 2, OTHER, 'R', VICTIM);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.oncpu_ns, 15 * MS);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.nr_running, 0);
}

/* The longest wait comes first, whatever else happened to the waiters. */
static void test_waiters(void **state)
{
	struct env *env = *state;
	const struct vw_obs_stint *s;
	int32_t i;

	sw(env, START, 2, 0, 'R', OTHER);
	sw(env, START, 3, 0, 'R', OTHER + 1);
	wk(env, START + 1 * MS, 901, 3);
	for (i = 0; i < 9; i++)
		wk(env, START + (uint64_t)(i + 2) * MS, 910 + i, 2);
	/* A later wake-up of one that waits is no new wait. */
	wk(env, START + 12 * MS, 910, 2);
	mg(env, START + 13 * MS, 901, 3, 2);
	set_prio(env, OTHER, 139);
	sw(env, START + 14 * MS, 2, OTHER, 'R', 901);
	s = &last(env, VW_OBS_STINT)->stint;
	assert_int_equal(s->n_waiters, VW_MAX_VICTIMS);
	assert_int_equal(s->nr_running, 11);
	assert_int_equal(s->weight, 15);
	assert_int_equal(s->waiters[0].tid, 901);
	assert_int_equal(s->waiters[0].wait_ns, 13 * MS);
	for (i = 1; i < VW_MAX_VICTIMS; i++) {
		assert_int_equal(s->waiters[i].tid, 909 + i);
		assert_int_equal(s->waiters[i].wait_ns, (uint64_t)(13 - i) * MS);
	}
}

static void test_weights(void **state)
{
	/* kernel/sched/core.c has these for nice -20, -10, -1, 0, 1, 10, 19; ours are close. */
	static const struct {
		int32_t prio;
		uint32_t weight;
	} table[] = { { 100, 88761 }, { 110, 9548 }, { 119, 1277 }, { 120, 1024 },
		      { 121, 820 },   { 130, 110 },  { 139, 15 } };
	struct env *env = *state;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint32_t want = table[i].weight, got;

		restart(env);
		set_prio(env, OTHER, table[i].prio);
		sw(env, START, 2, 0, 'R', OTHER);
		sw(env, START + SEC, 2, OTHER, 'S', 0);
		got = only(env, VW_OBS_STINT)->stint.weight;
		assert_in_range(got, want - want / 50, want + want / 50);
		assert_false(only(env, VW_OBS_STINT)->stint.rt);
	}
	restart(env);
	set_prio(env, OTHER, 99);
	sw(env, START, 2, 0, 'R', OTHER);
	sw(env, START + SEC, 2, OTHER, 'S', 0);
	assert_true(only(env, VW_OBS_STINT)->stint.rt);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.weight, 0);
}

/* A real-time task that waits is a victim only when it is kept for long. */
static void test_rt_waiter(void **state)
{
	struct env *env = *state;

	set_prio(env, VICTIM, 49);
	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START + 20 * MS, VICTIM, 2);
	seen(env, START + 29 * MS, 2, OTHER, VW_RESCHED_FULL);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.n_waiters, 0);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.nr_running, 2);
	sw(env, START + 30 * MS, 2, OTHER, 'R', VICTIM);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.n_waiters, 1);
}

/* The request counts from the first event that showed it, and until one shows that it is gone. */
static void test_request(void **state)
{
	struct env *env = *state;
	const struct vw_obs_stint *s;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	wk(env, START + MS, VICTIM, 2);
	seen(env, START + 2 * MS, 2, WORKER, VW_RESCHED_FULL);
	seen(env, START + 5 * MS, 2, WORKER, VW_RESCHED_FULL);
	/* It called schedule() and was chosen again. */
	seen(env, START + 6 * MS, 2, WORKER, VW_RESCHED_NONE);
	seen(env, START + 8 * MS, 2, WORKER, VW_RESCHED_LAZY);
	seen(env, START + 10 * MS, 2, WORKER, VW_RESCHED_FULL);
	seen(env, START + 30 * MS, 2, WORKER, VW_RESCHED_FULL);
	env->flag = VW_RESCHED_FULL;
	sw(env, START + 35 * MS, 2, WORKER, 'R', VICTIM);
	s = &last(env, VW_OBS_STINT)->stint;
	assert_int_equal(s->resched, VW_RESCHED_FULL);
	assert_int_equal(s->pending_ns, 25 * MS);
	finish(env);
	assert_int_equal(row_of(env, WORKER)->longest_pending_ns, 25 * MS);
	/* Nothing of it is left for the next one. */
	restart(env);
	env->flag = VW_RESCHED_UNKNOWN;
	sw(env, START, 2, 0, 'R', WORKER);
	seen(env, START + MS, 2, WORKER, VW_RESCHED_FULL);
	sw(env, START + 2 * MS, 2, WORKER, 'R', OTHER);
	sw(env, START + 22 * MS, 2, OTHER, 'R', WORKER);
	s = &last(env, VW_OBS_STINT)->stint;
	assert_int_equal(s->resched, VW_RESCHED_UNKNOWN);
	assert_int_equal(s->pending_ns, 0);
}

/* Nothing asked for counts only if it was seen after somebody began to wait. */
static void test_request_seen_when(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	seen(env, START + MS, 2, OTHER, VW_RESCHED_NONE);
	env->flag = VW_RESCHED_NONE;
	/* The wake-up's own flag may be from before the request. */
	wk(env, START + 2 * MS, VICTIM, 2);
	env->flag = VW_RESCHED_UNKNOWN;
	seen(env, START + 15 * MS, 2, OTHER, VW_RESCHED_UNKNOWN);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.resched, VW_RESCHED_UNKNOWN);
	seen(env, START + 20 * MS, 2, OTHER, VW_RESCHED_NONE);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.resched, VW_RESCHED_NONE);
	seen(env, START + 25 * MS, 2, OTHER, VW_RESCHED_LAZY);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.resched, VW_RESCHED_LAZY);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.pending_ns, 0);
}

/* A new task is put on the queue, recorded, and only then compared with who runs. */
static void test_request_of_new_task(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START + MS, VICTIM, 2);
	env->flag = VW_RESCHED_NONE;
	wake_by(env, VW_EVENT_WAKEUP_NEW, START + 2 * MS, 2, 5000, 2);
	env->flag = VW_RESCHED_UNKNOWN;
	sw(env, START + 20 * MS, 2, OTHER, 'R', VICTIM);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.resched, VW_RESCHED_UNKNOWN);
}

/* Events between the record of a switch and the switch name who leaves; they are no news of it. */
static void test_within_switch(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	sw(env, START + MS, 2, OTHER, 'R', WORKER);
	seen(env, START + MS + 2 * US, 2, OTHER, VW_RESCHED_FULL);
	seen(env, START + 15 * MS, 2, WORKER, VW_RESCHED_UNKNOWN);
	sw(env, START + 16 * MS, 2, WORKER, 'S', OTHER);
	assert_int_equal(count(env, VW_OBS_LOSS), 0);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.oncpu_ns, 15 * MS);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.resched, VW_RESCHED_UNKNOWN);
}

static void test_interrupts(void **state)
{
	struct env *env = *state;
	const struct vw_obs_stint *s;

	irq(env, VW_EVENT_SOFTIRQ_EXIT, START - MS, 2); /* began before the trace */
	irq(env, VW_EVENT_IRQ_EXIT, START - MS, 2);
	sw(env, START, 2, 0, 'R', OTHER);
	irq(env, VW_EVENT_SOFTIRQ_ENTRY, START + 1 * MS, 2);
	irq(env, VW_EVENT_IRQ_ENTRY, START + 2 * MS, 2);
	irq(env, VW_EVENT_IRQ_EXIT, START + 5 * MS, 2);
	irq(env, VW_EVENT_SOFTIRQ_EXIT, START + 7 * MS, 2);
	irq(env, VW_EVENT_IRQ_ENTRY, START + 8 * MS, 2);
	irq(env, VW_EVENT_IRQ_EXIT, START + 9 * MS, 2);
	sw(env, START + 12 * MS, 2, OTHER, 'S', 0);
	s = &last(env, VW_OBS_STINT)->stint;
	assert_int_equal(s->softirq_ns, 3 * MS);
	assert_int_equal(s->irq_ns, 4 * MS);
	/* An interrupt that does not end has no end in this trace. */
	sw(env, START + SEC, 2, 0, 'R', OTHER);
	irq(env, VW_EVENT_SOFTIRQ_ENTRY, START + SEC + MS, 2);
	sw(env, START + SEC + 20 * MS, 2, OTHER, 'S', 0);
	s = &last(env, VW_OBS_STINT)->stint;
	assert_true(s->softirq_ns == VW_UNKNOWN);
	assert_int_equal(s->irq_ns, 0);
}

/* The end of the trace: what lasts is told once, and it stays open. */
static void test_finish(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START + MS, VICTIM, 2);
	sw(env, START, 3, 0, 'R', WORKER);
	seen(env, START + 50 * MS, 3, WORKER, VW_RESCHED_NONE);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	finish(env);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.tid, OTHER);
	assert_int_equal(only(env, VW_OBS_STINT)->stint.oncpu_ns, 50 * MS);
	assert_false(only(env, VW_OBS_STINT)->stint.final);
	assert_int_equal(only(env, VW_OBS_WAIT)->wait.wait_ns, 49 * MS);
	assert_false(only(env, VW_OBS_WAIT)->wait.final);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_request),
		TEST(test_lasting),
		TEST(test_boundary),
		TEST(test_alone),
		TEST(test_waiter_leaves),
		TEST(test_unknown_beginning),
		TEST(test_waiters),
		TEST(test_weights),
		TEST(test_rt_waiter),
		TEST(test_request),
		TEST(test_request_seen_when),
		TEST(test_request_of_new_task),
		TEST(test_within_switch),
		TEST(test_interrupts),
		TEST(test_finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
