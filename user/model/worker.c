// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/worker.h"

const char *vw_verdict_name(enum vw_verdict verdict)
{
	static const char *const names[] = {
		[VW_VERDICT_OK] = "ok",
		[VW_VERDICT_WARNING] = "warning",
		[VW_VERDICT_CRITICAL] = "critical",
		[VW_VERDICT_UNKNOWN] = "unknown",
	};

	if ((size_t)verdict >= sizeof(names) / sizeof(names[0]))
		return NULL;
	return names[verdict];
}
