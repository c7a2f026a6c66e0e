/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who waits on a run queue: a bounded walk without its lock. */
#ifndef VW_WALK_BPF_H
#define VW_WALK_BPF_H

#include "vw_core.bpf.h"

#define VW_GROUP_DEPTH 16

/*
 * How much more virtual run time @waiter has had than @runner, as seen where their groups meet:
 * what a fair scheduler lets the runner catch up first.
 */
static __always_inline bool vw_task_lead(struct task_struct *waiter, struct task_struct *runner,
					 s64 *lead)
{
	struct sched_entity *a = (void *)waiter + bpf_core_field_offset(struct task_struct, se);
	struct sched_entity *b = (void *)runner + bpf_core_field_offset(struct task_struct, se);
	int i, da, db;

	for (i = 0; i < VW_GROUP_DEPTH && a && b; i++) {
		if (BPF_CORE_READ(a, cfs_rq) == BPF_CORE_READ(b, cfs_rq)) {
			*lead = (s64)(BPF_CORE_READ(a, vruntime) - BPF_CORE_READ(b, vruntime));
			return true;
		}
		if (!bpf_core_field_exists(a->parent))
			return false; /* no FAIR_GROUP_SCHED */
		da = BPF_CORE_READ(a, depth);
		db = BPF_CORE_READ(b, depth);
		if (da >= db)
			a = BPF_CORE_READ(a, parent);
		if (db >= da)
			b = BPF_CORE_READ(b, parent);
	}
	return false;
}

/* One queued task of the walk under way; the oldest waits stay. */
static __always_inline void vw_walk_keep(struct vw_walk *walk, struct task_struct *task, u64 wait,
					 bool throttled)
{
	struct vw_abi_waiter *w;
	u32 slot = walk->n, i;
	s64 lead;

	if (slot >= VW_ABI_WAITERS) {
		slot = 0;
		for (i = 1; i < VW_ABI_WAITERS; i++)
			if (walk->waiters[i].wait_ns <
			    walk->waiters[slot & (VW_ABI_WAITERS - 1)].wait_ns)
				slot = i;
		if (walk->waiters[slot & (VW_ABI_WAITERS - 1)].wait_ns >= wait)
			return;
	} else {
		walk->n++;
	}
	w = &walk->waiters[slot & (VW_ABI_WAITERS - 1)];
	vw_task_fill(&w->task, task);
	w->wait_ns = wait;
	w->flags = throttled ? VW_WAITER_THROTTLED : 0;
	w->lead_ns = 0;
	if (vw_task_lead(task, (void *)walk->runner, &lead)) {
		w->flags |= VW_WAITER_LEAD;
		w->lead_ns = lead;
	}
	w->pad = 0;
}

/*
 * Takes the walk one node further; 1 when it is over.  A global function, so the verifier looks at
 * it once and not once a turn: a plain loop of this body is beyond its limit, and bpf_loop() came
 * with 5.17 only (e6f2dd0f8067).  It takes a number, as pointers to BTF types are none of its
 * arguments on older kernels.
 */
__weak __noinline int vw_walk_step(u32 turn)
{
	u32 zero = 0;
	struct vw_walk *walk = bpf_map_lookup_elem(&vw_walks, &zero);
	struct list_head *node;
	struct sched_entity *se;
	struct task_struct *task;
	bool throttled;
	u64 wait;

	if (turn >= VW_WALK_MAX || !walk || walk->node == walk->head)
		return 1;
	if (!walk->node) {
		vw_count(VW_COUNT_BAD_WALK);
		return 1;
	}
	node = (void *)walk->node;
	se = (void *)node - bpf_core_field_offset(struct sched_entity, group_node);
	task = (void *)se - bpf_core_field_offset(struct task_struct, se);
	walk->node = (u64)BPF_CORE_READ(node, next);
	if ((u64)task == walk->runner || vw_se_delayed(se))
		return 0;
	wait = vw_task_wait(task, walk->clock);
	if ((u32)BPF_CORE_READ(task, tgid) == vw_self) {
		/* The watcher gets out of the way by itself, so it is no victim. */
		walk->own = wait > walk->own ? wait : walk->own;
		return 0;
	}
	throttled = vw_task_throttled(task);
	if (wait > walk->oldest && !throttled)
		walk->oldest = wait;
	if (walk->fill)
		vw_walk_keep(walk, task, wait, throttled);
	return 0;
}

/*
 * Walks the list of fair tasks on the queue of @runner, which runs there and is left out.  The
 * result, with the waiters if @fill, is this CPU's until the next walk.  Callers have interrupts
 * off.  NULL never in practice.
 */
static __noinline struct vw_walk *vw_walk_queue(struct task_struct *runner, bool fill)
{
	u32 zero = 0;
	struct vw_walk *walk = bpf_map_lookup_elem(&vw_walks, &zero);
	struct rq *rq = vw_task_rq(runner);
	u32 turn;

	if (!walk)
		return NULL;
	/* Children of task groups are on this list too, so one list is the whole queue. */
	walk->head = (u64)rq + bpf_core_field_offset(struct rq, cfs_tasks);
	walk->node = (u64)BPF_CORE_READ(rq, cfs_tasks.next);
	walk->clock = BPF_CORE_READ(rq, clock);
	walk->runner = (u64)runner;
	walk->oldest = 0;
	walk->own = 0;
	walk->fill = fill;
	walk->n = 0;
	for (turn = 0; turn < VW_WALK_MAX; turn++)
		if (vw_walk_step(turn))
			break;
	return walk;
}

#endif
