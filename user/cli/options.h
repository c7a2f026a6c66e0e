/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line as a struct.  One table (cli/spec.c) drives parser and --help, so the two cannot
 * disagree: a new command or option is one row there.
 *
 * Pure but for getopt's own state: nothing is printed, opened or looked up here.
 */
#ifndef VW_CLI_OPTIONS_H
#define VW_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/error.h"

#define VW_MAX_IDS 64 /* of -p, and of -t */

enum vw_command {
	VW_COMMAND_WATCH,
	VW_COMMAND_CHECK,
	VW_COMMAND_RECORD,
	VW_COMMAND_ANALYZE,
	VW_COMMAND_DOCTOR,
	VW_COMMAND_COUNT,
};
enum vw_level { VW_LEVEL_GUARD, VW_LEVEL_TRACE };
enum vw_format { VW_FORMAT_TEXT, VW_FORMAT_JSON };
/* What --clock forces; AUTO takes the best that works. */
enum vw_clock {
	VW_CLOCK_AUTO,
	VW_CLOCK_LOCAL_TIMER_ENTRY,
	VW_CLOCK_CPU_CLOCK,
	VW_CLOCK_SCHED_STAT_RUNTIME,
	VW_CLOCK_PROCFS,
	VW_CLOCK_COUNT,
};

struct vw_id_list {
	unsigned int n;
	int32_t ids[VW_MAX_IDS]; /* each once, as given */
};

struct vw_options {
	enum vw_command command;
	bool command_given; /* false: watch by default */
	enum vw_level level;
	bool level_given;
	enum vw_format format;
	enum vw_clock clock;
	uint64_t interval_ns;
	uint64_t duration_ns; /* 0: until ^C */
	uint64_t threshold_ns;
	struct vw_id_list pids; /* owners */
	struct vw_id_list tids;
	const char *procfs; /* point into argv, or static */
	const char *sysfs;
	bool threshold_given, procfs_given, sysfs_given;
	const char *output; /* record: the file to write; points into argv */
	char **files; /* analyze: what to read, in argv */
	unsigned int n_files;
	bool verbose;
	bool help;
	bool version;
};

/*
 * 0, or -EINVAL with *@ret_err filled (reason "usage"); @ret is untouched on failure.  Once --help or
 * --version was read, later mistakes are not told.  @argv gets reordered (options first).
 */
int vw_options_parse(int argc, char **argv, struct vw_options *ret, struct vw_error *ret_err);

/* The format @argv asks for, found whatever else is wrong with it; before vw_options_parse(). */
enum vw_format vw_options_format(int argc, char **argv);

/* --help: of @options->command when one was given, else of the program. */
void vw_options_help(FILE *out, const struct vw_options *options);

/* "auto", "local_timer_entry", ...; "guard", "trace"; "watch", ... */
const char *vw_clock_name(enum vw_clock clock);
const char *vw_level_name(enum vw_level level);
const char *vw_command_name(enum vw_command command);

#endif
