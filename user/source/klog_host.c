// SPDX-License-Identifier: GPL-2.0-or-later
/* What a kernel log tells of the host: its boot messages, and the heads of stack dumps. */
#include <string.h>

#include "source/klog_report.h"
#include "util/str.h"

bool vw_klog_host_boots(const char *text)
{
	return vw_str_starts(text, "Linux version ");
}

/* "5.7.0 #1", and what may stand in front of it: "G           OE     5.10.0-46-amd64 #1 Debian" */
static void release_before_number(struct vw_host *host, const char *text)
{
	const char *end = strstr(text, " #"), *start = end;

	if (!end)
		return;
	while (start > text && start[-1] != ' ')
		start--;
	if (start[0] >= '0' && start[0] <= '9')
		vw_str_copy(host->release, sizeof(host->release), start, (size_t)(end - start));
}

static enum vw_preempt preempt_of(const char *p)
{
	enum vw_preempt mode;

	for (mode = VW_PREEMPT_NONE; mode <= VW_PREEMPT_LAZY; mode++) {
		const char *name = vw_preempt_name(mode);
		size_t len = strlen(name);

		if (!strncmp(p, name, len) && (!p[len] || p[len] == ')' || p[len] == ' '))
			return mode;
	}
	return VW_PREEMPT_UNKNOWN;
}

/* "smp: Brought up 2 nodes, 64 CPUs" */
static void cpus_brought_up(struct vw_host *host, const char *text)
{
	const char *p = strstr(text, "Brought up ");
	uint64_t n;

	if (!p)
		return;
	p = strstr(p, ", ");
	if (!p)
		return;
	p += 2;
	if (vw_klog_u64(&p, &n) && vw_klog_word(&p, " CPUs") && n && n <= UINT32_MAX)
		host->cpus = (uint32_t)n;
}

void vw_klog_host(struct vw_host *host, const char *text)
{
	const char *p = text, *mode;
	enum vw_preempt preempt;

	if (vw_klog_word(&p, "Linux version ")) {
		vw_str_copy(host->release, sizeof(host->release), p, strcspn(p, " "));
	} else if (vw_str_starts(p, "CPU: ") || vw_str_starts(p, "Pid: ")) {
		p = strstr(text, "ainted");
		if (p)
			release_before_number(host, p);
		mode = p ? strstr(p, " PREEMPT(") : NULL;
		preempt = mode ? preempt_of(mode + strlen(" PREEMPT(")) : VW_PREEMPT_UNKNOWN;
		if (preempt != VW_PREEMPT_UNKNOWN)
			host->preempt = preempt;
	} else if (vw_klog_word(&p, "Dynamic Preempt: ")) {
		preempt = preempt_of(p);
		if (preempt != VW_PREEMPT_UNKNOWN)
			host->preempt = preempt;
		host->preempt_switchable = true;
	} else {
		cpus_brought_up(host, text);
	}
}
