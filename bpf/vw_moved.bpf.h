/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Running tasks that are taken off their CPU and moved: what the switch hook does for them.
 *
 * The stoppers (migration/N) have a flag in the watch slots, and so have the few tasks whose next
 * switch decides what came of a move; switches between others do not get here.
 */
#ifndef VW_MOVED_BPF_H
#define VW_MOVED_BPF_H

#include "vw_moves.bpf.h"

/* A CPU that is about to go idle pulls tasks before its own last one has left. */
#define VW_AT_ONCE_NS 100000

/* The stopper comes to, or leaves, this CPU. */
static __always_inline void vw_moves_stopper(struct task_struct *prev, struct task_struct *next,
					     bool runnable, u64 now)
{
	struct rq *rq = vw_task_rq(next);
	struct task_struct *stop = BPF_CORE_READ(rq, stop);
	u32 cpu = bpf_get_smp_processor_id();
	struct vw_off *off;

	if (next != stop && prev != stop)
		return;
	off = bpf_map_lookup_elem(&vw_offs, &cpu);
	if (!off)
		return;
	off->tid = next == stop && runnable ? BPF_CORE_READ(prev, pid) : 0;
	off->start_ns = BPF_CORE_READ(prev, start_boottime);
	off->left_ts = now;
	off->left_clock = BPF_CORE_READ(rq, clock);
}

/*
 * Stamps of a queue are compared with that queue's own clock: each of them moved it on, so those
 * made before a task came are not above it.  Other clocks may be apart by a tick where the CPU's
 * counter is not stable.
 */
static __always_inline u64 vw_move_before(struct vw_abi_move *m, struct vw_walk *walk)
{
	return walk->clock > m->to_clock ? walk->clock - m->to_clock : 0;
}

/* The first switch on a CPU after a task was moved there. */
static __always_inline void vw_move_settle(struct task_struct *prev, struct vw_abi_move *held,
					   bool runnable, u64 now)
{
	u64 since = now - held->held_ts_ns;
	u32 tid = held->held_for;
	struct vw_abi_move *m;
	struct vw_walk *walk;

	held->held_ts_ns = 0;
	if (runnable || since > VW_AT_ONCE_NS)
		return;
	walk = vw_walk_queue(prev, false);
	m = bpf_map_lookup_elem(&vw_moves, &tid);
	if (walk && m && walk->oldest < vw_move_before(m, walk) &&
	    walk->own < vw_move_before(m, walk))
		m->free = VW_RAN_FREE;
}

static __always_inline void vw_move_old_idle(struct vw_rec_move_ran *rec, struct vw_abi_move *m,
					     struct task_struct *task)
{
	u32 cpu = m->from_cpu;
	struct cfs_rq **queues = BPF_CORE_READ(task, sched_task_group, cfs_rq), *queue = NULL;
	struct rq *rq;
	u64 stamp;

	rec->old_idle_ns = 0;
	bpf_probe_read_kernel(&queue, sizeof(queue), queues + cpu);
	rq = BPF_CORE_READ(queue, rq);
	if (!rq || BPF_CORE_READ(rq, curr) != BPF_CORE_READ(rq, idle))
		return;
	stamp = BPF_CORE_READ(rq, idle_stamp);
	if (stamp < m->left_clock)
		return;
	rec->old_idle_ns = stamp - m->left_clock;
	rec->flags |= VW_RAN_OLD_IDLE;
}

/* @next, which was moved, runs, and @prev made room, or not. */
static __always_inline void vw_move_ran(struct task_struct *prev, struct task_struct *next,
					struct vw_abi_move *m, bool runnable, u64 now)
{
	struct vw_walk *walk = vw_walk_queue(next, true);
	struct vw_rec_move_ran *rec = vw_reserve(sizeof(*rec), VW_REC_MOVE_RAN, now);
	struct vw_abi_move *d;

	/* At once: with anything between, 6.1's verifier sees two ways and a record not sent. */
	if (!rec)
		return;
	rec->tid = BPF_CORE_READ(next, pid);
	rec->start_ns = m->start_ns;
	rec->moved_ts_ns = m->moved_ts_ns;
	rec->flags = m->free;
	rec->displaced_arrivals = 0;
	rec->n_waiters = 0;
	rec->pad = 0;
	rec->before_ns = 0;
	vw_task_fill(&rec->displaced, prev);
	vw_move_old_idle(rec, m, next);
	if (walk) {
		rec->n_waiters = walk->n;
		rec->before_ns = vw_move_before(m, walk);
		__builtin_memcpy(rec->waiters, walk->waiters, sizeof(rec->waiters));
	}
	if (runnable && rec->displaced.tid && rec->displaced.tgid != vw_self) {
		rec->flags |= VW_RAN_DISPLACED;
		rec->displaced_arrivals = vw_task_arrivals(prev);
		d = vw_move_make(prev);
		if (d)
			d->displaced_ts_ns = now;
	}
	vw_submit(rec);
}

static __always_inline void vw_move_back(struct task_struct *task, struct vw_abi_move *m, u64 now)
{
	struct vw_rec_move_back *rec = vw_reserve(sizeof(*rec), VW_REC_MOVE_BACK, now);

	if (!rec)
		return;
	rec->tid = BPF_CORE_READ(task, pid);
	rec->start_ns = m->start_ns;
	rec->ran_ts_ns = m->displaced_ts_ns;
	rec->pad = 0;
	vw_submit(rec);
}

/* To be called for a switch that has VW_WATCH_STOPPER or VW_WATCH_MOVED in one of its slots. */
static __noinline int vw_moves_switch(struct task_struct *prev, struct task_struct *next,
				      bool runnable, u64 now)
{
	struct vw_abi_move *m;

	vw_moves_stopper(prev, next, runnable, now);
	m = vw_move_get(prev);
	if (m && m->held_ts_ns) {
		vw_move_settle(prev, m, runnable, now);
		vw_move_forget(prev, m);
	}
	m = vw_move_get(next);
	if (!m)
		return 0;
	if (m->displaced_ts_ns)
		vw_move_back(next, m, now);
	m->displaced_ts_ns = 0;
	if (m->moved_ts_ns)
		vw_move_ran(prev, next, m, runnable, now);
	m->moved_ts_ns = 0;
	vw_move_forget(next, m);
	return 0;
}

#endif
