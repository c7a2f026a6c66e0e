// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "util/cpulist.h"

static void test_next(void **state)
{
	const char *at = "0-3,8,10-10";
	uint32_t first = 99, last = 99;

	(void)state;
	assert_int_equal(vw_cpulist_next(&at, &first, &last), 1);
	assert_int_equal(first, 0);
	assert_int_equal(last, 3);
	assert_int_equal(vw_cpulist_next(&at, &first, &last), 1);
	assert_int_equal(first, 8);
	assert_int_equal(last, 8);
	assert_int_equal(vw_cpulist_next(&at, &first, &last), 1);
	assert_int_equal(first, 10);
	assert_int_equal(last, 10);
	assert_int_equal(vw_cpulist_next(&at, &first, &last), 0);
	assert_int_equal(vw_cpulist_next(&at, &first, &last), 0);
}

static void test_bad(void **state)
{
	static const char *const bad[] = { ",",
					   "-1",
					   "3-",
					   "3-1",
					   "1,",
					   "1 ",
					   "1;2",
					   "a",
					   "0x1",
					   "1-2-3",
					   "1,,2",
					   "2147483648",
					   "99999999999999999999" };
	uint32_t first = 99, last = 99;
	const char *at;
	unsigned int i;
	int ret;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		at = bad[i];
		do
			ret = vw_cpulist_next(&at, &first, &last);
		while (ret > 0);
		assert_int_equal(ret, -EINVAL);
	}
	at = "7-";
	first = last = 99;
	assert_int_equal(vw_cpulist_next(&at, &first, &last), -EINVAL);
	assert_int_equal(first, 99);
	assert_int_equal(last, 99);
}

static void test_has(void **state)
{
	(void)state;
	assert_true(vw_cpulist_has("0-3,8", 0));
	assert_true(vw_cpulist_has("0-3,8", 3));
	assert_true(vw_cpulist_has("0-3,8", 8));
	assert_false(vw_cpulist_has("0-3,8", 4));
	assert_false(vw_cpulist_has("0-3,8", -1));
	assert_false(vw_cpulist_has("", 0));
	assert_false(vw_cpulist_has("1,x,2", 2));
}

static void written(const char *expected, uint64_t low, uint64_t high, uint32_t n)
{
	const uint64_t mask[2] = { low, high };
	char buf[32] = "?";

	assert_int_equal(vw_cpulist_write(buf, sizeof(buf), mask, n), 0);
	assert_string_equal(buf, expected);
}

static void test_write(void **state)
{
	const uint64_t every_other = UINT64_C(0x5555555555555555);
	char buf[8] = "?";

	(void)state;
	written("0-3,8", 0x10f, 0, 128);
	written("0-3", 0x10f, 0, 8); /* none at or above the number */
	written("", 0, 1, 64);
	written("", 0, 0, 128);
	written("0-127", UINT64_MAX, UINT64_MAX, 128);
	written("63-64,127", UINT64_C(1) << 63, UINT64_C(1) << 63 | 1, 128);
	/* A list that does not fit is none: a part of it would be another list. */
	assert_int_equal(vw_cpulist_write(buf, sizeof(buf), &every_other, 64), -ENOSPC);
	assert_string_equal(buf, "");
	assert_int_equal(vw_cpulist_write(buf, sizeof(buf), &every_other, 8), 0);
	assert_string_equal(buf, "0,2,4,6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_has),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
