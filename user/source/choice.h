/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was asked for with -p and -t. */
#ifndef VW_SOURCE_CHOICE_H
#define VW_SOURCE_CHOICE_H

#include "attr/attr.h"
#include "model/finding.h"
#include "util/error.h"

/* The lists stay the caller's. */
struct vw_choice {
	const int32_t *pids, *tids; /* owners, and tasks of any kind */
	unsigned int n_pids, n_tids;
};

/* Nothing was asked for: everything is wanted. */
bool vw_choice_is_empty(const struct vw_choice *choice);

/* True when @task itself, its process or its owner was asked for. */
bool vw_choice_names(const struct vw_choice *choice, const struct vw_task *task);

/* True when nothing was asked for, or @task was. */
bool vw_choice_wants_task(const struct vw_choice *choice, const struct vw_task *task);

/* True when nothing was asked for, or the culprit or a victim was. */
bool vw_choice_wants(const struct vw_choice *choice, const struct vw_finding *finding);

/* 0 when all of it is there, else -ESRCH with @e saying what is not. */
int vw_choice_check(const struct vw_choice *choice, struct vw_attr *attr, struct vw_error *e);

#endif
