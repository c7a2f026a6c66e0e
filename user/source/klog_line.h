/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line of a kernel log: what is in front of the kernel's own text, and that text.
 *
 * Knows dmesg (plain, -d, -e, -H, -r, -T, -x, --time-format iso, colours), /dev/kmsg, the console's
 * caller field, syslog files and the short formats of journalctl.
 */
#ifndef VW_SOURCE_KLOG_LINE_H
#define VW_SOURCE_KLOG_LINE_H

#include <stddef.h>

#include "source/klog_time.h"

#define VW_KLOG_TEXT_MAX 1024 /* the kernel cuts its own lines there; more is left out */

enum vw_klog_sort {
	VW_KLOG_BARE, /* nothing in front: a part of a message, or no log at all */
	VW_KLOG_KERNEL,
	VW_KLOG_FOREIGN, /* another program's line between those of the kernel */
	VW_KLOG_ASIDE, /* of dmesg or journalctl itself; blank */
	VW_KLOG_REBOOT, /* journalctl's mark of another boot */
};

enum vw_klog_caller { VW_KLOG_NOBODY, VW_KLOG_CPU, VW_KLOG_TASK };

struct vw_klog_text {
	enum vw_klog_sort sort;
	uint64_t ts_ns; /* VW_UNKNOWN without a stamp */
	bool kernel_time; /* the stamp is the kernel's own, not a date */
	uint64_t dropped; /* so many lines are missing here, it says */
	enum vw_klog_caller caller; /* who printed it, if the log says so */
	int32_t caller_id;
	const char *text; /* into @buf: the kernel's text, ends with a NUL, no other NUL in it */
	char buf[VW_KLOG_TEXT_MAX];
};

void vw_klog_text_parse(struct vw_klog_clock *clock, const char *line, size_t len,
			struct vw_klog_text *ret);

#endif
