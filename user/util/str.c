// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "util/str.h"

#define PID_MAX_LIMIT 4194304 /* of 64-bit kernels; include/linux/threads.h */

bool vw_str_copy(char *dst, size_t size, const char *src, size_t len)
{
	size_t n = strnlen(src, len);
	bool fits = n < size;

	if (!size)
		return false;
	if (!fits)
		n = size - 1;
	memcpy(dst, src, n);
	dst[n] = '\0';
	return fits;
}

int vw_str_u64(const char *s, const char **ret_end, uint64_t *ret_value)
{
	const char *p = s;
	uint64_t value = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	}
	if (p == s || (!ret_end && *p))
		return -EINVAL;
	if (ret_end)
		*ret_end = p;
	*ret_value = value;
	return 0;
}

int vw_str_pid(const char *s, int32_t *ret_pid)
{
	uint64_t value;

	if (*s == '0' || vw_str_u64(s, NULL, &value) || value > PID_MAX_LIMIT)
		return -EINVAL;
	*ret_pid = (int32_t)value;
	return 0;
}

bool vw_str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}
