// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "load/ksyms.h"

#define BASE UINT64_C(0xffffffff81000000)

static const char list[] = "ffffffff81000000 T _text\n"
			   "ffffffff81002000 t handle_tx\t[vhost_net]\n"
			   "ffffffff81001000 T vhost_worker\n"
			   "ffffffff81001800 D a_variable\n"
			   "ffffffff81003000 W weak_one\n"
			   "ffffffff81003800 w weak_two\n"
			   "not a line\n"
			   "ffffffff81004000 T\n"
			   "ffffffff81005000 T last_one\n";

struct env {
	struct fixture f;
	struct vw_ksyms *syms;
};

static int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	fixture_open(&env->f);
	env->syms = vw_ksyms_new(env->f.proc_fd);
	assert_non_null(env->syms);
	*state = env;
	return 0;
}

static int teardown(void **state)
{
	struct env *env = *state;

	vw_ksyms_free(env->syms);
	fixture_close(&env->f);
	free(env);
	return 0;
}

/* Asks, lets the list be read to its end if need be, and asks again. */
static void is(struct env *env, uint64_t addr, const char *name)
{
	const char *got = vw_ksyms_name(env->syms, addr);
	int i;

	for (i = 0; !got && i < 10; i++) {
		vw_ksyms_work(env->syms);
		got = vw_ksyms_name(env->syms, addr);
	}
	assert_string_equal(got ? got : "(null)", name);
}

static void test_names(void **state)
{
	struct env *env = *state;

	fixture_text(&env->f, "proc/kallsyms", list);
	/* Not asked: not read.  Asked: no name before the reading. */
	vw_ksyms_work(env->syms);
	assert_null(vw_ksyms_name(env->syms, BASE + 0x1000));
	is(env, BASE - 1, "");
	is(env, BASE, "_text");
	is(env, BASE + 0xfff, "_text");
	is(env, BASE + 0x1000, "vhost_worker");
	/* Data is no function: an address behind it belongs to the function before. */
	is(env, BASE + 0x1900, "vhost_worker");
	is(env, BASE + 0x2010, "handle_tx");
	is(env, BASE + 0x3010, "weak_one");
	is(env, BASE + 0x3810, "weak_two");
	is(env, BASE + 0x4010, "weak_two");
	is(env, BASE + 0x5000 + (1 << 20), "last_one");
	/* Far behind: in something that has no name here. */
	is(env, BASE + 0x5001 + (1 << 20), "");
}

/* kptr_restrict: all addresses are 0. */
static void test_hidden(void **state)
{
	struct env *env = *state;

	fixture_text(&env->f, "proc/kallsyms",
		     "0000000000000000 T _text\n"
		     "0000000000000000 T vhost_worker\n");
	is(env, BASE, "");
	is(env, 0, "");
}

static void test_absent(void **state)
{
	struct env *env = *state;

	is(env, BASE, "");
	vw_ksyms_work(env->syms);
	vw_ksyms_free(NULL);
}

/* A real list has 200 000 lines; none is missed between two pieces, and a piece is a piece. */
static void test_long_list(void **state)
{
	struct env *env = *state;
	const unsigned int n = 25000;
	char *text = malloc(n * 48), *p = text, name[32];
	unsigned int i;

	assert_non_null(text);
	for (i = 0; i < n; i++)
		p += sprintf(p, "%016llx T function_%u\n",
			     (unsigned long long)(BASE + (uint64_t)(i * 7919 % n) * 64),
			     i * 7919 % n);
	fixture_text(&env->f, "proc/kallsyms", text);
	free(text);
	assert_null(vw_ksyms_name(env->syms, BASE));
	vw_ksyms_work(env->syms);
	assert_null(vw_ksyms_name(env->syms, BASE));
	for (i = 0; i < n; i += 499) {
		snprintf(name, sizeof(name), "function_%u", i);
		is(env, BASE + i * 64 + 63, name);
	}
}

/* More addresses than one reading looks up, and than are kept: each is found when asked again. */
static void test_many_addresses(void **state)
{
	struct env *env = *state;
	unsigned int i, round;

	fixture_text(&env->f, "proc/kallsyms", list);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 200; i++)
			vw_ksyms_name(env->syms, BASE + 0x2000 + i);
		for (i = 0; i < 1000; i++)
			is(env, BASE + 0x2000 + i, "handle_tx");
	}
}

/* A name as long as the kernel allows (511), and a line without an end. */
static void test_odd_lines(void **state)
{
	struct env *env = *state;
	char text[2048], name[450];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), "ffffffff81000000 T %s\nffffffff81001000 T cut", name);
	fixture_text(&env->f, "proc/kallsyms", text);
	name[47] = '\0'; /* as much as a frame shows */
	is(env, BASE + 1, name);
	is(env, BASE + 0x1001, "cut");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names),     TEST(test_hidden),    TEST(test_absent),
		TEST(test_long_list), TEST(test_odd_lines), TEST(test_many_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
