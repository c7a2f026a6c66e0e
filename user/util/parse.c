// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/parse.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9'; /* isdigit() asks the locale */
}

/* Reads the digits at *@pos; at least one must be there. */
static int read_digits(const char **pos, uint64_t *ret_value)
{
	uint64_t value = 0;
	const char *p = *pos;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	}
	*pos = p;
	*ret_value = value;
	return 0;
}

int vw_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;
	int err;

	err = read_digits(&text, &value);
	/* A letter behind a number that is too large makes it no number at all. */
	if (err == -ERANGE && text[strspn(text, "0123456789")])
		return -EINVAL;
	if (err)
		return err;
	if (*text)
		return -EINVAL;
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

	end += strspn(end, "0123456789");
	if (end == text)
		return -EINVAL;
	if (*end == '.') {
		fraction = ++end;
		end += strspn(end, "0123456789");
		if (end == fraction)
			return -EINVAL;
	}
	/* The unit decides what the digits are worth, and its absence is an error of form. */
	unit = *end ? unit_ns(end) : bare_unit_ns;
	if (!unit)
		return -EINVAL;
	if (read_digits(&text, &whole) || __builtin_mul_overflow(whole, unit, &ns) ||
	    ns > VW_DURATION_MAX_NS)
		return -ERANGE;
	/* Below one unit, so no overflow: the limit is far under UINT64_MAX. */
	for (; is_digit(*fraction); fraction++) {
		unit /= 10;
		ns += (uint64_t)(*fraction - '0') * unit;
	}
	*ret_ns = ns;
	return 0;
}
