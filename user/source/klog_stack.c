// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose stack a report shows: the dumps of stalled CPUs and tasks are kept, all others are those of
 * bystanders.
 */
#include <string.h>

#include "source/klog_internal.h"

static bool is_about_cpu(const struct vw_klog_report *r, int64_t cpu)
{
	return vw_klog_report_has_cpu(r, (int32_t)cpu) || (cpu >= 0 && r->starved_cpu == cpu);
}

static bool is_about_task(const struct vw_klog_report *r, int64_t tid)
{
	return vw_klog_report_has_task(r, (int32_t)tid);
}

static bool is_rcu(const struct vw_klog_report *r, int64_t unused)
{
	(void)unused;
	return r->obs.kind == VW_REPORT_RCU_STALL;
}

/* Its lines so far do not say which CPU stalls. */
static bool lacks_cpu(const struct vw_klog_report *r, int64_t self)
{
	return is_rcu(r, 0) && !r->obs.n_cpus && !r->obs.n_tasks && !r->tasks_only &&
	       r->self == self && (r->tail || r->head);
}

static bool wants_tasks(const struct vw_klog_report *r, int64_t unused)
{
	return is_rcu(r, unused) && r->tasks_only;
}

/* The dump of @r for @cpu, or for a task with @cpu -1; -1 if it is there already, or no room. */
static int dump_of(struct vw_klog_report *r, int32_t cpu)
{
	unsigned int i;

	for (i = 0; cpu >= 0 && i < r->n_dumps; i++)
		if (r->dumps[i].cpu == cpu)
			return r->dumps[i].dumped ? -1 : (int)i;
	if (r->n_dumps == VW_KLOG_DUMPS)
		return -1;
	vw_klog_dump_init(&r->dumps[r->n_dumps], cpu);
	return (int)r->n_dumps++;
}

/* A dump of @cpu begins.  False when it is a bystander's. */
static bool begin(struct vw_klog *k, struct vw_klog_stream *s, int32_t cpu)
{
	struct vw_klog_report *r = vw_klog_find(k, s, is_about_cpu, cpu);

	s->orphaned = false;
	s->dump = -1;
	if (!r)
		return false;
	vw_klog_belongs(k, s, r);
	s->dump = dump_of(r, cpu);
	return true;
}

static struct vw_klog_dump *current(struct vw_klog_stream *s)
{
	return s->report && s->dump >= 0 ? &s->report->dumps[s->dump] : NULL;
}

/* What the head of a soft lockup has said already is left as it is. */
static void fill(struct vw_klog_dump *dump, const struct vw_klog_dump_head *head)
{
	dump->dumped = true;
	if (dump->named)
		return;
	dump->tid = head->tid;
	memcpy(dump->comm, head->comm, sizeof(dump->comm));
	dump->named = true;
}

static int take_sent(struct vw_klog *k, struct vw_klog_stream *s,
		     const struct vw_klog_dump_head *head)
{
	struct vw_klog_report *r;

	s->muted = false;
	r = head->cpu < 0 ? NULL : vw_klog_find(k, s, lacks_cpu, false);
	/* An NMI to one CPU only is for the one that stalls. */
	if (r)
		vw_klog_report_add_cpu(r, head->cpu);
	else
		r = head->cpu < 0 ? s->report : vw_klog_find(k, s, is_about_cpu, head->cpu);
	if (!r)
		return 0;
	r->awaits |= head->cpu >= 0;
	vw_klog_belongs(k, s, r);
	return 1;
}

static int take_announced(struct vw_klog *k, struct vw_klog_stream *s, enum vw_klog_dump_line kind,
			  const struct vw_klog_dump_head *head)
{
	struct vw_klog_report *r;
	bool ours;

	s->muted = false;
	s->next_cpu = head->cpu;
	s->task_on = kind == VW_KLOG_DUMP_TASK_ON;
	if (s->task_on && !vw_klog_find(k, s, is_about_cpu, head->cpu)) {
		r = vw_klog_find(k, s, lacks_cpu, false);
		if (r)
			vw_klog_report_add_cpu(r, head->cpu);
	}
	ours = begin(k, s, head->cpu);
	if (ours)
		s->report->awaits = kind != VW_KLOG_DUMP_IDLE;
	if (kind == VW_KLOG_DUMP_IDLE)
		s->dump = -1;
	return ours;
}

/* In the old form the CPU stands elsewhere, or nowhere: then it is that of the report. */
static int32_t cpu_of(const struct vw_klog_stream *s, const struct vw_klog_dump_head *head)
{
	const struct vw_klog_report *r = s->report;

	if (head->cpu >= 0)
		return head->cpu;
	if (s->next_cpu >= 0)
		return s->next_cpu;
	if (r && r->obs.n_cpus == 1 && (r->self || r->obs.kind == VW_REPORT_SOFT_LOCKUP))
		return r->obs.cpus[0];
	return -1;
}

static int take_cpu(struct vw_klog *k, struct vw_klog_stream *s,
		    const struct vw_klog_dump_head *head)
{
	struct vw_klog_dump *dump;
	int32_t cpu = cpu_of(s, head);
	struct vw_klog_report *r;

	s->next_cpu = -1;
	if (s->muted || cpu < 0)
		return 0;
	/* A CPU that tells of itself shows its own stack first. */
	r = vw_klog_find(k, s, is_about_cpu, cpu) ? NULL : vw_klog_find(k, s, lacks_cpu, true);
	if (r && !head->cut)
		vw_klog_report_add_cpu(r, cpu);
	dump = current(s);
	if ((!dump || dump->cpu != cpu || dump->dumped) && !begin(k, s, cpu)) {
		vw_klog_dump_init(&s->orphan, cpu);
		s->orphaned = !head->cut;
		fill(&s->orphan, head);
		return 0;
	}
	vw_klog_belongs(k, s, s->report);
	dump = current(s);
	if (!dump)
		return 1;
	if (head->cut) {
		s->report->cut = true;
		return 1;
	}
	fill(dump, head);
	s->report->awaits = false;
	return 1;
}

static int take_task(struct vw_klog *k, struct vw_klog_stream *s, bool announced,
		     const struct vw_klog_dump_head *head)
{
	struct vw_klog_dump *dump = announced ? current(s) : NULL;
	struct vw_klog_report *r = s->report;

	if (!dump) {
		s->dump = -1;
		r = vw_klog_find(k, s, is_about_task, head->tid);
		if (!r && !s->muted) {
			r = vw_klog_find(k, s, wants_tasks, 0);
			if (r && !head->cut)
				vw_klog_report_add_task(r, head->tid);
		}
		if (!r || announced)
			return 0;
		vw_klog_belongs(k, s, r);
		s->dump = head->cut ? -1 : dump_of(r, -1);
		dump = current(s);
	}
	r->awaits = false;
	if (head->cut)
		r->cut = true;
	else if (dump)
		fill(dump, head);
	return 1;
}

/* The stack of a CPU that is about to tell of itself: the report began before the log did. */
static int adopt(struct vw_klog *k, struct vw_klog_stream *s)
{
	struct vw_klog_dump dump = s->orphan;
	struct vw_klog_report *r;
	int err;

	r = vw_klog_open(k, s, VW_REPORT_RCU_STALL, &err);
	if (!r)
		return err;
	r->self = true;
	vw_klog_report_add_cpu(r, dump.cpu);
	r->dumps[0] = dump;
	r->n_dumps = 1;
	s->dump = 0;
	return 0;
}

static int take_frame(struct vw_klog *k, struct vw_klog_stream *s, const char *text)
{
	struct vw_klog_dump *dump;
	int err;

	if (s->orphaned && vw_klog_dump_is_rcu(text) && !vw_klog_find(k, s, is_rcu, 0)) {
		err = adopt(k, s);
		if (err)
			return err;
	}
	dump = current(s);
	if (!dump) {
		if (s->orphaned)
			(void)vw_klog_dump_frame(&s->orphan, text);
		return 0;
	}
	if (!vw_klog_dump_frame(dump, text))
		return 0;
	vw_klog_belongs(k, s, s->report);
	return 1;
}

int vw_klog_take_dump(struct vw_klog *k, struct vw_klog_stream *s, const char *text)
{
	struct vw_klog_dump_head head;
	bool announced = s->task_on;
	enum vw_klog_dump_line kind = vw_klog_dump_parse(text, announced, &head);

	s->task_on = false;
	switch (kind) {
	case VW_KLOG_DUMP_SENT:
		return take_sent(k, s, &head);
	case VW_KLOG_DUMP_NMI:
	case VW_KLOG_DUMP_IDLE:
	case VW_KLOG_DUMP_TASK_ON:
		return take_announced(k, s, kind, &head);
	case VW_KLOG_DUMP_CPU:
		return take_cpu(k, s, &head);
	case VW_KLOG_DUMP_TASK:
		return take_task(k, s, announced, &head);
	case VW_KLOG_DUMP_OTHER:
		s->muted = true;
		s->dump = s->next_cpu = -1;
		s->orphaned = false;
		return 0;
	case VW_KLOG_DUMP_NONE:
		break;
	}
	return take_frame(k, s, text);
}
