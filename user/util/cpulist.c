// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "util/cpulist.h"
#include "util/str.h"

int vw_cpulist_next(const char **at, uint32_t *ret_first, uint32_t *ret_last)
{
	const char *s = *at;
	uint64_t first, last;

	if (!*s)
		return 0;
	if (vw_str_u64(s, &s, &first))
		return -EINVAL;
	last = first;
	if (*s == '-' && vw_str_u64(s + 1, &s, &last))
		return -EINVAL;
	if (last < first || last > INT32_MAX || (*s && *s != ',') || (*s && !s[1]))
		return -EINVAL;
	*at = *s ? s + 1 : s;
	*ret_first = (uint32_t)first;
	*ret_last = (uint32_t)last;
	return 1;
}

bool vw_cpulist_has(const char *list, int32_t cpu)
{
	uint32_t first, last;

	while (vw_cpulist_next(&list, &first, &last) > 0)
		if (cpu >= 0 && (uint32_t)cpu >= first && (uint32_t)cpu <= last)
			return true;
	return false;
}

static bool has(const uint64_t *mask, uint32_t cpu)
{
	return mask[cpu / 64] >> (cpu % 64) & 1;
}

int vw_cpulist_write(char *buf, size_t size, const uint64_t *mask, uint32_t n_cpus)
{
	uint32_t first, cpu = 0;
	size_t used = 0;
	int n;

	buf[0] = '\0';
	while (cpu < n_cpus) {
		if (!has(mask, cpu)) {
			cpu++;
			continue;
		}
		for (first = cpu; cpu < n_cpus && has(mask, cpu); cpu++)
			;
		n = snprintf(buf + used, size - used,
			     first + 1 < cpu ? "%s%" PRIu32 "-%" PRIu32 : "%s%" PRIu32,
			     used ? "," : "", first, cpu - 1);
		if (n < 0 || (size_t)n >= size - used) {
			buf[0] = '\0';
			return -ENOSPC;
		}
		used += (size_t)n;
	}
	return 0;
}
