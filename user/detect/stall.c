// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel itself reports: rcu_stall and soft_lockup.  Works on VW_OBS_REPORT; live, who a
 * report is about may be told by stints instead.
 *
 * The kernel reports the same stall again and again while it lasts; all its reports are one
 * finding.  That it is over is never told: where a clock makes the looks, so that time is known to
 * pass, a stall is over when the next report has stayed away; else when the run ends, when the
 * host boots, and when there is no more room.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/detector.h"
#include "detect/holder.h"
#include "detect/stall_text.h"
#include "util/parse.h"

#define MAX_EPISODES 64 /* the oldest makes room */
#define EXPEDITED_JIFFIES 100 /* docs/FORMATS */
/* RCU tasks stalls have no age; they are reported every ten minutes. */
#define AGELESS_NS (660 * VW_NS_PER_SEC)
/* Whole seconds and slow consoles make stamps and ages differ a little. */
#define SLACK_NS (5 * VW_NS_PER_SEC)
#define HZ_PERCENT 5

struct episode {
	bool used;
	bool expedited;
	bool totals; /* soft lockup: what reports say is the whole time so far */
	uint64_t order;
	/* The first report, and the last one, that had a time; VW_UNKNOWN. */
	uint64_t first_ns, last_ns;
	uint64_t first_jiffies, last_jiffies;
	uint64_t stuck_ns; /* soft lockup: what the last report says, VW_UNKNOWN */
	uint32_t hz; /* 0 unknown */
	struct vw_finding finding;
};

struct detector {
	struct vw_detect_env *env;
	uint64_t n;
	struct episode episodes[MAX_EPISODES];
	struct vw_holders holders;
};

static void *create(struct vw_detect_env *env)
{
	struct detector *d = calloc(1, sizeof(*d));

	if (d)
		d->env = env;
	return d;
}

/* --- one stall or two ------------------------------------------------------------------------- */

static bool same_list(const int32_t *a, unsigned int n_a, const int32_t *b, unsigned int n_b)
{
	return n_a == n_b && !memcmp(a, b, n_a * sizeof(*a));
}

static bool same_holdouts(const struct vw_stall_evidence *s, const struct vw_obs_report *r)
{
	return (r->n_cpus || r->n_tasks) && same_list(s->cpus, s->n_cpus, r->cpus, r->n_cpus) &&
	       same_list(s->tasks, s->n_tasks, r->tasks, r->n_tasks);
}

/* Ages and stamps must go the same way: kernels have from 24 to 1200 ticks a second. */
static bool goes_on(const struct episode *e, const struct vw_obs *obs)
{
	const struct vw_obs_report *r = &obs->report;
	uint64_t ns, jiffies;

	if (e->last_jiffies == VW_UNKNOWN && r->jiffies == VW_UNKNOWN)
		return e->last_ns == VW_UNKNOWN || obs->ts_ns == VW_UNKNOWN ||
		       obs->ts_ns < e->last_ns || obs->ts_ns - e->last_ns <= AGELESS_NS;
	if (e->last_jiffies == VW_UNKNOWN || r->jiffies == VW_UNKNOWN ||
	    r->jiffies <= e->last_jiffies)
		return false;
	if (e->last_ns == VW_UNKNOWN || obs->ts_ns == VW_UNKNOWN)
		return true;
	jiffies = r->jiffies - e->last_jiffies;
	ns = obs->ts_ns > e->last_ns ? obs->ts_ns - e->last_ns : 0;
	return ns / VW_NS_PER_SEC * 24 <= jiffies && jiffies <= (ns / VW_NS_PER_SEC + 1) * 1200;
}

static bool same_stall(const struct episode *e, const struct vw_obs *obs)
{
	const struct vw_stall_evidence *s = &e->finding.evidence.stall;
	const struct vw_obs_report *r = &obs->report;

	if (e->finding.kind != VW_RCU_STALL || e->expedited != r->expedited)
		return false;
	if (s->flavor[0] && r->flavor[0] && strcmp(s->flavor, r->flavor))
		return false;
	if (s->gp != VW_UNKNOWN && r->gp != VW_UNKNOWN)
		return s->gp == r->gp;
	return same_holdouts(s, r) && goes_on(e, obs);
}

/*
 * Where each report tells the time since the last one, what comes within one more such time is the
 * same lockup: the watchdog looks a few times only in its threshold, and the console takes long.
 */
static bool same_lockup(const struct episode *e, const struct vw_obs *obs)
{
	const struct vw_finding *f = &e->finding;
	const struct vw_obs_report *r = &obs->report;
	uint64_t limit, begin;

	if (f->kind != VW_SOFT_LOCKUP || !r->n_cpus || f->cpu != r->cpus[0])
		return false;
	if (f->culprit.tid && r->culprit.tid && f->culprit.tid != r->culprit.tid)
		return false;
	if (obs->ts_ns == VW_UNKNOWN || e->last_ns == VW_UNKNOWN)
		return true;
	if (obs->ts_ns < e->last_ns)
		return false;
	limit = r->stuck_ns == VW_UNKNOWN ? 20 * VW_NS_PER_SEC : r->stuck_ns;
	begin = obs->ts_ns - (limit < obs->ts_ns ? limit : obs->ts_ns);
	return begin <= e->last_ns + (e->totals ? SLACK_NS : limit);
}

/* --- what is known of one --------------------------------------------------------------------- */

static void add_to_list(int32_t *list, unsigned int *n, const int32_t *more, unsigned int n_more)
{
	unsigned int i, j;

	for (i = 0; i < n_more && i < VW_MAX_LIST; i++) {
		for (j = 0; j < *n && list[j] != more[i]; j++)
			;
		if (j == *n && *n < VW_MAX_LIST)
			list[(*n)++] = more[i];
	}
}

/* The facts of the run where there are some; a log has the name only. */
static void take_culprit(const struct detector *d, struct vw_finding *f,
			 const struct vw_obs_report *r)
{
	const struct vw_task *known = vw_tasks_get(d->env->tasks, r->culprit.tid);

	f->has_culprit = true;
	f->culprit = known && !strcmp(known->comm, r->culprit.comm) ? *known : r->culprit;
	if (r->culprit_cpu >= 0 || f->kind == VW_RCU_STALL)
		f->cpu = r->culprit_cpu;
}

static enum vw_cause cause_of(const struct vw_obs_report *r)
{
	if (r->interrupts)
		return VW_CAUSE_INTERRUPT_STORM;
	if (r->timer_late)
		return VW_CAUSE_TIMER_OR_PAUSE;
	if (r->gp_kthread_starved)
		return VW_CAUSE_GP_KTHREAD_STARVED;
	if (!r->culprit.tid)
		return VW_CAUSE_UNKNOWN;
	return r->culprit.role == VW_ROLE_VHOST_WORKER ? VW_CAUSE_WORKER : VW_CAUSE_OTHER_TASK;
}

/* Who is interrupted all the time, or whom no timer wakes, has done nothing. */
static bool blames(enum vw_cause cause)
{
	return cause != VW_CAUSE_INTERRUPT_STORM && cause != VW_CAUSE_TIMER_OR_PAUSE;
}

/* The first report that says why counts; the CPU must not change for a later one. */
static void take_cause(const struct detector *d, struct vw_finding *f,
		       const struct vw_obs_report *r)
{
	struct vw_evidence *e = &f->evidence;
	enum vw_cause cause = cause_of(r);

	if (cause == VW_CAUSE_INTERRUPT_STORM) {
		f->cause = cause;
		f->has_culprit = false;
	}
	if (f->cause == VW_CAUSE_UNKNOWN)
		f->cause = cause;
	if (f->cause == cause && blames(cause) && !f->has_culprit && r->culprit.tid)
		take_culprit(d, f, r);
	if (!e->n_stack && r->n_stack) {
		e->n_stack = r->n_stack;
		memcpy(e->stack, r->stack, sizeof(e->stack));
	}
}

static void take_facts(struct vw_stall_evidence *s, const struct vw_obs_report *r)
{
	s->reports++;
	s->incomplete |= r->incomplete;
	if (!s->flavor[0])
		memcpy(s->flavor, r->flavor, sizeof(s->flavor));
	if (s->detector_cpu < 0)
		s->detector_cpu = r->detector_cpu;
	if (s->gp == VW_UNKNOWN)
		s->gp = r->gp;
	if (r->jiffies != VW_UNKNOWN && (s->jiffies == VW_UNKNOWN || r->jiffies > s->jiffies))
		s->jiffies = r->jiffies;
	add_to_list(s->cpus, &s->n_cpus, r->cpus, r->n_cpus);
	add_to_list(s->tasks, &s->n_tasks, r->tasks, r->n_tasks);
}

/* The usual value that is near, else 0. */
static uint32_t usual_hz(uint64_t jiffies, uint64_t ns)
{
	static const uint32_t usual[] = { 100, 250, 300, 1000 };
	uint64_t measured;
	size_t i;

	if (ns < VW_NS_PER_SEC || jiffies > UINT64_MAX / VW_NS_PER_SEC)
		return 0;
	measured = jiffies * VW_NS_PER_SEC / ns;
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (measured * 100 >= usual[i] * (100 - HZ_PERCENT) &&
		    measured * 100 <= usual[i] * (100 + HZ_PERCENT))
			return usual[i];
	return 0;
}

static bool watches_time(const struct detector *d)
{
	return d->env->config.tick_ns;
}

static void take_times(const struct detector *d, struct episode *e, const struct vw_obs *obs)
{
	const struct vw_obs_report *r = &obs->report;

	if (r->jiffies != VW_UNKNOWN)
		e->last_jiffies = r->jiffies;
	if (obs->ts_ns == VW_UNKNOWN)
		return;
	if (e->first_ns == VW_UNKNOWN) {
		e->first_ns = e->last_ns = obs->ts_ns;
		e->first_jiffies = r->jiffies;
		return;
	}
	if (obs->ts_ns > e->last_ns)
		e->last_ns = obs->ts_ns;
	if (r->jiffies == VW_UNKNOWN || e->first_jiffies == VW_UNKNOWN ||
	    r->jiffies <= e->first_jiffies || obs->ts_ns <= e->first_ns)
		return;
	/* Of what was told, the beginning must stay. */
	if (!watches_time(d))
		e->hz = usual_hz(r->jiffies - e->first_jiffies, obs->ts_ns - e->first_ns) ?: e->hz;
}

/* How old it was at its first report, VW_UNKNOWN. */
static uint64_t first_age(const struct episode *e)
{
	if (e->finding.kind == VW_SOFT_LOCKUP)
		return e->stuck_ns;
	if (!e->hz || e->first_jiffies == VW_UNKNOWN ||
	    e->first_jiffies > UINT64_MAX / VW_NS_PER_SEC)
		return VW_UNKNOWN;
	return e->first_jiffies * VW_NS_PER_SEC / e->hz;
}

static void set_times(struct episode *e)
{
	struct vw_finding *f = &e->finding;
	uint64_t age = first_age(e);

	f->duration_ns = VW_UNKNOWN;
	f->start_ns = f->end_ns = VW_UNKNOWN;
	if (e->first_ns != VW_UNKNOWN) {
		f->start_ns = e->first_ns;
		if (age != VW_UNKNOWN)
			f->start_ns -= age < e->first_ns ? age : e->first_ns;
		f->end_ns = e->last_ns;
		if (age != VW_UNKNOWN || e->last_ns > e->first_ns)
			f->duration_ns = f->end_ns - f->start_ns;
	} else if (age != VW_UNKNOWN) {
		f->duration_ns = age;
	}
	f->evidence.span_ns = f->duration_ns;
}

static enum vw_severity severity_of(const struct episode *e)
{
	uint64_t jiffies = e->finding.evidence.stall.jiffies;

	return e->expedited && jiffies != VW_UNKNOWN && jiffies < EXPEDITED_JIFFIES ? VW_INFO :
										      VW_CRITICAL;
}

static void tell(struct detector *d, struct episode *e, enum vw_status status)
{
	struct vw_finding *f = &e->finding;

	set_times(e);
	f->severity = severity_of(e);
	f->status = status;
	if (f->cpu < 0 && f->evidence.stall.n_cpus && !f->has_culprit)
		f->cpu = f->evidence.stall.cpus[0];
	vw_stall_words(f, e->expedited, !e->totals && f->evidence.stall.reports > 1);
	d->env->emit(d->env->ctx, f);
	e->used = status == VW_OPEN;
}

static struct episode *oldest(struct detector *d)
{
	struct episode *first = NULL;
	unsigned int i;

	for (i = 0; i < MAX_EPISODES; i++)
		if (d->episodes[i].used && (!first || d->episodes[i].order < first->order))
			first = &d->episodes[i];
	return first;
}

static void tell_all(struct detector *d)
{
	struct episode *e;

	while ((e = oldest(d)))
		tell(d, e, VW_CLOSED);
}

static struct episode *open_episode(struct detector *d, const struct vw_obs *obs)
{
	const struct vw_obs_report *r = &obs->report;
	struct vw_stall_evidence *s;
	struct episode *e = NULL;
	unsigned int i;

	for (i = 0; i < MAX_EPISODES && !e; i++)
		if (!d->episodes[i].used)
			e = &d->episodes[i];
	if (!e) {
		e = oldest(d);
		tell(d, e, VW_CLOSED);
	}
	memset(e, 0, sizeof(*e));
	e->used = true;
	e->order = ++d->n;
	e->expedited = r->expedited;
	e->hz = d->env->config.host.hz;
	e->first_ns = e->last_ns = e->first_jiffies = e->last_jiffies = e->stuck_ns = VW_UNKNOWN;
	vw_finding_init(&e->finding,
			r->kind == VW_REPORT_SOFT_LOCKUP ? VW_SOFT_LOCKUP : VW_RCU_STALL,
			obs->ts_ns, -1);
	if (r->kind == VW_REPORT_SOFT_LOCKUP && r->n_cpus)
		e->finding.cpu = r->cpus[0];
	s = &e->finding.evidence.stall;
	s->detector_cpu = -1;
	s->gp = s->jiffies = VW_UNKNOWN;
	s->reports = 0;
	return e;
}

/* Do reports tell the whole time? Then this one and the first one tell the same beginning. */
static void take_stuck(struct episode *e, const struct vw_obs *obs)
{
	const struct vw_obs_report *r = &obs->report;
	uint64_t begun, begins;

	if (r->stuck_ns == VW_UNKNOWN)
		return;
	if (e->stuck_ns == VW_UNKNOWN && (e->first_ns == VW_UNKNOWN || e->first_ns == obs->ts_ns)) {
		e->stuck_ns = r->stuck_ns;
		return;
	}
	if (obs->ts_ns == VW_UNKNOWN || e->first_ns == VW_UNKNOWN) {
		/* Without times the longest is all that is known. */
		if (r->stuck_ns > e->stuck_ns)
			e->stuck_ns = r->stuck_ns;
		return;
	}
	if (e->stuck_ns == VW_UNKNOWN || e->stuck_ns > e->first_ns || r->stuck_ns > obs->ts_ns)
		return;
	begun = e->first_ns - e->stuck_ns;
	begins = obs->ts_ns - r->stuck_ns;
	e->totals |= r->stuck_ns > e->stuck_ns && begins < begun + SLACK_NS;
}

/*
 * Who a stall is about, where the report does not say.  A report without CPUs is one that came
 * without its text: whether the CPU that it came from stalls itself, its own stint tells.
 */
static void name_holder(const struct detector *d, uint64_t ts_ns, struct vw_obs_report *r)
{
	int32_t cpu = r->n_cpus ? r->cpus[0] : r->detector_cpu;

	if (r->kind != VW_REPORT_RCU_STALL || r->culprit.tid || r->n_cpus > 1 || r->n_tasks ||
	    !vw_holders_of(&d->holders, d->env, cpu, ts_ns, &r->culprit))
		return;
	r->culprit_cpu = cpu;
	r->n_cpus = 1;
	r->cpus[0] = cpu;
}

/* The watchdog is a second witness of a stall of the same task on the same CPU. */
static bool join_stall(struct detector *d, const struct vw_obs_report *r)
{
	unsigned int i;

	for (i = 0; i < MAX_EPISODES; i++) {
		struct episode *e = &d->episodes[i];
		struct vw_finding *f = &e->finding;

		if (!e->used || f->kind != VW_RCU_STALL || !f->has_culprit || !r->n_cpus ||
		    f->cpu != r->cpus[0] || f->culprit.tid != r->culprit.tid)
			continue;
		f->evidence.lockup_ns = r->stuck_ns == VW_UNKNOWN ? 0 : r->stuck_ns;
		tell(d, e, VW_OPEN);
		return true;
	}
	return false;
}

static void feed_report(struct detector *d, const struct vw_obs *told)
{
	bool lockup = told->report.kind == VW_REPORT_SOFT_LOCKUP;
	struct vw_obs copy = *told;
	const struct vw_obs *obs = &copy;
	struct episode *e = NULL;
	unsigned int i;

	if (watches_time(d))
		name_holder(d, told->ts_ns, &copy.report);
	for (i = 0; i < MAX_EPISODES; i++) {
		struct episode *other = &d->episodes[i];

		if (!other->used || (e && e->order > other->order))
			continue;
		if (lockup ? same_lockup(other, obs) : same_stall(other, obs))
			e = other;
	}
	if (!e && lockup && watches_time(d) && join_stall(d, &obs->report))
		return;
	e = e ?: open_episode(d, obs);
	take_facts(&e->finding.evidence.stall, &obs->report);
	take_cause(d, &e->finding, &obs->report);
	take_times(d, e, obs);
	take_stuck(e, obs);
	if (watches_time(d))
		tell(d, e, VW_OPEN);
}

static int feed(void *detector, const struct vw_obs *obs)
{
	struct detector *d = detector;

	if (obs->kind == VW_OBS_REPORT && !d->env->joined)
		feed_report(d, obs);
	else if (obs->kind == VW_OBS_STINT && watches_time(d))
		vw_holders_note(&d->holders, obs);
	/* The host has booted, or nobody knows: a number may come to mean another grace period. */
	else if (obs->kind == VW_OBS_LOSS && obs->loss.cpu < 0)
		tell_all(d);
	return 0;
}

/*
 * RCU reports again after three times as long as it took to report first, and three seconds
 * (rcu_jiffies_till_stall_check()), the watchdog after as long as the lockup took.
 */
static uint64_t quiet_ns(const struct episode *e)
{
	uint64_t age = first_age(e);

	return 4 * (age == VW_UNKNOWN || age > VW_DURATION_MAX_NS ? 20 * VW_NS_PER_SEC : age) +
	       SLACK_NS;
}

static void tick(void *detector, uint64_t ts_ns)
{
	struct detector *d = detector;
	unsigned int i;

	for (i = 0; watches_time(d) && i < MAX_EPISODES; i++) {
		struct episode *e = &d->episodes[i];

		if (e->used && e->last_ns != VW_UNKNOWN && ts_ns > e->last_ns &&
		    ts_ns - e->last_ns > quiet_ns(e))
			tell(d, e, VW_CLOSED);
	}
}

static void finish(void *detector, uint64_t ts_ns)
{
	(void)ts_ns;
	tell_all(detector);
}

const struct vw_detector_ops vw_stall_ops = {
	.create = create,
	.feed = feed,
	.tick = tick,
	.finish = finish,
	.destroy = free,
};
