/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading the scheduler's structures, whatever the kernel line; each guard names the commit behind
 * it.
 *
 * All reads are probe reads: the run queue is walked without its lock, so a pointer may be stale
 * and a value may be from two moments.  Callers check what they get for sense.
 */
#ifndef VW_CORE_BPF_H
#define VW_CORE_BPF_H

#include "vw_maps.bpf.h"
#include <bpf/bpf_core_read.h>

#define VW_PF_KTHREAD 0x00200000
#define VW_PF_USER_WORKER 0x00004000
#define VW_MAX_RT_PRIO 100
#define VW_WALK_MAX 64
#define VW_SANE_NS (365ULL * 86400 * 1000000000)

/*
 * The `runqueues` symbol needs KALLSYMS_ALL; the way through the task's own queue works everywhere
 * and is also set for real-time tasks (set_task_rq()).
 */
static __always_inline struct rq *vw_task_rq(struct task_struct *task)
{
	return BPF_CORE_READ(task, se.cfs_rq, rq);
}

/* Renamed and made narrower by 2f064a59a11f ("sched: Change task_struct::state", 5.14). */
static __always_inline long vw_task_state(struct task_struct *task)
{
	struct task_struct___new_state *now = (void *)task;
	struct task_struct___old_state *old = (void *)task;

	if (bpf_core_field_exists(now->__state))
		return BPF_CORE_READ(now, __state);
	return BPF_CORE_READ(old, state);
}

/* Times the task got a CPU.  Kernels without SCHED_INFO fall back to its switches. */
static __always_inline u64 vw_task_arrivals(struct task_struct *task)
{
	if (bpf_core_field_exists(task->sched_info.pcount))
		return BPF_CORE_READ(task, sched_info.pcount);
	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/* The request of the running task; the TIF bits are macros, so the loader passes the masks. */
static __always_inline u8 vw_task_resched(struct task_struct *task)
{
	unsigned long flags;

	if (!vw_tif_full)
		return VW_ABI_RESCHED_UNKNOWN;
	flags = BPF_CORE_READ(task, thread_info.flags);
	if (flags & vw_tif_full)
		return VW_ABI_RESCHED_FULL;
	if (flags & vw_tif_lazy)
		return VW_ABI_RESCHED_LAZY;
	return VW_ABI_RESCHED_NONE;
}

static __always_inline void vw_task_fill(struct vw_abi_task *dst, struct task_struct *task)
{
	dst->tid = BPF_CORE_READ(task, pid);
	dst->tgid = BPF_CORE_READ(task, tgid);
	dst->flags = BPF_CORE_READ(task, flags);
	dst->weight = BPF_CORE_READ(task, se.load.weight) >>
		      10; /* SCHED_FIXEDPOINT_SHIFT, 64 bit */
	dst->start_ns = BPF_CORE_READ(task, start_boottime);
	bpf_core_read_str(dst->comm, sizeof(dst->comm), &task->comm);
}

/* How long the running task has held the CPU by the queue's clock, 0 when that makes no sense. */
static __always_inline u64 vw_task_oncpu(struct task_struct *task, struct rq *rq)
{
	u64 clock, arrival;

	if (!bpf_core_field_exists(task->sched_info.last_arrival))
		return 0;
	clock = BPF_CORE_READ(rq, clock);
	arrival = BPF_CORE_READ(task, sched_info.last_arrival);
	if (!arrival || clock < arrival || clock - arrival > VW_SANE_NS)
		return 0;
	return clock - arrival;
}

/* How long a queued task has waited; @clock is the queue's, the stamp's own base. */
static __always_inline u64 vw_task_wait(struct task_struct *task, u64 clock)
{
	u64 queued;

	if (!bpf_core_field_exists(task->sched_info.last_queued))
		return 0;
	queued = BPF_CORE_READ(task, sched_info.last_queued);
	if (!queued || clock < queued || clock - queued > VW_SANE_NS)
		return 0;
	return clock - queued;
}

/*
 * A sleeper whose dequeue is put off is on the queue but does not want to run
 * (152e11f6df29, "sched/fair: Implement delayed dequeue", 6.12).
 */
static __always_inline bool vw_se_delayed(struct sched_entity *se)
{
	struct sched_entity___delayed *d = (void *)se;

	if (!bpf_core_field_exists(d->sched_delayed))
		return false;
	return BPF_CORE_READ(d, sched_delayed);
}

static __always_inline bool vw_task_throttled(struct task_struct *task)
{
	struct cfs_rq *cfs_rq = BPF_CORE_READ(task, se.cfs_rq);

	if (!bpf_core_field_exists(cfs_rq->throttle_count))
		return false; /* no CFS_BANDWIDTH */
	return BPF_CORE_READ(cfs_rq, throttle_count) > 0;
}

/* The totals of a watched task.  The number may have been given to another task meanwhile. */
static __always_inline struct vw_abi_totals *vw_totals_get(u32 tid, u64 start_ns)
{
	struct vw_abi_totals *t = bpf_map_lookup_elem(&vw_totals, &tid);

	/* User space may know the start to a clock tick of 10 ms only. */
	return t && t->start_ns / 10000000 == start_ns / 10000000 ? t : NULL;
}

#endif
