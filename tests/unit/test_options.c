// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line: what is taken, what is refused and how, and that --help knows it all. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"
#include "cli/spec.h"

#define MAX_WORDS 80

/* Splits @line at blanks behind a program name; "''" stands for an empty word. */
static int split(char *line, char **argv)
{
	int argc = 0;
	char *word, *save;

	argv[argc++] = (char *)"vhostwatch";
	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		assert_true(argc < MAX_WORDS - 1);
		argv[argc++] = strcmp(word, "''") ? word : word + 2;
	}
	argv[argc] = NULL;
	return argc;
}

/* Keeps @line's copy alive in @ret_line, as paths point into it. */
static int parse(const char *line, char **ret_line, struct vw_options *o, struct vw_error *e)
{
	char *argv[MAX_WORDS];
	int argc;

	*ret_line = strdup(line);
	argc = split(*ret_line, argv);
	return vw_options_parse(argc, argv, o, e);
}

static void good(const char *line, struct vw_options *o)
{
	struct vw_error e = { .message = "" };
	char *copy;

	if (parse(line, &copy, o, &e))
		fail_msg("'%s' refused: %s", line, e.message);
	free(copy);
}

/* @line must be refused with a message that holds each of the @words (separated by '~'). */
static void bad(const char *line, const char *words)
{
	struct vw_options o, before;
	struct vw_error e = { .message = "" };
	char *copy, *list = strdup(words), *word, *save;

	memset(&o, 0xa5, sizeof(o));
	before = o;
	if (!parse(line, &copy, &o, &e))
		fail_msg("'%s' taken", line);
	assert_memory_equal(&o, &before, sizeof(o));
	assert_string_equal(e.reason, "usage");
	assert_null(strchr(e.message, '\n'));
	for (word = strtok_r(list, "~", &save); word; word = strtok_r(NULL, "~", &save))
		if (!strstr(e.message, word))
			fail_msg("'%s': no '%s' in: %s", line, word, e.message);
	free(copy);
	free(list);
}

static void test_defaults(void **state)
{
	struct vw_options o;

	good("", &o);
	assert_int_equal(o.command, VW_COMMAND_WATCH);
	assert_false(o.command_given);
	assert_int_equal(o.level, VW_LEVEL_TRACE);
	assert_false(o.level_given);
	assert_int_equal(o.interval_ns, 1000000000);
	assert_int_equal(o.duration_ns, 0);
	assert_int_equal(o.threshold_ns, 10000000);
	assert_int_equal(o.format, VW_FORMAT_TEXT);
	assert_int_equal(o.clock, VW_CLOCK_AUTO);
	assert_string_equal(o.procfs, "/proc");
	assert_string_equal(o.sysfs, "/sys");
	assert_int_equal(o.pids.n + o.tids.n, 0);
	assert_false(o.verbose || o.help || o.version);
	good("check", &o);
	assert_int_equal(o.command, VW_COMMAND_CHECK);
	assert_true(o.duration_ns == 10000000000);
	good("doctor", &o);
	assert_int_equal(o.command, VW_COMMAND_DOCTOR);
}

/* Files behind a command that reads some, and options without which it cannot run. */
static void test_files(void **state)
{
	struct vw_options o;
	struct vw_error e;
	char *copy;

	assert_int_equal(parse("analyze a -T 5ms b -", &copy, &o, &e), 0);
	assert_int_equal(o.command, VW_COMMAND_ANALYZE);
	assert_int_equal(o.n_files, 3);
	assert_string_equal(o.files[0], "a");
	assert_string_equal(o.files[2], "-");
	assert_true(o.threshold_given);
	assert_false(o.procfs_given || o.sysfs_given);
	free(copy);
	assert_int_equal(parse("analyze -- --odd", &copy, &o, &e), 0);
	assert_string_equal(o.files[0], "--odd");
	free(copy);
	assert_int_equal(parse("record -o x -d 3", &copy, &o, &e), 0);
	assert_string_equal(o.output, "x");
	assert_int_equal(o.n_files, 0);
	free(copy);
	bad("analyze", "needs a file");
	bad("record", "needs --output~-o FILE");
	bad("record -o ''", "names no file");
	bad("watch -o x", "watch has no --output");
	bad("-o x", "watch has no --output");
	bad("record -o x y", "unexpected argument 'y'");
	good("analyze --help", &o);
	assert_true(o.help);
}

static void test_values(void **state)
{
	struct vw_options o;

	good("-d 5", &o);
	assert_int_equal(o.command, VW_COMMAND_WATCH);
	assert_true(o.duration_ns == 5000000000);
	good("check -d 0.5 -i 500ms -T 500us", &o);
	assert_int_equal(o.duration_ns, 500000000);
	assert_int_equal(o.interval_ns, 500000000);
	assert_int_equal(o.threshold_ns, 500000);
	good("--duration 2 --interval=2 --threshold 2s check", &o);
	assert_int_equal(o.command, VW_COMMAND_CHECK);
	assert_int_equal(o.duration_ns, 2000000000);
	assert_int_equal(o.interval_ns, 2000000000);
	assert_int_equal(o.threshold_ns, 2000000000);
	good("--format json --level guard --clock procfs -v watch", &o);
	assert_int_equal(o.format, VW_FORMAT_JSON);
	assert_int_equal(o.level, VW_LEVEL_GUARD);
	assert_true(o.level_given);
	assert_int_equal(o.clock, VW_CLOCK_PROCFS);
	assert_true(o.verbose && o.command_given);
	good("doctor -d 3", &o); /* common options are taken everywhere */
	assert_true(o.duration_ns == 3000000000);
}

static void test_paths(void **state)
{
	struct vw_options o;
	struct vw_error e;
	char *copy;

	assert_int_equal(parse("--procfs fix/proc --sysfs=fix/sys", &copy, &o, &e), 0);
	assert_string_equal(o.procfs, "fix/proc");
	assert_string_equal(o.sysfs, "fix/sys");
	free(copy);
}

static void test_clock_names(void **state)
{
	struct vw_options o;
	char line[64];
	int clock;

	for (clock = 0; clock < VW_CLOCK_COUNT; clock++) {
		snprintf(line, sizeof(line), "--clock %s", vw_clock_name(clock));
		good(line, &o);
		assert_int_equal(o.clock, clock);
	}
	assert_string_equal(vw_clock_name(VW_CLOCK_LOCAL_TIMER_ENTRY), "local_timer_entry");
	assert_string_equal(vw_clock_name(VW_CLOCK_CPU_CLOCK), "cpu_clock");
	assert_string_equal(vw_clock_name(VW_CLOCK_SCHED_STAT_RUNTIME), "sched_stat_runtime");
	assert_null(vw_clock_name(VW_CLOCK_COUNT));
}

static void test_ids(void **state)
{
	char many[512] = "-p 1";
	struct vw_options o;
	int i;

	good("-p 1,22 -p 333 -p 22 --pid=4 -t 5 --tid 2147483647", &o);
	assert_int_equal(o.pids.n, 4);
	assert_int_equal(o.pids.ids[0], 1);
	assert_int_equal(o.pids.ids[1], 22);
	assert_int_equal(o.pids.ids[2], 333);
	assert_int_equal(o.pids.ids[3], 4);
	assert_int_equal(o.tids.n, 2);
	assert_int_equal(o.tids.ids[1], INT32_MAX);
	for (i = 2; i <= VW_MAX_IDS; i++)
		sprintf(many + strlen(many), ",%d", i);
	good(many, &o);
	assert_int_equal(o.pids.n, VW_MAX_IDS);
	strcat(many, ",1"); /* a repetition is no 65th */
	good(many, &o);
	strcat(many, ",65");
	bad(many, "64~--pid");
}

static void test_refused(void **state)
{
	bad("-d 0", "duration~'0'~more than zero");
	bad("-d -5", "duration~'-5'~500ms");
	bad("--duration=", "duration~''");
	bad("-d 1e3", "'1e3'");
	bad("-d five", "'five'");
	bad("-d 99999999999999999999999", "too long");
	bad("-d 9223372036", "too long");
	bad("-i 0", "interval~'0'~10ms");
	bad("-i 9ms", "interval~'9ms'~10ms");
	bad("-T 0s", "threshold~'0s'~1us");
	bad("-T 10", "threshold~'10'~10ms or 10us");
	bad("-T x", "threshold~'x'~500us");
	bad("-p 0", "'0'~pid~from 1");
	bad("-p -1", "'-1'~pid");
	bad("-p ''", "''~pid");
	bad("-p 1,,2", "''~pid");
	bad("-p 1,2x", "'2x'~pid");
	bad("-p 2147483648", "'2147483648'~pid");
	bad("-p 99999999999999999999999999", "'99999999999999999999999999'~pid");
	bad("-t 7,zwei", "'zwei'~tid");
	bad("--format xml", "'xml'~--format~text or json");
	bad("--format JSON", "'JSON'");
	bad("--level high", "'high'~guard or trace");
	bad("--clock tick", "'tick'~auto, local_timer_entry, cpu_clock");
	bad("--procfs ''", "--procfs~path");
}

static void test_refused_words(void **state)
{
	bad("-d", "'-d'~needs a value~SEC");
	bad("check --duration", "'--duration'~needs a value");
	bad("-vd", "'-d'~needs a value");
	bad("--bogus", "'--bogus'~--help");
	bad("--bogus=3", "'--bogus=3'");
	bad("-x", "'-x'");
	bad("-vx", "'-x'");
	bad("--verbose=3", "'--verbose'~no value");
	bad("recrod", "unknown command 'recrod'");
	bad("Check", "unknown command 'Check'");
	bad("che", "unknown command 'che'");
	bad("check watch", "'watch'~check");
	bad("check 10", "'10'");
	bad("-- --help", "'--help'");
	bad("-d 0 --bogus foo", "duration"); /* the first mistake is told */
	bad("foo\nbar\033[31m", "'foo?bar?[31m'");
}

static void test_help_wins(void **state)
{
	struct vw_options o;

	good("--help", &o);
	assert_true(o.help && !o.command_given);
	good("check --help", &o);
	assert_true(o.help && o.command_given);
	assert_int_equal(o.command, VW_COMMAND_CHECK);
	good("-h doctor", &o);
	assert_int_equal(o.command, VW_COMMAND_DOCTOR);
	good("--help --bogus", &o);
	good("--version -d 0", &o);
	assert_true(o.version);
	bad("--bogus --help", "--bogus");
}

static enum vw_format format_of(const char *line)
{
	char *argv[MAX_WORDS], *copy = strdup(line);
	enum vw_format format;

	format = vw_options_format(split(copy, argv), argv);
	free(copy);
	return format;
}

static void test_format_of_a_bad_line(void **state)
{
	assert_int_equal(format_of("-d 0 --format json"), VW_FORMAT_JSON);
	assert_int_equal(format_of("-d --format json"), VW_FORMAT_JSON);
	assert_int_equal(format_of("--bogus foo --format=json check"), VW_FORMAT_JSON);
	assert_int_equal(format_of("--form json -d 0"), VW_FORMAT_JSON);
	assert_int_equal(format_of("--format json --format text"), VW_FORMAT_TEXT);
	assert_int_equal(format_of("-d 0"), VW_FORMAT_TEXT);
	assert_int_equal(format_of("--format"), VW_FORMAT_TEXT);
	assert_int_equal(format_of("--formatter json"), VW_FORMAT_TEXT);
	assert_int_equal(format_of("-- --format json"), VW_FORMAT_TEXT);
}

static char *help_of(const char *line)
{
	struct vw_options o;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	good(line, &o);
	vw_options_help(out, &o);
	fclose(out);
	return text;
}

static void test_help(void **state)
{
	static const char *const lines[] = { "--help", "watch --help", "check -h", "doctor -h" };
	char *text, *line, *save, word[32];
	size_t i, k;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		text = help_of(lines[i]);
		/* Every option is named, whether it has an effect here or not. */
		for (k = 0; k < vw_option_spec_count; k++) {
			if (vw_option_specs[k].type == VW_OPTION_FILE)
				continue; /* refused, not ignored */
			snprintf(word, sizeof(word), "--%s", vw_option_specs[k].name);
			assert_non_null(strstr(text, word));
		}
		assert_non_null(strstr(text, "EXAMPLES"));
		assert_non_null(strstr(text, "EXIT CODES"));
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			assert_true(strlen(line) <= 100);
			assert_int_not_equal(line[strlen(line) - 1], ' ');
		}
		free(text);
	}
	text = help_of("--help");
	for (i = 0; i < VW_COMMAND_COUNT; i++)
		assert_non_null(strstr(text, vw_command_specs[i].summary));
	free(text);
	text = help_of("check --help");
	assert_non_null(strstr(text, "default: check 10s"));
	assert_null(strstr(text, "without effect"));
	free(text);
	text = help_of("doctor --help");
	assert_non_null(strstr(text, "without effect here: --pid, --tid, --interval"));
	free(text);
}

/* The spec table itself: rows that getopt could not tell apart would go unnoticed. */
static void test_table(void **state)
{
	size_t i, k;

	for (i = 0; i < vw_option_spec_count; i++) {
		const struct vw_option_spec *a = &vw_option_specs[i];

		assert_true(a->commands);
		assert_int_equal(!a->metavar, a->type == VW_OPTION_FLAG);
		for (k = 0; k < i; k++) {
			assert_string_not_equal(a->name, vw_option_specs[k].name);
			assert_true(!a->letter || a->letter != vw_option_specs[k].letter);
			assert_int_not_equal(a->offset, vw_option_specs[k].offset);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),    cmocka_unit_test(test_files),
		cmocka_unit_test(test_values),	    cmocka_unit_test(test_paths),
		cmocka_unit_test(test_clock_names), cmocka_unit_test(test_ids),
		cmocka_unit_test(test_refused),	    cmocka_unit_test(test_refused_words),
		cmocka_unit_test(test_help_wins),   cmocka_unit_test(test_format_of_a_bad_line),
		cmocka_unit_test(test_help),	    cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
