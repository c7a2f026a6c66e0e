/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sentences of the findings of detect/hog.c: what happened, and what to do about it on this
 * very kernel.
 */
#ifndef VW_DETECT_TEXT_H
#define VW_DETECT_TEXT_H

#include "model/finding.h"
#include "model/host.h"

/* Writes @f->message and @f->remedy from the rest of @f. */
void vw_text_finding(struct vw_finding *f, const struct vw_host *host);

#endif
