// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a kernel log from its beginning to its end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "source/klog_internal.h"
#include "source/roots.h"
#include "util/parse.h"

#define LOOK_LINES 64 /* so many are looked at to tell a log from something else */

/* What one line says for or against. */
struct votes {
	unsigned int lines, log;
	bool report;
};

static void vote(struct votes *v, struct vw_klog_clock *clock, const char *line, size_t len)
{
	struct vw_klog_report r;
	struct vw_klog_text t;

	vw_klog_text_parse(clock, line, len, &t);
	if (t.sort == VW_KLOG_ASIDE)
		return;
	v->lines++;
	if (t.sort != VW_KLOG_BARE)
		v->log++;
	if (t.sort == VW_KLOG_FOREIGN)
		return;
	vw_klog_report_init(&r, VW_REPORT_RCU_STALL, VW_UNKNOWN);
	v->report |= vw_klog_rcu_head(&r, t.text) || vw_klog_lockup_head(&r, t.text);
}

bool vw_klog_looks_like(const char *head, size_t len)
{
	struct vw_klog_clock clock = { 0 };
	struct votes v = { 0 };
	const char *end;
	size_t n;

	for (; len && v.lines < LOOK_LINES; head += n, len -= n) {
		end = memchr(head, '\n', len);
		n = end ? (size_t)(end - head) + 1 : len;
		vote(&v, &clock, head, end ? n - 1 : n);
	}
	return v.report || (v.log && v.log >= v.lines / 2);
}

struct reader {
	struct vw_klog *klog;
	struct vw_input *in;
	const struct vw_replay *out;
	struct vw_replay_result *result;
	uint64_t kernel_lines;
	uint64_t ticked_ns; /* VW_UNKNOWN */
};

static void skip(struct reader *r, const char *why)
{
	struct vw_replay_result *result = r->result;

	if (!result->skipped_lines++)
		snprintf(result->complaint, sizeof(result->complaint), "%.160s:%" PRIu64 ": %s",
			 vw_input_name(r->in), vw_input_line_number(r->in), why);
}

/* About once a second of the log. */
static int tick(struct reader *r)
{
	uint64_t now_ns = vw_klog_now(r->klog);

	if (now_ns == VW_UNKNOWN ||
	    (r->ticked_ns != VW_UNKNOWN && now_ns - r->ticked_ns < VW_NS_PER_SEC))
		return 0;
	r->ticked_ns = now_ns;
	return r->out->tick(r->out->ctx, now_ns);
}

static int read_line(struct reader *r, const char *line, size_t len)
{
	enum vw_klog_sort sort;
	int taken = vw_klog_sorted(r->klog, line, len, VW_UNKNOWN, &sort);

	if (taken < 0)
		return taken;
	if (taken)
		r->kernel_lines++;
	else if (sort == VW_KLOG_FOREIGN)
		r->result->other_events++;
	else if (sort == VW_KLOG_BARE)
		skip(r, "no line of a kernel log");
	return tick(r);
}

static int read_all(struct reader *r)
{
	const char *line;
	size_t len;
	int err;

	for (;;) {
		err = vw_input_line(r->in, &line, &len);
		if (!err)
			return vw_klog_finish(r->klog);
		if (err == -ENOBUFS) {
			skip(r, "the line is too long");
			continue;
		}
		if (err > 0)
			err = read_line(r, line, len);
		if (err)
			return err;
	}
}

static void describe(const struct vw_klog *klog, struct vw_header *h)
{
	bool times = klog->now_ns != VW_UNKNOWN;
	enum vw_kind kind;

	h->source = "kernel-log";
	h->clock = "printk";
	h->level = "offline";
	h->host = klog->host;
	h->n_hooks = 1;
	h->hooks[0] = (struct vw_hook){ .state = VW_HOOK_ATTACHED };
	snprintf(h->hooks[0].name, sizeof(h->hooks[0].name), "log");
	snprintf(h->hooks[0].via, sizeof(h->hooks[0].via), "kernel log");
	if (!times) {
		snprintf(h->hooks[0].reason, sizeof(h->hooks[0].reason),
			 "its lines have no time stamps");
		snprintf(h->hooks[0].lost, sizeof(h->hooks[0].lost),
			 "when and for how long something lasted");
	}
	h->n_detectors = VW_KIND_COUNT;
	for (kind = 0; kind < VW_KIND_COUNT; kind++) {
		struct vw_detector_info *d = &h->detectors[kind];

		*d = (struct vw_detector_info){ .state = VW_DETECTOR_FULL };
		snprintf(d->kind, sizeof(d->kind), "%s", vw_kind_name(kind));
		if (kind == VW_RCU_STALL || kind == VW_SOFT_LOCKUP)
			continue;
		d->state = VW_DETECTOR_OFF;
		snprintf(d->reason, sizeof(d->reason),
			 "a kernel log has no events of the scheduler");
	}
}

static void finish_result(const struct reader *r)
{
	struct vw_replay_result *result = r->result;
	const struct vw_klog *klog = r->klog;

	describe(klog, &result->header);
	result->end_ns = klog->now_ns;
	result->lost_events = klog->dropped;
	result->duration_ns = klog->now_ns == VW_UNKNOWN ? VW_UNKNOWN :
							   klog->now_ns - klog->first_ns;
	result->workers = (uint32_t)vw_tasks_count(klog->workers);
	if (vw_input_truncated(r->in))
		snprintf(result->unfinished, sizeof(result->unfinished),
			 "%.160s ends early: what is read is what came before",
			 vw_input_name(r->in));
}

int vw_klog_read(struct vw_input *in, const struct vw_replay_config *config,
		 const struct vw_replay *out, struct vw_replay_result *ret, struct vw_error *e)
{
	struct reader r = { .in = in, .out = out, .result = ret, .ticked_ns = VW_UNKNOWN };
	struct vw_roots roots = VW_ROOTS_NONE;
	int err = vw_roots_open(&roots, config, e);

	memset(ret, 0, sizeof(*ret));
	r.klog = vw_klog_new(out);
	if (!err && !r.klog)
		err = vw_error_set(e, -ENOMEM, "memory", "out of memory");
	if (err)
		goto out;
	r.klog->attr = roots.attr;
	err = read_all(&r);
	if (!err && !r.kernel_lines)
		err = vw_error_set(e, -ENODATA, "no_input",
				   "there is no line of a kernel log in %s: give the output of"
				   " dmesg, or of journalctl -k",
				   vw_input_name(in));
	if (!err)
		finish_result(&r);
out:
	vw_klog_free(r.klog);
	vw_roots_close(&roots);
	return err;
}
