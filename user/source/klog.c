// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts reports together from the lines of a log.
 *
 * Several CPUs may print at the same time.  Who printed a line is told by its caller field, if the
 * log has it; else the CPU that a line is about tells to which of the open reports it belongs.  A
 * report is complete when nothing more has come for a while.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/klog_internal.h"
#include "util/parse.h"

#define QUIET_NS (10 * VW_NS_PER_SEC)
#define QUIET_LINES 400 /* where lines have no time; one dump has about 60 */
/* Lines of several CPUs are a little out of order; who starts again has booted. */
#define BACK_NS (60 * VW_NS_PER_SEC)

struct vw_klog *vw_klog_new(const struct vw_replay *out)
{
	struct vw_klog *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->workers = vw_tasks_new();
	if (!k->workers) {
		free(k);
		return NULL;
	}
	k->out = out;
	k->now_ns = k->first_ns = VW_UNKNOWN;
	return k;
}

void vw_klog_free(struct vw_klog *k)
{
	if (!k)
		return;
	vw_tasks_free(k->workers);
	free(k);
}

uint64_t vw_klog_now(const struct vw_klog *k)
{
	return k->now_ns;
}

/* --- the end of a report ---------------------------------------------------------------------- */

static bool is_culprit(const struct vw_klog_report *r, const struct vw_klog_dump *d)
{
	if (!d->named || !d->tid)
		return false;
	/* Whoever keeps the thread that drives RCU from running. */
	if (r->obs.gp_kthread_starved)
		return r->starved_cpu >= 0 && d->cpu == r->starved_cpu;
	return vw_klog_report_has_cpu(r, d->cpu) || vw_klog_report_has_task(r, d->tid);
}

static const struct vw_klog_dump *find_culprit(const struct vw_klog_report *r)
{
	unsigned int i;

	for (i = 0; i < r->n_dumps; i++)
		if (is_culprit(r, &r->dumps[i]))
			return &r->dumps[i];
	return NULL;
}

static void name_culprit(struct vw_klog_report *r)
{
	const struct vw_klog_dump *d = find_culprit(r);

	if (!d)
		return;
	vw_klog_dump_task(d, &r->obs.culprit);
	r->obs.culprit_cpu = d->cpu;
	r->obs.n_stack = d->n_stack;
	memcpy(r->obs.stack, d->stack, sizeof(d->stack));
}

/* More than its name, where there is a /proc that still shows it. */
static int tell_task(struct vw_klog *k, const struct vw_task *culprit)
{
	struct vw_obs obs = { .kind = VW_OBS_TASK, .ts_ns = k->now_ns };

	if (vw_attr_task(k->attr, culprit->tid, &obs.task) || strcmp(obs.task.comm, culprit->comm))
		return 0;
	return k->out->obs(k->out->ctx, &obs);
}

/* Gives the report away; @ends: so does the log. */
static int give(struct vw_klog *k, struct vw_klog_report *r, bool ends)
{
	struct vw_obs obs = { .kind = VW_OBS_REPORT, .ts_ns = r->ts_ns };
	unsigned int i;
	int err = 0;

	name_culprit(r);
	if (k->attr && r->obs.culprit.tid)
		err = tell_task(k, &r->obs.culprit);
	r->obs.interrupts |= r->hardirq > 50 * r->rows;
	r->obs.incomplete = !r->head || !r->tail || r->cut || (ends && r->awaits);
	obs.report = r->obs;
	if (!err && r->obs.culprit.role == VW_ROLE_VHOST_WORKER)
		err = vw_tasks_put(k->workers, &r->obs.culprit);
	for (i = 0; i < VW_KLOG_STREAMS; i++)
		if (k->streams[i].report == r) {
			k->streams[i].report = NULL;
			k->streams[i].dump = -1;
		}
	r->opened = 0;
	return err ?: k->out->obs(k->out->ctx, &obs);
}

static struct vw_klog_report *oldest(struct vw_klog *k)
{
	struct vw_klog_report *first = NULL;
	unsigned int i;

	for (i = 0; i < VW_KLOG_REPORTS; i++)
		if (k->reports[i].opened && (!first || k->reports[i].opened < first->opened))
			first = &k->reports[i];
	return first;
}

static int give_all(struct vw_klog *k, bool ends)
{
	struct vw_klog_report *r;
	int err = 0;

	while (!err && (r = oldest(k)))
		err = give(k, r, ends);
	return err;
}

static bool is_over(const struct vw_klog *k, const struct vw_klog_report *r)
{
	if (r->idle_lines > QUIET_LINES)
		return true;
	return k->now_ns != VW_UNKNOWN && r->last_ns != VW_UNKNOWN && k->now_ns > r->last_ns &&
	       k->now_ns - r->last_ns > QUIET_NS;
}

static int give_what_is_over(struct vw_klog *k)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < VW_KLOG_REPORTS; i++) {
		struct vw_klog_report *r = &k->reports[i];

		if (!r->opened)
			continue;
		r->idle_lines++;
		if (is_over(k, r))
			err = give(k, r, false);
	}
	return err;
}

/* --- time ------------------------------------------------------------------------------------- */

/* The host has booted: what is open is over, and what comes counts from 0 again. */
static int boot(struct vw_klog *k)
{
	struct vw_obs obs = { .kind = VW_OBS_LOSS, .ts_ns = k->now_ns };
	int err = give_all(k, false);

	memset(k->streams, 0, sizeof(k->streams));
	k->booted = true;
	if (err || k->now_ns == VW_UNKNOWN)
		return err;
	obs.loss.cpu = -1;
	return k->out->obs(k->out->ctx, &obs);
}

/* By the stamp of the line itself. */
static int set_now(struct vw_klog *k, const struct vw_klog_text *t)
{
	uint64_t ns = t->ts_ns;
	int err = 0;

	if (ns == VW_UNKNOWN)
		return 0;
	/* One log, one clock: dates between the kernel's own stamps are left alone. */
	if (t->kernel_time)
		k->kernel_time = true;
	else if (k->kernel_time)
		return 0;
	if (__builtin_add_overflow(ns, k->base_ns, &ns) || ns == VW_UNKNOWN)
		return 0;
	if (k->now_ns != VW_UNKNOWN && ns < k->now_ns) {
		if (!k->booted && k->now_ns - ns > BACK_NS)
			err = boot(k);
		if (k->booted)
			k->base_ns += k->now_ns - ns;
		ns = k->now_ns;
	}
	k->booted = false;
	if (k->first_ns == VW_UNKNOWN)
		k->first_ns = ns;
	k->now_ns = ns;
	return err;
}

/* --- which report a line belongs to ----------------------------------------------------------- */

static struct vw_klog_stream *stream_of(struct vw_klog *k, const struct vw_klog_text *t)
{
	struct vw_klog_stream *s, *idle = &k->streams[0];
	unsigned int i;

	for (i = 0; i < VW_KLOG_STREAMS; i++) {
		s = &k->streams[i];
		if (s->used && s->caller == t->caller && s->caller_id == t->caller_id)
			break;
		if (s->used < idle->used)
			idle = s;
	}
	if (i == VW_KLOG_STREAMS) {
		s = idle;
		memset(s, 0, sizeof(*s));
		s->caller = t->caller;
		s->caller_id = t->caller_id;
		s->dump = s->next_cpu = -1;
	}
	s->used = ++k->n_lines;
	return s;
}

struct vw_klog_report *vw_klog_find(struct vw_klog *k, const struct vw_klog_stream *s,
				    vw_klog_wanted wanted, int64_t argument)
{
	struct vw_klog_report *best = NULL;
	unsigned int i;

	if (s->report && wanted(s->report, argument))
		return s->report;
	for (i = 0; i < VW_KLOG_REPORTS; i++) {
		struct vw_klog_report *r = &k->reports[i];

		if (r->opened && (!best || r->opened > best->opened) && wanted(r, argument))
			best = r;
	}
	return best;
}

static bool any_rcu(const struct vw_klog_report *r, int64_t unused)
{
	(void)unused;
	return r->obs.kind == VW_REPORT_RCU_STALL;
}

/* A line about a stalled CPU: a CPU that tells of itself has only one. */
static bool takes_cpu(const struct vw_klog_report *r, int64_t unused)
{
	return any_rcu(r, unused) && !r->tail && !r->in_list && !r->obs.expedited &&
	       !(r->self && r->obs.n_cpus);
}

static bool takes_tail(const struct vw_klog_report *r, int64_t other)
{
	return any_rcu(r, 0) && !r->tail && !r->obs.expedited && r->self == !other;
}

static bool in_list(const struct vw_klog_report *r, int64_t unused)
{
	return any_rcu(r, unused) && r->in_list;
}

static bool locked_up(const struct vw_klog_report *r, int64_t cpu)
{
	return r->obs.kind == VW_REPORT_SOFT_LOCKUP && vw_klog_report_has_cpu(r, (int32_t)cpu);
}

struct vw_klog_report *vw_klog_open(struct vw_klog *k, struct vw_klog_stream *s,
				    enum vw_report_kind kind, int *ret_err)
{
	struct vw_klog_report *r = NULL;
	unsigned int i;

	*ret_err = 0;
	for (i = 0; i < VW_KLOG_REPORTS; i++)
		if (!k->reports[i].opened)
			r = &k->reports[i];
	if (!r) {
		r = oldest(k);
		*ret_err = give(k, r, false);
		if (*ret_err)
			return NULL;
	}
	vw_klog_report_init(r, kind, k->now_ns);
	r->opened = ++k->n_reports;
	s->report = r;
	s->dump = s->next_cpu = -1;
	s->muted = s->orphaned = s->task_on = false;
	return r;
}

void vw_klog_belongs(struct vw_klog *k, struct vw_klog_stream *s, struct vw_klog_report *r)
{
	if (!r)
		return;
	if (s->report != r) {
		s->report = r;
		s->dump = -1;
	}
	r->idle_lines = 0;
	r->last_ns = k->now_ns;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int take_head(struct vw_klog *k, struct vw_klog_stream *s, const char *text)
{
	struct vw_klog_report *r, *fresh = &k->scratch;
	enum vw_report_kind kind = VW_REPORT_RCU_STALL;
	uint64_t opened;
	int err;

	/* All of them have this; a report is much to clear for every line. */
	if (!strstr(text, "INFO: ") && !strstr(text, "BUG: "))
		return 0;
	vw_klog_report_init(fresh, kind, k->now_ns);
	if (!vw_klog_rcu_head(fresh, text)) {
		kind = VW_REPORT_SOFT_LOCKUP;
		vw_klog_report_init(fresh, kind, k->now_ns);
		if (!vw_klog_lockup_head(fresh, text))
			return 0;
	}
	r = vw_klog_open(k, s, kind, &err);
	if (!r)
		return err;
	opened = r->opened;
	*r = *fresh;
	r->opened = opened;
	return 1;
}

/* Lines that only RCU stalls have; of a report that began before the log, they come first. */
static int take_rcu(struct vw_klog *k, struct vw_klog_stream *s, const char *text)
{
	struct vw_klog_report *r = NULL;
	struct vw_klog_tail tail;
	int64_t cpu;
	int err = 0;

	if (vw_klog_rcu_cpu(text, &cpu)) {
		r = vw_klog_find(k, s, takes_cpu, 0);
		if (!r)
			r = vw_klog_open(k, s, VW_REPORT_RCU_STALL, &err);
		if (r)
			vw_klog_report_add_cpu(r, cpu);
	} else if (vw_klog_rcu_tail(text, &tail)) {
		r = vw_klog_find(k, s, takes_tail, tail.other);
		if (!r)
			r = vw_klog_open(k, s, VW_REPORT_RCU_STALL, &err);
		if (r)
			vw_klog_rcu_add_tail(r, &tail);
	} else if (vw_klog_rcu_is_list(text) && (r = vw_klog_find(k, s, in_list, 0))) {
		vw_klog_rcu_list(r, text);
	} else {
		r = vw_klog_find(k, s, any_rcu, 0);
		if (r && !vw_klog_rcu_note(r, text))
			r = NULL;
	}
	vw_klog_belongs(k, s, r);
	return err ?: r != NULL;
}

static int take_lockup(struct vw_klog *k, struct vw_klog_stream *s, const char *text)
{
	struct vw_klog_report *r = s->report;
	bool interrupts;
	int64_t cpu;
	int err = 0;

	if (vw_klog_lockup_table(text, &cpu, &interrupts)) {
		r = vw_klog_find(k, s, locked_up, cpu);
		if (!r) {
			r = vw_klog_open(k, s, VW_REPORT_SOFT_LOCKUP, &err);
			if (r)
				vw_klog_report_add_cpu(r, cpu);
		}
		/* The table tells for how much of the time; without it there is just this line. */
		if (r && interrupts && !r->rows)
			r->obs.interrupts = true;
	} else if (!r || r->obs.kind != VW_REPORT_SOFT_LOCKUP || !vw_klog_lockup_row(r, text)) {
		return 0;
	}
	vw_klog_belongs(k, s, r);
	return err ?: r != NULL;
}

static int take_text(struct vw_klog *k, struct vw_klog_stream *s, const char *text)
{
	int taken = take_head(k, s, text);

	if (!taken)
		taken = take_rcu(k, s, text);
	if (!taken)
		taken = take_lockup(k, s, text);
	if (!taken)
		taken = vw_klog_take_dump(k, s, text);
	return taken;
}

/* Lines are missing: of which report, nobody knows. */
static void lose(struct vw_klog *k, uint64_t dropped)
{
	unsigned int i;

	if (!dropped)
		return;
	if (__builtin_add_overflow(k->dropped, dropped, &k->dropped))
		k->dropped = INT64_MAX;
	for (i = 0; i < VW_KLOG_REPORTS; i++)
		k->reports[i].cut = true;
}

int vw_klog_sorted(struct vw_klog *k, const char *line, size_t len, uint64_t ts_ns,
		   enum vw_klog_sort *ret_sort)
{
	struct vw_klog_text *t = &k->text;
	int err = 0, taken;

	vw_klog_text_parse(&k->clock, line, len, t);
	*ret_sort = t->sort;
	lose(k, t->dropped);
	if (t->sort == VW_KLOG_FOREIGN || t->sort == VW_KLOG_ASIDE)
		return 0;
	if (t->sort == VW_KLOG_REBOOT || vw_klog_host_boots(t->text)) {
		err = boot(k);
		if (err || t->sort == VW_KLOG_REBOOT)
			return err;
	}
	if (ts_ns == VW_UNKNOWN)
		err = set_now(k, t);
	else
		k->now_ns = ts_ns;
	err = err ?: give_what_is_over(k);
	if (err)
		return err;
	vw_klog_host(&k->host, t->text);
	taken = take_text(k, stream_of(k, t), t->text);
	return taken < 0 ? taken : taken || t->sort == VW_KLOG_KERNEL;
}

int vw_klog_line(struct vw_klog *k, const char *line, size_t len, uint64_t ts_ns)
{
	enum vw_klog_sort sort;

	return vw_klog_sorted(k, line, len, ts_ns, &sort);
}

int vw_klog_finish(struct vw_klog *k)
{
	return give_all(k, true);
}
