/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a trace, each in a buffer of exactly its size: what reads behind it is caught. */
#ifndef VW_TESTS_FTRACE_ENV_H
#define VW_TESTS_FTRACE_ENV_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/ftrace.h"

#define UNTOUCHED 0x5a

/* The result of the parser.  @ret must be untouched but for 1, and a reason there for a failure. */
static inline int parse_bytes(const char *line, size_t len, enum vw_trace_form form,
			      struct vw_event *ret, const char **ret_why)
{
	struct vw_event untouched;
	char *copy = malloc(len + !len);
	int err;

	assert_non_null(copy);
	memcpy(copy, line, len);
	memset(&untouched, UNTOUCHED, sizeof(untouched));
	memset(ret, UNTOUCHED, sizeof(*ret));
	*ret_why = NULL;
	err = vw_ftrace_parse(copy, len, form, ret, ret_why);
	if (err != 1)
		assert_memory_equal(ret, &untouched, sizeof(untouched));
	if (err < 0)
		assert_true(err == -EINVAL || err == -EBADMSG);
	assert_int_equal(err < 0, *ret_why != NULL);
	free(copy);
	return err;
}

static inline struct vw_event parse(const char *line, enum vw_trace_form form)
{
	struct vw_event event;
	const char *why;
	int err = parse_bytes(line, strlen(line), form, &event, &why);

	if (err != 1)
		fail_msg("%s: %s", line, why ? why : "no event");
	return event;
}

static inline struct vw_event ftrace(const char *line)
{
	return parse(line, VW_TRACE_FTRACE);
}

static inline struct vw_event perf(const char *line)
{
	return parse(line, VW_TRACE_PERF);
}

/* Fields behind an ordinary head. */
static inline struct vw_event fields(const char *text)
{
	char line[512];

	snprintf(line, sizeof(line), "          <idle>-0       [001] d..2.   100.000001: %s", text);
	return ftrace(line);
}

/* Why the line is bad; @ret_err which kind of bad it is. */
static inline const char *why_bad(const char *line, enum vw_trace_form form, int want)
{
	struct vw_event event;
	const char *why;
	int err = parse_bytes(line, strlen(line), form, &event, &why);

	if (err != want)
		fail_msg("%s: %d (%s), %d wanted", line, err, why ? why : "", want);
	return why;
}

static inline void skipped(const char *line, enum vw_trace_form form)
{
	struct vw_event event;
	const char *why;

	if (parse_bytes(line, strlen(line), form, &event, &why))
		fail_msg("%s: not skipped", line);
}

#endif
