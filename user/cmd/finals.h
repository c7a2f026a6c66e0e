/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shown of a run that is shown at its end: header, findings in their final states (merged,
 * detect/merge.h), the last row of each worker, summary.  record and analyze end with it.
 */
#ifndef VW_CMD_FINALS_H
#define VW_CMD_FINALS_H

#include "model/replay.h"
#include "sink/sink.h"
#include "source/choice.h"

struct vw_finals;

/* @choice says what is shown; it and what it points to stay the caller's.  NULL: out of memory. */
struct vw_finals *vw_finals_new(const struct vw_choice *choice);
void vw_finals_free(struct vw_finals *finals);

/* As emitted, in order; those that nobody asked for are left out.  0 or -ENOMEM. */
int vw_finals_finding(struct vw_finals *finals, const struct vw_finding *finding);
/* The row that comes last for a worker is shown.  0 or -ENOMEM. */
int vw_finals_row(struct vw_finals *finals, const struct vw_worker_row *row);

/*
 * Shows all of it, once.  @summary has what the run knows of itself; verdict and counts are filled
 * in.
 * 0, or a negative errno (of the sink).
 */
int vw_finals_show(struct vw_finals *finals, struct vw_sink *sink, const struct vw_header *header,
		   struct vw_summary *summary);

#endif
