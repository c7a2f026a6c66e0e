/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers as people read them, short enough for a table cell.
 */
#ifndef VW_UTIL_FORMAT_H
#define VW_UTIL_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define VW_FORMAT_LEN 24

/* "0", "850ns", "12us", "9.9ms", "108ms", "16.1s", "3m20s", "2h05m"; cut, not rounded. Returns @buf. */
char *vw_format_ns(char buf[VW_FORMAT_LEN], uint64_t ns);

/* At most six characters: "99999", "462k", "1400M", "12G"... Returns @buf. */
char *vw_format_count(char buf[VW_FORMAT_LEN], uint64_t count);

#endif
