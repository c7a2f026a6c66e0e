// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "source/totals.h"

int vw_totals_read(const struct vw_sight *sight, const struct vw_task *task,
		   struct vw_abi_totals *ret_totals)
{
	struct vw_abi_totals totals;
	uint32_t key = (uint32_t)task->tid;
	int err;

	if (!sight || !sight->attached(sight->bpf, VW_TP_SWITCH))
		return -ENOENT;
	err = sight->lookup(sight->bpf, VW_MAP_TOTALS, &key, &totals);
	if (err)
		return err;
	if (!vw_task_same_start(totals.start_ns, task->start_ns))
		return -ENOENT;
	*ret_totals = totals;
	return 0;
}

/* Since it left its CPU, while it waits to get one again. */
static uint64_t open_wait(const struct vw_abi_totals *t, uint64_t now_ns)
{
	if (t->in_ts_ns || !(t->flags & VW_TOTALS_RUNNABLE) || now_ns < t->out_ts_ns)
		return 0;
	return now_ns - t->out_ts_ns;
}

uint64_t vw_totals_oncpu(const struct vw_abi_totals *t, uint64_t now_ns)
{
	return t->oncpu_ns + (t->in_ts_ns && now_ns > t->in_ts_ns ? now_ns - t->in_ts_ns : 0);
}

uint64_t vw_totals_wait(const struct vw_abi_totals *t, uint64_t now_ns)
{
	return t->wait_ns + open_wait(t, now_ns);
}

uint64_t vw_totals_throttled(const struct vw_abi_totals *t, uint64_t now_ns)
{
	return t->throttled_ns + (t->flags & VW_TOTALS_THROTTLED ? open_wait(t, now_ns) : 0);
}
