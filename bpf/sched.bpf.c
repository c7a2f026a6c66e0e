// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The switch hook of the trace level: exact ends of stints, and time on CPU of watched tasks.
 *
 * Nearly all switches are between tasks that nobody watches, so the hook asks two bytes and leaves.
 */
#include "vw_core.bpf.h"
#include <bpf/bpf_tracing.h>
#include "vw_report.bpf.h"

static __noinline int watched_switch(struct task_struct *prev, struct task_struct *next)
{
	u64 now = bpf_ktime_get_ns();
	struct vw_abi_totals *t;
	struct vw_stint *s;
	u32 zero = 0;

	t = vw_totals_get(prev->pid, prev->start_boottime);
	if (t && t->in_ts_ns) {
		t->oncpu_ns += now - t->in_ts_ns;
		t->in_ts_ns = 0;
	}
	t = vw_totals_get(next->pid, next->start_boottime);
	if (t)
		t->in_ts_ns = now;
	s = bpf_map_lookup_elem(&vw_stints, &zero);
	if (s && s->reported && s->tid == (u32)prev->pid)
		vw_report_end(s, now, prev);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(vw_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (!(*vw_watch_slot(prev->pid) | *vw_watch_slot(next->pid)))
		return 0;
	if (!vw_active)
		return 0;
	return watched_switch(prev, next);
}
