// SPDX-License-Identifier: GPL-2.0-or-later
/* Running tasks that are taken off their CPU and moved. */
#include "attr/attr.h"
#include "fixture.h"
#include "sched_env.h"

#define X 5001
#define Y 5002
#define STOPPER 41

/* The CPUs 1 to 3 are busy; CPU 0 runs X. */
static void all_busy(struct env *env)
{
	sw(env, 990000000, 0, 0, 'R', X);
	sw(env, 990000000, 1, 0, 'R', 5011);
	sw(env, 990000000, 2, 0, 'R', 5012);
	sw(env, 990000000, 3, 0, 'R', 5013);
	call(env, STOPPER, "migration/0");
	set_prio(env, STOPPER, 0);
}

static void kick(struct env *env)
{
	wk(env, 1002000000, Y, 0);
	sw(env, 1002004000, 0, X, 'R', Y);
	mg(env, 1002006000, X, 0, 1);
}

/* E5 of the public cases. */
static void test_futile(void **state)
{
	struct env *env = *state;
	const struct vw_obs_move *m;

	all_busy(env);
	kick(env);
	sw(env, 1002150000, 0, Y, 'S', 0);
	sw(env, 1005000000, 1, 5011, 'R', X);
	assert_int_equal(count(env, VW_OBS_MOVE), 0);
	sw(env, 1009000000, 1, X, 'S', 5011);
	m = &only(env, VW_OBS_MOVE)->move;
	assert_int_equal(m->tid, X);
	assert_int_equal(m->from_cpu, 0);
	assert_int_equal(m->to_cpu, 1);
	assert_int_equal(m->moved_ns, 1002006000);
	assert_true(m->ran);
	assert_int_equal(m->wait_ns, 2996000);
	assert_int_equal(m->old_cpu_idle_ns, 146000);
	assert_int_equal(m->displaced_tid, 5011);
	assert_int_equal(m->displaced_wait_ns, 4000000);
	assert_int_equal(m->n_overtaken, 0);
	/* There may be CPUs that are in no trace, and it may use them. */
	assert_false(m->idle_known);
	assert_int_equal(m->n_idle, 0);
	assert_false(m->allowed_known);
	assert_string_equal(m->allowed, "");
	assert_false(m->numa);
	assert_false(m->back);
	/* Y had waited for 4 us when X left. */
	assert_int_equal(m->relieved_ns, 4000);
}

/* Its legitimate twin: CPU 1 is idle. */
static void test_to_idle(void **state)
{
	struct env *env = *state;
	const struct vw_obs_move *m;

	all_busy(env);
	sw(env, 1001000000, 1, 5011, 'S', 0);
	kick(env);
	sw(env, 1002010000, 1, 0, 'R', X);
	m = &only(env, VW_OBS_MOVE)->move;
	assert_int_equal(m->n_idle, 1);
	assert_int_equal(m->idle_cpus[0], 1);
	assert_int_equal(m->displaced_tid, 0);
	assert_int_equal(m->wait_ns, 6000);
	assert_true(m->old_cpu_idle_ns == VW_UNKNOWN);
}

/* Who was never seen may be idle: then it cannot be told. */
static void test_unknown_cpu(void **state)
{
	struct env *env = *state;

	all_busy(env);
	lose(env, 3, 1);
	kick(env);
	finish(env);
	assert_false(only(env, VW_OBS_MOVE)->move.idle_known);
	assert_false(only(env, VW_OBS_MOVE)->move.ran);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.wait_ns, 2000);
}

/* Idle, and others wait there: it is not free, it is kept idle (core scheduling). */
static void test_forced_idle(void **state)
{
	struct env *env = *state;

	all_busy(env);
	sw(env, 1001000000, 3, 5013, 'S', 0);
	wk(env, 1001500000, 6001, 3);
	kick(env);
	finish(env);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.n_idle, 0);
}

/* A CPU that is about to go idle pulls before its last task has left: it was free. */
static void test_newly_idle(void **state)
{
	struct env *env = *state;
	const struct vw_obs_move *m;

	all_busy(env);
	kick(env);
	sw(env, 1002010000, 1, 5011, 'S', X);
	m = &only(env, VW_OBS_MOVE)->move;
	assert_true(m->ran);
	assert_int_equal(m->displaced_tid, 0);
	assert_int_equal(m->n_idle, 1);
	assert_int_equal(m->idle_cpus[0], 1);
	/* The stopper leaves each time it was there; another one was to run there anyway. */
	restart(env);
	all_busy(env);
	call(env, STOPPER + 1, "migration/1");
	sw(env, 1002000000, 1, 5011, 'R', STOPPER + 1);
	kick(env);
	sw(env, 1002010000, 1, STOPPER + 1, 'S', X);
	finish(env);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.n_idle, 0);
	restart(env);
	all_busy(env);
	wk(env, 1002000000, 6001, 1);
	kick(env);
	sw(env, 1002010000, 1, 5011, 'S', X);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.n_idle, 0);
	restart(env);
	all_busy(env);
	wk(env, 1002000000, 6001, 1);
	kick(env);
	sw(env, 1002010000, 1, 5011, 'S', 6001);
	finish(env);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.n_idle, 0);
	/* Who made room could have gone on. */
	restart(env);
	all_busy(env);
	kick(env);
	sw(env, 1002010000, 1, 5011, 'R', X);
	finish(env);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.n_idle, 0);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.displaced_tid, 5011);
	/* Much later it is another matter. */
	restart(env);
	all_busy(env);
	kick(env);
	sw(env, 1003000000, 1, 5011, 'S', X);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.n_idle, 0);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.displaced_tid, 0);
}

/* The stopper takes it off and moves it, in its own time. */
static void test_stopper(void **state)
{
	struct env *env = *state;
	const struct vw_obs_move *m;

	all_busy(env);
	wk(env, 1001000000, Y, 0);
	wk(env, 1041000000, STOPPER, 0);
	sw(env, 1041010000, 0, X, 'R', STOPPER);
	mg(env, 1041400000, X, 0, 2);
	sw(env, 1041410000, 0, STOPPER, 'S', Y);
	sw(env, 1041500000, 2, 5012, 'R', X);
	finish(env);
	m = &only(env, VW_OBS_MOVE)->move;
	/* E1: that is relief for one that had waited for long. */
	assert_int_equal(m->relieved_ns, 40400000);
	assert_int_equal(m->wait_ns, 490000);
	assert_int_equal(m->displaced_tid, 5012);
	/* The stopper's own wait is no relief. */
	restart(env);
	all_busy(env);
	wk(env, 1001000000, STOPPER, 0);
	sw(env, 1041010000, 0, X, 'R', STOPPER);
	mg(env, 1041400000, X, 0, 2);
	finish(env);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.relieved_ns, 0);
}

/* Taken from the queue later on, or where it sleeps: nobody forced it off. */
static void test_no_move(void **state)
{
	struct env *env = *state;

	all_busy(env);
	wk(env, 1002000000, Y, 0);
	sw(env, 1002004000, 0, X, 'R', Y);
	mg(env, 1002004000 + 100001, X, 0, 1);
	sw(env, 1005000000, 1, 5011, 'R', X);
	/* Moved once more, from where it waits. */
	mg(env, 1005010000, 5011, 1, 2);
	mg(env, 1005011000, 5011, 2, 3);
	/* Sleeps, and wakes elsewhere. */
	sw(env, 1006000000, 0, Y, 'S', 0);
	mg(env, 1006500000, Y, 0, 2);
	wk(env, 1006501000, Y, 2);
	sw(env, 1006600000, 2, 5012, 'R', Y);
	/* Woken, and taken elsewhere before it ran. */
	wk(env, 1007000000, 6001, 2);
	mg(env, 1007001000, 6001, 2, 3);
	sw(env, 1007002000, 3, 5013, 'R', 6001);
	finish(env);
	assert_int_equal(count(env, VW_OBS_MOVE), 1);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.tid, 5011);
	assert_false(only(env, VW_OBS_MOVE)->move.ran);
	assert_int_equal(only(env, VW_OBS_MOVE)->ts_ns, 1005011000);
}

static void test_at_once_boundary(void **state)
{
	struct env *env = *state;

	all_busy(env);
	sw(env, 1002004000, 0, X, 'R', Y);
	mg(env, 1002104000, X, 0, 1);
	finish(env);
	assert_int_equal(count(env, VW_OBS_MOVE), 1);
}

static void test_overtaken(void **state)
{
	struct env *env = *state;
	const struct vw_obs_move *m;

	all_busy(env);
	wk(env, 1000000000, 6001, 1);
	wk(env, 1001000000, 6002, 1);
	kick(env);
	wk(env, 1003000000, 6003, 1);
	sw(env, 1003500000, 1, 5011, 'S', 6001);
	sw(env, 1004000000, 1, 6001, 'S', X);
	m = &only(env, VW_OBS_MOVE)->move;
	assert_int_equal(m->n_overtaken, 1);
	assert_int_equal(m->overtaken[0].tid, 6002);
	assert_int_equal(m->overtaken[0].wait_ns, 3000000);
	assert_int_equal(m->overtaken[0].weight, 1024);
	assert_int_equal(m->displaced_tid, 0);
}

/* NUMA balancing says beforehand whom it moves. */
static void test_numa(void **state)
{
	struct env *env = *state;

	all_busy(env);
	numa(env, 1001999000, 0, X, 0, 1);
	kick(env);
	finish(env);
	assert_true(only(env, VW_OBS_MOVE)->move.numa);
	restart(env);
	all_busy(env);
	numa(env, 1002006000 - 100 * MS - 1, 0, X, 0, 1);
	kick(env);
	finish(env);
	assert_false(only(env, VW_OBS_MOVE)->move.numa);
	/* Even where no switches are recorded. */
	restart(env);
	numa(env, START, 0, X, 0, 1);
	mg(env, START + 10 * US, X, 0, 1);
	mg(env, START + 20 * US, Y, 0, 1);
	numa(env, START + MS, 0, X, 1, 0);
	mg(env, START + MS + 10 * US, X, 1, 0);
	/* One event is good for one move. */
	mg(env, START + MS + 20 * US, X, 0, 1);
	finish(env);
	assert_int_equal(count(env, VW_OBS_MOVE), 2);
	assert_true(last(env, VW_OBS_MOVE)->move.numa);
	assert_true(last(env, VW_OBS_MOVE)->move.back);
}

static void test_back(void **state)
{
	struct env *env = *state;

	all_busy(env);
	kick(env);
	sw(env, 1005000000, 1, 5011, 'R', X);
	sw(env, 1006000000, 1, X, 'R', 5011);
	mg(env, 1006001000, X, 1, 0);
	sw(env, 1007000000, 0, Y, 'R', X);
	sw(env, 1008000000, 0, X, 'R', Y);
	mg(env, 1008001000, X, 0, 2);
	finish(env);
	assert_int_equal(count(env, VW_OBS_MOVE), 3);
	assert_false(nth(env, VW_OBS_MOVE, 0)->move.back);
	assert_true(nth(env, VW_OBS_MOVE, 1)->move.back);
	assert_false(nth(env, VW_OBS_MOVE, 2)->move.back);
}

/* Who made room waits for its turn; after a second that is told as far as it has gone. */
static void test_displaced_for_long(void **state)
{
	struct env *env = *state;

	all_busy(env);
	kick(env);
	sw(env, 1005000000, 1, 5011, 'R', X);
	seen(env, 1990000000, 1, X, VW_RESCHED_NONE);
	assert_int_equal(count(env, VW_OBS_MOVE), 0);
	seen(env, 4000000000, 1, X, VW_RESCHED_NONE);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.displaced_wait_ns, 2995000000);
	/* It was told, and is not told again. */
	sw(env, 4100000000, 1, X, 'S', 5011);
	finish(env);
	assert_int_equal(count(env, VW_OBS_MOVE), 1);
}

/* Nothing is told of moves over a gap. */
static void test_lost(void **state)
{
	struct env *env = *state;
	int32_t cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		restart(env);
		all_busy(env);
		kick(env);
		lose(env, cpu, 1);
		sw(env, 1005000000, 1, 5011, 'R', X);
		sw(env, 1006000000, 1, X, 'S', 5011);
		finish(env);
		assert_int_equal(count(env, VW_OBS_MOVE), 0);
	}
	restart(env);
	all_busy(env);
	kick(env);
	lose(env, 3, 1);
	sw(env, 1005000000, 1, 5011, 'R', X);
	sw(env, 1006000000, 1, X, 'S', 5011);
	assert_int_equal(count(env, VW_OBS_MOVE), 1);
}

/* The number of one that waits is given to another task: what became of it was not seen. */
static void test_ends(void **state)
{
	struct env *env = *state;

	all_busy(env);
	kick(env);
	fk(env, 1003000000, 2, X);
	finish(env);
	assert_int_equal(count(env, VW_OBS_MOVE), 0);
	restart(env);
	all_busy(env);
	kick(env);
	sw(env, 1005000000, 1, 5011, 'R', X);
	fk(env, 1006000000, 2, 5011);
	finish(env);
	assert_int_equal(count(env, VW_OBS_MOVE), 0);
	/* Still pending when all is freed. */
	restart(env);
	all_busy(env);
	kick(env);
	sw(env, 1005000000, 1, 5011, 'R', X);
	sw(env, 1005100000, 1, X, 'R', 5014);
	mg(env, 1005101000, X, 1, 2);
}

/* Who may run where comes from /proc. */
static void test_allowed(void **state)
{
	struct env *env = *state;
	struct fixture f;
	const struct vw_obs_move *m;

	fixture_open(&f);
	fixture_task(&f, &(struct fixture_task){
				 .tid = X, .comm = "task-5001", .cpus_allowed = "0-1,3" });
	env->config.attr = vw_attr_new(f.proc_fd, f.sys_fd);
	assert_non_null(env->config.attr);
	restart(env);
	all_busy(env);
	/* An idle CPU, and one that nobody knows, where it may not run. */
	sw(env, 1001000000, 2, 5012, 'S', 0);
	sw(env, 1001000000, 4, 0, 'R', 5014);
	lose(env, 4, 1);
	kick(env);
	finish(env);
	m = &only(env, VW_OBS_MOVE)->move;
	assert_true(m->allowed_known);
	assert_string_equal(m->allowed, "0-1,3");
	assert_true(m->idle_known);
	assert_int_equal(m->n_idle, 0);
	restart(env);
	all_busy(env);
	sw(env, 1001000000, 3, 5013, 'S', 0);
	kick(env);
	finish(env);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.n_idle, 1);
	assert_int_equal(only(env, VW_OBS_MOVE)->move.idle_cpus[0], 3);
	/* It may run where nothing was ever seen. */
	fixture_task(&f, &(struct fixture_task){
				 .tid = X, .comm = "task-5001", .cpus_allowed = "0-100" });
	restart(env);
	all_busy(env);
	kick(env);
	finish(env);
	assert_true(only(env, VW_OBS_MOVE)->move.allowed_known);
	assert_false(only(env, VW_OBS_MOVE)->move.idle_known);
	vw_sched_free(env->s);
	env->s = NULL;
	vw_attr_free(env->config.attr);
	env->config.attr = NULL;
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_futile),	TEST(test_to_idle),
		TEST(test_unknown_cpu), TEST(test_forced_idle),
		TEST(test_newly_idle),	TEST(test_stopper),
		TEST(test_no_move),	TEST(test_at_once_boundary),
		TEST(test_overtaken),	TEST(test_numa),
		TEST(test_back),	TEST(test_displaced_for_long),
		TEST(test_lost),	TEST(test_ends),
		TEST(test_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
