// SPDX-License-Identifier: GPL-2.0-or-later
#include <sched.h>

#include "util/affinity.h"

void vw_affinity_bring_here(pid_t tid)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	if (!tid || cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(tid, sizeof(set), &set);
}
