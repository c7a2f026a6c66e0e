/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The evidence of a finding as a JSON object; which keys depends on the kind (docs/FORMATS). */
#ifndef VW_SINK_EVIDENCE_H
#define VW_SINK_EVIDENCE_H

#include "model/finding.h"
#include "sink/object.h"

void vw_evidence_put(struct vw_object *parent, const struct vw_finding *finding);

#endif
