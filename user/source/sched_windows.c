// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tasks of one CPU take from each other, in windows: workers from vCPUs, and pairs. */
#include <string.h>

#include "source/sched_internal.h"

#define WINDOW_NS VW_NS_PER_SEC
#define MIN_INTERRUPTIONS 2
#define MIN_SWITCHES 100
/* A third task that runs now and then does not make another pair. */
#define MISSES_ANYWAY 8
#define SWITCHES_PER_MISS 4

static void tell_share(struct vw_sched *s, const struct vw_sched_cpu *cpu,
		       struct vw_sched_share *share)
{
	struct vw_sched_task *vcpu = vw_sched_find(s, share->vcpu);
	struct vw_sched_task *worker = vw_sched_find(s, share->worker);
	struct vw_obs_share *o;

	if (share->interruptions >= MIN_INTERRUPTIONS && vcpu && worker && !vcpu->gone &&
	    !worker->gone) {
		vw_sched_tell_task(s, vcpu);
		vw_sched_tell_task(s, worker);
		o = &vw_sched_obs(s, VW_OBS_SHARE, s->now_ns)->share;
		o->cpu = cpu->id;
		o->vcpu_tid = vcpu->tid;
		o->worker_tid = worker->tid;
		o->vcpu_start_ns = vw_sched_start_of(vcpu);
		o->worker_start_ns = vw_sched_start_of(worker);
		o->window_ns = s->now_ns - share->start_ns;
		o->interruptions = share->interruptions;
		o->taken_ns = share->taken_ns;
		vw_sched_tell(s);
	}
	share->interruptions = share->taken_ns = 0;
	share->start_ns = s->now_ns;
}

/* The one of these two; else a free one, else the one with the fewest interruptions. */
static struct vw_sched_share *share_of(struct vw_sched *s, struct vw_sched_cpu *cpu, int32_t vcpu,
				       int32_t worker)
{
	struct vw_sched_share *best = &cpu->shares[0];
	unsigned int i;

	for (i = 0; i < VW_SCHED_SHARES; i++) {
		struct vw_sched_share *share = &cpu->shares[i];

		if (share->vcpu == vcpu && share->worker == worker)
			return share;
		if (best->vcpu && (!share->vcpu || share->interruptions < best->interruptions))
			best = share;
	}
	if (best->vcpu)
		tell_share(s, cpu, best);
	memset(best, 0, sizeof(*best));
	best->vcpu = vcpu;
	best->worker = worker;
	best->start_ns = s->now_ns;
	return best;
}

static void count(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	struct vw_sched_share *share = share_of(s, cpu, cpu->broken.vcpu, cpu->broken.worker);

	/* A window begins with an interruption. */
	if (!share->interruptions)
		share->start_ns = vw_sched_max(share->start_ns, cpu->broken.since_ns);
	if (s->now_ns - share->start_ns >= WINDOW_NS)
		tell_share(s, cpu, share);
	share->interruptions++;
	share->taken_ns += cpu->broken.ns;
}

static void shares(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_sched_task *prev,
		   const struct vw_sched_task *next, bool runnable)
{
	if (cpu->broken.vcpu) {
		if (prev && prev->tid == cpu->broken.worker)
			cpu->broken.ns += s->now_ns - cpu->since_ns;
		if (next && next->tid == cpu->broken.vcpu) {
			count(s, cpu);
			cpu->broken.vcpu = 0;
		}
	}
	if (prev && next && runnable && prev->role == VW_ROLE_VCPU &&
	    next->role == VW_ROLE_VHOST_WORKER) {
		cpu->broken.vcpu = prev->tid;
		cpu->broken.worker = next->tid;
		cpu->broken.since_ns = s->now_ns;
		cpu->broken.ns = 0;
	}
}

static void tell_pair(struct vw_sched *s, struct vw_sched_cpu *cpu)
{
	struct vw_sched_task *a = vw_sched_find(s, cpu->pair.tid[0]);
	struct vw_sched_task *b = vw_sched_find(s, cpu->pair.tid[1]);
	struct vw_obs_pair *pair;

	if (cpu->pair.switches < MIN_SWITCHES || !a || !b || a->gone || b->gone)
		return;
	vw_sched_tell_task(s, a);
	vw_sched_tell_task(s, b);
	pair = &vw_sched_obs(s, VW_OBS_PAIR, s->now_ns)->pair;
	pair->cpu = cpu->id;
	pair->tid[0] = a->tid;
	pair->tid[1] = b->tid;
	pair->start_ns[0] = vw_sched_start_of(a);
	pair->start_ns[1] = vw_sched_start_of(b);
	pair->window_ns = s->now_ns - cpu->pair.start_ns;
	pair->switches = cpu->pair.switches;
	pair->longest_stint_ns = cpu->pair.longest_ns;
	vw_sched_tell(s);
}

static bool is_of_pair(const struct vw_sched_cpu *cpu, const struct vw_sched_task *t)
{
	return t && (t->tid == cpu->pair.tid[0] || t->tid == cpu->pair.tid[1]);
}

static void pairs(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_sched_task *prev,
		  const struct vw_sched_task *next, bool runnable)
{
	uint64_t ns = s->now_ns - cpu->since_ns;

	if (is_of_pair(cpu, prev) && ns > cpu->pair.longest_ns)
		cpu->pair.longest_ns = ns;
	if (!prev || !next || !runnable)
		return;
	/* There and back again: one that only ever interrupts the other makes no pair. */
	if (is_of_pair(cpu, prev) && is_of_pair(cpu, next) && cpu->pair.left != prev->tid) {
		cpu->pair.left = prev->tid;
		cpu->pair.switches++;
	} else if (++cpu->pair.misses > MISSES_ANYWAY + cpu->pair.switches / SWITCHES_PER_MISS ||
		   !cpu->pair.tid[0]) {
		tell_pair(s, cpu);
		memset(&cpu->pair, 0, sizeof(cpu->pair));
		cpu->pair.tid[0] = cpu->pair.left = prev->tid;
		cpu->pair.tid[1] = next->tid;
		cpu->pair.start_ns = s->now_ns;
		cpu->pair.switches = 1;
		return;
	}
	if (s->now_ns - cpu->pair.start_ns >= WINDOW_NS) {
		tell_pair(s, cpu);
		cpu->pair.start_ns = s->now_ns;
		cpu->pair.switches = cpu->pair.misses = cpu->pair.longest_ns = 0;
	}
}

void vw_sched_shares(struct vw_sched *s, struct vw_sched_cpu *cpu, struct vw_sched_task *prev,
		     struct vw_sched_task *next, bool runnable)
{
	shares(s, cpu, prev, next, runnable);
	pairs(s, cpu, prev, next, runnable);
}

/* Windows that no later event closes. */
void vw_sched_shares_second(struct vw_sched *s, struct vw_sched_cpu *cpu, bool all)
{
	unsigned int i;

	for (i = 0; i < VW_SCHED_SHARES; i++) {
		struct vw_sched_share *share = &cpu->shares[i];

		if (!share->vcpu || (!all && s->now_ns - share->start_ns < 2 * WINDOW_NS))
			continue;
		tell_share(s, cpu, share);
		memset(share, 0, sizeof(*share));
	}
	if (cpu->pair.tid[0] && (all || s->now_ns - cpu->pair.start_ns >= 2 * WINDOW_NS)) {
		tell_pair(s, cpu);
		memset(&cpu->pair, 0, sizeof(cpu->pair));
	}
}

void vw_sched_shares_drop(struct vw_sched_cpu *cpu)
{
	memset(&cpu->broken, 0, sizeof(cpu->broken));
	memset(cpu->shares, 0, sizeof(cpu->shares));
	memset(&cpu->pair, 0, sizeof(cpu->pair));
}
