/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers as people type them, read in full or refused.
 *
 * No sign, no blank, no exponent, no locale.  -EINVAL: not a number of this form; -ERANGE: too
 * large or too small.  Outputs are untouched on failure.
 */
#ifndef VW_UTIL_PARSE_H
#define VW_UTIL_PARSE_H

#include <stdint.h>

#define VW_NS_PER_US UINT64_C(1000)
#define VW_NS_PER_MS UINT64_C(1000000)
#define VW_NS_PER_SEC UINT64_C(1000000000)

/* Largest duration taken: now + duration must not wrap, whatever the uptime. */
#define VW_DURATION_MAX_NS ((uint64_t)INT64_MAX / 2)

int vw_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value);

/*
 * "2", "0.5", "500ms": a decimal number and one of ns, us, ms, s, m, h.  A bare number counts
 * @bare_unit_ns each; with 0 a unit must be given.  What is below a nanosecond is cut off.
 */
int vw_parse_duration_ns(const char *text, uint64_t bare_unit_ns, uint64_t *ret_ns);

#endif
