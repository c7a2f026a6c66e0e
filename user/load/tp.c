// SPDX-License-Identifier: GPL-2.0-or-later
#include "load/tp.h"

const char *vw_tp_name(enum vw_tp tp)
{
	static const char *const names[VW_TP_COUNT] = {
		[VW_TP_TASK_NEWTASK] = "task_newtask",
		[VW_TP_TASK_RENAME] = "task_rename",
		[VW_TP_PROCESS_EXIT] = "sched_process_exit",
		[VW_TP_SWITCH] = "sched_switch",
		[VW_TP_MIGRATE] = "sched_migrate_task",
		[VW_TP_MOVE_NUMA] = "sched_move_numa",
		[VW_TP_SWAP_NUMA] = "sched_swap_numa",
		[VW_TP_SOFTIRQ_ENTRY] = "softirq_entry",
		[VW_TP_SOFTIRQ_EXIT] = "softirq_exit",
		[VW_TP_IRQ_ENTRY] = "irq_handler_entry",
		[VW_TP_IRQ_EXIT] = "irq_handler_exit",
		[VW_TP_RCU_STALL] = "rcu_stall_warning",
		[VW_TP_LOCAL_TIMER] = "local_timer_entry",
		[VW_TP_STAT_RUNTIME] = "sched_stat_runtime",
	};

	return tp < VW_TP_COUNT ? names[tp] : "";
}
