// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

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
