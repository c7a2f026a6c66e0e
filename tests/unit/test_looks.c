// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/looks.h"

#define MS UINT64_C(1000000)

static void test_looks(void **state)
{
	(void)state;
	/* One of the looks that fit in is forgiven. */
	assert_int_equal(vw_looks_for(10 * MS, 4 * MS), 2);
	assert_int_equal(vw_looks_for(12 * MS, 4 * MS), 2);
	assert_int_equal(vw_looks_for(12 * MS + 1, 4 * MS), 3);
	assert_int_equal(vw_looks_for(20 * MS, 4 * MS), 4);
	assert_int_equal(vw_looks_for(10 * MS, MS), 9);
	assert_int_equal(vw_looks_for(10 * MS, 10 * MS), 1);
	assert_int_equal(vw_looks_for(20 * MS, 10 * MS), 1);
	assert_int_equal(vw_looks_for(21 * MS, 10 * MS), 2);
}

/* A threshold below the tick still takes a look; none at all would believe anything. */
static void test_at_least_one(void **state)
{
	(void)state;
	assert_int_equal(vw_looks_for(0, 4 * MS), 1);
	assert_int_equal(vw_looks_for(1, 4 * MS), 1);
	assert_int_equal(vw_looks_for(4 * MS, 4 * MS), 1);
	assert_int_equal(vw_looks_for(5 * MS, 4 * MS), 1);
	/* The tick is not known. */
	assert_int_equal(vw_looks_for(10 * MS, 0), 1);
	assert_int_equal(vw_looks_for(0, 0), 1);
}

static void test_no_wrap(void **state)
{
	(void)state;
	assert_int_equal(vw_looks_for(UINT64_C(5000000000), 1), UINT32_MAX);
	assert_int_equal(vw_looks_for(UINT64_C(1) << 62, 4 * MS), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_at_least_one),
		cmocka_unit_test(test_no_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
