// SPDX-License-Identifier: GPL-2.0-or-later
/* Bytes that may be anything become UTF-8 that is safe to print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/utf8.h"

#define FFFD "\xef\xbf\xbd"

static void test_clean(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "vhost-4990", "vhost-4990" },
		{ "a\"b\\c\nd\x1b[31m", "a\"b\\c\nd\x1b[31m" },
		{ "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x90\xa7", "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x90\xa7" },
		{ "\xff\xfe", FFFD FFFD },
		{ "a\x80z", "a" FFFD "z" },
		{ "\xc0\xaf", FFFD FFFD },             /* overlong / */
		{ "\xe0\x80\xaf", FFFD FFFD FFFD },    /* overlong */
		{ "\xed\xa0\x80", FFFD FFFD FFFD },    /* surrogate */
		{ "\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD }, /* past U+10FFFF */
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
		{ "\xe2\x82", FFFD },                  /* cut short: one maximal part */
		{ "\xe2\x82z", FFFD "z" },
		{ "\xf0\x9f\x90\xe2\x82\xac", FFFD "\xe2\x82\xac" },
	};
	char out[64];
	size_t i, len;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		len = vw_utf8_clean(out, sizeof(out), cases[i].in, strlen(cases[i].in));
		assert_string_equal(out, cases[i].out);
		assert_int_equal(len, strlen(out));
	}
}

static void test_bounds(void **state)
{
	/* A comm of 16 bytes without NUL, on the heap so that ASan sees a byte too far. */
	char *comm = malloc(16), out[64];

	memset(comm, 'x', 16);
	comm[15] = '\xe2';
	assert_int_equal(vw_utf8_clean(out, sizeof(out), comm, 16), 15 + 3);
	assert_string_equal(out, "xxxxxxxxxxxxxxx" FFFD);
	/* Nothing behind the NUL. */
	memcpy(comm, "ab\0cd", 5);
	assert_int_equal(vw_utf8_clean(out, sizeof(out), comm, 16), 2);
	free(comm);

	/* Cut between characters, terminated, never past the end. */
	memset(out, '#', sizeof(out));
	assert_int_equal(vw_utf8_clean(out, 4, "a\xe2\x82\xac", 4), 1);
	assert_string_equal(out, "a");
	assert_int_equal(out[4], '#');
	assert_int_equal(vw_utf8_clean(out, 5, "a\xe2\x82\xac", 4), 4);
	assert_int_equal(vw_utf8_clean(out, 1, "a", 1), 0);
	assert_string_equal(out, "");
	out[0] = '#';
	assert_int_equal(vw_utf8_clean(out, 0, "a", 1), 0);
	assert_int_equal(out[0], '#');
}

static void test_printable(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "a\x1b[31mb\nc\td\x7f", "a?[31mb?c?d?" },
		{ "\xc2\x9b" "31m", "?31m" },             /* CSI as a C1 character */
		{ "ab\xe2\x80\xae" "dc", "ab?dc" },       /* right-to-left override */
		{ "\xef\xbb\xbf" "x\xe2\x80\xa8", "?x?" }, /* byte order mark, line separator */
		{ "\xff\xfe ok", "?? ok" },
		{ "Z\xc3\xbcrich", "Z\xc3\xbcrich" },
	};
	char out[64];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t in_len = strlen(cases[i].in);

		vw_utf8_printable(out, in_len + 1, cases[i].in, in_len);
		assert_string_equal(out, cases[i].out);
	}
}

/* Whatever comes in: the output is valid, decodes without loss, and fits the promised room. */
static void test_random(void **state)
{
	unsigned int seed = 20120801, round;

	for (round = 0; round < 20000; round++) {
		char in[16], out[VW_UTF8_ROOM(16)], again[VW_UTF8_ROOM(VW_UTF8_ROOM(16))];
		size_t i, len, n = (size_t)(rand_r(&seed) % 17);

		for (i = 0; i < n; i++)
			in[i] = (char)(rand_r(&seed) >> 7);
		len = vw_utf8_clean(out, sizeof(out), in, n);
		assert_int_equal(vw_utf8_clean(again, sizeof(again), out, len), len);
		assert_memory_equal(again, out, len + 1);
		len = vw_utf8_printable(out, sizeof(out), in, n);
		assert_true(len <= n);
		for (i = 0; i < len; i++)
			assert_true((unsigned char)out[i] >= 0x20 && out[i] != 0x7f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
