// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>

#include "util/format.h"
#include "util/parse.h"

/* One decimal below 100, as more would not fit a cell and fewer would hide half of the value. */
static void print_tenths(char buf[VW_FORMAT_LEN], uint64_t ns, uint64_t unit, const char *name)
{
	uint64_t whole = ns / unit, tenth = ns % unit / (unit / 10);

	if (whole >= 100 || !tenth)
		snprintf(buf, VW_FORMAT_LEN, "%" PRIu64 "%s", whole, name);
	else
		snprintf(buf, VW_FORMAT_LEN, "%" PRIu64 ".%" PRIu64 "%s", whole, tenth, name);
}

char *vw_format_ns(char buf[VW_FORMAT_LEN], uint64_t ns)
{
	uint64_t sec = ns / VW_NS_PER_SEC;

	if (!ns)
		snprintf(buf, VW_FORMAT_LEN, "0");
	else if (ns < VW_NS_PER_US)
		snprintf(buf, VW_FORMAT_LEN, "%" PRIu64 "ns", ns);
	else if (ns < VW_NS_PER_MS)
		print_tenths(buf, ns, VW_NS_PER_US, "us");
	else if (sec < 1)
		print_tenths(buf, ns, VW_NS_PER_MS, "ms");
	else if (sec < 120)
		print_tenths(buf, ns, VW_NS_PER_SEC, "s");
	else if (sec < 3600)
		snprintf(buf, VW_FORMAT_LEN, "%" PRIu64 "m%02" PRIu64 "s", sec / 60, sec % 60);
	else
		snprintf(buf, VW_FORMAT_LEN, "%" PRIu64 "h%02" PRIu64 "m", sec / 3600,
			 sec % 3600 / 60);
	return buf;
}

char *vw_format_count(char buf[VW_FORMAT_LEN], uint64_t count)
{
	static const char suffix[] = { 'k', 'M', 'G', 'T', 'P' };
	size_t i;

	if (count < 100000) {
		snprintf(buf, VW_FORMAT_LEN, "%" PRIu64, count);
		return buf;
	}
	for (i = 0, count /= 1000; count >= 100000 && i + 1 < sizeof(suffix); i++)
		count /= 1000;
	snprintf(buf, VW_FORMAT_LEN, "%" PRIu64 "%c", count, suffix[i]);
	return buf;
}
