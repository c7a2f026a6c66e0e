// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "detect/text.h"
#include "detect/words.h"
#include "util/format.h"

static void put_victims(struct vw_words *l, const struct vw_finding *f)
{
	char wait[VW_FORMAT_LEN];
	const struct vw_victim *chief = vw_words_chief(f);
	const char *has = f->status == VW_OPEN ? "has waited" : "waited";

	if (!chief) {
		vw_words_put(l, "while another task waits");
		return;
	}
	vw_words_task(l, &chief->task, true);
	vw_words_put(l, " %s %s for it", has, vw_format_ns(wait, chief->wait_ns));
	vw_words_more(l, f);
}

static void put_message(struct vw_words *l, const struct vw_finding *f)
{
	char held[VW_FORMAT_LEN], pending[VW_FORMAT_LEN];
	const struct vw_evidence *e = &f->evidence;
	const char *has = f->status == VW_OPEN ? "has kept" : "kept";

	if (!f->has_culprit) {
		vw_words_put(l, "a task on CPU %d did not get to run: ", f->cpu);
		put_victims(l, f);
		return;
	}
	vw_words_task(l, &f->culprit, true);
	vw_words_put(l, " %s CPU %d for %s ", has, f->cpu, vw_format_ns(held, e->oncpu_ns));
	switch (f->cause) {
	case VW_CAUSE_IGNORES_RESCHED:
		vw_words_put(l, "and ignored the kernel's request to reschedule for %s",
			     vw_format_ns(pending, e->resched_pending_ns));
		break;
	case VW_CAUSE_SOFTIRQ_IN_WORKER:
		vw_words_put(
			l,
			"with a reschedule request pending for %s, mostly in softirqs that interrupted it",
			vw_format_ns(pending, e->resched_pending_ns));
		break;
	case VW_CAUSE_SCHEDULER_NO_REQUEST:
		vw_words_put(l, "and the scheduler never asked it to make room");
		break;
	case VW_CAUSE_LAZY_PREEMPTION:
		vw_words_put(l, "with only a lazy request to reschedule");
		break;
	case VW_CAUSE_SATURATED:
		vw_words_put(l, "without a break, and nobody waits for that CPU");
		return;
	default:
		vw_words_put(l, "without a break");
		break;
	}
	vw_words_put(l, "; ");
	put_victims(l, f);
	if (e->lockup_ns == VW_UNKNOWN)
		return;
	vw_words_put(l, "; the kernel reported it as a soft lockup");
	if (e->lockup_ns)
		vw_words_put(l, " (stuck for %s)", vw_format_ns(held, e->lockup_ns));
}

/* Where both can run on one CPU only, the scheduler has no way to part them. */
static void put_pinning(struct vw_words *l, const struct vw_finding *f)
{
	const char *a = f->culprit.cpus_allowed;
	const struct vw_victim *chief = vw_words_chief(f);

	/* A per-CPU kernel thread is meant to be where it is. */
	if (!chief || !vw_words_one_cpu(a) || strcmp(a, chief->task.cpus_allowed) ||
	    (!chief->task.watched && !chief->task.vm[0]))
		return;
	vw_words_put(l,
		     "%sboth tasks are pinned to CPU %s, so give one of them another (taskset -pc)",
		     l->used ? "; " : "", a);
}

static void put_ignores_resched(struct vw_words *l, const struct vw_finding *f,
				const struct vw_host *host)
{
	bool worker = f->culprit.role == VW_ROLE_VHOST_WORKER;

	if (host->preempt == VW_PREEMPT_FULL || host->preempt == VW_PREEMPT_LAZY) {
		vw_words_put(
			l,
			"this kernel preempts kernel code, so the task sits where preemption or softirqs are "
			"disabled; evidence.stack says where");
		return;
	}
	if (worker)
		vw_words_put(
			l,
			"this worker does not yield between pieces of work: run a kernel whose vhost loop calls "
			"cond_resched() there");
	else
		vw_words_put(l, "find the loop without cond_resched() in evidence.stack");
	if (host->preempt_switchable && host->preempt != VW_PREEMPT_UNKNOWN)
		vw_words_put(
			l,
			"; until then `echo full > /sys/kernel/debug/sched/preempt` ends it at once, without a "
			"reboot");
	else if (host->preempt_switchable)
		vw_words_put(l, "; if the preemption mode is none or voluntary, `echo full > "
				"/sys/kernel/debug/sched/preempt` ends it without a reboot");
}

static void put_remedy(struct vw_words *l, const struct vw_finding *f, const struct vw_host *host)
{
	switch (f->cause) {
	case VW_CAUSE_IGNORES_RESCHED:
		put_ignores_resched(l, f, host);
		break;
	case VW_CAUSE_SOFTIRQ_IN_WORKER:
		vw_words_softirqs(l, f->cpu);
		break;
	case VW_CAUSE_SCHEDULER_NO_REQUEST:
		vw_words_put(
			l,
			"a change in the hog would not help, as nobody asked it to yield: compare nice values and "
			"cpu.weight of the two, or move one to another CPU");
		break;
	case VW_CAUSE_LAZY_PREEMPTION:
		vw_words_put(
			l,
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
	struct vw_words message = VW_WORDS(f->message);
	struct vw_words remedy = VW_WORDS(f->remedy);

	put_message(&message, f);
	put_remedy(&remedy, f, host);
}
