// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpu_accounting_gap: time on a CPU and time charged differ.  Works on windows of VW_OBS_CHARGE.
 *
 * Interrupts, softirqs and stolen time hit a task while it is on its CPU.  A kernel that keeps one
 * of them out of charged time charges less, with good reason.  The samples are at most what hit
 * the task (those of a CPU hit others, too), so they excuse a gap up to their sum.
 */
#include <errno.h>

#include "detect/episode.h"
#include "detect/words.h"
#include "util/format.h"
#include "util/parse.h"

/* docs/FORMATS */
#define GAP_NS (10 * VW_NS_PER_MS)
#define GAP_PERCENT 5

#define N_PARTS 3 /* irq, softirq, steal */

/* One window, after it was found to be possible. */
struct window {
	uint64_t oncpu_ns, charged_ns;
	uint64_t parts[N_PARTS]; /* VW_UNKNOWN */
};

struct verdict {
	bool any;
	bool over; /* charged more than it ran */
	enum vw_cause cause;
	uint64_t unexplained_ns;
};

struct gap_episode {
	struct vw_episode base;
	bool over;
	uint64_t gap_ns;
	bool taken_out_known;
};

static const struct {
	unsigned int bit;
	const char *name;
} parts[N_PARTS] = {
	{ VW_TAKEN_IRQ, "interrupts" },
	{ VW_TAKEN_SOFTIRQ, "softirqs" },
	{ VW_TAKEN_STEAL, "stolen time" },
};

static uint64_t tick_of(const struct vw_detect_config *config)
{
	if (config->tick_ns)
		return config->tick_ns;
	return config->host.hz ? VW_NS_PER_SEC / config->host.hz : 10 * VW_NS_PER_MS;
}

/* Counters are read a little before and after the window that they are said to be of. */
static bool possible(int64_t sample, uint64_t window_ns, uint64_t tick_ns)
{
	if (sample == VW_SAMPLE_UNKNOWN)
		return true;
	return sample >= 0 && (uint64_t)sample <= window_ns + window_ns / 4 + 2 * tick_ns;
}

static uint64_t time_of(int64_t sample)
{
	return sample == VW_SAMPLE_UNKNOWN ? VW_UNKNOWN : (uint64_t)sample;
}

/* False when no counter can have said that. */
static bool read_window(const struct vw_obs_charge *c, uint64_t tick_ns, struct window *ret)
{
	const int64_t samples[] = {
		c->irq_ns, c->softirq_ns, c->steal_ns, c->oncpu_ns, c->charged_ns,
	};
	unsigned int i;

	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		if (!possible(samples[i], c->window_ns, tick_ns))
			return false;
	for (i = 0; i < N_PARTS; i++)
		ret->parts[i] = time_of(samples[i]);
	ret->oncpu_ns = time_of(c->oncpu_ns);
	ret->charged_ns = time_of(c->charged_ns);
	return true;
}

static bool is_gap(uint64_t ns, const struct window *w, uint64_t tick_ns)
{
	uint64_t whole = w->oncpu_ns > w->charged_ns ? w->oncpu_ns : w->charged_ns;

	return ns > GAP_NS && ns > tick_ns && ns > whole * GAP_PERCENT / 100;
}

/*
 * Why less was charged than it ran.  Of a kernel that takes out what is not known here, and of one
 * of which not even that is known, a part of the time proves nothing; that next to nothing was
 * charged does, as no interrupt load leaves a task without any time.
 */
static void judge_missing(const struct vw_obs_charge *c, const struct window *w, uint64_t tick_ns,
			  struct verdict *v)
{
	uint64_t gap = w->oncpu_ns - w->charged_ns, excused = 0;
	bool all_known = true;
	unsigned int i;

	for (i = 0; i < N_PARTS; i++) {
		if (c->taken_out_known && !(c->taken_out & parts[i].bit))
			continue;
		if (w->parts[i] != VW_UNKNOWN)
			excused += w->parts[i];
		else if (c->taken_out_known || parts[i].bit != VW_TAKEN_STEAL)
			all_known = false;
	}
	v->unexplained_ns = gap > excused ? gap - excused : 0;
	if (!is_gap(v->unexplained_ns, w, tick_ns)) {
		v->any = !c->taken_out_known;
		v->cause = VW_CAUSE_CHARGED_ELSEWHERE;
		return;
	}
	v->any = true;
	if (c->totals)
		v->cause = VW_CAUSE_CPU_TOTALS;
	else if (all_known || w->charged_ns < w->oncpu_ns * GAP_PERCENT / 100)
		v->cause = VW_CAUSE_NOT_CHARGED;
	else
		v->cause = VW_CAUSE_UNKNOWN;
}

static struct verdict judge(const struct vw_obs_charge *c, const struct window *w, uint64_t tick_ns)
{
	struct verdict v = { 0 };

	v.over = w->charged_ns > w->oncpu_ns;
	if (!v.over) {
		if (is_gap(w->oncpu_ns - w->charged_ns, w, tick_ns))
			judge_missing(c, w, tick_ns, &v);
		return v;
	}
	v.unexplained_ns = w->charged_ns - w->oncpu_ns;
	v.any = is_gap(v.unexplained_ns, w, tick_ns);
	v.cause = c->totals ? VW_CAUSE_CPU_TOTALS : VW_CAUSE_OVERCHARGED;
	return v;
}

static void put_parts(struct vw_words *l, const struct vw_evidence *e)
{
	const uint64_t ns[N_PARTS] = { e->irq_ns, e->softirq_ns, e->gap.steal_ns };
	char text[VW_FORMAT_LEN];
	unsigned int i, n = 0;

	for (i = 0; i < N_PARTS; i++)
		if (ns[i] && ns[i] != VW_UNKNOWN)
			vw_words_put(l, "%s%s %s", n++ ? ", " : "", vw_format_ns(text, ns[i]),
				     parts[i].name);
}

static void put_unexplained(struct vw_words *l, const struct gap_episode *e)
{
	const struct vw_gap_evidence *gap = &e->base.finding.evidence.gap;
	char ns[VW_FORMAT_LEN];

	vw_words_put(l, "; %s are unexplained", vw_format_ns(ns, gap->unexplained_ns));
	if (!e->taken_out_known)
		vw_words_put(l, ", and how much of it interrupts took is not known here");
	else if (gap->taken_out & (VW_TAKEN_IRQ | VW_TAKEN_SOFTIRQ))
		vw_words_put(l,
			     "; this kernel keeps interrupt time out of charged time, so they are"
			     " likely interrupts");
	else
		vw_words_put(
			l, "; this kernel keeps stolen time out of charged time, so they are likely"
			   " that");
}

static void put_message(struct vw_words *l, const struct gap_episode *e)
{
	const struct vw_finding *f = &e->base.finding;
	const struct vw_evidence *v = &f->evidence;
	char ran[VW_FORMAT_LEN], charged[VW_FORMAT_LEN], gap[VW_FORMAT_LEN];

	vw_format_ns(ran, v->oncpu_ns);
	vw_format_ns(charged, v->gap.charged_ns);
	vw_format_ns(gap, e->gap_ns);
	if (!f->has_culprit) {
		vw_words_put(l, "CPU %d was busy for %s and its totals count %s", f->cpu, ran,
			     charged);
	} else {
		vw_words_task(l, &f->culprit, true);
		vw_words_put(l, " was on a CPU for %s and charged %s", ran, charged);
	}
	switch (f->cause) {
	case VW_CAUSE_NOT_CHARGED:
		vw_words_put(l, ": the kernel did not charge %s",
			     vw_format_ns(gap, v->gap.unexplained_ns));
		if (!e->taken_out_known && v->gap.steal_ns == VW_UNKNOWN)
			vw_words_put(l, " (stolen time, should this host be a VM, is not known)");
		break;
	case VW_CAUSE_OVERCHARGED:
		vw_words_put(l, ": %s too much", gap);
		break;
	case VW_CAUSE_CHARGED_ELSEWHERE:
		vw_words_put(l, ": the difference is explained by ");
		put_parts(l, v);
		break;
	case VW_CAUSE_CPU_TOTALS:
		vw_words_put(l, "; what tasks are charged does not depend on that");
		break;
	default:
		put_unexplained(l, e);
		break;
	}
}

static void put_remedy(struct vw_words *l, const struct vw_finding *f)
{
	switch (f->cause) {
	case VW_CAUSE_NOT_CHARGED:
		vw_words_put(l,
			     "top, cpu.stat and quotas miss that time: see whether the task leaves"
			     " its CPU at all (non_yielding_worker) and whether that CPU has its"
			     " tick (nohz_full)");
		break;
	case VW_CAUSE_OVERCHARGED:
		vw_words_put(
			l,
			"it pays for time that it did not have, out of its quota, too: see"
			" whether the kernel's clock is sound (dmesg: sched_clock, clocksource)");
		break;
	case VW_CAUSE_CPU_TOTALS:
		vw_words_put(l,
			     "totals are samples taken at ticks, which short stints can dodge, and"
			     " stand still on nohz_full CPUs before Linux 5.5: go by the times of"
			     " tasks");
		break;
	case VW_CAUSE_UNKNOWN:
		vw_words_put(
			l,
			"record interrupts as well (irq and softirq events, /proc/stat) to know");
		break;
	default:
		break;
	}
}

static void words(struct vw_episode *base, const struct vw_host *host)
{
	struct vw_finding *f = &base->finding;
	struct vw_words message = VW_WORDS(f->message);
	struct vw_words remedy = VW_WORDS(f->remedy);

	(void)host;
	put_message(&message, (struct gap_episode *)base);
	put_remedy(&remedy, f);
}

static void *create(struct vw_detect_env *env)
{
	return vw_episodes_new(env, sizeof(struct gap_episode), words);
}

/* What is not known of one window is not known of the sum. */
static void add(uint64_t *sum, uint64_t ns)
{
	*sum = *sum == VW_UNKNOWN || ns == VW_UNKNOWN ? VW_UNKNOWN : *sum + ns;
}

static void start(const struct vw_episodes *set, struct gap_episode *e,
		  const struct vw_obs_charge *c, const struct verdict *v)
{
	struct vw_finding *f = &e->base.finding;

	f->cause = v->cause;
	f->severity = v->cause == VW_CAUSE_NOT_CHARGED || v->cause == VW_CAUSE_OVERCHARGED ?
			      VW_WARNING :
			      VW_INFO;
	f->has_culprit = c->tid > 0;
	if (f->has_culprit)
		vw_detect_task(set->env, c->tid, c->start_ns, &f->culprit);
	f->evidence.oncpu_ns = f->evidence.irq_ns = f->evidence.softirq_ns = 0;
	f->evidence.gap.taken_out = c->taken_out_known ? c->taken_out : 0;
	e->over = v->over;
	e->taken_out_known = c->taken_out_known;
}

static void update(struct gap_episode *e, const struct vw_obs *obs, const struct window *w,
		   const struct verdict *v)
{
	struct vw_evidence *evidence = &e->base.finding.evidence;

	vw_episode_cover(&e->base, obs->ts_ns - obs->charge.window_ns, obs->ts_ns);
	e->base.lasts = true;
	e->base.keep_ns = 3 * obs->charge.window_ns;
	e->gap_ns += v->over ? w->charged_ns - w->oncpu_ns : w->oncpu_ns - w->charged_ns;
	add(&evidence->oncpu_ns, w->oncpu_ns);
	add(&evidence->gap.charged_ns, w->charged_ns);
	add(&evidence->irq_ns, w->parts[0]);
	add(&evidence->softirq_ns, w->parts[1]);
	add(&evidence->gap.steal_ns, w->parts[2]);
	add(&evidence->gap.unexplained_ns, v->unexplained_ns);
}

/*
 * A CPU, or a task that a VM pays for.  Elsewhere a gap is nobody's business here: where a task is
 * woken while another one is told to go, kernels charge the last part of a tick to the next task
 * (rq_clock_skip_update()), and who runs often and shortly comes out with many times what it ran.
 */
static bool of_a_vm(const struct vw_detect_env *env, const struct vw_obs_charge *c)
{
	const struct vw_task *task = vw_tasks_get(env->tasks, c->tid);

	if (!c->tid)
		return true;
	return task &&
	       (task->watched || task->role == VW_ROLE_VCPU || task->role == VW_ROLE_EMULATOR);
}

static int feed_charge(struct vw_episodes *set, const struct vw_obs *obs)
{
	const struct vw_obs_charge *c = &obs->charge;
	struct vw_episode_key key = { .tid = c->tid, .what = c->totals };
	uint64_t tick_ns = tick_of(&set->env->config);
	struct gap_episode *e;
	struct verdict v;
	struct window w;

	if (!c->window_ns || c->window_ns > obs->ts_ns || !read_window(c, tick_ns, &w)) {
		set->env->invalid_samples++;
		return 0;
	}
	if (w.oncpu_ns == VW_UNKNOWN || w.charged_ns == VW_UNKNOWN || !of_a_vm(set->env, c))
		return 0;
	if (!c->tid)
		key.cpu = c->cpu;
	v = judge(c, &w, tick_ns);
	e = (struct gap_episode *)vw_episodes_get(set, &key, obs->ts_ns - c->window_ns);
	if (e && (!v.any || v.over != e->over || v.cause != e->base.finding.cause)) {
		vw_episodes_close(set, &e->base);
		e = NULL;
	}
	if (!v.any)
		return 0;
	if (!e) {
		e = (struct gap_episode *)vw_episodes_open(set, &key, VW_CPU_ACCOUNTING_GAP,
							   obs->ts_ns - c->window_ns, c->cpu);
		if (!e)
			return -ENOMEM;
		start(set, e, c, &v);
	}
	update(e, obs, &w, &v);
	vw_episodes_tell(set, &e->base);
	return 0;
}

static int feed(void *detector, const struct vw_obs *obs)
{
	if (obs->kind == VW_OBS_CHARGE)
		return feed_charge(detector, obs);
	vw_episodes_feed(detector, obs);
	return 0;
}

const struct vw_detector_ops vw_gap_ops = {
	.create = create,
	.feed = feed,
	.tick = vw_episodes_tick,
	.finish = vw_episodes_finish,
	.destroy = vw_episodes_destroy,
};
