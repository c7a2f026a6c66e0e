/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel logs as dmesg, dmesg -T and journalctl print them: RCU stalls and soft lockups.
 *
 * Lines in, a REPORT observation (model/obs.h) out for each report once all its lines are there.
 * Memory is bounded; bytes may be anything.
 */
#ifndef VW_SOURCE_KLOG_H
#define VW_SOURCE_KLOG_H

#include "source/input.h"
#include "source/replay.h"

struct vw_klog;

/* NULL when out of memory. */
struct vw_klog *vw_klog_new(const struct vw_replay *out);
void vw_klog_free(struct vw_klog *klog);

/*
 * One line without its line feed.  @ts_ns is when it was printed, if that is known otherwise (of a
 * trace's console event): it then counts, as stamps in the text may be of another clock.  Else
 * VW_UNKNOWN.  1 when it is a line of a kernel log (it has a time stamp or belongs to a report), 0
 * when not, or a negative errno.
 */
int vw_klog_line(struct vw_klog *klog, const char *line, size_t len, uint64_t ts_ns);
/* The log ends: gives what is half complete. */
int vw_klog_finish(struct vw_klog *klog);
/* The time of the last line, VW_UNKNOWN. */
uint64_t vw_klog_now(const struct vw_klog *klog);

/* True when @len bytes of the beginning of an input look like a kernel log. */
bool vw_klog_looks_like(const char *head, size_t len);

/* Reads all of @in.  -ENODATA with @e when there was no line of a kernel log in it. */
int vw_klog_read(struct vw_input *in, const struct vw_replay_config *config,
		 const struct vw_replay *out, struct vw_replay_result *ret, struct vw_error *e);

#endif
