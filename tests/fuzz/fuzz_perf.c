// SPDX-License-Identifier: GPL-2.0-or-later
/* Traces as perf script prints them. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(data, size, VW_TRACE_PERF);
}
