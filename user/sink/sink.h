/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink shows model objects.  Each owns its escaping; none reads a clock or a file.
 *
 * Calls come in the order begin, (finding | worker | rows_done | notice)*, end.  Text goes to the
 * stream the sink was made with.  A write error (full disk, closed pipe) is kept and told by flush.
 */
#ifndef VW_SINK_SINK_H
#define VW_SINK_SINK_H

#include <stdio.h>

#include "model/finding.h"
#include "model/host.h"
#include "model/worker.h"
#include "util/error.h"

struct vw_sink;

struct vw_sink_ops {
	void (*begin)(struct vw_sink *sink, const struct vw_header *header);
	void (*finding)(struct vw_sink *sink, const struct vw_finding *finding);
	void (*worker)(struct vw_sink *sink, const struct vw_worker_row *row);
	/* All rows of one interval have been given; @ts_ns is its end. */
	void (*rows_done)(struct vw_sink *sink, uint64_t ts_ns);
	/* One line for people about the run itself (no vhost workers, a hook came or went). */
	void (*notice)(struct vw_sink *sink, const char *text);
	void (*end)(struct vw_sink *sink, const struct vw_summary *summary);
	/* 0, or the negative errno of the first failed write. */
	int (*flush)(struct vw_sink *sink);
	/* True once the person asked to end the run (q on the screen); NULL: cannot ask. */
	bool (*quit)(struct vw_sink *sink);
	void (*free)(struct vw_sink *sink);
};

struct vw_sink {
	const struct vw_sink_ops *ops;
};

/* One JSON object a line (docs/FORMATS). @out stays the caller's. NULL when out of memory. */
struct vw_sink *vw_sink_json_new(FILE *out);
/* The object of one finding, without a line feed; freed by the caller.  NULL: out of memory. */
char *vw_sink_json_finding(const struct vw_finding *finding);
/* Shows nothing. */
struct vw_sink *vw_sink_null_new(void);
/* Text for logs and pipes: a table an interval, findings as sentences. */
struct vw_sink *vw_sink_text_new(FILE *out);
/* The full-screen table (ncurses). NULL with *@ret_err set when the terminal cannot do it. */
struct vw_sink *vw_sink_screen_new(struct vw_error *ret_err);

/* {"type":"error",...} for a run that could not start. */
void vw_sink_json_error(FILE *out, const struct vw_error *error);

#endif
