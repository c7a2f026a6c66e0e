// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <string.h>
#include <time.h>

#include "source/klog_time.h"
#include "util/parse.h"
#include "util/str.h"

#define SECONDS_MAX UINT64_C(9000000000) /* in nanoseconds it still fits */
#define YEAR_S UINT64_C(31622400) /* 366 days, so that there is always room for the 29th */
#define LEAP_YEAR 1972

struct date {
	unsigned int year, month, day, hour, minute, second;
	uint64_t nanosecond;
};

static void skip_blanks(const char **at)
{
	while (**at == ' ')
		(*at)++;
}

/* Up to @max digits. */
static bool digits(const char **at, unsigned int max, unsigned int *ret)
{
	unsigned int value = 0, n = 0;

	while (n < max && isdigit((unsigned char)(*at)[n]))
		value = value * 10 + (unsigned int)((*at)[n++] - '0');
	if (!n)
		return false;
	*at += n;
	*ret = value;
	return true;
}

static bool literal(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

/* The digits behind a decimal point; what is finer than a nanosecond is cut. */
static uint64_t fraction(const char **at)
{
	uint64_t scale = VW_NS_PER_SEC, ns = 0;

	for (; isdigit((unsigned char)**at); (*at)++) {
		scale /= 10;
		ns += scale * (uint64_t)(**at - '0');
	}
	return ns;
}

bool vw_klog_time_seconds(const char **at, uint64_t *ret_ns)
{
	const char *p;
	uint64_t seconds;

	if (vw_str_u64(*at, &p, &seconds) || seconds > SECONDS_MAX || !literal(&p, '.') ||
	    !isdigit((unsigned char)*p))
		return false;
	*ret_ns = seconds * VW_NS_PER_SEC + fraction(&p);
	*at = p;
	return true;
}

static bool month_name(const char **at, unsigned int *ret)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	unsigned int i;

	for (i = 0; i < 12; i++) {
		if (strncmp(*at, names + 3 * i, 3))
			continue;
		*at += 3;
		*ret = i + 1;
		return true;
	}
	return false;
}

static bool day_name(const char **at)
{
	static const char names[] = "MonTueWedThuFriSatSun";
	unsigned int i;

	for (i = 0; i < 7; i++) {
		if (strncmp(*at, names + 3 * i, 3) || (*at)[3] != ' ')
			continue;
		*at += 4;
		return true;
	}
	return false;
}

/* "12:00" and, with @seconds, ":00". */
static bool clock_time(const char **at, struct date *d, bool seconds)
{
	if (!digits(at, 2, &d->hour) || !literal(at, ':') || !digits(at, 2, &d->minute))
		return false;
	if (seconds && (!literal(at, ':') || !digits(at, 2, &d->second)))
		return false;
	return true;
}

/* "Jun  8" */
static bool month_and_day(const char **at, struct date *d)
{
	if (!month_name(at, &d->month))
		return false;
	skip_blanks(at);
	return digits(at, 2, &d->day);
}

static bool seconds_of(const struct date *d, uint64_t *ret_s)
{
	struct tm tm = {
		.tm_year = (int)d->year - 1900,
		.tm_mon = (int)d->month - 1,
		.tm_mday = (int)d->day,
		.tm_hour = (int)d->hour,
		.tm_min = (int)d->minute,
		.tm_sec = (int)d->second,
	};
	time_t s;

	if (d->year < 1970 || d->year > 2200 || d->month < 1 || d->month > 12 || d->day < 1 ||
	    d->day > 31 || d->hour > 23 || d->minute > 59 || d->second > 60)
		return false;
	s = timegm(&tm);
	if (s < 0)
		return false;
	*ret_s = (uint64_t)s;
	return true;
}

static bool finish_date(const struct date *d, const char **at, const char *end, uint64_t *ret_ns)
{
	uint64_t s;

	if (!seconds_of(d, &s))
		return false;
	*ret_ns = s * VW_NS_PER_SEC + d->nanosecond;
	*at = end;
	return true;
}

bool vw_klog_time_date(const char **at, uint64_t *ret_ns)
{
	const char *p = *at;
	struct date d = { 0 };

	if (!day_name(&p) || !month_and_day(&p, &d) || !literal(&p, ' ') ||
	    !clock_time(&p, &d, true) || !literal(&p, ' ') || !digits(&p, 4, &d.year))
		return false;
	return finish_date(&d, at, p, ret_ns);
}

/* A date of a leap year that begins at 0; January behind December is of the next one. */
static bool finish_yearless(struct vw_klog_clock *clock, struct date *d, const char **at,
			    const char *end, uint64_t *ret_ns)
{
	static const struct date first = { .year = LEAP_YEAR, .month = 1, .day = 1 };
	uint64_t s, base;

	d->year = LEAP_YEAR;
	if (!seconds_of(d, &s) || !seconds_of(&first, &base))
		return false;
	/* A log of more than a hundred years is none. */
	if (clock->month == 12 && d->month == 1 && clock->years < 100)
		clock->years++;
	clock->month = d->month;
	*ret_ns = (s - base + clock->years * YEAR_S) * VW_NS_PER_SEC + d->nanosecond;
	*at = end;
	return true;
}

bool vw_klog_time_minute(struct vw_klog_clock *clock, const char **at, uint64_t *ret_ns)
{
	const char *p = *at;
	struct date d = { 0 };

	if (!month_and_day(&p, &d) || !literal(&p, ' ') || !clock_time(&p, &d, false))
		return false;
	return finish_yearless(clock, &d, at, p, ret_ns);
}

bool vw_klog_time_syslog(struct vw_klog_clock *clock, const char **at, uint64_t *ret_ns)
{
	const char *p = *at;
	struct date d = { 0 };

	if (!month_and_day(&p, &d) || !literal(&p, ' ') || !clock_time(&p, &d, true))
		return false;
	if (literal(&p, '.'))
		d.nanosecond = fraction(&p);
	return finish_yearless(clock, &d, at, p, ret_ns);
}

/* "Z", "+0200", "+02:00": seconds east of UTC. */
static int64_t zone_offset(const char **at)
{
	const char *p = *at;
	unsigned int hours, minutes = 0;
	int64_t offset;
	char sign = *p;

	if (literal(at, 'Z') || (sign != '+' && sign != '-'))
		return 0;
	p++;
	if (!digits(&p, 2, &hours))
		return 0;
	(void)literal(&p, ':');
	(void)digits(&p, 2, &minutes);
	*at = p;
	offset = (int64_t)(hours * 3600 + minutes * 60);
	return sign == '-' ? -offset : offset;
}

/* " CEST", as journalctl's short-full has it. */
static void zone_name(const char **at)
{
	size_t n = 1;

	if (**at != ' ')
		return;
	while (isupper((unsigned char)(*at)[n]))
		n++;
	if (n > 2 && (*at)[n] == ' ')
		*at += n;
}

bool vw_klog_time_iso(const char **at, uint64_t *ret_ns, bool *ret_comma)
{
	const char *p = *at;
	struct date d = { 0 };
	bool comma = false;
	uint64_t ns;
	int64_t east;

	(void)day_name(&p);
	if (!digits(&p, 4, &d.year) || !literal(&p, '-') || !digits(&p, 2, &d.month) ||
	    !literal(&p, '-') || !digits(&p, 2, &d.day) || (*p != 'T' && *p != ' '))
		return false;
	p++;
	if (!clock_time(&p, &d, true))
		return false;
	if (*p == '.' || *p == ',') {
		comma = *p++ == ',';
		d.nanosecond = fraction(&p);
	}
	east = zone_offset(&p) * (int64_t)VW_NS_PER_SEC;
	zone_name(&p);
	if (!finish_date(&d, &p, p, &ns) || (east > 0 && ns < (uint64_t)east))
		return false;
	*ret_ns = east < 0 ? ns + (uint64_t)-east : ns - (uint64_t)east;
	*ret_comma = comma;
	*at = p;
	return true;
}
