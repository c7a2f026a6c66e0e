// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows nothing: for commands that only want the result. */
#include <stdlib.h>

#include "sink/sink.h"

static void null_begin(struct vw_sink *sink, const struct vw_header *header)
{
}

static void null_finding(struct vw_sink *sink, const struct vw_finding *finding)
{
}

static void null_worker(struct vw_sink *sink, const struct vw_worker_row *row)
{
}

static void null_rows_done(struct vw_sink *sink, uint64_t ts_ns)
{
}

static void null_notice(struct vw_sink *sink, const char *text)
{
}

static void null_end(struct vw_sink *sink, const struct vw_summary *summary)
{
}

static int null_flush(struct vw_sink *sink)
{
	return 0;
}

static void null_free(struct vw_sink *sink)
{
	free(sink);
}

struct vw_sink *vw_sink_null_new(void)
{
	static const struct vw_sink_ops ops = {
		.begin = null_begin,
		.finding = null_finding,
		.worker = null_worker,
		.rows_done = null_rows_done,
		.notice = null_notice,
		.end = null_end,
		.flush = null_flush,
		.free = null_free,
	};
	struct vw_sink *sink = calloc(1, sizeof(*sink));

	if (sink)
		sink->ops = &ops;
	return sink;
}
