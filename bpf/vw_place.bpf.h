/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What vCPUs lose to others on their CPU: to workers, and to each other.
 *
 * For the switch hook.  Both are counted in one bounded map, which user space reads once a second
 * and rids of what has come to rest.
 */
#ifndef VW_PLACE_BPF_H
#define VW_PLACE_BPF_H

#include "vw_core.bpf.h"

/* Of one CPU: the interruption under way, and the two vCPUs that switch there. */
struct vw_place {
	u64 since; /* the vCPU made room */
	u64 ns; /* what the other one had since */
	u32 vcpu, other; /* 0: none */
	struct vw_abi_pair_key pair; /* kind 0: none */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct vw_place);
} vw_places __weak SEC(".maps");

/* Pinned vCPUs have one CPU, and few workers come there: nothing in use is ever thrown out. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct vw_abi_pair_key);
	__type(value, struct vw_abi_pair);
} vw_pairs __weak SEC(".maps");

static __always_inline struct vw_abi_pair *vw_pair_of(struct vw_abi_pair_key *key, u64 now)
{
	struct vw_abi_pair fresh = {}, *pair = bpf_map_lookup_elem(&vw_pairs, key);

	if (pair)
		return pair;
	fresh.first_ns = now;
	bpf_map_update_elem(&vw_pairs, key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&vw_pairs, key);
}

/* The vCPU is back. */
static __always_inline void vw_place_back(struct vw_place *place, u64 now)
{
	struct vw_abi_pair_key key = {
		.cpu = bpf_get_smp_processor_id(),
		.kind = VW_PAIR_SHARE,
		.a = place->vcpu,
		.b = place->other,
	};
	struct vw_abi_pair *pair = vw_pair_of(&key, place->since);

	place->vcpu = 0;
	if (!pair)
		return;
	pair->count++;
	pair->taken_ns += place->ns;
	pair->last_ns = now;
}

static __always_inline void vw_place_stint(struct vw_abi_pair *pair, u64 ns, u64 now)
{
	u32 epoch = now >> VW_ABI_PAIR_EPOCH_SHIFT, i = epoch & 1;

	if (pair->epoch[i] != epoch) {
		pair->epoch[i] = epoch;
		pair->longest_ns[i] = 0;
	}
	if (ns > pair->longest_ns[i])
		pair->longest_ns[i] = ns;
}

static __always_inline bool vw_place_has(const struct vw_abi_pair_key *key, u32 tid)
{
	return key->a == tid || key->b == tid;
}

/* One vCPU makes room for another one of its process: there and back again counts. */
static __always_inline void vw_place_yield(struct vw_place *place, u32 prev, u32 next, u64 now)
{
	struct vw_abi_pair_key key = {
		.cpu = bpf_get_smp_processor_id(),
		.kind = VW_PAIR_YIELD,
		.a = prev < next ? prev : next,
		.b = prev < next ? next : prev,
	};
	struct vw_abi_pair *pair = vw_pair_of(&key, now);

	place->pair = key;
	if (!pair || pair->left == prev)
		return;
	pair->left = prev;
	pair->count++;
	pair->last_ns = now;
}

/*
 * @stint is what @prev had of the CPU, @from and @to are slots: who of the two is a vCPU, who may
 * be a worker.
 */
static __always_inline void vw_place_switch(struct task_struct *prev, struct task_struct *next,
					    u8 from, u8 to, u64 stint, u64 now, bool runnable)
{
	struct vw_abi_pair *pair = NULL;
	u32 zero = 0, a = prev->pid, b = next->pid;
	struct vw_place *place = bpf_map_lookup_elem(&vw_places, &zero);

	if (!place)
		return;
	if (place->vcpu) {
		if (a == place->other)
			place->ns += stint;
		if (b == place->vcpu)
			vw_place_back(place, now);
	}
	if (place->pair.kind)
		pair = bpf_map_lookup_elem(&vw_pairs, &place->pair);
	if (pair && vw_place_has(&place->pair, a))
		vw_place_stint(pair, stint, now);
	if (!a || !b || !runnable)
		return;
	if (pair && !(vw_place_has(&place->pair, a) && vw_place_has(&place->pair, b)))
		pair->misses++;
	if (!(from & VW_WATCH_VCPU))
		return;
	/* A vCPU that may run elsewhere is not at the worker's mercy. */
	if (to & VW_WATCH_TASK && BPF_CORE_READ(prev, nr_cpus_allowed) == 1) {
		place->vcpu = a;
		place->other = b;
		place->since = now;
		place->ns = 0;
	}
	if (to & VW_WATCH_VCPU && prev->tgid == next->tgid)
		vw_place_yield(place, a, b, now);
}

#endif
