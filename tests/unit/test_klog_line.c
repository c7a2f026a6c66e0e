// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands in front of the kernel's own text. */
#include "klog_env.h"
#include "source/klog_line.h"

#define MINUTE (60 * SEC)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
/* 8 June 2020, 12:00:00 UTC */
#define NOON (UINT64_C(1591617600) * SEC)
/* The same day of a leap year, counted from its beginning. */
#define NOON_YEARLESS ((31 + 29 + 31 + 30 + 31 + 7) * DAY + 12 * HOUR)

static struct vw_klog_text text;

static const struct vw_klog_text *parse_with(struct vw_klog_clock *clock, const char *s)
{
	vw_klog_text_parse(clock, s, strlen(s), &text);
	return &text;
}

static const struct vw_klog_text *parse(const char *s)
{
	struct vw_klog_clock clock = { 0 };

	return parse_with(&clock, s);
}

struct form {
	const char *line;
	uint64_t ts_ns;
	bool kernel_time;
};

static const struct form forms[] = {
	/* dmesg */
	{ "[  500.100000] it works", 500 * SEC + 100 * MS, true },
	{ "[500.1] it works", 500 * SEC + 100 * MS, true },
	{ "[12345.678901234] it works", 12345 * SEC + 678901234, true },
	{ "[    0.000000] it works", 0, true },
	{ "[  500.100000 <    0.000012>] it works", 500 * SEC + 100 * MS, true },
	{ "[Mon Jun  8 12:00:00 2020] it works", NOON, false },
	{ "[Mon Jun 8 12:00:00 2020] it works", NOON, false },
	{ "[Jun 8 12:00] it works", NOON_YEARLESS, false },
	{ "[Jun08 12:00] it works", NOON_YEARLESS, false },
	{ "2020-06-08T12:00:00,250000+00:00 it works", NOON + 250 * MS, false },
	{ "2020-06-08T14:30:00,000000+02:30 it works", NOON, false },
	{ "kern  :info  : [  500.100000] it works", 500 * SEC + 100 * MS, true },
	{ "kern  :crit  : [Mon Jun  8 12:00:00 2020] it works", NOON, false },
	{ "<6>[  500.100000] it works", 500 * SEC + 100 * MS, true },
	{ "\033[32m[  500.100000] \033[0m\033[1mit works\033[0m", 500 * SEC + 100 * MS, true },
	{ "[  500.100000] it works\r", 500 * SEC + 100 * MS, true },
	/* /dev/kmsg */
	{ "6,123,500100000,-;it works", 500 * SEC + 100 * MS, true },
	{ "2,123,500100000,-,caller=C1;it\\x20works", 500 * SEC + 100 * MS, true },
	/* journalctl: all its short formats */
	{ "Jun 08 12:00:00 host kernel: it works", NOON_YEARLESS, false },
	{ "Jun  8 12:00:00 host kernel: it works", NOON_YEARLESS, false },
	{ "Jun 08 12:00:00 kernel: it works", NOON_YEARLESS, false },
	{ "Jun 08 12:00:00.250000 host kernel: it works", NOON_YEARLESS + 250 * MS, false },
	{ "2020-06-08T14:00:00+0200 host kernel: it works", NOON, false },
	{ "2020-06-08T07:00:00.250000-05:00 host kernel: it works", NOON + 250 * MS, false },
	{ "2020-06-08T12:00:00Z host kernel: it works", NOON, false },
	{ "Mon 2020-06-08 12:00:00 CEST host kernel: it works", NOON, false },
	{ "1591617600.250000 host kernel: it works", NOON + 250 * MS, false },
	{ "[  500.100000] host kernel: it works", 500 * SEC + 100 * MS, true },
	/* Files of syslog, with the kernel's own time behind the tag. */
	{ "Jun  8 12:00:00 host kernel: [  500.100000] it works", 500 * SEC + 100 * MS, true },
	{ "Jun  8 12:00:00 host kernel:[  500.100000] it works", 500 * SEC + 100 * MS, true },
	{ "2020-06-08T12:00:00.1+02:00 h kernel: [    0.5] it works", 500 * MS, true },
};

static void test_forms(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		parse(forms[i].line);
		if (strcmp(text.text, "it works") || text.sort != VW_KLOG_KERNEL)
			print_error("in: %s\n", forms[i].line);
		assert_string_equal(text.text, "it works");
		assert_int_equal(text.sort, VW_KLOG_KERNEL);
		assert_int_equal(text.ts_ns, forms[i].ts_ns);
		assert_int_equal(text.kernel_time, forms[i].kernel_time);
	}
}

static void test_callers(void **state)
{
	(void)state;
	parse("[  500.100000][    C1] it works");
	assert_int_equal(text.caller, VW_KLOG_CPU);
	assert_int_equal(text.caller_id, 1);
	assert_string_equal(text.text, "it works");
	parse("[  500.100000] [ T4711] it works");
	assert_int_equal(text.caller, VW_KLOG_TASK);
	assert_int_equal(text.caller_id, 4711);
	assert_string_equal(text.text, "it works");
	parse("2,123,500100000,c,caller=C12;it works");
	assert_int_equal(text.caller, VW_KLOG_CPU);
	assert_int_equal(text.caller_id, 12);
	parse("Jun 08 12:00:00 host kernel: [  500.100000][   T9] it works");
	assert_int_equal(text.caller_id, 9);
	parse("[  500.100000] it works");
	assert_int_equal(text.caller, VW_KLOG_NOBODY);
	/* A driver's name in brackets is none. */
	parse("[  500.100000] [drm] it works");
	assert_int_equal(text.caller, VW_KLOG_NOBODY);
	assert_string_equal(text.text, "[drm] it works");
	parse("[  500.100000] [Cx] it works");
	assert_string_equal(text.text, "[Cx] it works");
}

/* Lines of other programs between those of the kernel. */
static void test_foreign(void **state)
{
	static const char *const foreign[] = {
		"Jun 08 12:00:00 host app[123]: rcu: INFO: rcu_sched self-detected stall on CPU",
		"Jun 08 12:00:00 host mykernel: it works",
		"Jun 08 12:00:00 app: kernel: it works",
		"2020-06-08T12:00:00+0200 host kernel-tool[1]: it works",
		"1591617600.250000 host app[123]: it works",
		"daemon:info  : [  500.100000] systemd[1]: it works",
		"30,123,500100000,-;it works",
		"<30>[  500.100000] it works",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		parse(foreign[i]);
		if (text.sort != VW_KLOG_FOREIGN)
			print_error("in: %s\n", foreign[i]);
		assert_int_equal(text.sort, VW_KLOG_FOREIGN);
	}
}

/* What is no date is no stamp. */
static void test_odd_dates(void **state)
{
	static const char *const odd[] = {
		"Jun 08 24:00:00 h kernel: x",	   "Jun 00 12:00:00 h kernel: x",
		"Jun 32 12:00:00 h kernel: x",	   "Jun 08 12:60:00 h kernel: x",
		"Jun 08 12:00:61 h kernel: x",	   "Jun 08 12-00-00 h kernel: x",
		"Jon 08 12:00:00 h kernel: x",	   "Jun  12:00:00 h kernel: x",
		"[Mon Jun 8 12:60:00 2020] x",	   "[Mun Jun 8 12:00:00 2020] x",
		"[Mon Jun 8 12:00:00 1969] x",	   "[Mon Jun 8 12:00:00] x",
		"[Mon Jun 8 12:00:00 2201] x",	   "[Jun 8 12:] x",
		"2020-00-08T12:00:00Z h kernel: x", "2020-13-08T12:00:00Z h kernel: x",
		"2020-06-00T12:00:00Z h kernel: x", "2020-06-08T24:00:00Z h kernel: x",
		"1970-01-01T00:00:00+01:00 h kernel: x", "2020:06:08T12:00:00Z h kernel: x",
		"[  +x] x",			   "[<x>] x",
		"6,x,500100000,-;x",		   "6,123,500100000-;x",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		parse(odd[i]);
		if (text.sort != VW_KLOG_BARE || text.ts_ns != VW_UNKNOWN)
			print_error("in: %s\n", odd[i]);
		assert_int_equal(text.sort, VW_KLOG_BARE);
		assert_true(text.ts_ns == VW_UNKNOWN);
	}
	/* A leap second is one. */
	assert_int_equal(parse("Jun 08 12:00:60 h kernel: x")->sort, VW_KLOG_KERNEL);
}

static void test_without_a_stamp(void **state)
{
	static const char *const bare[] = {
		"it works",
		"[drm] it works",
		"[  500] it works",
		"[500.] it works",
		"[99999999999.1] it",
		"[Mon Jun 41 12:00:00 2020] it",
		"[",
		"[  500.100000",
		"2020-06-08 it works",
		"<6",
		"6,123,500;it works",
		"#1: 0% system",
		"[500.1 foo9] it works",
	};
	static const char *const aside[] = {
		"",
		"   ",
		"\t",
		"\r",
		"-- Logs begin at Mon 2020-06-08 12:00:00 CEST. --",
		"-- No entries --",
		" SUBSYSTEM=pci",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bare) / sizeof(bare[0]); i++) {
		parse(bare[i]);
		if (text.sort != VW_KLOG_BARE)
			print_error("in: %s\n", bare[i]);
		assert_int_equal(text.sort, VW_KLOG_BARE);
		assert_true(text.ts_ns == VW_UNKNOWN);
		assert_string_equal(text.text, bare[i]);
	}
	for (i = 0; i < sizeof(aside) / sizeof(aside[0]); i++)
		assert_int_equal(parse(aside[i])->sort, VW_KLOG_ASIDE);
	assert_int_equal(parse("-- Reboot --")->sort, VW_KLOG_REBOOT);
	assert_int_equal(parse("-- Boot 0123456789abcdef --")->sort, VW_KLOG_REBOOT);
}

/* dmesg -H tells the minute once, then how long after the line before. */
static void test_relative(void **state)
{
	struct vw_klog_clock clock = { 0 };

	(void)state;
	parse_with(&clock, "[Jun 8 12:00] first");
	assert_int_equal(parse_with(&clock, "[  +1.500000] second")->ts_ns,
			 NOON_YEARLESS + 1500 * MS);
	assert_int_equal(parse_with(&clock, "[  +0.000001] third")->ts_ns,
			 NOON_YEARLESS + 1500 * MS + 1000);
	assert_string_equal(text.text, "third");
	/* dmesg -d -t has nothing else. */
	memset(&clock, 0, sizeof(clock));
	parse_with(&clock, "[<    0.000000>] first");
	assert_int_equal(parse_with(&clock, "[<    0.500000>] second")->ts_ns, 500 * MS);
}

static void test_turn_of_the_year(void **state)
{
	struct vw_klog_clock clock = { 0 };
	uint64_t before;

	(void)state;
	before = parse_with(&clock, "Dec 31 23:59:59 host kernel: a")->ts_ns;
	assert_int_equal(parse_with(&clock, "Jan 01 00:00:00 host kernel: b")->ts_ns, before + SEC);
	assert_int_equal(parse_with(&clock, "Feb 29 00:00:00 host kernel: c")->ts_ns,
			 before + SEC + 59 * DAY);
}

static void test_escapes(void **state)
{
	(void)state;
	/* rsyslog, /dev/kmsg */
	assert_string_equal(parse("Jun  8 12:00:00 h kernel: [ 5.5] #0112-....: x")->text,
			    "\t2-....: x");
	assert_string_equal(parse("3,1,5,-;\\x092-....: \\xzz\\x00x")->text, "\t2-....: \\xzz?x");
	vw_klog_text_parse(&(struct vw_klog_clock){ 0 }, "[ 5.5] a\0b", 10, &text);
	assert_string_equal(text.text, "a?b");
}

/* The log says itself that it lacks lines. */
static void test_dropped(void **state)
{
	static const struct {
		const char *line, *text;
		uint64_t dropped;
	} cases[] = {
		{ "[ 5.5] ** 123 printk messages dropped **", "", 123 },
		{ "** 123 printk messages dropped ** [ 5.5] it works", "it works", 123 },
		{ "[ 5.5] ** 123 printk messages dropped ** it works", "it works", 123 },
		{ "** 123 printk messages dropped **", "", 123 },
		{ "Jun 08 12:00:00 h systemd-journald[321]: Missed 123 kernel messages", NULL,
		  123 },
		{ "[ 5.5] h systemd-journald[321]: Missed 123 kernel messages", NULL, 123 },
		{ "[ 5.5] ** x printk messages dropped **", "** x printk messages dropped **", 0 },
		{ "[ 5.5] systemd-journald[321]: Missed nothing", NULL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		parse(cases[i].line);
		assert_int_equal(text.dropped, cases[i].dropped);
		assert_int_not_equal(text.sort, VW_KLOG_BARE);
		if (cases[i].text)
			assert_string_equal(text.text, cases[i].text);
	}
}

static void test_long_line(void **state)
{
	static char long_line[4 * VW_KLOG_TEXT_MAX];

	(void)state;
	memset(long_line, 'x', sizeof(long_line) - 1);
	memcpy(long_line, "[ 5.5] ", 7);
	assert_int_equal(strlen(parse(long_line)->text), VW_KLOG_TEXT_MAX - 1 - 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_odd_dates),
		cmocka_unit_test(test_without_a_stamp),
		cmocka_unit_test(test_relative),
		cmocka_unit_test(test_turn_of_the_year),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_long_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
