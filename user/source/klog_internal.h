/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of source/klog.c share of its state. */
#ifndef VW_SOURCE_KLOG_INTERNAL_H
#define VW_SOURCE_KLOG_INTERNAL_H

#include "source/klog.h"
#include "source/klog_line.h"
#include "source/klog_report.h"

#define VW_KLOG_REPORTS 8 /* under construction at a time; the oldest makes room */
#define VW_KLOG_STREAMS 16

/* The lines of one caller; of all, in logs that do not name callers. */
struct vw_klog_stream {
	uint64_t used; /* number of its last line; 0: this slot is free */
	enum vw_klog_caller caller;
	int32_t caller_id;
	struct vw_klog_report *report; /* that its lines belong to, NULL without */
	int dump; /* of that report, to which its frames belong; -1 none */
	int32_t next_cpu; /* of the dump that was announced, -1 none */
	bool task_on; /* the line before announced a task */
	bool muted; /* what follows is a dump of another trouble */
	bool orphaned; /* @orphan: a dump that belongs to no report */
	struct vw_klog_dump orphan;
};

struct vw_klog {
	const struct vw_replay *out;
	struct vw_attr *attr; /* of tasks that reports name, or NULL */
	struct vw_klog_clock clock;
	struct vw_klog_text text; /* the line in hand */
	struct vw_klog_report scratch;
	uint64_t now_ns, first_ns; /* VW_UNKNOWN */
	uint64_t base_ns; /* added to stamps since the last boot */
	bool booted; /* the next stamp may be below the last one */
	bool kernel_time; /* stamps of the kernel's own were seen */
	uint64_t n_lines, n_reports;
	uint64_t dropped; /* lines that the log says it lacks */
	struct vw_klog_report reports[VW_KLOG_REPORTS];
	struct vw_klog_stream streams[VW_KLOG_STREAMS];
	struct vw_host host; /* as far as the log tells */
	struct vw_tasks *workers; /* that reports name */
};

/* As vw_klog_line(); @ret_sort tells what the line is. */
int vw_klog_sorted(struct vw_klog *k, const char *line, size_t len, uint64_t ts_ns,
		   enum vw_klog_sort *ret_sort);

typedef bool (*vw_klog_wanted)(const struct vw_klog_report *r, int64_t argument);

/* The youngest open report that is wanted, that of the stream first; or NULL. */
struct vw_klog_report *vw_klog_find(struct vw_klog *k, const struct vw_klog_stream *s,
				    vw_klog_wanted wanted, int64_t argument);
/* A fresh report in @s; NULL with *@ret_err when an old one could not be given away for it. */
struct vw_klog_report *vw_klog_open(struct vw_klog *k, struct vw_klog_stream *s,
				    enum vw_report_kind kind, int *ret_err);
/* The line in hand belongs to @r, and so does what follows in @s. */
void vw_klog_belongs(struct vw_klog *k, struct vw_klog_stream *s, struct vw_klog_report *r);

/* klog_stack.c: a line of a dump.  1, 0 or a negative errno. */
int vw_klog_take_dump(struct vw_klog *k, struct vw_klog_stream *s, const char *text);

#endif
