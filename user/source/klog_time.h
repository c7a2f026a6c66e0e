/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time stamps of kernel logs.
 *
 * Each function takes a stamp off the text at *@at, which ends with a NUL, or leaves all as it was
 * and returns false.  Times are nanoseconds: seconds are since the kernel started to count, dates
 * are taken for UTC, and a date without a year counts from the beginning of the log's first year.
 */
#ifndef VW_SOURCE_KLOG_TIME_H
#define VW_SOURCE_KLOG_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* What is to be known of the stamps before. */
struct vw_klog_clock {
	unsigned int month; /* of the last date without a year, from 1; 0 none */
	unsigned int years; /* that have passed in such dates */
	uint64_t last_ns; /* for stamps that tell the time since the line before */
};

/* "500.100000" */
bool vw_klog_time_seconds(const char **at, uint64_t *ret_ns);

/* "Mon Jun  8 12:00:00 2020": dmesg -T. */
bool vw_klog_time_date(const char **at, uint64_t *ret_ns);

/* "Jun 8 12:00": dmesg -H and -e. */
bool vw_klog_time_minute(struct vw_klog_clock *clock, const char **at, uint64_t *ret_ns);

/* "Jun 08 12:00:00", with or without a fraction: syslog files and journalctl. */
bool vw_klog_time_syslog(struct vw_klog_clock *clock, const char **at, uint64_t *ret_ns);

/*
 * "2020-06-08T12:00:00.123456+02:00" and what is like it; a day of the week may precede, the name
 * of a time zone may follow.  @ret_comma: the fraction is set off by a comma, as dmesg does.
 */
bool vw_klog_time_iso(const char **at, uint64_t *ret_ns, bool *ret_comma);

#endif
