/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observations: all that a source may tell a detector.
 *
 * Sources of every kind (BPF, /proc, traces) come down to these, so that one set of detectors
 * serves live and offline runs.  Times are nanoseconds of the run's clock and never fall within a
 * run.
 */
#ifndef VW_MODEL_OBS_H
#define VW_MODEL_OBS_H

#include "model/finding.h"

enum vw_obs_kind {
	VW_OBS_TASK, /* what is known of a task; comes before observations that name it */
	VW_OBS_TASK_EXIT, /* the task is gone */
	VW_OBS_STINT, /* one CPU's uninterrupted stint, seen while it lasts or at its end */
	VW_OBS_LOSS, /* events were lost */
};

struct vw_waiter {
	int32_t tid;
	uint64_t start_ns; /* 0 unknown */
	uint64_t wait_ns; /* since it became runnable */
	uint32_t weight; /* CFS load weight (nice 0 = 1024), 0 unknown */
	bool throttled; /* its group has no quota left: it could not run anyway */
	/* Virtual run time that it has had more than the running task; valid if lead_known. */
	bool lead_known;
	int64_t lead_ns;
};

struct vw_obs_stint {
	int32_t cpu;
	int32_t tid; /* the running task */
	uint64_t start_ns; /* its identity, 0 unknown */
	bool final; /* it left the CPU at ts_ns */
	bool rt; /* it runs in a real-time class */
	uint64_t oncpu_ns;
	enum vw_resched resched;
	uint64_t pending_ns; /* the full request has been pending for so long; 0 none */
	uint32_t ticks; /* looks of the clock at this stint; a gap between looks is one look */
	uint32_t pending_ticks; /* looks since the request was first seen */
	uint32_t weight;
	uint32_t nr_running; /* 0 unknown */
	uint64_t softirq_ns, irq_ns; /* VW_UNKNOWN */
	const char *clock; /* static name */
	unsigned int n_waiters;
	struct vw_waiter waiters[VW_MAX_VICTIMS]; /* longest first */
	unsigned int n_stack;
	char stack[VW_MAX_FRAMES][VW_FRAME_LEN];
};

struct vw_obs {
	enum vw_obs_kind kind;
	uint64_t ts_ns;
	union {
		struct vw_task task;
		int32_t tid; /* TASK_EXIT */
		struct vw_obs_stint stint;
		struct {
			int32_t cpu; /* -1: any */
			uint64_t count;
		} loss;
	};
};

#endif
