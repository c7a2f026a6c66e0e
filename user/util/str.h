/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded strings and strict numbers.  Nothing here allocates.
 */
#ifndef VW_UTIL_STR_H
#define VW_UTIL_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies at most @len bytes of @src into @dst of @size bytes, stops at a NUL and always terminates.
 * False when something had to be cut off.
 */
bool vw_str_copy(char *dst, size_t size, const char *src, size_t len);

/*
 * Parses decimal digits at @s: no sign, no blank, at least one digit, no overflow.  *@ret_end (may
 * be NULL, then the string must end there) is the first byte after the digits.  0 or -EINVAL, or
 * -ERANGE on overflow.
 */
int vw_str_u64(const char *s, const char **ret_end, uint64_t *ret_value);

/* A process number as the kernel prints it: no leading zero, 1 to PID_MAX_LIMIT.  Else -EINVAL. */
int vw_str_pid(const char *s, int32_t *ret_pid);

/* True when @s begins with @prefix. */
bool vw_str_starts(const char *s, const char *prefix);

#endif
