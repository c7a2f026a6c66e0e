// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RCU stalls as kernels from 2.6.3x on report them (kernel/rcutree.c, kernel/rcu/tree.c,
 * tree_stall.h, tree_exp.h, tasks.h, tiny.c).  The description may be one line with a list in
 * braces, or a line for each CPU and one that ends it.
 */
#include <ctype.h>
#include <string.h>

#include "source/klog_report.h"
#include "util/str.h"

/* "(t=4295/21004 jiffies": the second is the age, the first a clock. */
static bool take_age(const char **at, uint64_t *ret)
{
	uint64_t age;

	if (!vw_klog_u64(at, &age) || (vw_klog_word(at, "/") && !vw_klog_u64(at, &age)))
		return false;
	if (!vw_klog_word(at, " jiffies") && **at != ' ')
		return false;
	*ret = age;
	return true;
}

static void tail_field(struct vw_klog_tail *tail, const char **at)
{
	uint64_t number;
	int64_t gp;

	if (vw_klog_word(at, "detected by ")) {
		tail->other = true;
		if (vw_klog_u64(at, &number) && number <= INT32_MAX)
			tail->detector = (int64_t)number;
	} else if (vw_klog_word(at, "t=")) {
		(void)take_age(at, &tail->jiffies);
	} else if (vw_klog_word(at, "g=")) {
		if (vw_klog_s64(at, &gp))
			tail->gp = (uint64_t)gp;
	}
	*at += strcspn(*at, " ,)");
}

bool vw_klog_rcu_tail(const char *text, struct vw_klog_tail *ret)
{
	const char *p = text;

	(void)vw_klog_word(&p, "rcu: ");
	p += strspn(p, " \t");
	if (*p++ != '(' || !(vw_str_starts(p, "t=") ? isdigit((unsigned char)p[2]) :
						      vw_str_starts(p, "detected by ")))
		return false;
	*ret = (struct vw_klog_tail){ .detector = -1, .gp = VW_UNKNOWN, .jiffies = VW_UNKNOWN };
	while (*p && *p != ')') {
		tail_field(ret, &p);
		p += strspn(p, " ,");
	}
	ret->cut = !*p;
	return true;
}

void vw_klog_rcu_add_tail(struct vw_klog_report *r, const struct vw_klog_tail *tail)
{
	r->tail = true;
	r->cut |= tail->cut;
	if (!r->head)
		r->self = !tail->other;
	if (tail->detector >= 0)
		r->obs.detector_cpu = (int32_t)tail->detector;
	r->obs.gp = tail->gp;
	r->obs.jiffies = tail->jiffies;
}

/* The description ends here; @p is what follows the list of CPUs and tasks. */
static void find_tail(struct vw_klog_report *r, const char *p)
{
	struct vw_klog_tail tail;

	for (p = strchr(p, '('); p; p = strchr(p + 1, '(')) {
		if (!vw_klog_rcu_tail(p, &tail))
			continue;
		vw_klog_rcu_add_tail(r, &tail);
		return;
	}
}

/* " } 7 jiffies s: 91 root: 0x1/." */
static void expedited_tail(struct vw_klog_report *r, const char *p)
{
	uint64_t jiffies, sequence;

	r->tail = true;
	r->cut = true;
	p += strspn(p, " ");
	if (!vw_klog_u64(&p, &jiffies) || !vw_klog_word(&p, " jiffies"))
		return;
	r->obs.jiffies = jiffies;
	if (!vw_klog_word(&p, " s: ") || !vw_klog_u64(&p, &sequence))
		return;
	r->obs.gp = sequence;
	r->cut = false;
}

static void add_item(struct vw_klog_report *r, bool task, uint64_t number)
{
	if (number > INT32_MAX)
		return;
	if (task)
		vw_klog_report_add_task(r, (int64_t)number);
	else
		vw_klog_report_add_cpu(r, (int64_t)number);
}

/* A CPU "7-..D.", "7", or a task "P12", "P12/1:b..l". */
static const char *list_item(struct vw_klog_report *r, const char *p)
{
	const char *number = *p == 'P' ? p + 1 : p, *end;
	uint64_t value;

	if (!vw_str_u64(number, &end, &value)) {
		/* At the end of a line it may have been cut: taken once the list goes on. */
		r->last_item = *end ? 0 : value + 1;
		r->last_is_task = *p == 'P';
		if (*end)
			add_item(r, r->last_is_task, value);
	}
	return p + strcspn(p, " \t}(");
}

bool vw_klog_rcu_is_list(const char *text)
{
	const char *p = text + strspn(text, " \t");

	if (*p == '}')
		return true;
	if (*p == 'P')
		p++;
	if (!isdigit((unsigned char)*p))
		return false;
	p += strspn(p, "0123456789-.ONoDP/:bqel! \t");
	return !*p || *p == '}';
}

void vw_klog_rcu_list(struct vw_klog_report *r, const char *p)
{
	r->in_list = true;
	if (r->last_item)
		add_item(r, r->last_is_task, r->last_item - 1);
	r->last_item = 0;
	for (p += strspn(p, " \t{"); *p && *p != '}' && *p != '('; p += strspn(p, " \t"))
		p = list_item(r, p);
	if (!*p)
		return;
	r->in_list = false;
	if (*p == '}')
		p++;
	if (r->obs.expedited)
		expedited_tail(r, p);
	else
		find_tail(r, p);
}

/* The name of a flavor, with the blank behind it. */
static bool take_flavor(const char **at, char flavor[VW_FLAVOR_LEN])
{
	const char *p = *at;
	size_t len = 0;

	while (isalnum((unsigned char)p[len]) || p[len] == '_')
		len++;
	if (p[len] != ' ' || (!vw_str_starts(p, "rcu") && !vw_str_starts(p, "srcu")))
		return false;
	vw_str_copy(flavor, VW_FLAVOR_LEN, p, len);
	*at = p + len + 1;
	return true;
}

/* 2.6.29 to 2.6.34: "INFO: RCU detected CPU 3 stall (t=...)", "INFO: RCU detected CPU stalls: 1 2 (" */
static bool nameless_head(struct vw_klog_report *r, const char *p)
{
	uint64_t cpu;

	if (vw_klog_word(&p, "RCU detected CPU stalls:")) {
		vw_klog_rcu_list(r, p);
		r->in_list = false;
		return true;
	}
	if (!vw_klog_word(&p, "RCU detected CPU ") || !vw_klog_u64(&p, &cpu))
		return false;
	vw_klog_report_add_cpu(r, (int64_t)cpu);
	r->self = true;
	find_tail(r, p);
	return true;
}

/* What is behind "self-detected stall on CPU" or "detected stall on CPU". */
static void self_detected(struct vw_klog_report *r, const char *p)
{
	uint64_t number;
	int64_t cpu;

	r->self = true;
	p += strspn(p, " \t");
	if (*p == '{')
		vw_klog_rcu_list(r, p);
	else if (vw_klog_rcu_cpu(p, &cpu))
		vw_klog_report_add_cpu(r, cpu);
	else if (vw_klog_u64(&p, &number) && number <= INT32_MAX)
		vw_klog_report_add_cpu(r, (int64_t)number);
	if (!r->tail)
		find_tail(r, p);
}

bool vw_klog_rcu_head(struct vw_klog_report *r, const char *text)
{
	const char *p = text;

	(void)vw_klog_word(&p, "rcu: ");
	if (!vw_klog_word(&p, "INFO: "))
		return false;
	r->head = true;
	if (nameless_head(r, p))
		return true;
	if (!take_flavor(&p, r->obs.flavor))
		return false;
	if (vw_klog_word(&p, "self-detected stall on CPU") ||
	    vw_klog_word(&p, "detected stall on CPU") || vw_klog_word(&p, "stall on CPU")) {
		self_detected(r, p);
	} else if (vw_klog_word(&p, "detected stalls on CPUs/tasks:")) {
		if (*(p + strspn(p, " ")) == '{')
			vw_klog_rcu_list(r, p);
	} else if (vw_klog_word(&p, "detected expedited stalls on CPUs/tasks:")) {
		r->obs.expedited = true;
		vw_klog_rcu_list(r, p);
	} else if (vw_klog_word(&p, "detected stalls on tasks:")) {
		r->tasks_only = true;
		r->tail = true;
	} else if (vw_str_starts(p, "detected expedited stalls, but suppressed full report") ||
		   vw_str_starts(p, "detected stall, but suppressed full report")) {
		r->obs.expedited = vw_str_starts(p, "detected expedited");
		r->tail = true;
	} else {
		return false;
	}
	return true;
}

bool vw_klog_rcu_cpu(const char *text, int64_t *ret_cpu)
{
	const char *p = text;
	uint64_t cpu;

	(void)vw_klog_word(&p, "rcu: ");
	p += strspn(p, " \t");
	if (!vw_klog_u64(&p, &cpu) || cpu > INT32_MAX)
		return false;
	if (*p == '-')
		p += 1 + strspn(p + 1, ".ONoDd!?0123456789");
	if (!vw_klog_word(&p, ": ("))
		return false;
	if (!strstr(p, "ticks this GP)") && !strstr(p, "GPs behind)"))
		return false;
	*ret_cpu = (int64_t)cpu;
	return true;
}

/* "Tasks blocked on level-0 rcu_node (CPUs 0-3): P4711/1:b..l P12" */
static bool blocked_tasks(struct vw_klog_report *r, const char *p)
{
	uint64_t tid;

	if (!vw_klog_word(&p, "Tasks blocked on level-"))
		return false;
	p = strstr(p, "):");
	if (!p)
		return true;
	for (p = strstr(p, " P"); p; p = strstr(p, " P")) {
		p += 2;
		/* Unlike in a list, nothing need follow the last one. */
		if (!vw_str_u64(p, &p, &tid) && tid <= INT32_MAX)
			vw_klog_report_add_task(r, (int64_t)tid);
	}
	return true;
}

/* "rcu_sched kthread starved for 5252 jiffies! g7001 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=3" */
static bool kthread_note(struct vw_klog_report *r, const char *p)
{
	char flavor[VW_FLAVOR_LEN];
	uint64_t cpu;
	int64_t gp;

	if (!take_flavor(&p, flavor))
		return false;
	if (vw_str_starts(p, "kthread timer wakeup didn't happen for "))
		r->obs.timer_late = true;
	else if (vw_str_starts(p, "kthread starved for "))
		r->obs.gp_kthread_starved = true;
	else
		return false;
	if (!r->obs.flavor[0])
		memcpy(r->obs.flavor, flavor, sizeof(flavor));
	p = strstr(p, "jiffies! g");
	if (!p)
		return true;
	p += strlen("jiffies! g");
	if (vw_klog_s64(&p, &gp) && r->obs.gp == VW_UNKNOWN && !r->obs.expedited)
		r->obs.gp = (uint64_t)gp;
	p = strstr(p, "->cpu=");
	if (p && !vw_str_u64(p + strlen("->cpu="), &p, &cpu) && cpu <= INT32_MAX)
		r->starved_cpu = (int32_t)cpu;
	return true;
}

/* "P85: ... nesting: 1N cpu: 2", and "00000000b92b832d: .. nvcsw: 1/1 holdout: 1 idle_cpu: -1/7" */
static bool holdout(struct vw_klog_report *r, const char *p)
{
	uint64_t tid;

	if (!r->tasks_only)
		return false;
	if (!vw_klog_word(&p, "P"))
		return strstr(p, " holdout: ") != NULL;
	if (!vw_klog_u64(&p, &tid) || *p != ':' || tid > INT32_MAX)
		return false;
	vw_klog_report_add_task(r, (int64_t)tid);
	return true;
}

bool vw_klog_rcu_note(struct vw_klog_report *r, const char *text)
{
	const char *p = text;

	(void)vw_klog_word(&p, "rcu: ");
	p += strspn(p, " \t");
	return blocked_tasks(r, p) || kthread_note(r, p) || holdout(r, p) ||
	       vw_str_starts(p, "Possible timer handling issue on cpu=") ||
	       vw_str_starts(p, "blocking rcu_node structures") ||
	       vw_str_starts(p, "INFO: Stall ended ") || vw_str_starts(p, "All QSes seen, ") ||
	       vw_str_starts(p, "RCU grace-period kthread stack dump:") ||
	       vw_str_starts(p, "Stack dump where RCU GP kthread last ran:") ||
	       (vw_str_starts(p, "Unless rcu") && strstr(p, "OOM is now expected"));
}
