// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves whose end does not come, or is not seen; and the flags that the switch hook looks at. */
#include "moves_env.h"

/* Who made room has not run for a second: told, but only when /proc bears it out. */
static void test_displaced_long(void **state)
{
	struct env *env = *state;
	struct vw_rec_move m = move(START);
	struct vw_rec_move_ran r = ran(&m, START + MS, VW_RAN_DISPLACED);

	tell(env, &m);
	tell(env, &r);
	second(env, START + SEC);
	assert_int_equal(env->n, 0);
	second(env, START + MS + SEC);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->seen[0].move.displaced_wait_ns, SEC);
	/* It has run meanwhile: its record may be on its way, after another second it is not. */
	m = move(START + 3 * SEC);
	r = ran(&m, START + 3 * SEC, VW_RAN_DISPLACED);
	tell(env, &m);
	tell(env, &r);
	put_task(env, HELD, 8);
	second(env, START + 4 * SEC);
	second(env, START + 5 * SEC);
	second(env, START + 6 * SEC);
	assert_int_equal(env->n, 1);
}

/* Moved once more before it ran; waits on and on; ran unseen. */
static void test_not_run(void **state)
{
	struct env *env = *state;
	struct vw_rec_move m = move(START);
	struct vw_rec_move_ran r = ran(&m, START + 5 * MS, VW_RAN_MOVED_ON);

	tell(env, &m);
	tell(env, &r);
	assert_int_equal(env->n, 1);
	assert_false(env->seen[0].move.ran);
	assert_int_equal(env->seen[0].move.wait_ns, 5 * MS + 20 * US);
	m = move(START + SEC);
	r = ran(&m, START + 9 * SEC, 0);
	tell(env, &m);
	second(env, START + 3 * SEC);
	second(env, START + 4 * SEC);
	tell(env, &r);
	assert_int_equal(env->n, 2);
	assert_int_equal(env->seen[1].move.wait_ns, 8 * SEC + 20 * US);
	m = move(START + 10 * SEC);
	r = ran(&m, START + 14 * SEC, 0);
	tell(env, &m);
	put_task(env, MOVED, 6);
	second(env, START + 12 * SEC);
	second(env, START + 13 * SEC);
	tell(env, &r);
	assert_int_equal(env->n, 2);
}

/* Which record is missing is not known. */
static void test_lost(void **state)
{
	struct env *env = *state;
	struct vw_rec_move m = move(START);
	struct vw_rec_move_ran r = ran(&m, START + MS, VW_RAN_DISPLACED);
	struct vw_rec_move_back b = back(&r, START + 2 * MS);

	tell(env, &m);
	tell(env, &r);
	vw_part_moves.lost(env->part);
	tell(env, &b);
	/* A move whose beginning was lost. */
	tell(env, &r);
	second(env, START + 3 * SEC);
	assert_int_equal(env->n, 0);
	/* What comes whole after it is told. */
	m = move(START + 4 * SEC);
	r = ran(&m, START + 4 * SEC + MS, 0);
	tell(env, &m);
	tell(env, &r);
	assert_int_equal(env->n, 1);
}

static bool has_mark(const struct env *env, int32_t tid)
{
	return env->slots[tid & (VW_ABI_WATCH_SLOTS - 1)] & VW_WATCH_MOVED;
}

static void enter(struct env *env, uint32_t tid)
{
	env->map[env->n_map].tid = tid;
	env->map[env->n_map++].value = (struct vw_abi_move){ .start_ns = tid * TICK_NS };
	set_mark(env->sight.bpf, (int32_t)tid, VW_WATCH_MOVED, true);
}

/* Flags go when nothing needs them, and not before. */
static void test_flags(void **state)
{
	struct env *env = *state;
	struct vw_rec_move m = move(START);
	struct vw_rec_move_ran r = ran(&m, START + MS, 0);
	const uint32_t held = HELD;

	assert_int_equal(env->slots[16], VW_WATCH_STOPPER);
	assert_int_equal(env->slots[20], VW_WATCH_STOPPER);
	assert_int_equal(env->slots[21], 0);
	enter(env, HELD);
	set_mark(env->sight.bpf, MOVED, VW_WATCH_MOVED, true);
	tell(env, &m);
	tell(env, &r);
	second(env, START + SEC);
	assert_true(has_mark(env, MOVED) && has_mark(env, HELD));
	second(env, START + 3 * SEC);
	assert_true(!has_mark(env, MOVED) && has_mark(env, HELD));
	/* A flag that got lost, as slots are bytes that several CPUs change, comes back. */
	set_mark(env->sight.bpf, HELD, VW_WATCH_MOVED, false);
	second(env, START + 4 * SEC);
	assert_true(has_mark(env, HELD));
	drop(env->sight.bpf, VW_MAP_MOVES, &held);
	second(env, START + 5 * SEC);
	assert_false(has_mark(env, HELD));
	/* Another one in the slot of one that is done. */
	m = move(START + 6 * SEC);
	m.held_tid = 0;
	tell(env, &m);
	m.task = abi_task(SAME_SLOT);
	m.hdr.ts_ns += 2 * SEC;
	enter(env, SAME_SLOT);
	tell(env, &m);
	second(env, START + 8 * SEC + 1);
	assert_true(has_mark(env, MOVED));
	/* Its task is gone without a switch that was seen: the kernel's entry goes, too. */
	second(env, START + 11 * SEC);
	assert_false(has_mark(env, MOVED));
	assert_int_equal(env->n_map, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_displaced_long),
		TEST(test_not_run),
		TEST(test_lost),
		TEST(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
