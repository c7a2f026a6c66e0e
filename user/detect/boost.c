// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spurious_migration_boost: a running task was forced off its CPU to move, although nothing was
 * idle where it may run.  Works on VW_OBS_MOVE; moves of one task make one finding while they come
 * within a second, those that NUMA balancing asked for one a VM.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "detect/episode.h"
#include "detect/words.h"
#include "util/cpulist.h"
#include "util/format.h"
#include "util/parse.h"
#include "util/str.h"

/* So many turns make a ping-pong; a single way back is a correction. */
#define PING_PONG_TURNS 2

/* So many moves of one that is no VM's, and T lost by others. */
#define HABIT 3

/* docs/FORMATS: critical when the victims' waits pass a tenth of the window. */
#define CRITICAL_PART 10
#define MIN_WINDOW_NS VW_NS_PER_SEC

enum sort {
	SORT_NONE,
	SORT_SPURIOUS,
	SORT_NUMA,
	SORT_UNKNOWN, /* whether it could have gone elsewhere */
};

struct boost_episode {
	struct vw_episode base;
	unsigned int turns; /* moves back to where it had come from */
	uint64_t victims_ns; /* all waits of all victims */
	uint64_t cost_ns; /* of the longest move: its old CPU idled while it waited */
	struct vw_task longest; /* that made that move */
};

static bool is_idle(const struct vw_obs_move *m, int32_t cpu)
{
	unsigned int i;

	for (i = 0; i < m->n_idle && i < VW_MAX_LIST; i++)
		if (m->idle_cpus[i] == cpu)
			return true;
	return false;
}

static enum sort classify(const struct vw_detect_config *config, const struct vw_obs_move *m)
{
	/* It went where nobody ran, or made room for one that had waited long enough. */
	if (is_idle(m, m->to_cpu) || m->relieved_ns >= config->threshold_ns)
		return SORT_NONE;
	/* It had to leave, as it may not run there now.  A list that fills its place may be cut. */
	if (m->allowed_known && strlen(m->allowed) + 1 < sizeof(m->allowed) &&
	    !vw_cpulist_has(m->allowed, m->from_cpu))
		return SORT_NONE;
	if (m->numa)
		return SORT_NUMA;
	if (m->n_idle)
		return m->allowed_known ? SORT_NONE : SORT_UNKNOWN;
	return m->idle_known ? SORT_SPURIOUS : SORT_UNKNOWN;
}

static void put_move(struct vw_words *l, const struct boost_episode *e)
{
	const struct vw_finding *f = &e->base.finding;
	const struct vw_boost_evidence *b = &f->evidence.boost;

	if (f->cause == VW_CAUSE_NUMA_BALANCING) {
		vw_words_put(l,
			     "NUMA balancing moved running tasks%s%s %" PRIu64
			     " times to busy CPUs, such as ",
			     e->longest.vm[0] ? " of VM " : "", e->longest.vm, f->evidence.count);
		vw_words_task(l, &e->longest, true);
		vw_words_put(l, " from CPU %d to CPU %d", b->from_cpu, b->to_cpu);
		return;
	}
	vw_words_task(l, &f->culprit, true);
	if (f->cause == VW_CAUSE_PING_PONG)
		vw_words_put(l,
			     " was forced off its CPU %" PRIu64 " times to move to and fro, as"
			     " from CPU %d to CPU %d",
			     f->evidence.count, b->from_cpu, b->to_cpu);
	else if (f->evidence.count > 1)
		vw_words_put(l,
			     " was forced off its CPU %" PRIu64 " times, as off CPU %d to move"
			     " to CPU %d",
			     f->evidence.count, b->from_cpu, b->to_cpu);
	else
		vw_words_put(l, " was forced off CPU %d to move to CPU %d", b->from_cpu, b->to_cpu);
	if (f->cause == VW_CAUSE_UNKNOWN)
		vw_words_put(l, "; whether a CPU that it may use was idle is not known here");
	else
		vw_words_put(l, " though no CPU that it may use was idle");
}

static void put_cost(struct vw_words *l, const struct boost_episode *e)
{
	const struct vw_finding *f = &e->base.finding;
	const struct vw_victim *chief = vw_words_chief(f);
	char ns[VW_FORMAT_LEN], cost[VW_FORMAT_LEN];

	if (chief) {
		vw_words_put(l, "; ");
		vw_words_task(l, &chief->task, true);
		vw_words_put(l, " had to make room for it");
		if (chief->wait_ns)
			vw_words_put(l, " and waited %s", vw_format_ns(ns, chief->wait_ns));
		vw_words_more(l, f);
	}
	if (e->cost_ns)
		vw_words_put(
			l,
			"; it waited %s, of which its old CPU was idle for %s, so that much the"
			" move cost it",
			vw_format_ns(ns, f->evidence.boost.wait_ns),
			vw_format_ns(cost, e->cost_ns));
}

static void put_remedy(struct vw_words *l, const struct vw_finding *f)
{
	switch (f->cause) {
	case VW_CAUSE_NUMA_BALANCING:
		vw_words_put(l, "bind the VM's memory and vCPUs to one node (numatune, vcpupin), or"
				" `sysctl kernel.numa_balancing=0`");
		break;
	case VW_CAUSE_UNKNOWN:
		vw_words_put(l,
			     "analyze with --procfs, or a recording, which has the CPUs that tasks"
			     " may use");
		break;
	default:
		vw_words_put(l,
			     "pin CPU-bound vCPUs (vcpupin), or keep them and tasks that wake often"
			     " on CPUs of their own, so that the balancer has nothing to move");
		break;
	}
}

static void words(struct vw_episode *base, const struct vw_host *host)
{
	const struct boost_episode *e = (struct boost_episode *)base;
	struct vw_finding *f = &base->finding;
	struct vw_words message = VW_WORDS(f->message);
	struct vw_words remedy = VW_WORDS(f->remedy);

	(void)host;
	put_move(&message, e);
	if (f->cause != VW_CAUSE_NUMA_BALANCING)
		put_cost(&message, e);
	put_remedy(&remedy, f);
}

static void *create(struct vw_detect_env *env)
{
	return vw_episodes_new(env, sizeof(struct boost_episode), words);
}

/* NUMA balancing is at a whole VM: one finding for it, or for all whose VM is not known. */
static struct vw_episode_key key_of(enum sort sort, const struct vw_task *task)
{
	struct vw_episode_key key = { .what = (int32_t)sort };

	if (sort != SORT_NUMA)
		key.tid = task->tid;
	else
		key.other = task->tgid ?: task->owner_pid;
	return key;
}

static void add_victim(const struct vw_episodes *set, struct boost_episode *e, int32_t tid,
		       uint64_t start_ns, uint64_t wait_ns)
{
	struct vw_task task;

	vw_detect_task(set->env, tid, start_ns, &task);
	vw_finding_add_victim(&e->base.finding, &task, wait_ns, false);
	e->victims_ns += wait_ns;
}

static enum vw_severity severity_of(const struct boost_episode *e)
{
	const struct vw_finding *f = &e->base.finding;
	uint64_t window_ns = f->evidence.span_ns;

	if (e->base.key.what != SORT_SPURIOUS || !f->n_victims)
		return VW_INFO;
	if (window_ns < MIN_WINDOW_NS)
		window_ns = MIN_WINDOW_NS;
	return e->victims_ns > window_ns / CRITICAL_PART ? VW_CRITICAL : VW_WARNING;
}

static enum vw_cause cause_of(const struct boost_episode *e)
{
	if (e->base.key.what == SORT_NUMA)
		return VW_CAUSE_NUMA_BALANCING;
	if (e->base.key.what == SORT_UNKNOWN)
		return VW_CAUSE_UNKNOWN;
	return e->turns >= PING_PONG_TURNS ? VW_CAUSE_PING_PONG : VW_CAUSE_FUTILE_KICK;
}

static bool is_of_vm(const struct vw_task *task)
{
	return task->watched || task->role == VW_ROLE_VHOST_WORKER || task->role == VW_ROLE_VCPU ||
	       task->role == VW_ROLE_EMULATOR;
}

/* On a busy host each exec of whatever program is a move; few programs do it over and over. */
static bool is_habit(const struct vw_episodes *set, const struct boost_episode *e)
{
	return e->base.finding.evidence.count >= HABIT &&
	       e->victims_ns >= set->env->config.threshold_ns;
}

static void keep_evidence(struct boost_episode *e, const struct vw_obs_move *m)
{
	struct vw_boost_evidence *b = &e->base.finding.evidence.boost;

	b->from_cpu = m->from_cpu;
	b->to_cpu = m->to_cpu;
	b->idle_known = m->idle_known;
	b->n_idle = m->n_idle < VW_MAX_LIST ? m->n_idle : VW_MAX_LIST;
	memcpy(b->idle_cpus, m->idle_cpus, sizeof(b->idle_cpus));
	b->allowed[0] = '\0';
	if (m->allowed_known)
		vw_str_copy(b->allowed, sizeof(b->allowed), m->allowed, sizeof(m->allowed));
	b->displaced_tid = m->displaced_tid;
	b->wait_ns = m->wait_ns;
	e->base.longest_ns = m->wait_ns;
	e->cost_ns = 0;
	if (m->old_cpu_idle_ns != VW_UNKNOWN && m->wait_ns > m->old_cpu_idle_ns)
		e->cost_ns = m->wait_ns - m->old_cpu_idle_ns;
}

static void update(const struct vw_episodes *set, struct boost_episode *e, const struct vw_obs *obs,
		   const struct vw_task *task, bool first)
{
	const struct vw_obs_move *m = &obs->move;
	struct vw_finding *f = &e->base.finding;
	unsigned int i;

	if (!first)
		vw_episode_again(&e->base);
	vw_episode_cover(&e->base, m->moved_ns, obs->ts_ns);
	e->turns += m->back;
	if (m->displaced_tid > 0)
		add_victim(set, e, m->displaced_tid, m->displaced_start_ns, m->displaced_wait_ns);
	for (i = 0; i < m->n_overtaken && i < VW_MAX_VICTIMS; i++)
		if (m->overtaken[i].wait_ns && !m->overtaken[i].throttled)
			add_victim(set, e, m->overtaken[i].tid, m->overtaken[i].start_ns,
				   m->overtaken[i].wait_ns);
	if (first || m->wait_ns > e->base.longest_ns) {
		keep_evidence(e, m);
		e->longest = *task;
	}
	f->cause = cause_of(e);
	f->severity = severity_of(e);
}

static int feed_move(struct vw_episodes *set, const struct vw_obs *obs)
{
	const struct vw_obs_move *m = &obs->move;
	enum sort sort = classify(&set->env->config, m);
	struct vw_episode_key key;
	struct boost_episode *e;
	struct vw_task task;
	bool first;

	if (sort == SORT_NONE || m->moved_ns > obs->ts_ns)
		return 0;
	vw_detect_task(set->env, m->tid, m->start_ns, &task);
	key = key_of(sort, &task);
	e = (struct boost_episode *)vw_episodes_at(set, &key, VW_SPURIOUS_MIGRATION_BOOST,
						   m->moved_ns, m->from_cpu, &first);
	if (!e)
		return -ENOMEM;
	if (first && (key.tid || key.other)) {
		e->base.finding.has_culprit = true;
		e->base.finding.culprit = task;
	}
	update(set, e, obs, &task, first);
	if (first || e->base.minor)
		e->base.minor = !is_of_vm(&task) && !is_habit(set, e);
	return 0;
}

static int feed(void *detector, const struct vw_obs *obs)
{
	if (obs->kind == VW_OBS_MOVE)
		return feed_move(detector, obs);
	vw_episodes_feed(detector, obs);
	return 0;
}

const struct vw_detector_ops vw_boost_ops = {
	.create = create,
	.feed = feed,
	.tick = vw_episodes_tick,
	.finish = vw_episodes_finish,
	.destroy = vw_episodes_destroy,
};
