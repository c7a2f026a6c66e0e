/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many looks of a clock a duration takes before it may be believed.
 *
 * Wall time alone would blame a task for a moment in which the whole (virtual) CPU stood still: no
 * look comes then, and the next one sees an old request.  So a duration must also have been seen to
 * last, look by look; one look is forgiven for the phase of the clock.  Used alike by the BPF
 * side's settings and the detector.
 */
#ifndef VW_MODEL_LOOKS_H
#define VW_MODEL_LOOKS_H

#include <stdint.h>

static inline uint32_t vw_looks_for(uint64_t duration_ns, uint64_t tick_ns)
{
	uint64_t looks = tick_ns ? (duration_ns + tick_ns - 1) / tick_ns : 1;

	if (looks > 1)
		looks--;
	return looks > UINT32_MAX ? UINT32_MAX : (uint32_t)(looks ? looks : 1);
}

#endif
