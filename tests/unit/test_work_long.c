// SPDX-License-Identifier: GPL-2.0-or-later
/* Work items that take long. */
#include "work_env.h"

/* Case A3. */
static void test_long_open(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;
	uint64_t s;

	tell_worker(env);
	put_figures(env, VW_WORK_STARTED, RX, AT, 5 * SEC, 5 * SEC, 0);
	for (s = 1; s <= 20; s++) {
		put_figures(env, VW_WORK_LASTS, RX, AT + s * SEC, 5 * SEC + s * SEC / 2,
			    5 * SEC + s * SEC / 2, 0);
		vw_detect_tick(env->set, AT + s * SEC);
	}
	f = only(env, AT + 20 * SEC);
	assert_int_equal(env->n, 20);
	assert_int_equal(f->kind, VW_LONG_WORK_ITEM);
	assert_int_equal(f->cause, VW_CAUSE_STILL_RUNNING);
	assert_int_equal(f->severity, VW_CRITICAL);
	assert_int_equal(f->status, VW_OPEN);
	assert_int_equal(f->duration_ns, 20 * SEC);
	assert_int_equal(f->evidence.oncpu_ns, 10 * SEC);
	assert_string_equal(f->message, "work item handle_rx_net of vhost worker vhost-3077 (tid "
					"3101) has run for 20s, 10s of it on a CPU, and is not "
					"done");
}

static void test_long_boundaries(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_STARTED, RX, AT);
	vw_detect_tick(env->set, AT + 100 * MS - 1);
	put(env, VW_WORK_ENDED, RX, AT + 100 * MS - 1);
	none(env, AT + SEC);
	put(env, VW_WORK_STARTED, RX, AT + SEC);
	put(env, VW_WORK_ENDED, RX, AT + SEC + 100 * MS);
	assert_int_equal(only(env, AT + 2 * SEC)->cause, VW_CAUSE_LONG);
	assert_int_equal(last(env)->severity, VW_WARNING);
	assert_true(last(env)->evidence.oncpu_ns == VW_UNKNOWN);
	env->n = 0;
	put(env, VW_WORK_STARTED, RX, AT + 10 * SEC);
	put(env, VW_WORK_LASTS, RX, AT + 20 * SEC - 1);
	put(env, VW_WORK_ENDED, RX, AT + 20 * SEC - 1);
	assert_int_equal(only(env, AT + 22 * SEC)->severity, VW_WARNING);
	env->n = 0;
	put(env, VW_WORK_STARTED, RX, AT + 30 * SEC);
	put(env, VW_WORK_ENDED, RX, AT + 40 * SEC);
	assert_int_equal(only(env, AT + 42 * SEC)->severity, VW_CRITICAL);
}

/* Its end was never seen, and nothing is heard of it. */
static void test_long_unheard(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_STARTED, RX, AT);
	vw_detect_tick(env->set, AT + SEC);
	vw_detect_tick(env->set, AT + 2 * SEC);
	vw_detect_tick(env->set, AT + 30 * SEC);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(only(env, AT + 60 * SEC)->duration_ns, 2 * SEC);
}

/* It may run or wait since nobody knows when; its end alone tells nothing either. */
static void test_lasts_only(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_LASTS, RX, AT);
	put(env, VW_WORK_LASTS, RX, AT + SEC);
	put(env, VW_WORK_ENDED, RX, AT + 2 * SEC);
	none(env, AT + 9 * SEC);
}

static void test_loss_closes(void **state)
{
	struct env *env = *state;

	put(env, VW_WORK_STARTED, RX, AT);
	vw_detect_tick(env->set, AT + SEC);
	vw_detect_tick(env->set, AT + 2 * SEC);
	lose(env, -1, AT + 2 * SEC + MS);
	assert_int_equal(last(env)->status, VW_CLOSED);
	put(env, VW_WORK_ENDED, RX, AT + 3 * SEC);
	assert_int_equal(only(env, AT + 9 * SEC)->duration_ns, 2 * SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_loss_closes),	 TEST(test_long_open),	TEST(test_long_boundaries),
		TEST(test_long_unheard), TEST(test_lasts_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
