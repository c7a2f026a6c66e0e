// SPDX-License-Identifier: GPL-2.0-or-later
/* vhostwatch record: a run as it is goes into a file, what came of it is shown at the end. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/finals.h"
#include "cmd/run.h"
#include "record/writer.h"
#include "util/clock.h"

_Static_assert(VW_RECORD_MAX_IDS >= VW_MAX_IDS, "a recording names all that was asked for");

struct record {
	struct vw_choice choice;
	struct vw_writer *writer;
	struct vw_finals *finals;
	struct vw_header header;
};

static int on_begin(void *ctx, const struct vw_header *header,
		    const struct vw_detect_config *config, uint64_t start_ns)
{
	struct record *record = ctx;
	const struct vw_choice *choice = &record->choice;
	struct vw_record_info info = {
		.header = *header,
		.start_ns = start_ns,
		.start_utc_ns = vw_clock_utc(),
		.threshold_ns = config->threshold_ns,
		.tick_ns = config->tick_ns,
		.stale_ns = config->stale_ns,
		.n_pids = choice->n_pids,
		.n_tids = choice->n_tids,
	};

	memcpy(info.pids, choice->pids, choice->n_pids * sizeof(info.pids[0]));
	memcpy(info.tids, choice->tids, choice->n_tids * sizeof(info.tids[0]));
	record->header = *header;
	return vw_writer_begin(record->writer, &info);
}

static int on_obs(void *ctx, const struct vw_obs *obs)
{
	return vw_writer_obs(((struct record *)ctx)->writer, obs);
}

static int on_tick(void *ctx, uint64_t ts_ns)
{
	return vw_writer_tick(((struct record *)ctx)->writer, ts_ns);
}

static int on_row(void *ctx, const struct vw_worker_row *row)
{
	struct record *record = ctx;

	return vw_writer_row(record->writer, row) ?: vw_finals_row(record->finals, row);
}

static int on_finding(void *ctx, const struct vw_finding *finding)
{
	struct record *record = ctx;
	char *json = vw_sink_json_finding(finding);
	int err;

	if (!json)
		return -ENOMEM;
	err = vw_writer_finding(record->writer, finding, json);
	free(json);
	return err ?: vw_finals_finding(record->finals, finding);
}

static int on_round(void *ctx, uint64_t now_ns, uint64_t lost_events, uint32_t workers)
{
	return vw_writer_round(((struct record *)ctx)->writer, now_ns, lost_events, workers);
}

static int on_finish(void *ctx, uint64_t end_ns, uint64_t lost_events, uint32_t workers)
{
	return vw_writer_finish(((struct record *)ctx)->writer, end_ns, lost_events, workers);
}

/* Runs to the end; what is shown is collected. */
static int run(const struct vw_options *options, struct record *record, struct vw_summary *ret,
	       struct vw_error *e)
{
	const struct vw_run_tap tap = { on_begin,   on_obs,   on_tick,	 on_row,
					on_finding, on_round, on_finish, record };
	struct vw_sink *nothing = vw_sink_null_new();
	struct vw_run_result result;
	int err;

	if (!nothing)
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	err = vw_run_live(options, nothing, true, &tap, &result, e);
	nothing->ops->free(nothing);
	/* The writer knows better what has failed. */
	if (err && vw_writer_error(record->writer)->reason[0])
		*e = *vw_writer_error(record->writer);
	/* Counts and verdict come with what is shown, merged. */
	*ret = (struct vw_summary){
		.lost_events = result.summary.lost_events,
		.invalid_samples = result.summary.invalid_samples,
		.duration_ns = result.summary.duration_ns,
		.workers = result.summary.workers,
	};
	return err;
}

static int show(const struct vw_options *options, struct record *record, struct vw_summary *summary,
		struct vw_error *e)
{
	bool json = options->format == VW_FORMAT_JSON;
	struct vw_sink *sink = json ? vw_sink_json_new(stdout) : vw_sink_text_new(stdout);
	int err;

	if (!sink)
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	err = vw_finals_show(record->finals, sink, &record->header, summary);
	sink->ops->free(sink);
	/* A reader that has gone has had what it wanted; the recording is whole. */
	if (!err || err == -EPIPE)
		return 0;
	return vw_error_set(e, err, err == -ENOMEM ? "memory" : "io",
			    "cannot show what was found: %s; %s has it", strerror(-err),
			    options->output);
}

int vw_cmd_record(const struct vw_options *options)
{
	struct record record = { .choice = vw_cmd_choice(options) };
	struct vw_summary summary;
	struct vw_error e;
	int err;

	if (!strcmp(options->output, "-")) {
		vw_error_set(&e, -EINVAL, "usage",
			     "a recording is a database, no stream: name a file with -o");
		return vw_cmd_fail(options->format, &e);
	}
	/* A file may not grow beyond a limit: that is an error to be told like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	record.finals = vw_finals_new(&record.choice);
	err = record.finals ? 0 : vw_error_set(&e, -ENOMEM, "memory", "out of memory");
	err = err ?: vw_writer_open(options->output, &record.writer, &e);
	err = err ?: run(options, &record, &summary, &e);
	vw_writer_close(record.writer);
	err = err ?: show(options, &record, &summary, &e);
	vw_finals_free(record.finals);
	return err ? vw_cmd_fail(options->format, &e) : VW_EXIT_OK;
}
