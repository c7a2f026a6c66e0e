/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turning a stint into a record: while it lasts (vw_report) and when it is over (vw_report_end). */
#ifndef VW_REPORT_BPF_H
#define VW_REPORT_BPF_H

#include "vw_walk.bpf.h"

static __always_inline void vw_report_fill(struct vw_rec_stint *rec, struct vw_stint *s, u64 ts)
{
	rec->task = s->task;
	rec->oncpu_ns = ts - s->start_ts;
	rec->pending_ns = s->pending_ts ? ts - s->pending_ts : 0;
	rec->ticks = s->ticks;
	rec->pending_ticks = s->pending_ticks;
	rec->nr_running = s->nr_running;
	rec->resched = s->resched;
	rec->flags = s->rt ? VW_STINT_RT : 0;
	rec->clock = s->clock;
	rec->n_waiters = 0;
	rec->n_stack = 0;
	rec->pad = 0;
}

/*
 * A record with the queue and the kernel stack of the running @task; @task NULL leaves the queue
 * out, @ctx NULL the stack.
 */
static __always_inline void vw_report(void *ctx, struct vw_stint *s, struct task_struct *task,
				      u64 ts, u8 flags)
{
	struct vw_walk *walk = task ? vw_walk_queue(task, true) : NULL;
	struct vw_rec_stint *rec = vw_reserve(sizeof(*rec), VW_REC_STINT, ts);
	long bytes;

	if (!rec)
		return;
	vw_report_fill(rec, s, ts);
	rec->flags |= flags;
	if (walk) {
		rec->n_waiters = walk->n;
		__builtin_memcpy(rec->waiters, walk->waiters, sizeof(rec->waiters));
	}
	if (ctx) {
		bytes = bpf_get_stack(ctx, rec->stack, sizeof(rec->stack), 0);
		if (bytes > 0)
			rec->n_stack = bytes / sizeof(rec->stack[0]);
	}
	vw_submit(rec);
}

/* The stint is over: the last record, and nothing more is said of it. */
static __always_inline void vw_report_end(struct vw_stint *s, u64 ts, struct task_struct *task)
{
	vw_report(NULL, s, task, ts, VW_STINT_FINAL);
	s->reported = 0;
}

#endif
