// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "detect/text.h"
#include "util/format.h"

struct line {
	char *buf;
	size_t size, used;
};

static void __attribute__((format(printf, 2, 3))) put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (l->used >= l->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(l->buf + l->used, l->size - l->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->used += (size_t)n;
}

static const char *task_noun(const struct vw_task *t)
{
	switch (t->role) {
	case VW_ROLE_VHOST_WORKER:
		return "vhost worker";
	case VW_ROLE_VCPU:
		return "vCPU";
	case VW_ROLE_EMULATOR:
		return "emulator thread";
	case VW_ROLE_KWORKER:
		return "kworker";
	default:
		return "task";
	}
}

static void put_task(struct line *l, const struct vw_task *t, bool noun)
{
	if (noun)
		put(l, "%s ", task_noun(t));
	put(l, "%s (tid %d", t->comm[0] ? t->comm : "?", t->tid);
	if (t->vm[0])
		put(l, ", VM %s", t->vm);
	if (t->device[0])
		put(l, ", %s", t->device);
	put(l, ")");
}

/*
 * The victim that people ask about: another machine's, if there is one; else the one that waited
 * longest.
 */
static const struct vw_victim *chief_victim(const struct vw_finding *f)
{
	unsigned int i;

	for (i = 0; i < f->n_victims; i++)
		if (f->victims[i].task.watched || f->victims[i].task.vm[0])
			return &f->victims[i];
	return f->n_victims ? &f->victims[0] : NULL;
}

static void put_victims(struct line *l, const struct vw_finding *f)
{
	char wait[VW_FORMAT_LEN];
	const struct vw_victim *chief = chief_victim(f);
	const char *has = f->status == VW_OPEN ? "has waited" : "waited";

	if (!chief) {
		put(l, "while another task waits");
		return;
	}
	put_task(l, &chief->task, true);
	put(l, " %s %s for it", has, vw_format_ns(wait, chief->wait_ns));
	if (f->n_victims > 1)
		put(l, ", as %s %u more", f->n_victims > 2 ? "have" : "has", f->n_victims - 1);
}

static void put_message(struct line *l, const struct vw_finding *f)
{
	char held[VW_FORMAT_LEN], pending[VW_FORMAT_LEN];
	const struct vw_evidence *e = &f->evidence;
	const char *has = f->status == VW_OPEN ? "has kept" : "kept";

	if (!f->has_culprit) {
		put(l, "a task on CPU %d did not get to run: ", f->cpu);
		put_victims(l, f);
		return;
	}
	put_task(l, &f->culprit, true);
	put(l, " %s CPU %d for %s ", has, f->cpu, vw_format_ns(held, e->oncpu_ns));
	switch (f->cause) {
	case VW_CAUSE_IGNORES_RESCHED:
		put(l, "and ignored the kernel's request to reschedule for %s",
		    vw_format_ns(pending, e->resched_pending_ns));
		break;
	case VW_CAUSE_SOFTIRQ_IN_WORKER:
		put(l,
		    "with a reschedule request pending for %s, mostly in softirqs that interrupted it",
		    vw_format_ns(pending, e->resched_pending_ns));
		break;
	case VW_CAUSE_SCHEDULER_NO_REQUEST:
		put(l, "and the scheduler never asked it to make room");
		break;
	case VW_CAUSE_LAZY_PREEMPTION:
		put(l, "with only a lazy request to reschedule");
		break;
	case VW_CAUSE_SATURATED:
		put(l, "without a break, and nobody waits for that CPU");
		return;
	default:
		put(l, "without a break");
		break;
	}
	put(l, "; ");
	put_victims(l, f);
}

static bool one_cpu(const char *list)
{
	return list[0] && !strpbrk(list, ",-");
}

/* Where both can run on one CPU only, the scheduler has no way to part them. */
static void put_pinning(struct line *l, const struct vw_finding *f)
{
	const char *a = f->culprit.cpus_allowed;
	const struct vw_victim *chief = chief_victim(f);

	/* A per-CPU kernel thread is meant to be where it is. */
	if (!chief || !one_cpu(a) || strcmp(a, chief->task.cpus_allowed) ||
	    (!chief->task.watched && !chief->task.vm[0]))
		return;
	put(l, "%sboth tasks are pinned to CPU %s, so give one of them another (taskset -pc)",
	    l->used ? "; " : "", a);
}

static void put_ignores_resched(struct line *l, const struct vw_finding *f,
				const struct vw_host *host)
{
	bool worker = f->culprit.role == VW_ROLE_VHOST_WORKER;

	if (host->preempt == VW_PREEMPT_FULL || host->preempt == VW_PREEMPT_LAZY) {
		put(l,
		    "this kernel preempts kernel code, so the task sits where preemption or softirqs are "
		    "disabled; evidence.stack says where");
		return;
	}
	if (worker)
		put(l,
		    "this worker does not yield between pieces of work: run a kernel whose vhost loop calls "
		    "cond_resched() there");
	else
		put(l, "find the loop without cond_resched() in evidence.stack");
	if (host->preempt_switchable && host->preempt != VW_PREEMPT_UNKNOWN)
		put(l,
		    "; until then `echo full > /sys/kernel/debug/sched/preempt` ends it at once, without a "
		    "reboot");
	else if (host->preempt_switchable)
		put(l, "; if the preemption mode is none or voluntary, `echo full > "
		       "/sys/kernel/debug/sched/preempt` ends it without a reboot");
}

static void put_remedy(struct line *l, const struct vw_finding *f, const struct vw_host *host)
{
	switch (f->cause) {
	case VW_CAUSE_IGNORES_RESCHED:
		put_ignores_resched(l, f, host);
		break;
	case VW_CAUSE_SOFTIRQ_IN_WORKER:
		put(l,
		    "move the interrupts or RPS of CPU %d elsewhere (/proc/irq/*/smp_affinity, rps_cpus)",
		    f->cpu);
		break;
	case VW_CAUSE_SCHEDULER_NO_REQUEST:
		put(l,
		    "a change in the hog would not help, as nobody asked it to yield: compare nice values and "
		    "cpu.weight of the two, or move one to another CPU");
		break;
	case VW_CAUSE_LAZY_PREEMPTION:
		put(l,
		    "the lazy request should have become a full one at the next tick: see whether CPU %d "
		    "has its tick (nohz_full)",
		    f->cpu);
		break;
	default:
		break;
	}
	if (f->kind != VW_BUSY_WORKER)
		put_pinning(l, f);
}

void vw_text_finding(struct vw_finding *f, const struct vw_host *host)
{
	struct line message = { f->message, sizeof(f->message), 0 };
	struct line remedy = { f->remedy, sizeof(f->remedy), 0 };

	f->message[0] = '\0';
	f->remedy[0] = '\0';
	put_message(&message, f);
	put_remedy(&remedy, f, host);
}
