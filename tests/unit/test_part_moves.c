// SPDX-License-Identifier: GPL-2.0-or-later
/* From what the kernel tells of moved tasks to MOVE. */
#include "moves_env.h"

static void test_displaced(void **state)
{
	struct env *env = *state;
	struct vw_rec_move m = move(START);
	struct vw_rec_move_ran r = ran(&m, START + MS, VW_RAN_DISPLACED | VW_RAN_OLD_IDLE);
	struct vw_rec_move_back b = back(&r, START + 4 * MS);
	const struct vw_obs_move *o = &env->seen[0].move;

	tell(env, &m);
	tell(env, &r);
	assert_int_equal(env->n, 0);
	tell(env, &b);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->seen[0].ts_ns, START + 4 * MS);
	assert_int_equal(o->tid, MOVED);
	assert_int_equal(o->start_ns, MOVED * TICK_NS);
	assert_true(o->from_cpu == 0 && o->to_cpu == 1 && o->ran && !o->numa && !o->back);
	assert_int_equal(o->moved_ns, START);
	assert_int_equal(o->wait_ns, MS + 20 * US);
	assert_int_equal(o->old_cpu_idle_ns, 30 * US);
	assert_int_equal(o->relieved_ns, 3 * MS);
	assert_int_equal(o->displaced_tid, HELD);
	assert_int_equal(o->displaced_start_ns, HELD * TICK_NS);
	assert_int_equal(o->displaced_wait_ns, 3 * MS);
	assert_true(o->idle_known && o->allowed_known && !o->n_idle && !o->n_overtaken);
	assert_string_equal(o->allowed, "0-1");
	assert_true(knows(env, MOVED) && knows(env, HELD));
	/* Told once. */
	tell(env, &b);
	second(env, START + 9 * SEC);
	assert_int_equal(env->n, 1);
}

/* Who waited there before it came and still does, longest first; nobody who came later. */
static void test_overtaken(void **state)
{
	struct env *env = *state;
	struct vw_rec_move m = move(START);
	struct vw_rec_move_ran r = ran(&m, START + MS, 0);
	const struct vw_obs_move *o = &env->seen[0].move;

	r.n_waiters = 4;
	r.before_ns = MS + 1;
	r.waiters[0] = (struct vw_abi_waiter){ .task = abi_task(301), .wait_ns = MS };
	r.waiters[1] = (struct vw_abi_waiter){ .task = abi_task(302), .wait_ns = MS + 1 };
	r.waiters[2] = (struct vw_abi_waiter){ .task = abi_task(303),
					       .wait_ns = 5 * MS,
					       .flags = VW_WAITER_THROTTLED };
	r.waiters[3] = (struct vw_abi_waiter){ .task = abi_task(304), .wait_ns = 2 * MS };
	tell(env, &m);
	tell(env, &r);
	/* Nobody made room, so nothing more is waited for. */
	assert_int_equal(env->n, 1);
	assert_int_equal(o->displaced_tid, 0);
	assert_int_equal(o->old_cpu_idle_ns, VW_UNKNOWN);
	assert_int_equal(o->n_overtaken, 3);
	assert_int_equal(o->overtaken[0].tid, 303);
	assert_true(o->overtaken[0].throttled);
	assert_int_equal(o->overtaken[1].tid, 304);
	assert_int_equal(o->overtaken[1].wait_ns, 2 * MS);
	assert_int_equal(o->overtaken[2].tid, 302);
	assert_true(knows(env, 302) && knows(env, 303) && knows(env, 304) && !knows(env, 301));
}

static void test_idle(void **state)
{
	struct env *env = *state;
	struct vw_rec_move m = move(START);
	struct vw_rec_move_ran r;

	/* To a CPU where nobody runs: no finding can come of it. */
	m.flags = VW_MOVE_TO_IDLE;
	m.idle[0] = 2;
	tell(env, &m);
	second(env, START + 2 * SEC);
	assert_int_equal(env->n + env->n_known, 0);
	/* Another one was idle; a CPU whose last task is about to leave is as good as idle. */
	m = move(START + 3 * SEC);
	m.allowed[0] = 7;
	m.idle[0] = 4;
	tell(env, &m);
	r = ran(&m, START + 3 * SEC + MS, VW_RAN_FREE);
	tell(env, &r);
	assert_int_equal(env->n, 1);
	assert_string_equal(env->seen[0].move.allowed, "0-2");
	assert_int_equal(env->seen[0].move.n_idle, 2);
	assert_int_equal(env->seen[0].move.idle_cpus[0], 2);
	assert_int_equal(env->seen[0].move.idle_cpus[1], 1);
}

/* More CPUs than the masks have, or a list too long to show: nothing is said of idle ones. */
static void test_cpus_unknown(void **state)
{
	struct env *env = *state;
	struct vw_rec_move m = move(START);
	struct vw_rec_move_ran r = ran(&m, START + MS, 0);
	unsigned int i;

	m.n_cpus = 0;
	tell(env, &m);
	tell(env, &r);
	m = move(START + 2 * MS);
	m.n_cpus = VW_ABI_MOVE_CPUS;
	for (i = 0; i < VW_ABI_MOVE_CPUS / 64; i++)
		m.allowed[i] = UINT64_C(0x5555555555555555);
	r = ran(&m, START + 3 * MS, 0);
	tell(env, &m);
	tell(env, &r);
	assert_int_equal(env->n, 2);
	for (i = 0; i < 2; i++) {
		assert_false(env->seen[i].move.idle_known || env->seen[i].move.allowed_known);
		assert_string_equal(env->seen[i].move.allowed, "");
	}
}

/* Back where the move before it came from, within a second; a move to an idle CPU counts, too. */
static void test_back(void **state)
{
	static const struct {
		uint64_t ts_ns;
		uint32_t from, to, flags;
		bool back;
	} moves[] = {
		{ 0, 0, 1, 0, false },
		{ 10 * MS, 1, 0, VW_MOVE_TO_IDLE, false }, /* not told */
		{ 20 * MS, 0, 1, 0, true },
		{ 30 * MS, 1, 2, 0, false }, /* on, not back */
		{ 30 * MS + SEC, 2, 1, 0, false }, /* too late */
		{ 29 * MS + 2 * SEC, 1, 2, VW_MOVE_NUMA, true },
	};
	struct env *env = *state;
	struct vw_rec_move_ran r;
	struct vw_rec_move m;
	unsigned int i, n = 0;

	for (i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		m = move(START + moves[i].ts_ns);
		m.from_cpu = moves[i].from;
		m.to_cpu = moves[i].to;
		m.flags = moves[i].flags;
		r = ran(&m, m.hdr.ts_ns + US, 0);
		tell(env, &m);
		tell(env, &r);
		if (moves[i].flags & VW_MOVE_TO_IDLE)
			continue;
		assert_int_equal(env->n, n + 1);
		assert_int_equal(env->seen[n].move.back, moves[i].back);
		assert_int_equal(env->seen[n++].move.numa, moves[i].flags == VW_MOVE_NUMA);
	}
	/* The number has gone to another task. */
	m = move(START + 30 * MS + 2 * SEC);
	m.from_cpu = 2;
	m.to_cpu = 1;
	m.task.start_ns += SEC;
	r = ran(&m, m.hdr.ts_ns + US, 0);
	tell(env, &m);
	tell(env, &r);
	assert_false(env->seen[n].move.back);
}

/* Nothing to do where the plan has no such hook. */
static void test_not_planned(void **state)
{
	struct env *env = *state;
	void *part = NULL;

	env->plan.tp[VW_TP_MIGRATE] = false;
	assert_int_equal(vw_part_moves.open(&env->part_env, &part), 0);
	assert_null(part);
	env->plan.tp[VW_TP_MIGRATE] = true;
	env->part_env.sight = NULL;
	assert_int_equal(vw_part_moves.open(&env->part_env, &part), 0);
	assert_null(part);
	env->part_env.sight = &env->sight;
}

/* Far more moves than are kept at a time: the oldest are given up. */
static void test_many(void **state)
{
	struct env *env = *state;
	struct vw_rec_move m = move(START), last;
	struct vw_rec_move_ran r;
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		env->n_known = 0;
		m = move(START + i);
		m.task = abi_task(1000 + i);
		m.held_tid = 0;
		tell(env, &m);
		if (!i)
			last = m;
	}
	r = ran(&last, START + MS, 0);
	tell(env, &r);
	assert_int_equal(env->n, 0);
	r = ran(&m, START + MS, 0);
	tell(env, &r);
	assert_int_equal(env->n, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_displaced),	 TEST(test_overtaken), TEST(test_idle),
		TEST(test_cpus_unknown), TEST(test_back),      TEST(test_not_planned),
		TEST(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
