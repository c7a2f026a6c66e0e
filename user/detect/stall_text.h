/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences of rcu_stall and soft_lockup. */
#ifndef VW_DETECT_STALL_TEXT_H
#define VW_DETECT_STALL_TEXT_H

#include "model/finding.h"

/*
 * Writes @f->message and @f->remedy from the rest of @f.  @expedited: the stall of an expedited
 * grace period; @at_least: the lockup may have been longer than told.
 */
void vw_stall_words(struct vw_finding *f, bool expedited, bool at_least);

#endif
