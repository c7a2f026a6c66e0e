// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/finals.h"
#include "detect/merge.h"
#include "util/hash.h"

struct last_row {
	int32_t tid;
	struct vw_worker_row row;
	UT_hash_handle hh;
};

struct vw_finals {
	const struct vw_choice *choice;
	struct vw_merge *merge;
	struct last_row *rows;
	/* While they are shown. */
	struct vw_sink *sink;
	struct vw_summary *summary;
	enum vw_severity worst;
};

struct vw_finals *vw_finals_new(const struct vw_choice *choice)
{
	struct vw_finals *finals = calloc(1, sizeof(*finals));

	if (!finals)
		return NULL;
	finals->choice = choice;
	finals->merge = vw_merge_new();
	if (!finals->merge) {
		free(finals);
		return NULL;
	}
	return finals;
}

void vw_finals_free(struct vw_finals *finals)
{
	struct last_row *last, *tmp;

	if (!finals)
		return;
	HASH_ITER(hh, finals->rows, last, tmp)
	{
		HASH_DEL(finals->rows, last);
		free(last);
	}
	vw_merge_free(finals->merge);
	free(finals);
}

int vw_finals_finding(struct vw_finals *finals, const struct vw_finding *finding)
{
	return vw_choice_wants(finals->choice, finding) ? vw_merge_put(finals->merge, finding) : 0;
}

int vw_finals_row(struct vw_finals *finals, const struct vw_worker_row *row)
{
	struct last_row *last;

	if (!vw_choice_wants_task(finals->choice, &row->task))
		return 0;
	HASH_FIND(hh, finals->rows, &row->task.tid, sizeof(row->task.tid), last);
	if (!last) {
		last = calloc(1, sizeof(*last));
		if (!last)
			return -ENOMEM;
		last->tid = row->task.tid;
		HASH_ADD(hh, finals->rows, tid, sizeof(last->tid), last);
		if (!VW_HASH_ADDED(last)) {
			free(last);
			return -ENOMEM;
		}
	}
	last->row = *row;
	return 0;
}

static void show_finding(void *ctx, const struct vw_finding *finding)
{
	struct vw_finals *finals = ctx;

	finals->summary->counts[finding->kind]++;
	if (finding->severity > finals->worst)
		finals->worst = finding->severity;
	finals->sink->ops->finding(finals->sink, finding);
}

static int by_tid(struct last_row *a, struct last_row *b)
{
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void show_rows(struct vw_finals *finals)
{
	struct last_row *last, *tmp;
	uint64_t ts_ns = 0;

	if (!finals->rows)
		return;
	HASH_SORT(finals->rows, by_tid);
	HASH_ITER(hh, finals->rows, last, tmp)
	{
		/* Rows count from the start of the run: what is shown is its mean. */
		if (last->row.ts_ns > finals->summary->duration_ns)
			last->row.since_ns = last->row.ts_ns - finals->summary->duration_ns;
		finals->sink->ops->worker(finals->sink, &last->row);
		if (last->row.ts_ns > ts_ns)
			ts_ns = last->row.ts_ns;
	}
	finals->sink->ops->rows_done(finals->sink, ts_ns);
}

int vw_finals_show(struct vw_finals *finals, struct vw_sink *sink, const struct vw_header *header,
		   struct vw_summary *summary)
{
	char text[96];
	int err;

	finals->sink = sink;
	finals->summary = summary;
	finals->worst = VW_INFO;
	sink->ops->begin(sink, header);
	err = vw_merge_finish(finals->merge, show_finding, finals);
	if (vw_merge_dropped(finals->merge)) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " more findings had no room and are not shown",
			 vw_merge_dropped(finals->merge));
		sink->ops->notice(sink, text);
	}
	show_rows(finals);
	summary->verdict = err			       ? VW_VERDICT_UNKNOWN :
			   finals->worst == VW_INFO    ? VW_VERDICT_OK :
			   finals->worst == VW_WARNING ? VW_VERDICT_WARNING :
							 VW_VERDICT_CRITICAL;
	sink->ops->end(sink, summary);
	return err ?: sink->ops->flush(sink);
}
