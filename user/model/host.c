// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "model/host.h"

#define NAME_OF(table, i) ((size_t)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : NULL)

const char *vw_preempt_name(enum vw_preempt preempt)
{
	static const char *const names[] = {
		[VW_PREEMPT_UNKNOWN] = NULL,
		[VW_PREEMPT_NONE] = "none",
		[VW_PREEMPT_VOLUNTARY] = "voluntary",
		[VW_PREEMPT_FULL] = "full",
		[VW_PREEMPT_LAZY] = "lazy",
	};

	return NAME_OF(names, preempt);
}

const char *vw_hook_state_name(enum vw_hook_state state)
{
	static const char *const names[] = {
		[VW_HOOK_ATTACHED] = "attached",
		[VW_HOOK_FALLBACK] = "fallback",
		[VW_HOOK_MISSING] = "missing",
	};

	return NAME_OF(names, state);
}

const char *vw_detector_state_name(enum vw_detector_state state)
{
	static const char *const names[] = {
		[VW_DETECTOR_FULL] = "full",
		[VW_DETECTOR_DEGRADED] = "degraded",
		[VW_DETECTOR_OFF] = "off",
	};

	return NAME_OF(names, state);
}
