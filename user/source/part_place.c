// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The part of placement: what vCPUs lose to workers on their CPU and to each other, as SHARE and
 * PAIR in windows of about a second.
 *
 * vCPUs are the threads named so of the processes that own workers.  The switch hook counts what
 * happens between them (bpf/vw_place.bpf.h); they are no watched tasks: no rows, no findings of
 * their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/rota.h"
#include "source/part.h"
#include "util/hash.h"
#include "util/parse.h"

/* As in traces (source/sched_windows.c). */
#define MIN_INTERRUPTIONS 2
#define MIN_SWITCHES 100
#define MISSES_ANYWAY 8
#define SWITCHES_PER_MISS 4

/* An owner's threads are looked through so often, of so many owners in one second. */
#define LOOK_NS (5 * VW_NS_PER_SEC)
#define LOOKS 16
#define MAX_VCPUS 8192
#define REST_NS (10 * VW_NS_PER_SEC)

struct vcpu {
	int32_t tid;
	struct vw_task task;
	uint64_t seen_ns;
	UT_hash_handle hh;
};

/* A counter as it was read last. */
struct window {
	struct vw_abi_pair_key key;
	struct vw_abi_pair pair;
	uint64_t read_ns;
	UT_hash_handle hh;
};

struct place {
	const struct vw_part_env *env;
	struct vw_rota owners;
	struct vcpu *vcpus;
	struct window *windows;
	uint64_t now_ns; /* of the second under way */
	int err;
};

static int open_place(const struct vw_part_env *env, void **ret_part)
{
	struct place *p;

	if (!env->sight || !env->plan->tp[VW_TP_SWITCH])
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->env = env;
	p->owners.size = sizeof(struct vw_turn);
	*ret_part = p;
	return 0;
}

static struct vcpu *vcpu_of(const struct place *p, int32_t tid)
{
	struct vcpu *vcpu;

	HASH_FIND(hh, p->vcpus, &tid, sizeof(tid), vcpu);
	return vcpu;
}

static void drop_vcpu(struct place *p, struct vcpu *vcpu)
{
	const struct vw_sight *sight = p->env->sight;

	/* One that was asked for is watched for its own sake. */
	if (!vw_workers_get(p->env->workers, vcpu->tid))
		sight->unwatch(sight->bpf, vcpu->tid);
	HASH_DEL(p->vcpus, vcpu);
	free(vcpu);
}

static struct vcpu *add_vcpu(struct place *p, const struct vw_task *task)
{
	const struct vw_sight *sight = p->env->sight;
	struct vcpu *vcpu;

	if (HASH_COUNT(p->vcpus) >= MAX_VCPUS)
		return NULL;
	vcpu = calloc(1, sizeof(*vcpu));
	if (!vcpu) {
		p->err = -ENOMEM;
		return NULL;
	}
	vcpu->tid = task->tid;
	HASH_ADD(hh, p->vcpus, tid, sizeof(vcpu->tid), vcpu);
	if (!VW_HASH_ADDED(vcpu)) {
		free(vcpu);
		p->err = -ENOMEM;
		return NULL;
	}
	if (vw_workers_get(p->env->workers, task->tid))
		sight->mark(sight->bpf, task->tid, VW_WATCH_VCPU, true);
	else
		sight->watch(sight->bpf, task->tid, task->start_ns, VW_WATCH_VCPU);
	return vcpu;
}

/* A vCPU of an owner that is looked at; where it may run can have changed. */
static void on_vcpu(void *ctx, const struct vw_task *task)
{
	struct place *p = ctx;
	struct vw_obs obs = { .kind = VW_OBS_TASK, .ts_ns = p->now_ns, .task = *task };
	struct vcpu *vcpu = vcpu_of(p, task->tid);
	bool told = vcpu && vw_task_same(&vcpu->task, task);

	if (task->role != VW_ROLE_VCPU)
		return;
	if (vcpu && !told) {
		drop_vcpu(p, vcpu);
		vcpu = NULL;
	}
	if (!vcpu)
		vcpu = add_vcpu(p, task);
	if (!vcpu)
		return;
	vcpu->seen_ns = p->now_ns;
	if (told && strcmp(vcpu->task.cpus_allowed, task->cpus_allowed) &&
	    !vw_workers_get(p->env->workers, task->tid))
		p->env->emit(p->env->ctx, &obs);
	vcpu->task = *task;
}

static int look(struct place *p, struct vw_turn *owner)
{
	struct vcpu *vcpu, *next;

	vw_attr_vcpus(p->env->attr, owner->pid, on_vcpu, p);
	HASH_ITER(hh, p->vcpus, vcpu, next)
	{
		if (vcpu->task.tgid == owner->pid && vcpu->seen_ns != p->now_ns)
			drop_vcpu(p, vcpu);
	}
	return vw_rota_looked(&p->owners, owner, p->now_ns);
}

static void forget_owner(struct place *p, struct vw_turn *owner)
{
	struct vcpu *vcpu, *next;

	HASH_ITER(hh, p->vcpus, vcpu, next)
	{
		if (vcpu->task.tgid == owner->pid)
			drop_vcpu(p, vcpu);
	}
	vw_rota_drop(&p->owners, owner);
}

/* The threads of new owners, and of those that nobody has looked at for the longest time. */
static int track(struct place *p)
{
	struct vw_workers *workers = p->env->workers;
	struct vw_turn *owner, *next;
	unsigned int i, looks = 0;

	for (i = 0; i < vw_workers_count(workers); i++) {
		const struct vw_task *task = &vw_workers_at(workers, i)->task;

		if (task->role != VW_ROLE_VHOST_WORKER || task->owner_pid <= 0)
			continue;
		owner = vw_rota_note(&p->owners, task->owner_pid);
		if (!owner)
			return -ENOMEM;
		owner->seen_ns = p->now_ns;
	}
	HASH_ITER(hh, p->owners.head, owner, next)
	{
		if (owner->seen_ns != p->now_ns) {
			forget_owner(p, owner);
		} else if (looks < LOOKS && p->now_ns - owner->looked_ns >= LOOK_NS) {
			looks++;
			if (look(p, owner))
				return -ENOMEM;
		}
	}
	return 0;
}

static void tell_share(struct place *p, const struct vw_abi_pair_key *key, uint64_t count,
		       uint64_t taken_ns, uint64_t window_ns)
{
	const struct vcpu *vcpu = vcpu_of(p, (int32_t)key->a);
	const struct vw_worker *worker = vw_workers_get(p->env->workers, (int32_t)key->b);
	struct vw_obs obs = { .kind = VW_OBS_SHARE, .ts_ns = p->now_ns };

	if (count < MIN_INTERRUPTIONS || !vcpu || !worker ||
	    worker->task.role != VW_ROLE_VHOST_WORKER)
		return;
	obs.share = (struct vw_obs_share){
		.cpu = (int32_t)key->cpu,
		.vcpu_tid = vcpu->tid,
		.vcpu_start_ns = vcpu->task.start_ns,
		.worker_tid = worker->task.tid,
		.worker_start_ns = worker->task.start_ns,
		.window_ns = window_ns,
		.interruptions = count,
		.taken_ns = taken_ns,
	};
	p->env->know(p->env->ctx, &vcpu->task, p->now_ns);
	p->env->emit(p->env->ctx, &obs);
}

/* The longest stint in a window; epochs that it touches count as a whole. */
static uint64_t longest(const struct vw_abi_pair *pair, uint64_t begin_ns)
{
	uint64_t ns = 0;
	int i;

	for (i = 0; i < 2; i++)
		if (pair->epoch[i] >= begin_ns >> VW_ABI_PAIR_EPOCH_SHIFT &&
		    pair->longest_ns[i] > ns)
			ns = pair->longest_ns[i];
	return ns;
}

static void tell_pair(struct place *p, const struct vw_abi_pair_key *key,
		      const struct vw_abi_pair *pair, const struct vw_abi_pair *old,
		      uint64_t window_ns)
{
	const struct vcpu *vcpus[2] = { vcpu_of(p, (int32_t)key->a), vcpu_of(p, (int32_t)key->b) };
	struct vw_obs obs = { .kind = VW_OBS_PAIR, .ts_ns = p->now_ns };
	uint64_t count = pair->count - old->count;
	int i;

	/* Where a third one has its turns, too, it is not these two that keep the CPU busy. */
	if (count < MIN_SWITCHES || !vcpus[0] || !vcpus[1] ||
	    pair->misses - old->misses > MISSES_ANYWAY + count / SWITCHES_PER_MISS)
		return;
	for (i = 0; i < 2; i++) {
		p->env->know(p->env->ctx, &vcpus[i]->task, p->now_ns);
		obs.pair.tid[i] = vcpus[i]->tid;
		obs.pair.start_ns[i] = vcpus[i]->task.start_ns;
	}
	obs.pair.cpu = (int32_t)key->cpu;
	obs.pair.window_ns = window_ns;
	obs.pair.switches = count;
	obs.pair.longest_stint_ns = longest(pair, p->now_ns - window_ns);
	p->env->emit(p->env->ctx, &obs);
}

static void drop_window(struct place *p, struct window *w)
{
	HASH_DEL(p->windows, w);
	free(w);
}

static struct window *window_of(struct place *p, const struct vw_abi_pair_key *key,
				const struct vw_abi_pair *pair)
{
	struct window *w;

	HASH_FIND(hh, p->windows, key, sizeof(*key), w);
	if (w && w->pair.first_ns == pair->first_ns)
		return w;
	if (w)
		drop_window(p, w);
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->key = *key;
	w->read_ns = w->pair.first_ns = pair->first_ns;
	HASH_ADD(hh, p->windows, key, sizeof(w->key), w);
	if (VW_HASH_ADDED(w))
		return w;
	free(w);
	return NULL;
}

static int on_pair(void *ctx, const void *key_data, const void *value)
{
	const struct vw_abi_pair_key *key = key_data;
	const struct vw_abi_pair *pair = value;
	const struct vw_sight *sight;
	struct place *p = ctx;
	struct window *w = window_of(p, key, pair);
	uint64_t window_ns;

	if (!w)
		return -ENOMEM;
	/* Nothing happened, or it was counted after we looked at the clock. */
	if (p->now_ns <= w->read_ns)
		return 0;
	window_ns = p->now_ns - w->read_ns;
	if (key->kind == VW_PAIR_SHARE)
		tell_share(p, key, pair->count - w->pair.count, pair->taken_ns - w->pair.taken_ns,
			   window_ns);
	else
		tell_pair(p, key, pair, &w->pair, window_ns);
	w->pair = *pair;
	w->read_ns = p->now_ns;
	if (pair->last_ns + REST_NS > p->now_ns || pair->first_ns + REST_NS > p->now_ns)
		return 0;
	sight = p->env->sight;
	sight->remove(sight->bpf, VW_MAP_PAIRS, key);
	drop_window(p, w);
	return 0;
}

static int second(void *part, uint64_t now_ns)
{
	struct place *p = part;
	const struct vw_sight *sight = p->env->sight;
	int err;

	p->now_ns = now_ns;
	p->err = 0;
	err = track(p) ?: p->err;
	return err ?: sight->each(sight->bpf, VW_MAP_PAIRS, on_pair, p);
}

static void close_place(void *part)
{
	struct place *p = part;
	struct window *w, *next_window;
	struct vcpu *vcpu, *next_vcpu;

	HASH_ITER(hh, p->windows, w, next_window)
	{
		drop_window(p, w);
	}
	HASH_ITER(hh, p->vcpus, vcpu, next_vcpu)
	{
		HASH_DEL(p->vcpus, vcpu);
		free(vcpu);
	}
	vw_rota_free(&p->owners);
	free(p);
}

const struct vw_part_ops vw_part_place = {
	.open = open_place,
	.second = second,
	.close = close_place,
};
