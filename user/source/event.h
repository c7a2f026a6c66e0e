/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One event of a kernel trace, as source/ftrace.c reads it from a line and source/sched.c uses it.
 *
 * What a line does not tell is unknown: 0 for ids, -1 for CPUs, VW_UNKNOWN for times, "" for names.
 */
#ifndef VW_SOURCE_EVENT_H
#define VW_SOURCE_EVENT_H

#include "model/finding.h"

enum vw_event_kind {
	VW_EVENT_OTHER, /* an event of no use; its head still tells who runs where */
	VW_EVENT_SWITCH,
	VW_EVENT_WAKING, /* somebody is about to wake it; it is not on a queue yet */
	VW_EVENT_WAKEUP, /* sched_wakeup: it is runnable */
	VW_EVENT_WAKEUP_NEW,
	VW_EVENT_MIGRATE,
	VW_EVENT_STAT_RUNTIME,
	VW_EVENT_FORK,
	VW_EVENT_EXIT,
	VW_EVENT_SOFTIRQ_ENTRY,
	VW_EVENT_SOFTIRQ_EXIT,
	VW_EVENT_IRQ_ENTRY,
	VW_EVENT_IRQ_EXIT,
	VW_EVENT_NUMA, /* sched_move_numa, sched_swap_numa, sched_stick_numa */
	VW_EVENT_RCU_STALL, /* rcu_stall_warning */
	VW_EVENT_CONSOLE,
	VW_EVENT_WORK_QUEUE, /* vhost_work_queue */
	VW_EVENT_WORK_START, /* vhost_work_execute_start, workqueue_execute_start */
	VW_EVENT_WORK_END,
	VW_EVENT_LOST, /* "CPU:N [LOST M EVENTS]" */
};

struct vw_event_task {
	int32_t tid;
	int32_t prio; /* as the kernel prints it: 120 is nice 0, below 100 real-time; -1 unknown */
	char comm[VW_COMM_LEN];
};

struct vw_event {
	enum vw_event_kind kind;
	int32_t cpu;
	uint64_t ts_ns; /* VW_UNKNOWN for a LOST line, which has no time */
	/* From the head of the line: the task in whose context the event was recorded. */
	int32_t tid; /* -1 unknown ("<...>" still has one); 0 is the idle task */
	int32_t tgid; /* 0 unknown */
	char comm[VW_COMM_LEN]; /* "" when the trace does not know it ("<...>") */
	enum vw_resched resched; /* from the flags column; UNKNOWN without one */
	bool in_interrupt; /* from the flags column: recorded in hard or soft interrupt context */
	union {
		struct {
			struct vw_event_task prev, next;
			char prev_state; /* R, S, D, ...; 0 unknown */
			bool preempted; /* "R+" */
		} sw; /* SWITCH */
		struct {
			struct vw_event_task task;
			int32_t target_cpu;
		} wake; /* WAKING, WAKEUP, WAKEUP_NEW */
		struct {
			struct vw_event_task task;
			int32_t from_cpu, to_cpu;
		} migrate;
		struct {
			struct vw_event_task task;
			uint64_t runtime_ns;
		} runtime; /* STAT_RUNTIME */
		struct {
			struct vw_event_task parent, child;
		} fork;
		struct vw_event_task exit;
		int32_t vector; /* SOFTIRQ_*: 0..9, IRQ_*: the number */
		struct {
			int32_t tid, other_tid; /* other: of a swap */
			int32_t from_cpu, to_cpu;
		} numa;
		struct {
			const char *text; /* points into the line, @len bytes, no NUL */
			size_t len;
		} console; /* also RCU_STALL: all of its fields */
		struct {
			uint64_t work;
			int32_t worker; /* only QUEUE names it; else it is the task of the head */
			bool workqueue; /* a workqueue event: vhost's only if the function is */
			char function[VW_FUNCTION_LEN];
		} work;
		uint64_t lost;
	};
};

#endif
