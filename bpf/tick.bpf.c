// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The clock: looks at the running task where a CPU is busy, and reports the one that will not
 * leave.
 *
 * The same look hangs on three hooks; the loader attaches one.  A look at an undisturbed CPU ends
 * at the count of runnable tasks.  A record is made when a stint becomes suspicious and then every
 * vw_emit_ns while it lasts, so an open interval is told while it is open.
 */
#include "vw_core.bpf.h"
#include <bpf/bpf_tracing.h>
#include "vw_report.bpf.h"

static __always_inline void begin_stint(struct vw_stint *s, struct task_struct *task, struct rq *rq,
					u64 arrivals, u64 now)
{
	u64 held;

	if (s->reported) {
		/*
		 * It left unseen (no switch hook at guard level); it was last seen at its last
		 * look.
		 */
		vw_report_end(s, s->look_ts, NULL);
	}
	held = vw_task_oncpu(task, rq);
	s->tid = BPF_CORE_READ(task, pid);
	s->pcount = arrivals;
	s->start_ts = held < now ? now - held : now;
	s->look_ts = 0;
	s->pending_ts = 0;
	s->emit_ts = 0;
	s->ticks = 0;
	s->pending_ticks = 0;
	s->reported = 0;
	s->rt = BPF_CORE_READ(task, prio) < VW_MAX_RT_PRIO;
}

/* @looks: 1 for a look that counts, 0 for one that comes too soon after another. */
static __always_inline void note_request(struct vw_stint *s, struct task_struct *task, u64 now,
					 u32 looks)
{
	s->resched = vw_task_resched(task);
	if (s->resched != VW_ABI_RESCHED_FULL) {
		/* Cleared without a switch: the task called the scheduler and was chosen again. */
		s->pending_ts = 0;
		s->pending_ticks = 0;
	} else if (!s->pending_ts) {
		s->pending_ts = now;
	} else {
		s->pending_ticks += looks;
	}
}

/* The VW_REPORTED_* reasons that hold at this look. */
static __always_inline u8 suspicions(struct vw_stint *s, struct task_struct *task, u64 now)
{
	struct vw_walk *walk;
	u8 why = 0;

	if (s->nr_running < 2) {
		if (*vw_watch_slot(s->tid) & VW_WATCH_TASK && now - s->start_ts >= vw_busy_ns)
			why |= VW_REPORTED_BUSY;
		return why;
	}
	if (s->pending_ts && s->pending_ticks >= vw_pending_looks &&
	    now - s->pending_ts >= vw_threshold_ns)
		why |= VW_REPORTED_PENDING;
	if (s->ticks >= vw_stint_looks && now - s->start_ts >= 2 * vw_threshold_ns) {
		walk = vw_walk_queue(task, false);
		if (walk && walk->oldest >= 2 * vw_threshold_ns)
			why |= VW_REPORTED_WAITER;
	}
	return why;
}

/*
 * A watched task that was on its CPU already when it came to be watched: its time counts from now.
 */
static __always_inline void begin_totals(struct vw_stint *s, struct task_struct *task, u64 now)
{
	struct vw_abi_totals *t;

	if (!vw_trace || !(*vw_watch_slot(s->tid) & (VW_WATCH_TASK | VW_WATCH_VCPU)))
		return;
	t = vw_totals_get(s->tid, BPF_CORE_READ(task, start_boottime));
	if (t && !t->in_ts_ns) {
		t->in_ts_ns = now;
		t->cpu = bpf_get_smp_processor_id();
	}
}

static __always_inline int look(void *ctx, u8 clock)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct vw_stint *s;
	struct rq *rq;
	u64 now, arrivals;
	u32 zero = 0, tid;
	u8 why;

	if (!vw_active)
		return 0;
	s = bpf_map_lookup_elem(&vw_stints, &zero);
	if (!s)
		return 0;
	tid = BPF_CORE_READ(task, pid);
	if (!tid) {
		if (s->reported)
			vw_report_end(s, s->look_ts, NULL);
		s->tid = 0;
		return 0;
	}
	rq = vw_task_rq(task);
	now = bpf_ktime_get_ns();
	arrivals = vw_task_arrivals(task);
	if (s->tid != tid || s->pcount != arrivals) {
		begin_stint(s, task, rq, arrivals, now);
	} else if (now - s->look_ts < vw_tick_ns / 2) {
		/*
		 * sched_stat_runtime also comes between two ticks, and so do other timers of this
		 * interrupt.  No look, but a request need not wait for the next one to be seen.
		 */
		note_request(s, task, now, 0);
		return 0;
	}
	s->look_ts = now;
	s->clock = clock;
	s->ticks++;
	s->nr_running = BPF_CORE_READ(rq, nr_running);
	begin_totals(s, task, now);
	note_request(s, task, now, 1);
	vw_count(VW_COUNT_TICKS);
	why = suspicions(s, task, now);
	if (!why && !s->reported)
		return 0;
	if (!(why & ~s->reported) && now - s->emit_ts < vw_emit_ns)
		return 0;
	if (!s->reported) {
		vw_task_fill(&s->task, task);
		*vw_watch_slot(tid) |= VW_WATCH_SUSPECT;
	}
	s->reported |= why;
	s->emit_ts = now;
	vw_report(ctx, s, task, now, 0);
	return 0;
}

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(vw_local_timer, int vector)
{
	return look(ctx, VW_ABI_CLOCK_LOCAL_TIMER);
}

SEC("?perf_event")
int vw_cpu_clock(void *ctx)
{
	return look(ctx, VW_ABI_CLOCK_CPU_CLOCK);
}

SEC("?tp_btf/sched_stat_runtime")
int BPF_PROG(vw_stat_runtime, struct task_struct *task)
{
	/* A remote wake-up updates another CPU's running task from here: not ours to look at. */
	if ((void *)task != (void *)bpf_get_current_task())
		return 0;
	return look(ctx, VW_ABI_CLOCK_STAT_RUNTIME);
}
