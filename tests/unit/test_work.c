// SPDX-License-Identifier: GPL-2.0-or-later
/* Work items that wait long in their worker's queue. */
#include "work_env.h"

/* Case A1. */
static void test_head_of_line(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;

	tell_worker(env);
	put(env, VW_WORK_STARTED, TX, AT + 500);
	put(env, VW_WORK_QUEUED, RX, AT + MS);
	put(env, VW_WORK_ENDED, TX, AT + 57 * MS);
	put(env, VW_WORK_STARTED, RX, AT + 57 * MS + 10000);
	f = only(env, AT + 58 * MS);
	assert_int_equal(env->n, 1);
	assert_int_equal(f->kind, VW_DELAYED_WORK_ITEM);
	assert_int_equal(f->cause, VW_CAUSE_HEAD_OF_LINE);
	assert_int_equal(f->severity, VW_WARNING);
	assert_int_equal(f->status, VW_CLOSED);
	assert_int_equal(f->start_ns, AT + MS);
	assert_int_equal(f->duration_ns, 56010000);
	assert_int_equal(f->cpu, 2);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_int_equal(f->n_victims, 0);
	assert_string_equal(f->evidence.work.function, "handle_rx_net");
	assert_string_equal(f->evidence.work.behind, "handle_tx_kick");
	assert_true(f->evidence.oncpu_ns == VW_UNKNOWN);
	assert_string_equal(f->message, "work item handle_rx_net of vhost worker vhost-3077 (tid "
					"3101) waited 56ms in its queue behind handle_tx_kick, "
					"which ran for 56ms of that");
}

/* The same where the event does not say for which worker it was queued. */
static void test_unclaimed(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = work(VW_WORK_QUEUED, RX, AT + MS);

	put(env, VW_WORK_STARTED, TX, AT);
	obs.work.tid = 0;
	feed(env, &obs);
	put(env, VW_WORK_ENDED, TX, AT + 57 * MS);
	put(env, VW_WORK_STARTED, RX, AT + 57 * MS + 10000);
	put(env, VW_WORK_ENDED, RX, AT + 58 * MS);
	assert_int_equal(only(env, AT + SEC)->cause, VW_CAUSE_HEAD_OF_LINE);
	assert_string_equal(last(env)->evidence.work.behind, "handle_tx_kick");
	/* After a loss anywhere nobody knows whether it has begun. */
	env->n = 0;
	obs.ts_ns = AT + 100 * MS;
	feed(env, &obs);
	lose(env, 5, AT + 101 * MS);
	put(env, VW_WORK_STARTED, RX, AT + 200 * MS);
	put(env, VW_WORK_ENDED, RX, AT + 201 * MS);
	none(env, AT + SEC);
	/* Nobody knows whose it was: nobody is blamed for it. */
	env->n = 0;
	obs.ts_ns = AT + SEC;
	feed(env, &obs);
	none(env, AT + 100 * SEC);
}

static void test_delayed_boundary(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_QUEUED, RX, AT);
	put(env, VW_WORK_STARTED, RX, AT + 50 * MS - 1);
	none(env, AT + 60 * MS);
	put(env, VW_WORK_QUEUED, RX, AT + 60 * MS);
	put(env, VW_WORK_STARTED, RX, AT + 110 * MS);
	assert_int_equal(only(env, AT + 200 * MS)->severity, VW_WARNING);
}

static void test_delayed_critical(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_QUEUED, RX, AT);
	put(env, VW_WORK_STARTED, RX, AT + SEC - 1);
	put(env, VW_WORK_ENDED, RX, AT + SEC);
	assert_int_equal(only(env, AT + 2 * SEC)->severity, VW_WARNING);
	put(env, VW_WORK_QUEUED, RX, AT + 10 * SEC);
	put(env, VW_WORK_STARTED, RX, AT + 11 * SEC);
	put(env, VW_WORK_ENDED, RX, AT + 11 * SEC);
	vw_detect_finish(env->set, AT + 12 * SEC);
	assert_int_equal(last(env)->severity, VW_CRITICAL);
}

/* Of 100 ms: which half makes which cause. */
static enum vw_cause cause_by(struct env *env, uint64_t oncpu_ns, uint64_t wait_ns,
			      uint64_t throttled_ns)
{
	static uint64_t at = AT;

	env->n = 0;
	at += 10 * SEC;
	put_figures(env, VW_WORK_QUEUED, RX, at, SEC, SEC, SEC);
	put_figures(env, VW_WORK_STARTED, RX, at + 100 * MS,
		    oncpu_ns == VW_UNKNOWN ? VW_UNKNOWN : SEC + oncpu_ns,
		    wait_ns == VW_UNKNOWN ? VW_UNKNOWN : SEC + wait_ns,
		    throttled_ns == VW_UNKNOWN ? VW_UNKNOWN : SEC + throttled_ns);
	put(env, VW_WORK_ENDED, RX, at + 100 * MS + 1000);
	return only(env, at + SEC)->cause;
}

static void test_causes(void **state)
{
	struct env *env = *state;

	/* Case B7 */
	assert_int_equal(cause_by(env, 0, 100 * MS, 80 * MS), VW_CAUSE_WORKER_THROTTLED);
	assert_non_null(strstr(last(env)->remedy, "cpu.max"));
	assert_int_equal(cause_by(env, 0, 100 * MS, 50 * MS), VW_CAUSE_WORKER_NOT_RUNNING);
	assert_int_equal(cause_by(env, 0, 51 * MS, VW_UNKNOWN), VW_CAUSE_WORKER_NOT_RUNNING);
	assert_int_equal(cause_by(env, 0, 50 * MS, 0), VW_CAUSE_WORKER_STOPPED);
	assert_int_equal(cause_by(env, 0, 0, VW_UNKNOWN), VW_CAUSE_WORKER_STOPPED);
	assert_non_null(strstr(last(env)->remedy, "/proc/3101/stack"));
	/* It ran, though what it ran was not seen to begin. */
	assert_int_equal(cause_by(env, 60 * MS, 0, 0), VW_CAUSE_HEAD_OF_LINE);
	assert_string_equal(last(env)->evidence.work.behind, "");
	assert_int_equal(cause_by(env, VW_UNKNOWN, VW_UNKNOWN, VW_UNKNOWN),
			 VW_CAUSE_WORKER_NOT_RUNNING);
}

/* Behind an item that takes 80 ms, of which the worker waited @wait_ns. */
static enum vw_cause behind_front(struct env *env, uint64_t at, uint64_t wait_ns)
{
	const uint64_t ran = 80 * MS - wait_ns;

	env->n = 0;
	put_figures(env, VW_WORK_STARTED, TX, at, 0, 0, 0);
	put_figures(env, VW_WORK_QUEUED, RX, at, 0, 0, 0);
	put_figures(env, VW_WORK_ENDED, TX, at + 80 * MS, ran, wait_ns, 0);
	put_figures(env, VW_WORK_STARTED, RX, at + 80 * MS, ran, wait_ns, 0);
	put_figures(env, VW_WORK_ENDED, RX, at + 81 * MS, ran + MS, wait_ns, 0);
	return only(env, at + SEC)->cause;
}

/* The item in front kept the worker, which did not get to run: it is not the item's fault. */
static void test_front_did_not_run(void **state)
{
	struct env *env = *state;

	assert_int_equal(behind_front(env, AT, 40 * MS), VW_CAUSE_HEAD_OF_LINE);
	assert_int_equal(behind_front(env, AT + 10 * SEC, 40 * MS + 1),
			 VW_CAUSE_WORKER_NOT_RUNNING);
}

/* Many short ones in front, none of which is to blame by itself. */
static void test_backlog(void **state)
{
	struct env *env = *state;
	unsigned int i;

	for (i = 0; i < 8; i++)
		put(env, VW_WORK_QUEUED, 0x9000 + i, AT);
	put(env, VW_WORK_QUEUED, RX, AT);
	for (i = 0; i < 8; i++) {
		put(env, VW_WORK_STARTED, 0x9000 + i, AT + i * 8 * MS);
		put(env, VW_WORK_ENDED, 0x9000 + i, AT + (i + 1) * 8 * MS);
	}
	put(env, VW_WORK_STARTED, RX, AT + 64 * MS);
	put(env, VW_WORK_ENDED, RX, AT + 64 * MS);
	assert_int_equal(only(env, AT + SEC)->cause, VW_CAUSE_HEAD_OF_LINE);
	assert_string_equal(last(env)->evidence.work.behind, "");
	assert_non_null(strstr(last(env)->message, "other items"));
	assert_int_equal(last(env)->evidence.count, 2); /* at 56 and at 64 ms */
	assert_int_equal(last(env)->duration_ns, 64 * MS);
}

/* It waits while the run goes on, and is told of while it does. */
static void test_delayed_lasts(void **state)
{
	struct env *env = *state;
	uint64_t s;

	put(env, VW_WORK_QUEUED, RX, AT);
	vw_detect_tick(env->set, AT + 50 * MS - 1);
	assert_int_equal(env->n, 0);
	for (s = 1; s <= 5; s++)
		vw_detect_tick(env->set, AT + s * SEC);
	assert_int_equal(env->n, 5);
	assert_int_equal(last(env)->status, VW_OPEN);
	assert_int_equal(last(env)->severity, VW_CRITICAL);
	put_figures(env, VW_WORK_STARTED, RX, AT + 5 * SEC + MS, 0, 0, 0);
	put_figures(env, VW_WORK_ENDED, RX, AT + 5 * SEC + MS, 0, 0, 0);
	vw_detect_tick(env->set, AT + 7 * SEC);
	assert_int_equal(only(env, AT + 8 * SEC)->status, VW_CLOSED);
	assert_int_equal(last(env)->duration_ns, 5 * SEC + MS);
	assert_int_equal(last(env)->evidence.count, 1);
	assert_int_equal(env->n, 6);
}

/* What is told of the worker while an item waits shows why. */
static void test_stopped_lasts(void **state)
{
	struct env *env = *state;

	put_figures(env, VW_WORK_QUEUED, RX, AT, SEC, SEC, 0);
	put_figures(env, VW_WORK_LASTS, RX, AT + SEC, SEC, SEC, 0);
	assert_int_equal(last(env)->cause, VW_CAUSE_WORKER_STOPPED);
	/* Of half of the time nothing is known. */
	vw_detect_tick(env->set, AT + 2 * SEC);
	assert_int_equal(last(env)->cause, VW_CAUSE_WORKER_STOPPED);
	vw_detect_tick(env->set, AT + 2 * SEC + 2);
	assert_int_equal(last(env)->cause, VW_CAUSE_WORKER_NOT_RUNNING);
	put_figures(env, VW_WORK_STARTED, RX, AT + 3 * SEC, SEC, SEC, 0);
	put_figures(env, VW_WORK_ENDED, RX, AT + 3 * SEC, SEC, SEC, 0);
	assert_int_equal(only(env, AT + 9 * SEC)->cause, VW_CAUSE_WORKER_STOPPED);
	assert_int_equal(last(env)->evidence.count, 1);
}

static void test_never_started(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_QUEUED, RX, AT);
	assert_int_equal(only(env, AT + 50 * MS)->status, VW_OPEN);
	assert_int_equal(last(env)->duration_ns, 50 * MS);
}

/* Case B6: what was queued when the worker went never runs; the number is used again. */
static void test_exit(void **state)
{
	struct env *env = *state;

	tell_worker(env);
	put(env, VW_WORK_QUEUED, RX, AT);
	put(env, VW_WORK_STARTED, TX, AT);
	leave(env, WORKER, AT + 100000);
	tell(env, WORKER, "bash", VW_ROLE_OTHER, false);
	vw_detect_tick(env->set, AT + 30 * SEC);
	none(env, AT + 60 * SEC);
}

static void test_exit_closes(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_QUEUED, RX, AT);
	vw_detect_tick(env->set, AT + SEC);
	leave(env, WORKER, AT + 2 * SEC);
	assert_int_equal(only(env, AT + 9 * SEC)->status, VW_CLOSED);
	assert_int_equal(last(env)->end_ns, AT + SEC);
}

/* Another task of that number. */
static void test_other_start(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = work(VW_WORK_STARTED, TX, AT + 10 * SEC);

	put(env, VW_WORK_QUEUED, RX, AT);
	obs.work.start_ns += SEC;
	feed(env, &obs);
	obs = work(VW_WORK_ENDED, TX, AT + 10 * SEC + MS);
	obs.work.start_ns += SEC;
	feed(env, &obs);
	none(env, AT + 20 * SEC);
}

static void test_loss(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = work(VW_WORK_QUEUED, RX, AT);

	/* Nobody knows where that worker is: it may have run there. */
	obs.work.cpu = -1;
	feed(env, &obs);
	lose(env, 5, AT + MS);
	none(env, AT + SEC);
	/* It is on CPU 2. */
	put(env, VW_WORK_STARTED, TX, AT + SEC);
	put(env, VW_WORK_QUEUED, RX, AT + SEC);
	lose(env, 2, AT + SEC + MS);
	none(env, AT + 2 * SEC);
	put(env, VW_WORK_ENDED, TX, AT + 2 * SEC);
	put(env, VW_WORK_STARTED, RX, AT + 2 * SEC);
	put(env, VW_WORK_QUEUED, TX, AT + 2 * SEC);
	lose(env, 5, AT + 2 * SEC + MS);
	put(env, VW_WORK_ENDED, RX, AT + 2 * SEC + 90 * MS);
	put(env, VW_WORK_STARTED, TX, AT + 2 * SEC + 90 * MS);
	put(env, VW_WORK_ENDED, TX, AT + 2 * SEC + 91 * MS);
	only(env, AT + 3 * SEC);
}

/* Work runs in order: what is older than what runs now must have begun unseen. */
static void test_order(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_QUEUED, TX, AT);
	put(env, VW_WORK_QUEUED, RX, AT + 2 * MS);
	put(env, VW_WORK_STARTED, RX, AT + 3 * MS);
	put(env, VW_WORK_ENDED, RX, AT + 4 * MS);
	none(env, AT + SEC);
	/* Queued at the same time on two CPUs: in either order. */
	put(env, VW_WORK_QUEUED, TX, AT + SEC);
	put(env, VW_WORK_QUEUED, RX, AT + SEC + MS);
	put(env, VW_WORK_STARTED, RX, AT + SEC + 2 * MS);
	put(env, VW_WORK_ENDED, RX, AT + SEC + 3 * MS);
	only(env, AT + 2 * SEC);
}

/* The start was missed: the item is queued again. */
static void test_queued_again(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_QUEUED, RX, AT);
	put(env, VW_WORK_QUEUED, RX, AT + 90 * MS);
	put(env, VW_WORK_STARTED, RX, AT + 100 * MS);
	put(env, VW_WORK_ENDED, RX, AT + 101 * MS);
	none(env, AT + SEC);
}

/* Case A6: short items without end. */
static void test_storm(void **state)
{
	struct env *env = *state;
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		put(env, VW_WORK_QUEUED, TX, AT + i * 8000);
		put(env, VW_WORK_STARTED, TX, AT + i * 8000 + 100);
		put(env, VW_WORK_ENDED, TX, AT + i * 8000 + 7900);
	}
	none(env, AT + SEC);
}

/* More than one worker's queue holds: what is beyond is not known, nothing breaks. */
static void test_full_queue(void **state)
{
	struct env *env = *state;
	unsigned int i;

	for (i = 0; i < 300; i++)
		put(env, VW_WORK_QUEUED, i, AT);
	for (i = 0; i < 300; i++) {
		put(env, VW_WORK_STARTED, i, AT + 60 * MS);
		put(env, VW_WORK_ENDED, i, AT + 60 * MS);
	}
	assert_int_equal(only(env, AT + SEC)->evidence.count, 256);
	assert_int_equal(last(env)->duration_ns, 60 * MS);
	assert_non_null(strstr(last(env)->message, "256 items"));
}

/* A burst by another cause is another finding. */
static void test_causes_apart(void **state)
{
	struct env *env = *state;

	put_figures(env, VW_WORK_QUEUED, RX, AT, 0, 0, 0);
	put_figures(env, VW_WORK_STARTED, RX, AT + 90 * MS, 0, 0, 90 * MS);
	put_figures(env, VW_WORK_ENDED, RX, AT + 90 * MS, 0, 0, 90 * MS);
	put_figures(env, VW_WORK_QUEUED, RX, AT + 90 * MS, 0, 0, 90 * MS);
	put_figures(env, VW_WORK_STARTED, RX, AT + 180 * MS, 0, 90 * MS, 90 * MS);
	put_figures(env, VW_WORK_ENDED, RX, AT + 180 * MS, 0, 90 * MS, 90 * MS);
	vw_detect_finish(env->set, AT + SEC);
	assert_int_equal(env->n, 2);
	assert_int_equal(env->seen[0].cause, VW_CAUSE_WORKER_THROTTLED);
	assert_int_equal(env->seen[1].cause, VW_CAUSE_WORKER_NOT_RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_head_of_line),     TEST(test_unclaimed),     TEST(test_delayed_boundary),
		TEST(test_delayed_critical), TEST(test_causes),	       TEST(test_front_did_not_run),
		TEST(test_backlog),	     TEST(test_delayed_lasts), TEST(test_stopped_lasts),
		TEST(test_never_started),    TEST(test_exit),	       TEST(test_exit_closes),
		TEST(test_other_start),	     TEST(test_loss),	       TEST(test_order),
		TEST(test_queued_again),     TEST(test_storm),	       TEST(test_full_queue),
		TEST(test_causes_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
