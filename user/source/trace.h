/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace as text (tracefs, trace-cmd report, perf script): lines to events (source/ftrace.h) to
 * the scheduler model (source/sched.h) to observations.
 */
#ifndef VW_SOURCE_TRACE_H
#define VW_SOURCE_TRACE_H

#include "source/ftrace.h"
#include "source/input.h"
#include "source/replay.h"

/* What @len bytes of the beginning of an input look like. */
enum vw_trace_form vw_trace_looks_like(const char *head, size_t len);

/* Reads all of @in.  -ENODATA with @e when there was no event in it. */
int vw_trace_read(struct vw_input *in, enum vw_trace_form form,
		  const struct vw_replay_config *config, const struct vw_replay *out,
		  struct vw_replay_result *ret, struct vw_error *e);

#endif
