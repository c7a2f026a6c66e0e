// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/run.h"
#include "detect/detect.h"
#include "source/live.h"
#include "util/clock.h"
#include "util/parse.h"

/* At guard level one look a second is the budget of a production host. */
#define POLL_GUARD_NS VW_NS_PER_SEC
#define POLL_TRACE_NS (100 * VW_NS_PER_MS)
#define MAX_OPEN 256

/* A finding that is open: told again each interval, counted once. */
struct open_finding {
	enum vw_kind kind;
	int32_t cpu;
	uint64_t start_ns;
};

struct run {
	const struct vw_options *options;
	const struct vw_choice *choice;
	struct vw_sink *sink;
	struct vw_live *live;
	struct vw_detect *detect;
	const struct vw_run_tap *tap; /* or NULL */
	struct vw_run_result *result;
	uint64_t start_ns;
	unsigned int n_open;
	struct open_finding open[MAX_OPEN];
	int err;
};

void vw_run_config(const struct vw_options *options, struct vw_live_config *ret)
{
	static const enum vw_plan_clock clocks[VW_CLOCK_COUNT] = {
		[VW_CLOCK_AUTO] = VW_PLAN_CLOCK_NONE,
		[VW_CLOCK_LOCAL_TIMER_ENTRY] = VW_PLAN_CLOCK_LOCAL_TIMER,
		[VW_CLOCK_CPU_CLOCK] = VW_PLAN_CLOCK_CPU_CLOCK,
		[VW_CLOCK_SCHED_STAT_RUNTIME] = VW_PLAN_CLOCK_STAT_RUNTIME,
		[VW_CLOCK_PROCFS] = VW_PLAN_CLOCK_PROCFS,
	};

	memset(ret, 0, sizeof(*ret));
	ret->wanted.level = options->level == VW_LEVEL_GUARD ? VW_PLAN_GUARD : VW_PLAN_TRACE;
	ret->wanted.clock = clocks[options->clock];
	ret->threshold_ns = options->threshold_ns;
	ret->poll_ns = options->level == VW_LEVEL_GUARD ? POLL_GUARD_NS : POLL_TRACE_NS;
	if (ret->poll_ns > options->interval_ns)
		ret->poll_ns = options->interval_ns;
	ret->procfs = options->procfs;
	ret->sysfs = options->sysfs;
	ret->choice = vw_cmd_choice(options);
	ret->verbose = options->verbose;
}

/* True when @f is a finding not counted yet. */
static bool count_once(struct run *run, const struct vw_finding *f)
{
	struct open_finding *o;
	unsigned int i;

	for (i = 0; i < run->n_open; i++) {
		o = &run->open[i];
		if (o->kind != f->kind || o->cpu != f->cpu || o->start_ns != f->start_ns)
			continue;
		if (f->status == VW_CLOSED)
			*o = run->open[--run->n_open];
		return false;
	}
	if (f->status == VW_OPEN && run->n_open < MAX_OPEN) {
		o = &run->open[run->n_open++];
		o->kind = f->kind;
		o->cpu = f->cpu;
		o->start_ns = f->start_ns;
	}
	return true;
}

/* Calls a function of the tap, if there is one; the first failure stays. */
#define TAP(run, fn, ...)                                                                          \
	do {                                                                                       \
		if ((run)->tap && !(run)->err)                                                     \
			(run)->err = (run)->tap->fn((run)->tap->ctx, __VA_ARGS__);                 \
	} while (0)

static void on_finding(void *ctx, const struct vw_finding *found)
{
	struct run *run = ctx;
	struct vw_run_result *r = run->result;
	struct vw_finding f = *found;
	uint64_t now = vw_clock_now();

	TAP(run, finding, found);
	if (!vw_choice_wants(run->choice, &f))
		return;
	if (count_once(run, &f))
		r->summary.counts[f.kind]++;
	if (!r->has_worst || f.severity > r->worst.severity ||
	    (f.severity == r->worst.severity && f.duration_ns >= r->worst.duration_ns)) {
		r->has_worst = true;
		r->worst = f;
	}
	f.printed_after_ns = now > f.end_ns ? now - f.end_ns : 0;
	run->sink->ops->finding(run->sink, &f);
}

static void on_obs(void *ctx, const struct vw_obs *obs)
{
	struct run *run = ctx;

	TAP(run, obs, obs);
	run->err = vw_detect_feed(run->detect, obs) ?: run->err;
}

static void on_row(void *ctx, const struct vw_worker_row *row)
{
	struct run *run = ctx;

	TAP(run, row, row);
	run->sink->ops->worker(run->sink, row);
}

/*
 * The signals that end a run, as a descriptor to wait on.
 */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Waits for @until; true when the run is to end. */
static bool wait_until(int signals, uint64_t until)
{
	struct pollfd pfd = { .fd = signals, .events = POLLIN };
	uint64_t now = vw_clock_now();
	struct timespec left = { 0, 0 };

	if (until > now) {
		left.tv_sec = (time_t)((until - now) / VW_NS_PER_SEC);
		left.tv_nsec = (long)((until - now) % VW_NS_PER_SEC);
	}
	return ppoll(&pfd, 1, &left, NULL) > 0;
}

static void show_interval(struct run *run, bool rows, uint64_t now)
{
	TAP(run, tick, now);
	vw_detect_tick(run->detect, now);
	if (rows) {
		vw_live_rows(run->live, now, on_row, run);
		run->sink->ops->rows_done(run->sink, now);
	}
}

static int loop(struct run *run, int signals, uint64_t poll_ns, bool rows)
{
	const struct vw_options *o = run->options;
	uint64_t next = run->start_ns + o->interval_ns;
	uint64_t end = o->duration_ns ? run->start_ns + o->duration_ns : UINT64_MAX;
	uint64_t now, until;
	bool stop = false;
	int err = 0;

	while (!err && !stop) {
		err = vw_live_poll(run->live, on_obs, run) ?: run->err;
		now = vw_clock_now();
		if (now >= next || now >= end) {
			show_interval(run, rows, now);
			/*
			 * After a pause as long as several intervals there is one row, not several.
			 */
			next = now >= next ? now + o->interval_ns : next;
		}
		TAP(run, round, now, vw_live_lost(run->live), vw_live_workers_seen(run->live));
		err = err ?: run->err ?: run->sink->ops->flush(run->sink);
		stop = now >= end || (run->sink->ops->quit && run->sink->ops->quit(run->sink));
		until = now + poll_ns < next ? now + poll_ns : next;
		if (!err && !stop)
			stop = wait_until(signals, until < end ? until : end);
	}
	return err;
}

static enum vw_verdict verdict_of(const struct vw_run_result *r)
{
	if (!r->has_worst || r->worst.severity == VW_INFO)
		return VW_VERDICT_OK;
	return r->worst.severity == VW_CRITICAL ? VW_VERDICT_CRITICAL : VW_VERDICT_WARNING;
}

/*
 * BPF makes ten records a second while a stint lasts, and they have all been read when the
 * detectors are asked; a second without one, however seldom they are read, means that it is over.
 * /proc is looked at once a round.
 */
static uint64_t stale_after(const struct vw_header *header, uint64_t poll_ns)
{
	bool rounds = !strcmp(header->hooks[0].via, vw_plan_clock_via(VW_PLAN_CLOCK_PROCFS));

	return rounds && 3 * poll_ns > VW_NS_PER_SEC ? 3 * poll_ns : VW_NS_PER_SEC;
}

static int run_opened(struct run *run, struct vw_header *header,
		      const struct vw_live_config *config, bool rows, int signals)
{
	struct vw_detect_config detect = {
		.threshold_ns = config->threshold_ns,
		.tick_ns = header->host.hz ? VW_NS_PER_SEC / header->host.hz : 4 * VW_NS_PER_MS,
		.stale_ns = stale_after(header, config->poll_ns),
		.host = header->host,
	};
	struct vw_run_result *r = run->result;
	uint64_t end;
	int err;

	run->detect = vw_detect_create(&detect, on_finding, run);
	if (!run->detect)
		return -ENOMEM;
	run->sink->ops->begin(run->sink, header);
	run->start_ns = vw_clock_now();
	TAP(run, begin, header, &detect, run->start_ns);
	err = run->err ?: loop(run, signals, config->poll_ns, rows);
	end = vw_clock_now();
	vw_detect_finish(run->detect, end);
	r->workers = vw_live_workers_seen(run->live);
	r->summary.workers = r->workers;
	r->summary.lost_events = vw_live_lost(run->live);
	r->summary.invalid_samples = vw_detect_invalid_samples(run->detect);
	r->summary.duration_ns = end - run->start_ns;
	if (!err)
		TAP(run, finish, end, r->summary.lost_events, r->workers);
	err = err ?: run->err;
	r->summary.verdict = err ? VW_VERDICT_UNKNOWN : verdict_of(r);
	run->sink->ops->end(run->sink, &r->summary);
	vw_detect_destroy(run->detect);
	return err ?: run->sink->ops->flush(run->sink);
}

int vw_run_live(const struct vw_options *options, struct vw_sink *sink, bool rows,
		const struct vw_run_tap *tap, struct vw_run_result *ret, struct vw_error *e)
{
	struct run run = { .options = options, .sink = sink, .tap = tap, .result = ret };
	struct vw_live_config config;
	struct vw_header header;
	int err, signals;

	memset(ret, 0, sizeof(*ret));
	vw_run_config(options, &config);
	run.choice = &config.choice;
	signals = open_signals();
	if (signals < 0)
		return vw_error_set(e, signals, "io", "cannot wait for signals: %s",
				    strerror(-signals));
	err = vw_live_open(&config, &header, &run.live, e);
	if (err)
		goto out;
	err = run_opened(&run, &header, &config, rows, signals);
	/* A reader that has gone (head, a closed pager) has had what it wanted. */
	if (err == -EPIPE)
		err = 0;
	if (err)
		vw_error_set(e, err, err == -ENOMEM ? "memory" : "io", "the run ended early: %s",
			     strerror(-err));
out:
	vw_live_close(run.live);
	close(signals);
	return err;
}
