// SPDX-License-Identifier: GPL-2.0-or-later
/* Work items; workers that never sleep; tasks that sleep in D state. */
#include "sched_env.h"

#define ITEM 0xffff8881020a0000
#define ITEM2 0xffff8881020a0100

static void queue(struct env *env, uint64_t ts_ns, int32_t worker, uint64_t item, const char *fn)
{
	work(env, VW_EVENT_WORK_QUEUE, ts_ns, 0, worker, item, fn);
}

static void start(struct env *env, uint64_t ts_ns, int32_t cpu, int32_t tid, uint64_t item,
		  const char *fn)
{
	work(env, VW_EVENT_WORK_START, ts_ns, cpu, tid, item, fn);
}

static void end(struct env *env, uint64_t ts_ns, int32_t cpu, int32_t tid, uint64_t item,
		const char *fn)
{
	work(env, VW_EVENT_WORK_END, ts_ns, cpu, tid, item, fn);
}

static const struct vw_obs_work *phase(const struct env *env, size_t n, enum vw_work_phase phase)
{
	const struct vw_obs_work *w = &nth(env, VW_OBS_WORK, n)->work;

	assert_int_equal(w->phase, phase);
	return w;
}

/* A1 of the public cases: one item waits behind another. */
static void test_items(void **state)
{
	struct env *env = *state;
	const struct vw_obs_work *w;

	call(env, WORKER, "vhost-3077");
	sw(env, 1000000000, 2, 0, 'R', WORKER);
	start(env, 1000000500, 2, WORKER, ITEM, "handle_tx_kick");
	queue(env, 1001000000, WORKER, ITEM2, "handle_rx_net");
	queue(env, 1002000000, WORKER, ITEM2, "handle_rx_net");
	end(env, 1057000000, 2, WORKER, ITEM, "handle_tx_kick");
	start(env, 1057010000, 2, WORKER, ITEM2, "handle_rx_net");
	finish(env);
	assert_int_equal(count(env, VW_OBS_WORK), 5);
	w = phase(env, 0, VW_WORK_STARTED);
	assert_int_equal(w->cpu, 2);
	assert_int_equal(w->tid, WORKER);
	assert_true(w->work == ITEM);
	assert_string_equal(w->function, "handle_tx_kick");
	assert_int_equal(w->oncpu_ns, 500);
	assert_int_equal(w->wait_ns, 0);
	assert_true(w->throttled_ns == VW_UNKNOWN);
	w = phase(env, 1, VW_WORK_QUEUED);
	assert_int_equal(nth(env, VW_OBS_WORK, 1)->ts_ns, 1001000000);
	assert_int_equal(w->tid, WORKER);
	assert_string_equal(w->function, "handle_rx_net");
	w = phase(env, 2, VW_WORK_ENDED);
	assert_int_equal(w->oncpu_ns, 57000000);
	phase(env, 3, VW_WORK_STARTED);
	/* The trace ends while it runs. */
	phase(env, 4, VW_WORK_LASTS);
	assert_int_equal(row_of(env, WORKER)->work_items, 1);
	/* No hog, nobody waited. */
	assert_int_equal(last(env, VW_OBS_STINT)->stint.n_waiters, 0);
}

/* Queued again while it runs, it runs once more. */
static void test_requeued(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	queue(env, START, WORKER, ITEM, "handle_tx_kick");
	start(env, START + 1, 2, WORKER, ITEM, "handle_tx_kick");
	queue(env, START + 2, WORKER, ITEM, "handle_tx_kick");
	end(env, START + 3, 2, WORKER, ITEM, "handle_tx_kick");
	start(env, START + 4, 2, WORKER, ITEM, "handle_tx_kick");
	end(env, START + 5, 2, WORKER, ITEM, "handle_tx_kick");
	phase(env, 0, VW_WORK_QUEUED);
	phase(env, 1, VW_WORK_STARTED);
	phase(env, 2, VW_WORK_QUEUED);
	phase(env, 3, VW_WORK_ENDED);
	phase(env, 4, VW_WORK_STARTED);
	phase(env, 5, VW_WORK_ENDED);
	assert_int_equal(count(env, VW_OBS_WORK), 6);
	/* Queued while it ran, it waits when it is over. */
	start(env, START + MS, 2, WORKER, ITEM, "handle_tx_kick");
	queue(env, START + MS, WORKER, ITEM, "handle_tx_kick");
	end(env, START + MS, 2, WORKER, ITEM, "handle_tx_kick");
	seen(env, START + 2 * SEC, 2, WORKER, VW_RESCHED_NONE);
	phase(env, 9, VW_WORK_LASTS);
	start(env, START + 2 * SEC, 2, WORKER, ITEM, "handle_tx_kick");
	end(env, START + 2 * SEC, 2, WORKER, ITEM, "handle_tx_kick");
	finish(env);
	assert_int_equal(count(env, VW_OBS_WORK), 12);
	assert_int_equal(row_of(env, WORKER)->work_items, 4);
}

/* An item that runs, and one that waits, are told of about once a second; the sums grow. */
static void test_lasts(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;
	size_t i, lasts = 0, waits = 0;
	const struct vw_obs_work *w = NULL;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	start(env, START, 2, WORKER, ITEM, "handle_rx_net");
	queue(env, START, WORKER, ITEM2, "handle_tx_kick");
	/* It shares its CPU, 3 ms each. */
	while (ts < START + 20 * SEC) {
		sw(env, ts += 3 * MS, 2, WORKER, 'R', OTHER);
		sw(env, ts += 3 * MS, 2, OTHER, 'R', WORKER);
	}
	finish(env);
	for (i = 0; i < env->n; i++) {
		if (env->seen[i].kind != VW_OBS_WORK || env->seen[i].work.phase != VW_WORK_LASTS)
			continue;
		lasts += env->seen[i].work.work == ITEM;
		waits += env->seen[i].work.work == ITEM2;
		if (env->seen[i].work.work == ITEM)
			w = &env->seen[i].work;
	}
	assert_in_range(lasts, 19, 21);
	assert_in_range(waits, 19, 21);
	assert_in_range(w->oncpu_ns, 9990 * MS, 10010 * MS);
	assert_in_range(w->wait_ns, 9990 * MS, 10010 * MS);
	assert_int_equal(count(env, VW_OBS_STINT), 0);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
}

/* B6 of the public cases: the worker ends with work queued, and its number comes back. */
static void test_worker_ends(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	queue(env, START, WORKER, ITEM, "handle_tx_kick");
	env->curr[3] = WORKER;
	ex(env, START + 100 * US, 3, WORKER);
	assert_int_equal(only(env, VW_OBS_TASK_EXIT)->tid, WORKER);
	assert_int_equal(only(env, VW_OBS_TASK_EXIT)->ts_ns, START + 100 * US);
	call(env, WORKER, "bash");
	fk(env, START + 900 * MS, 2, WORKER);
	sw(env, START + 901 * MS, 2, 0, 'R', WORKER);
	sw(env, START + 981 * MS, 2, WORKER, 'S', 0);
	seen(env, START + 5 * SEC, 2, 0, VW_RESCHED_NONE);
	finish(env);
	assert_int_equal(count(env, VW_OBS_WORK), 1);
	assert_false(told(env, WORKER)->watched);
	assert_int_equal(env->n_rows, 1);
}

/* Not all kernel workers' work is ours. */
static void test_workqueue(void **state)
{
	struct env *env = *state;
	struct vw_event e;
	static const struct {
		const char *function;
		bool ours;
	} table[] = { { "vmstat_update", false },      { "handle_rx_net", true },
		      { "handle_rx_networks", false }, { "vhost_scsi_submission", true },
		      { "xvhost_x", false },	       { "", false } };
	size_t i;

	call(env, OTHER, "kworker/2:1");
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		restart(env);
		sw(env, START, 2, 0, 'R', OTHER);
		e = event(env, VW_EVENT_WORK_START, 2, START);
		e.work.work = ITEM;
		e.work.workqueue = true;
		snprintf(e.work.function, sizeof(e.work.function), "%s", table[i].function);
		give(env, &e);
		assert_int_equal(count(env, VW_OBS_WORK), table[i].ours);
		assert_int_equal(vw_sched_workers(env->s), table[i].ours);
		/* The end may come without the function. */
		e.kind = VW_EVENT_WORK_END;
		e.work.function[0] = '\0';
		give(env, &e);
		assert_int_equal(count(env, VW_OBS_WORK), 2 * table[i].ours);
	}
}

/* Ends without beginnings, and a beginning after another. */
static void test_halves(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	end(env, START, 2, WORKER, ITEM, "handle_rx_net");
	assert_int_equal(count(env, VW_OBS_WORK), 0);
	start(env, START + 1, 2, WORKER, ITEM, "handle_rx_net");
	start(env, START + 2, 2, WORKER, ITEM2, "handle_tx_kick");
	end(env, START + 3, 2, WORKER, ITEM, "handle_rx_net");
	end(env, START + 4, 2, WORKER, ITEM2, "handle_tx_kick");
	assert_int_equal(count(env, VW_OBS_WORK), 3);
	phase(env, 2, VW_WORK_ENDED);
	finish(env);
	assert_int_equal(row_of(env, WORKER)->work_items, 3);
}

/* Queued for nobody known: it still waits. */
static void test_unclaimed(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	queue(env, START, 0, ITEM, "handle_rx_net");
	assert_int_equal(phase(env, 0, VW_WORK_QUEUED)->tid, 0);
	assert_int_equal(phase(env, 0, VW_WORK_QUEUED)->cpu, -1);
	assert_true(phase(env, 0, VW_WORK_QUEUED)->oncpu_ns == VW_UNKNOWN);
	start(env, START + SEC / 2, 2, WORKER, ITEM, "handle_rx_net");
	assert_int_equal(phase(env, 1, VW_WORK_STARTED)->tid, WORKER);
	/* The trace has no switches: how long it ran is not known. */
	assert_true(phase(env, 1, VW_WORK_STARTED)->oncpu_ns == VW_UNKNOWN);
}

/* A gap on the worker's CPU, on the one that was told, and elsewhere. */
static void test_lost_work(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	start(env, START, 2, WORKER, ITEM, "handle_rx_net");
	queue(env, START, WORKER, ITEM2, "handle_tx_kick");
	lose(env, 5, 1);
	end(env, START + MS, 2, WORKER, ITEM, "handle_rx_net");
	assert_int_equal(count(env, VW_OBS_WORK), 3);
	/* It has moved since work was last told of: both CPUs are lost to who listens. */
	sw(env, START + 2 * MS, 2, WORKER, 'R', 0);
	mg(env, START + 3 * MS, WORKER, 2, 3);
	sw(env, START + 4 * MS, 3, 0, 'R', WORKER);
	assert_int_equal(count(env, VW_OBS_LOSS), 1);
	lose(env, 3, 1);
	assert_int_equal(count(env, VW_OBS_LOSS), 3);
	assert_int_equal(nth(env, VW_OBS_LOSS, 1)->loss.cpu, 2);
	assert_int_equal(nth(env, VW_OBS_LOSS, 2)->loss.cpu, 3);
	seen(env, START + 10 * SEC, 2, 0, VW_RESCHED_NONE);
	finish(env);
	assert_int_equal(count(env, VW_OBS_WORK), 3);
}

/* Items are bounded, whatever is queued. */
static void test_many_items(void **state)
{
	struct env *env = *state;
	uint64_t i;

	call(env, WORKER, "vhost-3077");
	for (i = 0; i < 100000; i++)
		queue(env, START + i, WORKER, i, "handle_rx_net");
	env->n = 0;
	finish(env);
	assert_int_equal(count(env, VW_OBS_WORK), 65536);
}

/* --- busy */

/* It is taken off its CPU each 3 ms for as long, and never sleeps. */
static uint64_t play_busy(struct env *env, uint64_t ns)
{
	uint64_t ts = START;

	call(env, WORKER, "vhost-3077");
	sw(env, ts, 2, 0, 'R', WORKER);
	wk(env, ts, OTHER, 2);
	while (ts < START + ns) {
		sw(env, ts += 3 * MS, 2, WORKER, 'R', OTHER);
		sw(env, ts += 3 * MS, 2, OTHER, 'R', WORKER);
	}
	return ts;
}

static void test_busy(void **state)
{
	struct env *env = *state;
	const struct vw_obs_busy *b;
	uint64_t ts = play_busy(env, 10 * SEC);

	assert_in_range(count(env, VW_OBS_BUSY), 9, 10);
	assert_in_range(nth(env, VW_OBS_BUSY, 0)->ts_ns, START + SEC, START + SEC + 7 * MS);
	sw(env, ts += MS, 2, WORKER, 'S', OTHER);
	b = &last(env, VW_OBS_BUSY)->busy;
	assert_true(b->final);
	assert_int_equal(b->tid, WORKER);
	assert_int_equal(b->cpu, 2);
	assert_int_equal(b->busy_ns, ts - START);
	assert_int_equal(b->oncpu_ns + b->wait_ns, ts - START);
	assert_in_range(b->oncpu_ns, 4900 * MS, 5100 * MS);
	assert_int_equal(b->longest_wait_ns, 3 * MS);
	assert_true(b->items == VW_UNKNOWN);
}

static void test_not_busy(void **state)
{
	struct env *env = *state;
	uint64_t ts;

	/* Not quite a second. */
	ts = play_busy(env, SEC - 7 * MS);
	sw(env, START + SEC - 1, 2, WORKER, 'S', OTHER);
	assert_true(ts < START + SEC);
	assert_int_equal(count(env, VW_OBS_BUSY), 0);
	/* Without a break it is a stint. */
	restart(env);
	sw(env, START, 2, 0, 'R', WORKER);
	sw(env, START + 9 * SEC, 2, WORKER, 'S', 0);
	assert_int_equal(count(env, VW_OBS_BUSY), 0);
	/* It sleeps now and then. */
	restart(env);
	for (ts = START; ts < START + 9 * SEC; ts += 500 * MS) {
		wk(env, ts, WORKER, 2);
		sw(env, ts, 2, 0, 'R', WORKER);
		sw(env, ts + 200 * MS, 2, WORKER, 'R', OTHER);
		sw(env, ts + 201 * MS, 2, OTHER, 'S', WORKER);
		sw(env, ts + 499 * MS, 2, WORKER, 'S', 0);
	}
	finish(env);
	assert_int_equal(count(env, VW_OBS_BUSY), 0);
}

/* A6 of the public cases: a storm of short items, counted. */
static void test_busy_items(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;
	uint64_t i;

	call(env, WORKER, "vhost-3077");
	sw(env, ts, 2, 0, 'R', WORKER);
	for (i = 0; i < 200000; i++) {
		start(env, ts, 2, WORKER, ITEM, "handle_tx_kick");
		end(env, ts += 8 * US, 2, WORKER, ITEM, "handle_tx_kick");
		if (i % 1000)
			continue;
		sw(env, ts, 2, WORKER, 'R', OTHER);
		sw(env, ts += 10 * US, 2, OTHER, 'S', WORKER);
	}
	env->n = 0;
	finish(env);
	assert_int_equal(only(env, VW_OBS_BUSY)->busy.items, 200000);
	assert_int_equal(only(env, VW_OBS_BUSY)->busy.longest_wait_ns, VW_UNKNOWN);
	assert_false(only(env, VW_OBS_BUSY)->busy.final);
}

/* Who waits beside it counts, still waiting or not, for as long as it has been busy. */
static void test_busy_others(void **state)
{
	struct env *env = *state;
	uint64_t ts = START + 50 * MS;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START, VICTIM, 2);
	wk(env, START + 50 * MS, WORKER, 2);
	sw(env, ts, 2, OTHER, 'S', WORKER);
	sw(env, ts += 30 * MS, 2, WORKER, 'R', VICTIM);
	sw(env, ts += MS, 2, VICTIM, 'S', WORKER);
	sw(env, ts += 2 * SEC, 2, WORKER, 'R', OTHER);
	assert_int_equal(last(env, VW_OBS_BUSY)->busy.longest_wait_ns, 30 * MS);
	sw(env, ts += MS, 2, OTHER, 'S', WORKER);
	wk(env, ts, VICTIM, 2);
	sw(env, ts += 2 * SEC, 2, WORKER, 'S', VICTIM);
	assert_int_equal(last(env, VW_OBS_BUSY)->busy.longest_wait_ns, 2 * SEC);
}

static void test_busy_lost(void **state)
{
	struct env *env = *state;
	uint64_t ts = play_busy(env, 900 * MS);

	lose(env, 2, 1);
	sw(env, ts += MS, 2, WORKER, 'R', OTHER);
	sw(env, ts += 200 * MS, 2, OTHER, 'S', WORKER);
	sw(env, ts += 200 * MS, 2, WORKER, 'S', 0);
	finish(env);
	assert_int_equal(count(env, VW_OBS_BUSY), 0);
}

/* --- blocked */

/* A3 of the public cases: the owner waits for a worker that goes round and round. */
static void test_blocked(void **state)
{
	struct env *env = *state;
	const struct vw_obs_blocked *b;
	uint64_t ts;

	call(env, WORKER, "vhost-3077");
	call(env, OWNER, "qemu-system-x86");
	sw(env, START, 2, 0, 'R', WORKER);
	sw(env, START, 3, 0, 'R', OWNER);
	sw(env, START + 2 * SEC, 3, OWNER, 'D', 0);
	for (ts = START + 2 * SEC; ts < START + 20 * SEC; ts += 3 * MS)
		seen(env, ts, 2, WORKER, VW_RESCHED_NONE);
	assert_in_range(count(env, VW_OBS_BLOCKED), 17, 18);
	assert_in_range(nth(env, VW_OBS_BLOCKED, 0)->ts_ns, START + 3 * SEC, START + 4 * SEC);
	b = &last(env, VW_OBS_BLOCKED)->blocked;
	assert_int_equal(b->tid, OWNER);
	assert_false(b->final);
	assert_int_equal(b->worker_tid, WORKER);
	assert_int_equal(b->worker_busy_ns, b->state_ns + 2 * SEC);
	wk(env, START + 20 * SEC, OWNER, 3);
	b = &last(env, VW_OBS_BLOCKED)->blocked;
	assert_true(b->final);
	assert_int_equal(b->state_ns, 18 * SEC);
	finish(env);
	assert_true(last(env, VW_OBS_BLOCKED)->blocked.final);
}

static void block_for(struct env *env, uint64_t ns)
{
	restart(env);
	sw(env, START, 2, 0, 'R', WORKER);
	sw(env, START, 3, 0, 'R', OWNER);
	sw(env, START + MS, 3, OWNER, 'D', 0);
	wk(env, START + MS + ns, OWNER, 3);
}

static void test_blocked_boundary(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "vhost-3077");
	block_for(env, SEC - 1);
	assert_int_equal(count(env, VW_OBS_BLOCKED), 0);
	block_for(env, SEC);
	assert_int_equal(last(env, VW_OBS_BLOCKED)->blocked.state_ns, SEC);
	assert_true(last(env, VW_OBS_BLOCKED)->blocked.final);
	/* An ordinary sleep, and an idle kernel thread. */
	restart(env);
	sw(env, START, 3, 0, 'R', OWNER);
	sw(env, START, 3, OWNER, 'S', OTHER);
	sw(env, START, 3, OTHER, 'I', 0);
	wk(env, START + 9 * SEC, OWNER, 3);
	wk(env, START + 9 * SEC, OTHER, 3);
	assert_int_equal(count(env, VW_OBS_BLOCKED), 0);
	/* The trace ends. */
	restart(env);
	sw(env, START, 3, 0, 'R', OWNER);
	sw(env, START, 3, OWNER, 'D', 0);
	seen(env, START + 1500 * MS, 3, 0, VW_RESCHED_NONE);
	finish(env);
	assert_int_equal(last(env, VW_OBS_BLOCKED)->blocked.state_ns, 1500 * MS);
}

/* Which worker: of the same process, and one that has not slept since. */
static void test_blocked_worker(void **state)
{
	struct env *env = *state;
	int32_t other_worker = 3102;

	call(env, WORKER, "vhost-3077");
	call(env, other_worker, "vhost-9999");
	set_tgid(env, OTHER, OWNER);
	sw(env, START, 2, 0, 'R', other_worker);
	sw(env, START, 3, 0, 'R', OTHER);
	/* It came to its CPU just after: the one that blocks had woken it. */
	wk(env, START + MS, WORKER, 4);
	sw(env, START + MS, 3, OTHER, 'D', 0);
	sw(env, START + MS + 50 * US, 4, 0, 'R', WORKER);
	seen(env, START + 2 * SEC, 4, WORKER, VW_RESCHED_NONE);
	assert_int_equal(last(env, VW_OBS_BLOCKED)->blocked.worker_tid, WORKER);
	/* It sleeps, and comes back: that is not it. */
	sw(env, START + 2100 * MS, 4, WORKER, 'S', 0);
	wk(env, START + 2200 * MS, WORKER, 4);
	seen(env, START + 4 * SEC, 2, other_worker, VW_RESCHED_NONE);
	assert_int_equal(last(env, VW_OBS_BLOCKED)->blocked.worker_tid, 0);
	assert_false(last(env, VW_OBS_BLOCKED)->blocked.final);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_items),	   TEST(test_requeued),
		TEST(test_lasts),	   TEST(test_worker_ends),
		TEST(test_workqueue),	   TEST(test_halves),
		TEST(test_unclaimed),	   TEST(test_lost_work),
		TEST(test_many_items),	   TEST(test_busy),
		TEST(test_not_busy),	   TEST(test_busy_items),
		TEST(test_busy_others),	   TEST(test_busy_lost),
		TEST(test_blocked),	   TEST(test_blocked_boundary),
		TEST(test_blocked_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
