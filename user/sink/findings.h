/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The findings a view has to show: each once, in its last state, however often it was emitted.
 *
 * A finding is known again by kind, start, CPU and culprit.  Bounded: of more than VW_FINDINGS_MAX
 * the oldest closed ones go first.
 */
#ifndef VW_SINK_FINDINGS_H
#define VW_SINK_FINDINGS_H

#include "model/finding.h"
#include "sink/lines.h"

#define VW_FINDINGS_MAX 64

struct vw_findings;

enum vw_finding_news { VW_FINDING_NEW, VW_FINDING_LASTS, VW_FINDING_ENDS };

struct vw_findings *vw_findings_new(void);
void vw_findings_free(struct vw_findings *list);

/* Keeps a copy of @finding and says what is new about it; NEW also for one first seen closed. */
enum vw_finding_news vw_findings_put(struct vw_findings *list, const struct vw_finding *finding);

/* Open ones first, the gravest on top; then closed ones, the latest on top. */
void vw_findings_render(const struct vw_findings *list, unsigned int width, struct vw_lines *lines);

#endif
