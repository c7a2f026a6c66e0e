// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "source/choice.h"

static bool listed(const int32_t *ids, unsigned int n, int32_t id)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

bool vw_choice_is_empty(const struct vw_choice *choice)
{
	return !choice->n_pids && !choice->n_tids;
}

bool vw_choice_names(const struct vw_choice *c, const struct vw_task *task)
{
	return listed(c->tids, c->n_tids, task->tid) || listed(c->pids, c->n_pids, task->tgid) ||
	       listed(c->pids, c->n_pids, task->owner_pid);
}

bool vw_choice_wants_task(const struct vw_choice *c, const struct vw_task *task)
{
	return vw_choice_is_empty(c) || vw_choice_names(c, task);
}

bool vw_choice_wants(const struct vw_choice *c, const struct vw_finding *f)
{
	unsigned int i;

	if (vw_choice_is_empty(c) || (f->has_culprit && vw_choice_names(c, &f->culprit)))
		return true;
	for (i = 0; i < f->n_victims; i++)
		if (vw_choice_names(c, &f->victims[i].task))
			return true;
	return false;
}

int vw_choice_check(const struct vw_choice *c, struct vw_attr *attr, struct vw_error *e)
{
	struct vw_task task;
	unsigned int i;

	for (i = 0; i < c->n_tids; i++)
		if (vw_attr_task(attr, c->tids[i], &task))
			return vw_error_set(e, -ESRCH, "no_task", "there is no task %d (-t)",
					    c->tids[i]);
	for (i = 0; i < c->n_pids; i++)
		if (vw_attr_task(attr, c->pids[i], &task))
			return vw_error_set(e, -ESRCH, "no_task", "there is no process %d (-p)",
					    c->pids[i]);
	return 0;
}
