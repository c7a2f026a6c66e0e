/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in front of the name of an event in a trace: for source/ftrace.c only. */
#ifndef VW_SOURCE_FTRACE_HEAD_H
#define VW_SOURCE_FTRACE_HEAD_H

#include "source/ftrace.h"
#include "source/scan.h"

/*
 * From the beginning of the line to behind the colon of the time.  0 with the task, CPU, time and
 * flags in @event; -EINVAL when there is no head in it, -EBADMSG when there is a broken one, both
 * with the reason.  @event is of no use then, and @s where it was.
 */
int vw_ftrace_head(struct vw_scan *s, enum vw_trace_form form, struct vw_event *event,
		   const char **ret_why);

#endif
