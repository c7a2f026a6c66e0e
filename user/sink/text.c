// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "sink/findings.h"
#include "sink/lines.h"
#include "sink/sentence.h"
#include "sink/sink.h"
#include "sink/table.h"

/* A log has no width of its own; wide enough for the long titles, narrow enough to be read. */
#define TEXT_WIDTH 110

struct text_sink {
	struct vw_sink base;
	FILE *out;
	struct vw_table *table;
	struct vw_findings *findings;
	int err;
};

static void keep_error(struct text_sink *sink, int err)
{
	if (err && !sink->err)
		sink->err = err;
}

static void print(struct text_sink *sink, struct vw_lines *lines)
{
	keep_error(sink, vw_lines_print(lines, sink->out));
	vw_lines_done(lines);
}

static void text_begin(struct vw_sink *base, const struct vw_header *header)
{
	struct text_sink *sink = (struct text_sink *)base;
	struct vw_lines lines = { 0 };

	vw_sentence_header(header, TEXT_WIDTH, false, &lines);
	print(sink, &lines);
}

static void text_finding(struct vw_sink *base, const struct vw_finding *finding)
{
	struct text_sink *sink = (struct text_sink *)base;
	struct vw_lines lines = { 0 };

	switch (vw_findings_put(sink->findings, finding)) {
	case VW_FINDING_NEW:
		vw_sentence_finding(finding, TEXT_WIDTH, true, &lines);
		break;
	case VW_FINDING_LASTS:
		vw_sentence_update(finding, TEXT_WIDTH, &lines);
		break;
	case VW_FINDING_ENDS:
		vw_sentence_finding(finding, TEXT_WIDTH, false, &lines);
		break;
	}
	print(sink, &lines);
}

static void text_worker(struct vw_sink *base, const struct vw_worker_row *row)
{
	struct text_sink *sink = (struct text_sink *)base;

	keep_error(sink, vw_table_worker(sink->table, row));
}

static void text_rows_done(struct vw_sink *base, uint64_t ts_ns)
{
	struct text_sink *sink = (struct text_sink *)base;
	struct vw_lines lines = { 0 };

	(void)ts_ns;
	vw_table_rows_done(sink->table);
	vw_table_render(sink->table, TEXT_WIDTH, &lines);
	vw_lines_add(&lines, VW_STYLE_PLAIN, TEXT_WIDTH, "");
	print(sink, &lines);
}

static void text_notice(struct vw_sink *base, const char *text)
{
	struct vw_lines lines = { 0 };

	vw_lines_wrap(&lines, VW_STYLE_PLAIN, TEXT_WIDTH, 2, text);
	print((struct text_sink *)base, &lines);
}

static void text_end(struct vw_sink *base, const struct vw_summary *summary)
{
	struct vw_lines lines = { 0 };

	vw_sentence_summary(summary, TEXT_WIDTH, &lines);
	print((struct text_sink *)base, &lines);
}

static int text_flush(struct vw_sink *base)
{
	return ((struct text_sink *)base)->err;
}

static void text_free(struct vw_sink *base)
{
	struct text_sink *sink = (struct text_sink *)base;

	if (!sink)
		return;
	vw_table_free(sink->table);
	vw_findings_free(sink->findings);
	free(sink);
}

struct vw_sink *vw_sink_text_new(FILE *out)
{
	static const struct vw_sink_ops ops = {
		.begin = text_begin,
		.finding = text_finding,
		.worker = text_worker,
		.rows_done = text_rows_done,
		.notice = text_notice,
		.end = text_end,
		.flush = text_flush,
		.free = text_free,
	};
	struct text_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return NULL;
	sink->base.ops = &ops;
	sink->out = out;
	sink->table = vw_table_new();
	sink->findings = vw_findings_new();
	if (sink->table && sink->findings)
		return &sink->base;
	text_free(&sink->base);
	return NULL;
}
