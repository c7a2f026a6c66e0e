// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "source/klog_report.h"
#include "util/str.h"

#define CPU_MAX 8192
#define TID_MAX 4194304

void vw_klog_report_init(struct vw_klog_report *r, enum vw_report_kind kind, uint64_t ts_ns)
{
	memset(r, 0, sizeof(*r));
	r->ts_ns = r->last_ns = ts_ns;
	r->starved_cpu = -1;
	r->obs.kind = kind;
	r->obs.detector_cpu = -1;
	r->obs.culprit_cpu = -1;
	r->obs.gp = r->obs.jiffies = r->obs.stuck_ns = VW_UNKNOWN;
}

static bool listed(const int32_t *list, unsigned int n, int32_t value)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (list[i] == value)
			return true;
	return false;
}

void vw_klog_report_add_cpu(struct vw_klog_report *r, int64_t cpu)
{
	struct vw_obs_report *o = &r->obs;

	if (cpu >= 0 && cpu < CPU_MAX && o->n_cpus < VW_MAX_LIST &&
	    !listed(o->cpus, o->n_cpus, (int32_t)cpu))
		o->cpus[o->n_cpus++] = (int32_t)cpu;
}

void vw_klog_report_add_task(struct vw_klog_report *r, int64_t tid)
{
	struct vw_obs_report *o = &r->obs;

	if (tid > 0 && tid <= TID_MAX && o->n_tasks < VW_MAX_LIST &&
	    !listed(o->tasks, o->n_tasks, (int32_t)tid))
		o->tasks[o->n_tasks++] = (int32_t)tid;
}

bool vw_klog_report_has_cpu(const struct vw_klog_report *r, int32_t cpu)
{
	return listed(r->obs.cpus, r->obs.n_cpus, cpu);
}

bool vw_klog_report_has_task(const struct vw_klog_report *r, int32_t tid)
{
	return listed(r->obs.tasks, r->obs.n_tasks, tid);
}

bool vw_klog_u64(const char **at, uint64_t *ret)
{
	const char *p;
	uint64_t value;

	if (vw_str_u64(*at, &p, &value) || !*p)
		return false;
	*ret = value;
	*at = p;
	return true;
}

bool vw_klog_s64(const char **at, int64_t *ret)
{
	const char *p = *at;
	bool minus = *p == '-';
	uint64_t value;

	if (minus)
		p++;
	if (!vw_klog_u64(&p, &value) || value > INT64_MAX)
		return false;
	*ret = minus ? -(int64_t)value : (int64_t)value;
	*at = p;
	return true;
}

bool vw_klog_word(const char **at, const char *word)
{
	if (!vw_str_starts(*at, word))
		return false;
	*at += strlen(word);
	return true;
}
