/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A finding: what a detector says to people and programs.  docs/FORMATS names every word.
 *
 * Times are nanoseconds of the run's clock.  A finding owns nothing; it is copied by value.
 */
#ifndef VW_MODEL_FINDING_H
#define VW_MODEL_FINDING_H

#include "model/task.h"

#define VW_UNKNOWN UINT64_MAX /* printed as null */
#define VW_MAX_VICTIMS 8
#define VW_MAX_FRAMES 16
#define VW_FRAME_LEN 48
#define VW_TEXT_LEN 640

enum vw_kind {
	VW_NON_YIELDING_WORKER,
	VW_STARVED_TASK,
	VW_BUSY_WORKER,
	VW_KIND_COUNT,
};

enum vw_severity { VW_INFO, VW_WARNING, VW_CRITICAL };
enum vw_status { VW_OPEN, VW_CLOSED };
/* Of the running task; UNKNOWN where the flag cannot be read. */
enum vw_resched { VW_RESCHED_UNKNOWN, VW_RESCHED_NONE, VW_RESCHED_LAZY, VW_RESCHED_FULL };

enum vw_cause {
	VW_CAUSE_UNKNOWN,
	VW_CAUSE_IGNORES_RESCHED,
	VW_CAUSE_SOFTIRQ_IN_WORKER,
	VW_CAUSE_SCHEDULER_NO_REQUEST,
	VW_CAUSE_LAZY_PREEMPTION,
	VW_CAUSE_SATURATED,
};

struct vw_victim {
	struct vw_task task;
	uint64_t wait_ns; /* the longest single wait seen */
	uint64_t wait_total_ns; /* all waits of this finding */
	uint64_t wait_last_ns; /* the wait that was under way when it was last seen */
};

/* The evidence common to the scheduling kinds; VW_UNKNOWN where not known. */
struct vw_evidence {
	uint64_t count; /* episodes */
	uint64_t span_ns; /* first start to last end */
	enum vw_resched resched;
	uint64_t resched_pending_ns;
	uint64_t oncpu_ns;
	uint64_t softirq_ns;
	uint64_t irq_ns;
	uint64_t nr_running;
	const char *clock; /* static name of the hook that saw it, or NULL */
	unsigned int n_stack;
	char stack[VW_MAX_FRAMES][VW_FRAME_LEN]; /* innermost first */
};

struct vw_finding {
	enum vw_kind kind;
	enum vw_severity severity;
	enum vw_status status;
	enum vw_cause cause;
	uint64_t start_ns;
	uint64_t end_ns; /* while open: the last time it was seen to last */
	uint64_t duration_ns;
	int32_t cpu;
	bool has_culprit;
	struct vw_task culprit;
	unsigned int n_victims;
	struct vw_victim victims[VW_MAX_VICTIMS]; /* longest wait first */
	struct vw_evidence evidence;
	uint64_t printed_after_ns; /* from the observation's time stamp to print; set by cmd/ */
	char message[VW_TEXT_LEN]; /* one sentence */
	char remedy[VW_TEXT_LEN]; /* one sentence or "" */
};

const char *vw_kind_name(enum vw_kind kind);
const char *vw_cause_name(enum vw_cause cause);
const char *vw_severity_name(enum vw_severity severity);
const char *vw_status_name(enum vw_status status);
/* NULL for unknown. */
const char *vw_resched_name(enum vw_resched resched);

#endif
