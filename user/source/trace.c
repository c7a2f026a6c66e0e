// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "source/klog.h"
#include "source/roots.h"
#include "source/sched.h"
#include "source/trace.h"
#include "util/parse.h"

/*
 * trace_pipe is read while it is written, and clocks of CPUs differ a little: an event may stand
 * behind one that is later.  So much is taken as "at the same time"; what is older is left out.
 */
#define SLACK_NS VW_NS_PER_MS

#define LOOK_EVENTS 64 /* so many lines of a trace decide */

struct reader {
	struct vw_input *in;
	enum vw_trace_form form;
	struct vw_sched *sched;
	struct vw_klog *klog;
	struct vw_roots roots;
	const struct vw_replay *out;
	struct vw_replay log_out; /* for the log, which has a life of its own in its own clock */
	uint64_t events, start_ns, now_ns;
	struct vw_replay_result result;
};

/* Lines of a trace, and others, as @form has them. */
struct votes {
	unsigned int events, others;
};

static void vote(struct votes *v, enum vw_trace_form form, const char *line, size_t len)
{
	struct vw_event event;
	const char *why;

	switch (vw_ftrace_parse(line, len, form, &event, &why)) {
	case 0:
		break;
	case 1:
	case -EBADMSG: /* a trace, if a broken one: what is wrong with it is told when it is read */
		v->events++;
		break;
	default:
		v->others++;
	}
}

/* People paste traces into other text; what looks like an event is hardly ever anything else. */
static bool enough(const struct votes *v)
{
	return v->events && v->events >= v->others / 32;
}

enum vw_trace_form vw_trace_looks_like(const char *head, size_t len)
{
	struct votes ftrace = { 0 }, perf = { 0 };
	const char *feed;
	size_t n, rest;

	if (len >= 10 && !memcmp(head, "# tracer: ", 10))
		return VW_TRACE_FTRACE;
	for (rest = len; rest && ftrace.events < LOOK_EVENTS && perf.events < LOOK_EVENTS;
	     head += n, rest -= n) {
		feed = memchr(head, '\n', rest);
		/* The last line may be cut. */
		if (!feed && (ftrace.events || perf.events))
			break;
		n = feed ? (size_t)(feed - head) + 1 : rest;
		vote(&ftrace, VW_TRACE_FTRACE, head, feed ? n - 1 : n);
		vote(&perf, VW_TRACE_PERF, head, feed ? n - 1 : n);
	}
	if (ftrace.events >= perf.events)
		return enough(&ftrace) ? VW_TRACE_FTRACE : VW_TRACE_NONE;
	return enough(&perf) ? VW_TRACE_PERF : VW_TRACE_NONE;
}

static void skip(struct reader *r, const char *why)
{
	if (r->result.skipped_lines++)
		return;
	snprintf(r->result.complaint, sizeof(r->result.complaint), "%.120s:%" PRIu64 ": %s",
		 vw_input_name(r->in), vw_input_line_number(r->in), why);
}

/* False when the event lies too far back. */
static bool take_time(struct reader *r, struct vw_event *event)
{
	if (event->ts_ns == VW_UNKNOWN)
		return true;
	if (!r->events)
		r->start_ns = r->now_ns = event->ts_ns;
	if (event->ts_ns >= r->now_ns) {
		r->now_ns = event->ts_ns;
		return true;
	}
	if (r->now_ns - event->ts_ns > SLACK_NS) {
		skip(r, "its time is before that of the lines above");
		return false;
	}
	event->ts_ns = r->now_ns;
	return true;
}

/* Of a log only its reports: gaps and time are what the trace says. */
static int on_log_obs(void *ctx, const struct vw_obs *obs)
{
	const struct reader *r = ctx;

	return obs->kind == VW_OBS_REPORT ? r->out->obs(r->out->ctx, obs) : 0;
}

static int read_event(struct reader *r, struct vw_event *event)
{
	int err = 0;

	if (event->kind == VW_EVENT_OTHER)
		r->result.other_events++;
	if (event->kind == VW_EVENT_LOST)
		return vw_sched_event(r->sched, event);
	if (event->ts_ns == VW_UNKNOWN || !take_time(r, event))
		return 0;
	r->events++;
	if (event->kind == VW_EVENT_CONSOLE || event->kind == VW_EVENT_RCU_STALL)
		err = vw_klog_line(r->klog, event->console.text, event->console.len, event->ts_ns);
	return err < 0 ? err : vw_sched_event(r->sched, event);
}

/* What came before the end that should not have been one counts. */
static int stopped(struct reader *r, int err)
{
	snprintf(r->result.unfinished, sizeof(r->result.unfinished),
		 "%.120s: reading ended early: %s", vw_input_name(r->in),
		 err == -EINTR ? "interrupted" : strerror(-err));
	return 0;
}

/* The kernel dumps its trace into its log when it dies: what is no event may tell of a stall. */
static int read_other(struct reader *r, const char *line, size_t len, const char *why)
{
	int err = vw_klog_line(r->klog, line, len, VW_UNKNOWN);

	if (!err)
		skip(r, why);
	return err < 0 ? err : 0;
}

static int read_lines(struct reader *r)
{
	struct vw_event event;
	const char *line, *why;
	size_t len;
	int err;

	for (;;) {
		err = vw_input_line(r->in, &line, &len);
		if (!err)
			return 0;
		if (err == -ENOBUFS) {
			skip(r, "the line is too long");
			continue;
		}
		if (err < 0)
			return stopped(r, err);
		err = vw_ftrace_parse(line, len, r->form, &event, &why);
		if (err == 1)
			err = read_event(r, &event);
		else if (err == -EINVAL)
			err = read_other(r, line, len, why);
		else if (err < 0)
			skip(r, why), err = 0;
		if (err)
			return err;
	}
}

static void describe(struct reader *r)
{
	struct vw_replay_result *result = &r->result;

	result->header.source = r->form == VW_TRACE_PERF ? "perf-script" : "ftrace";
	result->header.clock = "trace";
	result->header.level = "offline";
	vw_sched_describe(r->sched, &result->header);
	result->end_ns = r->now_ns;
	result->duration_ns = r->now_ns - r->start_ns;
	result->lost_events = vw_sched_lost(r->sched);
	result->workers = vw_sched_workers(r->sched);
	if (vw_input_truncated(r->in))
		snprintf(
			result->unfinished, sizeof(result->unfinished),
			"%.120s: the gzip data is damaged or ends early; what came before was used",
			vw_input_name(r->in));
}

static int begin(struct reader *r, const struct vw_replay_config *config,
		 const struct vw_replay *out, struct vw_error *e)
{
	struct vw_sched_config sched = { .threshold_ns = config->threshold_ns,
					 .choice = config->choice };
	int err = vw_roots_open(&r->roots, config, e);

	if (err)
		return err;
	sched.attr = r->roots.attr;
	r->sched = vw_sched_new(&sched, out);
	r->out = out;
	r->log_out = (struct vw_replay){ .obs = on_log_obs, .ctx = r };
	r->klog = vw_klog_new(&r->log_out);
	if (!r->sched || !r->klog)
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	return 0;
}

static void end(struct reader *r)
{
	vw_sched_free(r->sched);
	vw_klog_free(r->klog);
	vw_roots_close(&r->roots);
}

static int no_event(const struct reader *r, struct vw_error *e)
{
	const char *why = r->result.complaint[0] ? r->result.complaint : r->result.unfinished;

	return vw_error_set(e, -ENODATA, "no_input", "%s: a trace without any event%s%s%s",
			    vw_input_name(r->in), why[0] ? " (" : "", why, why[0] ? ")" : "");
}

int vw_trace_read(struct vw_input *in, enum vw_trace_form form,
		  const struct vw_replay_config *config, const struct vw_replay *out,
		  struct vw_replay_result *ret, struct vw_error *e)
{
	struct reader r = { .in = in, .form = form, .roots = VW_ROOTS_NONE };
	int err = begin(&r, config, out, e);

	if (!err)
		err = read_lines(&r);
	if (!err && !r.events) {
		err = no_event(&r, e);
		goto out;
	}
	if (!err)
		err = vw_klog_finish(r.klog);
	if (!err)
		err = vw_sched_finish(r.sched);
	if (err)
		goto out;
	describe(&r);
	*ret = r.result;
out:
	end(&r);
	return err;
}
