/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When watched tasks sleep, and waits that no stint explains: throttled groups, idle CPUs.
 *
 * For the switch hook, of tasks that have totals.  What is remembered when a task leaves its CPU
 * holds as long as it comes back there without having been moved.
 */
#ifndef VW_REST_BPF_H
#define VW_REST_BPF_H

#include "vw_core.bpf.h"

#define VW_REST_NS 1000000000ULL /* awake for so long, its falling asleep is told */

/*
 * How long the task's group has been throttled on the task's CPU; grows when it no longer is.
 * False where it is not counted.
 */
static __always_inline bool vw_group_throttled(struct task_struct *task, u64 *ret_ns)
{
	struct cfs_rq___pelt *pelt = (void *)BPF_CORE_READ(task, se.cfs_rq);

	if (!bpf_core_field_exists(pelt->throttled_clock_pelt_time))
		return false;
	*ret_ns = BPF_CORE_READ(pelt, throttled_clock_pelt_time);
	return true;
}

static __always_inline void vw_rest_tell(struct task_struct *task, struct vw_abi_totals *t, u64 now,
					 u32 what, u32 flags, u64 wait, u64 throttled, u64 idle)
{
	struct vw_rec_rest *rec;

	if (!(*vw_watch_slot(task->pid) & VW_WATCH_TASK))
		return;
	rec = vw_reserve(sizeof(*rec), VW_REC_REST, now);
	if (!rec)
		return;
	vw_task_fill(&rec->task, task);
	__builtin_memcpy(&rec->totals, t, sizeof(rec->totals));
	rec->what = what;
	rec->flags = flags;
	rec->wait_ns = wait;
	rec->throttled_ns = throttled;
	rec->idle_ns = idle;
	vw_submit(rec);
}

/* It leaves its CPU to @next; t->oncpu_ns has the stint that ends. */
static __always_inline void vw_rest_leave(struct vw_abi_totals *t, struct task_struct *task,
					  struct task_struct *next, u64 stint, u64 now,
					  bool runnable)
{
	struct rq *rq = vw_task_rq(task);
	u64 wait = vw_task_wait(next, BPF_CORE_READ(rq, clock));
	u32 flags = t->flags & ~(VW_TOTALS_RUNNABLE | VW_TOTALS_THROTTLED | VW_TOTALS_IDLE);

	if (!t->awake_ns) { /* it ran before anything was seen of it */
		t->awake_ns = now - stint;
		t->awake_oncpu_ns = t->oncpu_ns - stint;
		t->awake_wait_ns = t->wait_ns;
		t->followed_ns = 0;
		flags &= ~VW_TOTALS_SWITCHED;
	}
	if (wait > now - t->awake_ns)
		wait = now - t->awake_ns;
	if (wait > t->followed_ns)
		t->followed_ns = wait;
	if (runnable) {
		flags |= VW_TOTALS_RUNNABLE | VW_TOTALS_SWITCHED;
		flags |= vw_task_throttled(task) ? VW_TOTALS_THROTTLED : 0;
	} else {
		if (flags & VW_TOTALS_SWITCHED && now - t->awake_ns >= VW_REST_NS)
			vw_rest_tell(task, t, now, VW_REST_SLEEPS, 0, 0, 0, VW_ABI_UNKNOWN);
		t->awake_ns = 0;
	}
	flags |= next->pid ? 0 : VW_TOTALS_IDLE;
	vw_group_throttled(task, &t->group_ns);
	t->switches = BPF_CORE_READ(rq, nr_switches);
	t->migrations = BPF_CORE_READ(task, se.nr_migrations);
	t->out_ts_ns = now;
	t->flags = flags;
}

/* How long the CPU had been idle when @task got it, as far as it fell into its wait. */
static __always_inline u64 vw_rest_idle(struct vw_abi_totals *t, struct rq *rq, u64 wait)
{
	u64 clock = BPF_CORE_READ(rq, clock), stamp;

	if (t->flags & VW_TOTALS_IDLE && BPF_CORE_READ(rq, nr_switches) == t->switches + 1)
		return wait;
	/* Since others ran there, or since it slept; a wake-up that was heard clears it. */
	stamp = BPF_CORE_READ(rq, idle_stamp);
	if (!stamp || clock < stamp)
		return VW_ABI_UNKNOWN;
	return clock - stamp < wait ? clock - stamp : wait;
}

/* For how much of its wait its group had no quota left. */
static __always_inline u64 vw_rest_throttled(struct vw_abi_totals *t, struct task_struct *task,
					     u64 wait)
{
	u64 ns;

	/* It left because of that; it may also have waited a little when there was quota again. */
	if (!vw_group_throttled(task, &ns))
		return t->flags & VW_TOTALS_THROTTLED ? wait : 0;
	if (ns < t->group_ns) /* another group */
		return 0;
	return ns - t->group_ns < wait ? ns - t->group_ns : wait;
}

/* It gets the CPU that @prev leaves, after @wait; t->wait_ns does not have that yet. */
static __always_inline void vw_rest_enter(struct vw_abi_totals *t, struct task_struct *task,
					  struct task_struct *prev, u64 wait, u64 now)
{
	u32 flags = t->flags & VW_TOTALS_RUNNABLE ? 0 : VW_REST_WOKEN;
	u64 throttled = 0, idle = VW_ABI_UNKNOWN;

	if (!t->awake_ns) {
		t->awake_ns = now - wait;
		t->awake_oncpu_ns = t->oncpu_ns;
		t->awake_wait_ns = t->wait_ns;
		t->followed_ns = 0;
		t->flags &= ~VW_TOTALS_SWITCHED;
	}
	t->wait_ns += wait;
	if (!t->out_ts_ns || t->cpu != bpf_get_smp_processor_id() ||
	    t->migrations != BPF_CORE_READ(task, se.nr_migrations))
		return;
	throttled = vw_rest_throttled(t, task, wait);
	t->throttled_ns += throttled;
	if (wait < 2 * vw_threshold_ns)
		return;
	if (!prev->pid)
		idle = vw_rest_idle(t, vw_task_rq(task), wait);
	if (throttled > wait / 2 || (idle != VW_ABI_UNKNOWN && idle >= 2 * vw_threshold_ns))
		vw_rest_tell(task, t, now, VW_REST_WAITED, flags, wait, throttled, idle);
}

#endif
