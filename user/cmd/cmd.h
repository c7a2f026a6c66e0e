/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands.  Each runs to its end, prints its own errors (once, on stderr, and as JSON when
 * that was asked for) and returns the exit code of the process: enum vw_exit.
 */
#ifndef VW_CMD_CMD_H
#define VW_CMD_CMD_H

#include "cli/options.h"
#include "model/worker.h"
#include "source/choice.h"

enum vw_exit {
	VW_EXIT_OK = 0,
	VW_EXIT_WARNING = 1,
	VW_EXIT_CRITICAL = 2,
	VW_EXIT_UNKNOWN = 3,
};

/* The exit code that says @verdict. */
enum vw_exit vw_cmd_exit(enum vw_verdict verdict);

/* -p and -t; points into @options. */
struct vw_choice vw_cmd_choice(const struct vw_options *options);

/* One line on stderr, with JSON also the object on stdout.  Returns VW_EXIT_UNKNOWN. */
int vw_cmd_fail(enum vw_format format, const struct vw_error *e);

int vw_cmd_watch(const struct vw_options *options);
int vw_cmd_check(const struct vw_options *options);
int vw_cmd_record(const struct vw_options *options);
int vw_cmd_analyze(const struct vw_options *options);
int vw_cmd_doctor(const struct vw_options *options);

#endif
