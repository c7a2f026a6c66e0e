/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables behind parser and --help; only cli/ includes this.
 */
#ifndef VW_CLI_SPEC_H
#define VW_CLI_SPEC_H

#include <stddef.h>

#include "cli/options.h"

enum vw_option_type {
	VW_OPTION_FLAG,     /* bool */
	VW_OPTION_CHOICE,   /* enum, the index into choices[] */
	VW_OPTION_DURATION, /* uint64_t nanoseconds */
	VW_OPTION_PATH,     /* const char *, an existing folder */
	VW_OPTION_FILE,     /* const char * */
	VW_OPTION_IDS,      /* struct vw_id_list */
};

#define VW_OPTION_MAX_CHOICES 8

struct vw_option_spec {
	const char *name; /* long form */
	char letter;      /* short form, 0: none */
	enum vw_option_type type;
	size_t offset;       /* in struct vw_options */
	size_t given_offset; /* bool set when the option was given, 0: none */
	/* Bit per command that heeds it; the others take it and ignore it, but refuse a FILE. */
	unsigned int commands;
	const char *metavar;
	const char *help;
	const char *choices[VW_OPTION_MAX_CHOICES]; /* ends with NULL */
	uint64_t bare_unit_ns; /* what a bare number counts, 0: a unit must be given */
	uint64_t min_ns;
};

struct vw_command_spec {
	const char *name;
	const char *summary;
	const char *details;
	const char *examples;
	uint64_t duration_ns; /* without -d */
	const char *operands; /* what follows the options: "FILE..."; NULL: nothing may */
	const char *needs; /* the name of the option without which it cannot run, or NULL */
};

extern const struct vw_option_spec vw_option_specs[];
extern const size_t vw_option_spec_count;
extern const struct vw_command_spec vw_command_specs[VW_COMMAND_COUNT];
extern const struct vw_options vw_option_defaults;

#endif
