// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who keeps a CPU that another task should have: non_yielding_worker, starved_task (a) and (b),
 * busy_worker.  Works on stints (model/obs.h).  At most one finding is open per CPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detector.h"
#include "detect/text.h"
#include "model/looks.h"

#define BUSY_NS UINT64_C(5000000000) /* docs/FORMATS: busy_worker from 5 s */
#define MAX_CPUS 8192
#define PAYBACK_NS INT64_C(100000000)

struct slot {
	bool open;
	uint64_t culprit_start_ns;
	uint64_t told_ns; /* end_ns of the finding when it was last emitted */
	struct vw_finding finding;
};

struct hog {
	struct vw_detect_env *env;
	uint64_t threshold_ns;
	uint32_t pending_looks, stint_looks;
	unsigned int n_slots;
	struct slot *slots; /* by CPU */
};

/* What a stint is a case of. */
struct verdict {
	bool any;
	enum vw_kind kind;
	enum vw_cause cause;
	uint64_t duration_ns;
};

static void *create(struct vw_detect_env *env)
{
	const struct vw_detect_config *config = &env->config;
	struct hog *hog = calloc(1, sizeof(*hog));

	if (!hog)
		return NULL;
	hog->env = env;
	hog->threshold_ns = config->threshold_ns;
	hog->pending_looks = vw_looks_for(config->threshold_ns, config->tick_ns);
	hog->stint_looks = vw_looks_for(2 * config->threshold_ns, config->tick_ns);
	return hog;
}

static void destroy(void *detector)
{
	struct hog *hog = detector;

	if (!hog)
		return;
	free(hog->slots);
	free(hog);
}

static struct slot *slot_of(struct hog *hog, int32_t cpu)
{
	if (cpu < 0 || cpu >= MAX_CPUS)
		return NULL;
	if ((unsigned int)cpu >= hog->n_slots) {
		unsigned int n = (unsigned int)cpu + 1;
		struct slot *slots = realloc(hog->slots, n * sizeof(*slots));

		if (!slots)
			return NULL;
		memset(slots + hog->n_slots, 0, (n - hog->n_slots) * sizeof(*slots));
		hog->slots = slots;
		hog->n_slots = n;
	}
	return &hog->slots[cpu];
}

/*
 * What of a wait a fair scheduler should have ended.  A waiter that has run far more than the
 * runner waits until the runner has caught up (its lead is 0), with good reason: that is how the
 * victims of a hog are paid back.  Placement alone gives a lead of some slices only (place_entity()
 * clamps the lag, and a slice has at most 24 ms), so 100 ms are always time that it really ran.
 */
static uint64_t owed_wait(const struct vw_waiter *w)
{
	if (!w->lead_known || w->lead_ns + (int64_t)w->wait_ns < PAYBACK_NS)
		return w->wait_ns;
	return w->lead_ns < 0 ? (uint64_t)-w->lead_ns : 0;
}

/*
 * The wait that counts against a stint with no request pending: the longest of those that a fair
 * scheduler should have ended.  A light task rightly waits longer behind a heavy one, in the ratio
 * of their weights.
 */
static uint64_t unfair_wait(const struct hog *hog, const struct vw_obs_stint *s, uint64_t ts)
{
	uint64_t worst = 0, limit;
	unsigned int i;

	for (i = 0; i < s->n_waiters; i++) {
		const struct vw_waiter *w = &s->waiters[i];

		limit = 2 * hog->threshold_ns;
		if (s->weight && w->weight && w->weight < s->weight)
			limit = limit * s->weight / w->weight;
		if (w->throttled || owed_wait(w) < limit || w->wait_ns <= worst)
			continue;
		if (vw_debts_excuse(&hog->env->debts, s->tid, w->tid, w->wait_ns, ts))
			continue;
		worst = w->wait_ns;
	}
	return worst;
}

static bool anyone_waits(const struct vw_obs_stint *s)
{
	unsigned int i;

	for (i = 0; i < s->n_waiters; i++)
		if (!s->waiters[i].throttled)
			return true;
	/* Real-time waiters are not in the list, but they are counted. */
	return !s->n_waiters && s->nr_running > 1;
}

static enum vw_cause cause_without_request(const struct vw_obs_stint *s)
{
	switch (s->resched) {
	case VW_RESCHED_NONE:
		return VW_CAUSE_SCHEDULER_NO_REQUEST;
	case VW_RESCHED_LAZY:
		return VW_CAUSE_LAZY_PREEMPTION;
	default:
		return VW_CAUSE_UNKNOWN;
	}
}

static struct verdict judge(const struct hog *hog, const struct vw_obs_stint *s, uint64_t ts)
{
	struct verdict v = { 0 };
	bool watched = vw_detect_watched(hog->env, s->tid);
	uint64_t wait;

	/* Who is not watched is given 2 T, as a warning is (docs/FORMATS). */
	if (s->pending_ns >= (watched ? 1 : 2) * hog->threshold_ns &&
	    s->pending_ticks >= (watched ? hog->pending_looks : hog->stint_looks) &&
	    anyone_waits(s)) {
		v.any = true;
		v.kind = watched ? VW_NON_YIELDING_WORKER : VW_STARVED_TASK;
		v.cause = VW_CAUSE_IGNORES_RESCHED;
		v.duration_ns = s->pending_ns;
		/* More than half of the time in softirqs: the worker could not have yielded. */
		if (watched && s->softirq_ns != VW_UNKNOWN && s->softirq_ns > s->pending_ns / 2)
			v.cause = VW_CAUSE_SOFTIRQ_IN_WORKER;
		return v;
	}
	/* A real-time task is meant to be served first; who was asked may be on its way. */
	if (!s->rt && s->resched != VW_RESCHED_FULL && s->oncpu_ns > 2 * hog->threshold_ns &&
	    s->ticks >= hog->stint_looks) {
		wait = unfair_wait(hog, s, ts);
		if (wait) {
			v.any = true;
			v.kind = VW_STARVED_TASK;
			v.cause = cause_without_request(s);
			v.duration_ns = wait < s->oncpu_ns ? wait : s->oncpu_ns;
			return v;
		}
	}
	if (watched && s->oncpu_ns >= BUSY_NS && !anyone_waits(s)) {
		v.any = true;
		v.kind = VW_BUSY_WORKER;
		v.cause = VW_CAUSE_SATURATED;
		v.duration_ns = s->oncpu_ns;
	}
	return v;
}

static enum vw_severity severity_of(const struct hog *hog, enum vw_kind kind, uint64_t duration_ns)
{
	uint64_t critical = hog->threshold_ns * (kind == VW_STARVED_TASK ? 20 : 10);

	if (kind == VW_BUSY_WORKER)
		return VW_INFO;
	return duration_ns >= critical ? VW_CRITICAL : VW_WARNING;
}

static void add_victim(const struct hog *hog, struct vw_finding *f, const struct vw_waiter *w)
{
	const struct vw_victim *known = vw_finding_victim(f, w->tid);
	struct vw_task task;

	vw_detect_task(hog->env, w->tid, w->start_ns, &task);
	/* A shorter wait than at the last look is another one: it ran in between. */
	vw_finding_add_victim(f, &task, w->wait_ns, known && w->wait_ns >= known->wait_last_ns);
}

static void update(const struct hog *hog, struct slot *slot, const struct vw_obs_stint *s,
		   uint64_t ts)
{
	struct vw_finding *f = &slot->finding;
	struct vw_evidence *e = &f->evidence;
	unsigned int i;

	f->end_ns = ts;
	f->duration_ns = ts - f->start_ns;
	f->severity = severity_of(hog, f->kind, f->duration_ns);
	vw_detect_task(hog->env, s->tid, s->start_ns, &f->culprit);
	/* A group without quota could not run anyway. */
	for (i = 0; i < s->n_waiters; i++)
		if (!s->waiters[i].throttled)
			add_victim(hog, f, &s->waiters[i]);
	e->span_ns = f->duration_ns;
	e->resched = s->resched;
	e->oncpu_ns = s->oncpu_ns;
	e->softirq_ns = s->softirq_ns;
	e->irq_ns = s->irq_ns;
	e->clock = s->clock;
	if (s->resched != VW_RESCHED_UNKNOWN)
		e->resched_pending_ns = s->pending_ns;
	if (s->nr_running)
		e->nr_running = s->nr_running;
	if (s->n_stack) {
		e->n_stack = s->n_stack;
		memcpy(e->stack, s->stack, sizeof(e->stack));
	}
}

static void open_slot(const struct hog *hog, struct slot *slot, const struct vw_obs *obs,
		      const struct verdict *v)
{
	const struct vw_obs_stint *s = &obs->stint;
	struct vw_finding *f = &slot->finding;

	memset(slot, 0, sizeof(*slot));
	slot->open = true;
	slot->culprit_start_ns = s->start_ns;
	vw_finding_init(f, v->kind, obs->ts_ns > v->duration_ns ? obs->ts_ns - v->duration_ns : 0,
			s->cpu);
	f->cause = v->cause;
	f->has_culprit = s->tid > 0;
}

static void emit(struct hog *hog, struct slot *slot)
{
	vw_text_finding(&slot->finding, &hog->env->config.host);
	slot->told_ns = slot->finding.end_ns;
	hog->env->emit(hog->env->ctx, &slot->finding);
}

/* The finding ends at the time it was last seen to last. */
static void close_slot(struct hog *hog, struct slot *slot)
{
	struct vw_finding *f = &slot->finding;
	unsigned int i;

	f->status = VW_CLOSED;
	slot->open = false;
	for (i = 0; f->kind != VW_BUSY_WORKER && i < f->n_victims; i++)
		vw_debts_add(&hog->env->debts, f->victims[i].task.tid, f->culprit.tid,
			     f->victims[i].wait_ns, f->end_ns);
	emit(hog, slot);
}

static bool same_stint(const struct slot *slot, const struct vw_obs_stint *s)
{
	return slot->finding.culprit.tid == s->tid &&
	       (!slot->culprit_start_ns || !s->start_ns || slot->culprit_start_ns == s->start_ns);
}

static int feed_stint(struct hog *hog, const struct vw_obs *obs)
{
	const struct vw_obs_stint *s = &obs->stint;
	struct slot *slot = slot_of(hog, s->cpu);
	struct verdict v;

	if (!slot)
		return -ENOMEM;
	if (slot->open && !same_stint(slot, s))
		close_slot(hog, slot);
	v = judge(hog, s, obs->ts_ns);
	if (slot->open && (!v.any || v.kind != slot->finding.kind)) {
		/* It was true up to here, also for a task that just leaves. */
		if (s->final || v.any)
			update(hog, slot, s, obs->ts_ns);
		close_slot(hog, slot);
		if (s->final)
			return 0;
	}
	if (!v.any)
		return 0;
	if (!slot->open) {
		open_slot(hog, slot, obs, &v);
		update(hog, slot, s, obs->ts_ns);
		if (!s->final)
			emit(hog, slot);
	} else {
		update(hog, slot, s, obs->ts_ns);
	}
	slot->finding.cause = v.cause;
	if (s->final)
		close_slot(hog, slot);
	return 0;
}

/* Records are missing: what is open was last seen where it was last seen. */
static void feed_loss(struct hog *hog, int32_t cpu)
{
	unsigned int i;

	for (i = 0; i < hog->n_slots; i++)
		if (hog->slots[i].open && (cpu < 0 || (unsigned int)cpu == i))
			close_slot(hog, &hog->slots[i]);
}

/*
 * The kernel's watchdog is a late witness of a hog (20 s and more), not another trouble; of one
 * that nobody waits for it is the only one that complains.
 */
static void feed_report(struct hog *hog, const struct vw_obs_report *r)
{
	struct vw_finding *f;

	if (r->kind != VW_REPORT_SOFT_LOCKUP || !r->n_cpus || r->cpus[0] < 0 ||
	    (unsigned int)r->cpus[0] >= hog->n_slots || !hog->slots[r->cpus[0]].open)
		return;
	f = &hog->slots[r->cpus[0]].finding;
	if (f->kind == VW_BUSY_WORKER || (r->culprit.tid && r->culprit.tid != f->culprit.tid))
		return;
	hog->env->joined = true;
	if (r->stuck_ns != VW_UNKNOWN)
		f->evidence.lockup_ns = r->stuck_ns;
	else if (f->evidence.lockup_ns == VW_UNKNOWN)
		f->evidence.lockup_ns = 0;
}

static int feed(void *detector, const struct vw_obs *obs)
{
	struct hog *hog = detector;
	unsigned int i;

	switch (obs->kind) {
	case VW_OBS_STINT:
		return feed_stint(hog, obs);
	case VW_OBS_LOSS:
		feed_loss(hog, obs->loss.cpu);
		return 0;
	case VW_OBS_REPORT:
		feed_report(hog, &obs->report);
		return 0;
	case VW_OBS_TASK_EXIT:
		for (i = 0; i < hog->n_slots; i++)
			if (hog->slots[i].open && hog->slots[i].finding.culprit.tid == obs->tid)
				close_slot(hog, &hog->slots[i]);
		return 0;
	default:
		return 0;
	}
}

static void tick(void *detector, uint64_t ts_ns)
{
	struct hog *hog = detector;
	unsigned int i;

	for (i = 0; i < hog->n_slots; i++) {
		struct slot *slot = &hog->slots[i];

		if (!slot->open)
			continue;
		if (ts_ns > slot->finding.end_ns + hog->env->config.stale_ns)
			close_slot(hog, slot);
		else if (slot->finding.end_ns != slot->told_ns)
			emit(hog, slot); /* there is news of it */
	}
}

const struct vw_detector_ops vw_hog_ops = {
	.create = create,
	.feed = feed,
	.tick = tick,
	.finish = tick, /* what is open stays open */
	.destroy = destroy,
};
