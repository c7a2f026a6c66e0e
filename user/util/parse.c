// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "util/parse.h"
#include "util/str.h"

#define DIGITS "0123456789"

int vw_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;
	int err;

	/* A letter behind a number that is too large makes it no number at all. */
	if (text[strspn(text, DIGITS)])
		return -EINVAL;
	err = vw_str_u64(text, NULL, &value);
	if (err)
		return err;
	if (value < min || value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

/* Nanoseconds of the unit named @name, 0 when there is none of that name. */
static uint64_t unit_ns(const char *name)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", VW_NS_PER_US },
		{ "ms", VW_NS_PER_MS },
		{ "s", VW_NS_PER_SEC },
		{ "m", 60 * VW_NS_PER_SEC },
		{ "h", 3600 * VW_NS_PER_SEC },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(name, units[i].name))
			return units[i].ns;
	return 0;
}

int vw_parse_duration_ns(const char *text, uint64_t bare_unit_ns, uint64_t *ret_ns)
{
	const char *fraction = "", *end = text;
	uint64_t whole, unit, ns;

	end += strspn(end, DIGITS);
	if (end == text)
		return -EINVAL;
	if (*end == '.') {
		fraction = ++end;
		end += strspn(end, DIGITS);
		if (end == fraction)
			return -EINVAL;
	}
	/* The unit decides what the digits are worth, and its absence is an error of form. */
	unit = *end ? unit_ns(end) : bare_unit_ns;
	if (!unit)
		return -EINVAL;
	if (vw_str_u64(text, &text, &whole) || __builtin_mul_overflow(whole, unit, &ns) ||
	    ns > VW_DURATION_MAX_NS)
		return -ERANGE;
	/* Adds less than one unit: the limit is so far below UINT64_MAX that this cannot wrap. */
	for (; *fraction >= '0' && *fraction <= '9'; fraction++) {
		unit /= 10;
		ns += (uint64_t)(*fraction - '0') * unit;
	}
	if (ns > VW_DURATION_MAX_NS)
		return -ERANGE;
	*ret_ns = ns;
	return 0;
}
