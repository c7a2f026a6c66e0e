/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tracepoints that the core object may be attached to, in the order of attaching: the
 * clocks last, they are the ones with another way.
 */
#ifndef VW_LOAD_TP_H
#define VW_LOAD_TP_H

enum vw_tp {
	VW_TP_TASK_NEWTASK,
	VW_TP_TASK_RENAME,
	VW_TP_PROCESS_EXIT,
	VW_TP_SWITCH,
	VW_TP_MIGRATE,
	VW_TP_MOVE_NUMA,
	VW_TP_SWAP_NUMA,
	VW_TP_SOFTIRQ_ENTRY,
	VW_TP_SOFTIRQ_EXIT,
	VW_TP_IRQ_ENTRY,
	VW_TP_IRQ_EXIT,
	VW_TP_RCU_STALL,
	VW_TP_LOCAL_TIMER,
	VW_TP_STAT_RUNTIME,
	VW_TP_COUNT,
};

/* As in /sys/kernel/tracing/available_events, without the subsystem. */
const char *vw_tp_name(enum vw_tp tp);

#endif
