/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of CPUs as the kernel prints them: "0-3,8". */
#ifndef VW_UTIL_CPULIST_H
#define VW_UTIL_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the next range at *@at and moves *@at behind it.  1 with the range, 0 at the end of the
 * list, -EINVAL where it is none.
 */
int vw_cpulist_next(const char **at, uint32_t *ret_first, uint32_t *ret_last);

/* True when @list has @cpu; what comes behind a mistake in it is not in it. */
bool vw_cpulist_has(const char *list, int32_t cpu);

/* Writes the CPUs below @n_cpus whose bits are set in @mask.  0, or -ENOSPC and "". */
int vw_cpulist_write(char *buf, size_t size, const uint64_t *mask, uint32_t n_cpus);

#endif
