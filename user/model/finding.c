// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/finding.h"

#define NAME_OF(table, i) ((size_t)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : NULL)

const char *vw_kind_name(enum vw_kind kind)
{
	static const char *const names[VW_KIND_COUNT] = {
		[VW_NON_YIELDING_WORKER] = "non_yielding_worker",
		[VW_STARVED_TASK] = "starved_task",
		[VW_BUSY_WORKER] = "busy_worker",
	};

	return NAME_OF(names, kind);
}

const char *vw_cause_name(enum vw_cause cause)
{
	static const char *const names[] = {
		[VW_CAUSE_UNKNOWN] = "unknown",
		[VW_CAUSE_IGNORES_RESCHED] = "ignores_resched",
		[VW_CAUSE_SOFTIRQ_IN_WORKER] = "softirq_in_worker",
		[VW_CAUSE_SCHEDULER_NO_REQUEST] = "scheduler_no_request",
		[VW_CAUSE_LAZY_PREEMPTION] = "lazy_preemption",
		[VW_CAUSE_SATURATED] = "saturated",
	};

	return NAME_OF(names, cause);
}

const char *vw_severity_name(enum vw_severity severity)
{
	static const char *const names[] = {
		[VW_INFO] = "info",
		[VW_WARNING] = "warning",
		[VW_CRITICAL] = "critical",
	};

	return NAME_OF(names, severity);
}

const char *vw_status_name(enum vw_status status)
{
	static const char *const names[] = {
		[VW_OPEN] = "open",
		[VW_CLOSED] = "closed",
	};

	return NAME_OF(names, status);
}

const char *vw_resched_name(enum vw_resched resched)
{
	static const char *const names[] = {
		[VW_RESCHED_UNKNOWN] = NULL,
		[VW_RESCHED_NONE] = "none",
		[VW_RESCHED_LAZY] = "lazy",
		[VW_RESCHED_FULL] = "full",
	};

	return NAME_OF(names, resched);
}
