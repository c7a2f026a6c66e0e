/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line of a trace as text to one event: tracefs, trace-cmd report, perf script.
 *
 * Pure; nothing is allocated, no state is kept between lines.  Bytes may be anything.
 */
#ifndef VW_SOURCE_FTRACE_H
#define VW_SOURCE_FTRACE_H

#include <stddef.h>

#include "source/event.h"

enum vw_trace_form {
	VW_TRACE_NONE,
	VW_TRACE_FTRACE, /* comm-tid [cpu] flags time: event: fields */
	VW_TRACE_PERF, /* comm tid [cpu] time: system:event: fields */
};

#define VW_TRACE_MAX_CPU 8191
#define VW_TRACE_MAX_TID 4194304

/*
 * 1 with the event in @ret; 0 for a line that is no event and no mistake (comments, headings, call
 * chains); -EBADMSG for a line of a trace that cannot be read in full, and -EINVAL for a line of
 * something else, both with the reason in *@ret_why, a static text.  @ret is untouched but for 1.
 *
 * Texts in @ret point into @line.  An event without a time has VW_UNKNOWN.  The number of lost
 * events is 1 when the line does not tell it.
 */
int vw_ftrace_parse(const char *line, size_t len, enum vw_trace_form form, struct vw_event *ret,
		    const char **ret_why);

#endif
