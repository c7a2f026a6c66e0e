// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers and durations as typed, and as printed again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/format.h"
#include "util/parse.h"

#define UNTOUCHED 77

static void test_u64(void **state)
{
	uint64_t v = UNTOUCHED;

	assert_int_equal(vw_parse_u64("1", 1, 9, &v), 0);
	assert_int_equal(v, 1);
	assert_int_equal(vw_parse_u64("18446744073709551615", 0, UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(vw_parse_u64("007", 1, 9, &v), 0);
	assert_int_equal(v, 7);
}

static void test_u64_refused(void **state)
{
	static const char *const malformed[] = { "",  "-1", "+1", " 1", "1 ", "0x1",
						 "1e", "a",  "1.", "18446744073709551616x" };
	uint64_t v = UNTOUCHED;
	size_t i;

	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		assert_int_equal(vw_parse_u64(malformed[i], 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(vw_parse_u64("0", 1, 9, &v), -ERANGE);
	assert_int_equal(vw_parse_u64("10", 1, 9, &v), -ERANGE);
	assert_int_equal(vw_parse_u64("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(v, UNTOUCHED);
}

static void test_duration(void **state)
{
	static const struct {
		const char *text;
		uint64_t bare, ns;
	} cases[] = {
		{ "2", VW_NS_PER_SEC, 2000000000 },
		{ "0.5", VW_NS_PER_SEC, 500000000 },
		{ "500ms", VW_NS_PER_SEC, 500000000 },
		{ "500us", 0, 500000 },
		{ "7ns", 0, 7 },
		{ "2s", 0, 2000000000 },
		{ "1.5m", 0, 90000000000 },
		{ "0.25h", 0, 900000000000 },
		{ "10", VW_NS_PER_MS, 10000000 },
		{ "0", VW_NS_PER_SEC, 0 },
		{ "0.000000001", VW_NS_PER_SEC, 1 },
		{ "0.0000000019", VW_NS_PER_SEC, 1 },
		{ "1.999999999999999999999999s", 0, 1999999999 },
		{ "0.1", VW_NS_PER_SEC, 100000000 }, /* no binary fraction on the way */
		{ "4611686018427387903ns", 0, VW_DURATION_MAX_NS },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = UNTOUCHED;

		assert_int_equal(vw_parse_duration_ns(cases[i].text, cases[i].bare, &ns), 0);
		assert_true(ns == cases[i].ns);
	}
}

static void test_duration_refused(void **state)
{
	static const char *const malformed[] = {
		"",    "-1", "+1", " 1", "1 s", "1S",   "1sec", ".5",    "1.",  "1.s",
		"1e3", "ms", "1,5", "inf", "nan", "0x10", "1ms2", "1.2.3", "--", "1d",
	};
	static const char *const large[] = {
		"4611686018427387904ns", "4611686019", "99999999999999999999999", "1281023.9h",
		"18446744073709551615h",
	};
	uint64_t ns = UNTOUCHED;
	size_t i;

	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		assert_int_equal(vw_parse_duration_ns(malformed[i], VW_NS_PER_SEC, &ns), -EINVAL);
	for (i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		assert_int_equal(vw_parse_duration_ns(large[i], VW_NS_PER_SEC, &ns), -ERANGE);
	assert_int_equal(vw_parse_duration_ns("10", 0, &ns), -EINVAL);
	assert_int_equal(ns, UNTOUCHED);
}

static void test_format_ns(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0" }, { 850, "850ns" }, { 12000, "12us" }, { 9900000, "9.9ms" },
		{ 999999, "999us" }, { 108900000, "108ms" }, { 16108900000, "16.1s" },
		{ 119900000000, "119s" }, { 200000000000, "3m20s" }, { 7500000000000, "2h05m" },
		{ UINT64_MAX, "5124095h34m" },
	};
	char buf[VW_FORMAT_LEN];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(vw_format_ns(buf, cases[i].ns), cases[i].text);
}

static void test_format_count(void **state)
{
	char buf[VW_FORMAT_LEN];

	assert_string_equal(vw_format_count(buf, 99999), "99999");
	assert_string_equal(vw_format_count(buf, 462336), "462k");
	assert_string_equal(vw_format_count(buf, 99999999), "99999k");
	assert_string_equal(vw_format_count(buf, 123456789), "123M");
	assert_string_equal(vw_format_count(buf, UINT64_MAX), "18446P");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),
		cmocka_unit_test(test_u64_refused),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_duration_refused),
		cmocka_unit_test(test_format_ns),
		cmocka_unit_test(test_format_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
