// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The switch hook of the trace level: exact ends of stints, and time on CPU of watched tasks.
 *
 * Nearly all switches are between tasks that nobody watches, so the hook asks two bytes and leaves.
 */
#include "vw_core.bpf.h"
#include <bpf/bpf_tracing.h>
#include "vw_moved.bpf.h"
#include "vw_place.bpf.h"
#include "vw_report.bpf.h"
#include "vw_rest.bpf.h"

/* What @prev had of its CPU, 0 when that was not seen. */
static __always_inline u64 leave(struct vw_abi_totals *t, struct task_struct *prev,
				 struct task_struct *next, u64 now, bool runnable)
{
	u64 stint = t->in_ts_ns ? now - t->in_ts_ns : 0;

	t->oncpu_ns += stint;
	t->in_ts_ns = 0;
	vw_rest_leave(t, prev, next, stint, now, runnable);
	return stint;
}

static __always_inline void enter(struct vw_abi_totals *t, struct task_struct *task,
				  struct task_struct *prev, u64 now)
{
	u64 wait = vw_task_wait(task, BPF_CORE_READ(vw_task_rq(task), clock));

	/* What it had waited before it came to be watched does not count. */
	if (wait > now - t->since_ns)
		wait = now - t->since_ns;
	vw_rest_enter(t, task, prev, wait, now);
	t->in_ts_ns = now;
	t->cpu = bpf_get_smp_processor_id();
}

static __noinline int watched_switch(struct task_struct *prev, struct task_struct *next,
				     bool runnable, u8 why)
{
	u8 from = *vw_watch_slot(prev->pid), to = *vw_watch_slot(next->pid);
	u64 now = bpf_ktime_get_ns(), stint = 0;
	struct vw_abi_totals *t;
	struct vw_stint *s;
	u32 zero = 0;

	if (why & (VW_WATCH_STOPPER | VW_WATCH_MOVED))
		vw_moves_switch(prev, next, runnable, now);
	if (!(why & ~(VW_WATCH_STOPPER | VW_WATCH_MOVED)))
		return 0;
	t = vw_totals_get(prev->pid, prev->start_boottime);
	if (t)
		stint = leave(t, prev, next, now, runnable);
	t = vw_totals_get(next->pid, next->start_boottime);
	if (t)
		enter(t, next, prev, now);
	vw_place_switch(prev, next, from, to, stint, now, runnable);
	s = bpf_map_lookup_elem(&vw_stints, &zero);
	if (s && s->reported && s->tid == (u32)prev->pid)
		vw_report_end(s, now, prev);
	return 0;
}

/*
 * @prev's state is read before anybody can wake it only where the tracepoint tells it; elsewhere a
 * wake-up that comes at this very moment makes a sleeper look preempted.
 */
static __always_inline bool is_runnable(unsigned long long *ctx, bool preempt,
					struct task_struct *prev)
{
	long state = vw_switch_state ? (long)(u32)ctx[3] : vw_task_state(prev);

	return preempt || !state;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(vw_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u8 why = *vw_watch_slot(prev->pid) | *vw_watch_slot(next->pid);

	if (!why)
		return 0;
	if (!vw_active)
		return 0;
	return watched_switch(prev, next, is_runnable(ctx, preempt, prev), why);
}
