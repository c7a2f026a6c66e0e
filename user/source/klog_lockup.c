// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Soft lockups (kernel/watchdog.c, before that kernel/softlockup.c).
 *
 * Until 2.6.22 a report only had the CPU; since then it has a time and the task.  The time was that
 * since the last report until 5.12, it is that since the lockup began later on.  6.10 added the
 * table.
 */
#include <string.h>

#include "source/klog_report.h"
#include "util/parse.h"
#include "util/str.h"

/* "[vhost-3077:3101]": the name may hold colons and brackets. */
static bool parse_task(const char *p, struct vw_klog_dump *dump)
{
	size_t len = strlen(p);
	const char *end, *colon;
	uint64_t tid;

	while (len && p[len - 1] == ' ')
		len--;
	if (len < 2 || *p != '[' || p[len - 1] != ']')
		return false;
	end = colon = p + len - 1;
	while (colon > p && *colon != ':')
		colon--;
	if (colon == p)
		return false;
	vw_str_copy(dump->comm, sizeof(dump->comm), p + 1, (size_t)(colon - p - 1));
	colon++;
	if (!vw_klog_u64(&colon, &tid) || colon != end || tid > INT32_MAX)
		return false;
	dump->tid = (int32_t)tid;
	dump->named = true;
	return true;
}

/* "CPU#1 stuck for 22s! [vhost-3077:3101]" */
static void parse_stuck(struct vw_klog_report *r, const char *p)
{
	uint64_t cpu, seconds;

	r->cut = true;
	if (!vw_klog_u64(&p, &cpu))
		return;
	vw_klog_report_add_cpu(r, (int64_t)cpu);
	if (!vw_klog_word(&p, " stuck for ") || !vw_klog_u64(&p, &seconds) ||
	    !vw_klog_word(&p, "s!"))
		return;
	if (seconds <= UINT64_MAX / VW_NS_PER_SEC / 2)
		r->obs.stuck_ns = seconds * VW_NS_PER_SEC;
	p += strspn(p, " ");
	vw_klog_dump_init(&r->dumps[0], r->obs.n_cpus ? r->obs.cpus[0] : -1);
	r->n_dumps = 1;
	r->cut = !parse_task(p, &r->dumps[0]);
}

bool vw_klog_lockup_head(struct vw_klog_report *r, const char *text)
{
	const char *p = text;
	uint64_t cpu;

	(void)vw_klog_word(&p, "NMI ");
	(void)vw_klog_word(&p, "watchdog: ");
	if (!vw_klog_word(&p, "BUG: soft lockup"))
		return false;
	if (vw_klog_word(&p, " detected on CPU#")) {
		r->cut = !vw_klog_u64(&p, &cpu);
		if (!r->cut)
			vw_klog_report_add_cpu(r, (int64_t)cpu);
	} else if (vw_klog_word(&p, " - CPU#")) {
		parse_stuck(r, p);
	} else {
		r->cut = true;
	}
	r->head = r->tail = true;
	return true;
}

bool vw_klog_lockup_table(const char *text, int64_t *ret_cpu, bool *ret_interrupts)
{
	const char *p = text;
	uint64_t cpu;

	if (!vw_klog_word(&p, "CPU#") || !vw_klog_u64(&p, &cpu) || cpu > INT32_MAX)
		return false;
	*ret_interrupts = vw_str_starts(p, " Detect HardIRQ Time exceeds ");
	if (!*ret_interrupts && !vw_str_starts(p, " Utilization every "))
		return false;
	*ret_cpu = (int64_t)cpu;
	return true;
}

bool vw_klog_lockup_row(struct vw_klog_report *r, const char *text)
{
	const char *p = text + strspn(text, " \t"), *end;
	uint64_t number;
	unsigned int percent = 0, scale = 1;

	if (!vw_klog_word(&p, "#") || !vw_klog_u64(&p, &number) || *p != ':')
		return false;
	end = strstr(p, "% hardirq");
	/* The table of interrupts has rows of another form. */
	for (; end && end > p && end[-1] >= '0' && end[-1] <= '9' && scale <= 100; scale *= 10)
		percent += scale * (unsigned int)(*--end - '0');
	if (end && r->rows < 1000) {
		r->rows++;
		r->hardirq += percent;
	}
	return true;
}
