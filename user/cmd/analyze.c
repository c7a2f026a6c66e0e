// SPDX-License-Identifier: GPL-2.0-or-later
/* vhostwatch analyze: the detectors over what somebody recorded. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/finals.h"
#include "detect/detect.h"
#include "record/reader.h"
#include "source/klog.h"
#include "source/trace.h"

/* One input from its beginning to its end. */
struct analysis {
	const struct vw_options *options;
	struct vw_choice choice;
	struct vw_detect *detect;
	struct vw_finals *finals;
	struct vw_recording *recording; /* or NULL; findings have names in it */
	struct vw_replay_result result;
	int err; /* of the finals, which have no way to return it */
};

static void on_finding(void *ctx, const struct vw_finding *finding)
{
	struct analysis *a = ctx;

	a->err = vw_finals_finding(a->finals, finding) ?: a->err;
}

static int on_obs(void *ctx, const struct vw_obs *obs)
{
	struct analysis *a = ctx;

	return vw_detect_feed(a->detect, obs) ?: a->err;
}

static int on_tick(void *ctx, uint64_t ts_ns)
{
	struct analysis *a = ctx;

	vw_detect_tick(a->detect, ts_ns);
	return a->err;
}

static int on_row(void *ctx, const struct vw_worker_row *row)
{
	return vw_finals_row(((struct analysis *)ctx)->finals, row);
}

static const struct vw_replay *replay_to(struct analysis *a, struct vw_replay *ret)
{
	*ret = (struct vw_replay){ on_obs, on_tick, on_row, a };
	return ret;
}

static int begin(struct analysis *a, const struct vw_detect_config *config, struct vw_error *e)
{
	a->detect = vw_detect_create(config, on_finding, a);
	return a->detect ? 0 : vw_error_set(e, -ENOMEM, "memory", "out of memory");
}

static ssize_t read_input(void *ctx, void *buf, size_t size)
{
	return vw_input_read(ctx, buf, size);
}

/* As the run was set up, but for what is asked of this one. */
static int read_recording(struct analysis *a, struct vw_input *in, struct vw_error *e)
{
	const char *name = vw_input_name(in);
	const struct vw_record_info *info;
	struct vw_detect_config config;
	struct vw_replay out;
	int err;

	/* A file may have a journal beside it. */
	err = vw_input_is_file(in) ?
		      vw_recording_open(name, &a->recording, e) :
		      vw_recording_open_stream(read_input, in, name, &a->recording, e);
	if (err)
		return err;
	info = vw_recording_info(a->recording);
	config = (struct vw_detect_config){
		.threshold_ns = a->options->threshold_given ? a->options->threshold_ns :
							      info->threshold_ns,
		.tick_ns = info->tick_ns,
		.stale_ns = info->stale_ns,
		.host = info->header.host,
	};
	if (vw_choice_is_empty(&a->choice))
		a->choice =
			(struct vw_choice){ info->pids, info->tids, info->n_pids, info->n_tids };
	return begin(a, &config, e) ?:
		       vw_recording_replay(a->recording, replay_to(a, &out), &a->result, e);
}

static bool begins_with(const char *head, size_t len, const char *magic, size_t magic_len)
{
	return len >= magic_len && !memcmp(head, magic, magic_len);
}

/* Nothing that can be read: what it is, if that is known, and what to do then. */
static int refuse(struct vw_input *in, struct vw_error *e)
{
	const char *text = "%s is neither a recording nor a trace as text nor a kernel log";
	size_t len;
	const char *head = vw_input_head(in, &len);

	if (!len)
		text = vw_input_truncated(in) ?
			       "%s: the gzip data is damaged or ends before anything could be read" :
			       "%s is empty";
	else if (begins_with(head, len, "PERFILE2", 8))
		text = "%s is a recording of perf; perf script makes the text that can be read";
	else if (begins_with(head, len, "\x17\x08\x44tracing", 10))
		text = "%s is a recording of trace-cmd; trace-cmd report makes the text that can "
		       "be read";
	return vw_error_set(e, -ENODATA, "no_input", text, vw_input_name(in));
}

static int read_text(struct analysis *a, struct vw_input *in, struct vw_error *e)
{
	const struct vw_options *o = a->options;
	/* A trace shows all there is: nothing has to be looked at twice, and nothing gets stale. */
	const struct vw_detect_config detect = { .threshold_ns = o->threshold_ns,
						 .stale_ns = INT64_MAX };
	const struct vw_replay_config config = {
		.threshold_ns = o->threshold_ns,
		.choice = a->choice,
		.procfs = o->procfs_given ? o->procfs : NULL,
		.sysfs = o->sysfs_given ? o->sysfs : NULL,
	};
	struct vw_replay out;
	size_t len;
	const char *head = vw_input_head(in, &len);
	enum vw_trace_form form = vw_trace_looks_like(head, len);
	int err = begin(a, &detect, e);

	if (err)
		return err;
	if (form != VW_TRACE_NONE)
		return vw_trace_read(in, form, &config, replay_to(a, &out), &a->result, e);
	if (vw_klog_looks_like(head, len))
		return vw_klog_read(in, &config, replay_to(a, &out), &a->result, e);
	return refuse(in, e);
}

static int read_any(struct analysis *a, struct vw_input *in, struct vw_error *e)
{
	size_t len;
	const char *head = vw_input_head(in, &len);

	return vw_recording_looks_like(head, len) ? read_recording(a, in, e) : read_text(a, in, e);
}

static void warn(const char *text)
{
	if (text[0])
		fprintf(stderr, "vhostwatch: warning: %s\n", text);
}

static int show(struct analysis *a, const char *name, struct vw_sink *sink,
		struct vw_summary *summary)
{
	struct vw_replay_result *r = &a->result;

	r->header.input = name;
	*summary = (struct vw_summary){
		.lost_events = r->lost_events,
		.skipped_lines = r->skipped_lines,
		.invalid_samples = vw_detect_invalid_samples(a->detect),
		.duration_ns = r->duration_ns,
		.workers = r->workers,
	};
	warn(r->complaint);
	warn(r->unfinished);
	return vw_finals_show(a->finals, sink, &r->header, summary);
}

static int analyze(const struct vw_options *options, const char *path, struct vw_sink *sink,
		   struct vw_summary *summary, struct vw_error *e)
{
	struct analysis a = { .options = options, .choice = vw_cmd_choice(options) };
	struct vw_input *in;
	int err;

	err = vw_input_open(path, &in, e);
	if (err)
		return err;
	/* Who calls back has no words for a failure of its own. */
	vw_error_set(e, -ENOMEM, "memory", "out of memory");
	a.finals = vw_finals_new(&a.choice);
	err = a.finals ? read_any(&a, in, e) : -ENOMEM;
	if (err)
		goto out;
	vw_detect_finish(a.detect, a.result.end_ns);
	err = a.err ?: show(&a, vw_input_name(in), sink, summary);
	if (err && err != -ENOMEM && err != -EPIPE)
		vw_error_set(e, err, "io", "cannot write what was found: %s", strerror(-err));
out:
	vw_detect_destroy(a.detect);
	vw_finals_free(a.finals);
	vw_recording_close(a.recording);
	vw_input_close(in);
	return err;
}

int vw_cmd_analyze(const struct vw_options *options)
{
	bool json = options->format == VW_FORMAT_JSON;
	struct vw_sink *sink = json ? vw_sink_json_new(stdout) : vw_sink_text_new(stdout);
	struct vw_error e = { "memory", "out of memory" };
	int worst = VW_EXIT_OK, code;
	struct vw_summary summary;
	unsigned int i;
	int err = 0;

	if (!sink)
		return vw_cmd_fail(options->format, &e);
	/* A reader that has gone has had what it wanted. */
	for (i = 0; i < options->n_files && err != -EPIPE; i++) {
		err = analyze(options, options->files[i], sink, &summary, &e);
		code = !err	     ? (int)vw_cmd_exit(summary.verdict) :
		       err == -EPIPE ? VW_EXIT_OK :
				       vw_cmd_fail(options->format, &e);
		if (code > worst)
			worst = code;
	}
	sink->ops->free(sink);
	return worst;
}
