// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "detect/stall_text.h"
#include "detect/words.h"
#include "util/format.h"

static void put_why(struct vw_words *l, const struct vw_finding *f)
{
	switch (f->cause) {
	case VW_CAUSE_WORKER:
	case VW_CAUSE_OTHER_TASK:
		vw_words_task(l, &f->culprit, true);
		if (f->cpu >= 0)
			vw_words_put(l, " ran on CPU %d while ", f->cpu);
		else
			vw_words_put(l, " sat in a read-side section while ");
		break;
	case VW_CAUSE_GP_KTHREAD_STARVED:
		if (f->has_culprit) {
			vw_words_task(l, &f->culprit, true);
			vw_words_put(
				l,
				" ran on CPU %d, where the thread that drives RCU should have run,"
				" and ",
				f->cpu);
		} else {
			vw_words_put(l, "the thread that drives RCU did not get to run, and ");
		}
		break;
	case VW_CAUSE_TIMER_OR_PAUSE:
		vw_words_put(l, "a timer that RCU waits for did not come, and ");
		break;
	default:
		break;
	}
}

/* ", waiting for CPUs 3, 7 and task 12" */
static void put_holdouts(struct vw_words *l, const struct vw_stall_evidence *s)
{
	if (!s->n_cpus && !s->n_tasks)
		return;
	vw_words_put(l, ", waiting for ");
	if (s->n_cpus) {
		vw_words_put(l, s->n_cpus > 1 ? "CPUs " : "CPU ");
		vw_words_list(l, s->cpus, s->n_cpus);
	}
	if (s->n_tasks) {
		vw_words_put(l, "%s%s ", s->n_cpus ? " and " : "",
			     s->n_tasks > 1 ? "tasks" : "task");
		vw_words_list(l, s->tasks, s->n_tasks);
	}
}

static void put_rcu(struct vw_words *l, const struct vw_finding *f, bool expedited)
{
	const struct vw_stall_evidence *s = &f->evidence.stall;
	char ns[VW_FORMAT_LEN];

	put_why(l, f);
	vw_words_put(l, "%s grace period of %s did not end", expedited ? "an expedited" : "a",
		     s->flavor[0] ? s->flavor : "RCU");
	if (f->duration_ns != VW_UNKNOWN)
		vw_words_put(l, " for %s", vw_format_ns(ns, f->duration_ns));
	if (s->jiffies != VW_UNKNOWN)
		vw_words_put(l,
			     f->duration_ns != VW_UNKNOWN ? " (%" PRIu64 " jiffies)" :
							    " for %" PRIu64 " jiffies",
			     s->jiffies);
	/* The culprit's CPU was named already. */
	if (!f->has_culprit || s->n_cpus + s->n_tasks > 1)
		put_holdouts(l, s);
}

static void put_lockup(struct vw_words *l, const struct vw_finding *f, bool at_least)
{
	char ns[VW_FORMAT_LEN];

	if (f->has_culprit) {
		vw_words_task(l, &f->culprit, true);
		vw_words_put(l, " kept CPU %d in the kernel", f->cpu);
	} else if (f->cause == VW_CAUSE_INTERRUPT_STORM) {
		vw_words_put(l, "CPU %d spent its time in hard interrupts", f->cpu);
	} else {
		vw_words_put(l, "the watchdog of CPU %d did not get to run", f->cpu);
	}
	if (f->duration_ns != VW_UNKNOWN)
		vw_words_put(l, " for %s%s", at_least ? "at least " : "",
			     vw_format_ns(ns, f->duration_ns));
	if (f->cause == VW_CAUSE_INTERRUPT_STORM)
		vw_words_put(l, "; the task that they interrupted is not to blame");
}

static void put_remedy(struct vw_words *l, const struct vw_finding *f)
{
	switch (f->cause) {
	case VW_CAUSE_WORKER:
		vw_words_put(
			l,
			"a worker must yield between pieces of work: run a kernel whose vhost loop"
			" does (cond_resched()), and see in evidence.stack which work took so long");
		break;
	case VW_CAUSE_OTHER_TASK:
		vw_words_put(l,
			     "evidence.stack says where that task was: find the loop, or the lock"
			     " that it spins on");
		break;
	case VW_CAUSE_GP_KTHREAD_STARVED:
		vw_words_put(
			l,
			"find what kept that thread from its CPU, as a rule real-time tasks or a hog;"
			" rcutree.kthread_prio gives it a priority of its own");
		break;
	case VW_CAUSE_TIMER_OR_PAUSE:
		vw_words_put(
			l, "see whether this machine was suspended or, if it is a guest, stopped at"
			   " that time; else whether one of its CPUs lost its timer interrupt");
		break;
	case VW_CAUSE_INTERRUPT_STORM:
		vw_words_put(
			l,
			"the log says which interrupts came most; compare with /proc/interrupts and"
			" the device's driver, or move them (/proc/irq/*/smp_affinity)");
		break;
	default:
		break;
	}
}

void vw_stall_words(struct vw_finding *f, bool expedited, bool at_least)
{
	const struct vw_stall_evidence *s = &f->evidence.stall;
	struct vw_words message = VW_WORDS(f->message);
	struct vw_words remedy = VW_WORDS(f->remedy);

	if (f->kind == VW_RCU_STALL)
		put_rcu(&message, f, expedited);
	else
		put_lockup(&message, f, at_least);
	if (s->reports > 1)
		vw_words_put(&message, "; the kernel reported it %" PRIu64 " times", s->reports);
	if (f->kind == VW_RCU_STALL && f->evidence.lockup_ns != VW_UNKNOWN)
		vw_words_put(&message, "; it reported a soft lockup there, too");
	if (s->incomplete)
		vw_words_put(&message, "; a part of the report is missing");
	/* The kernel may be told to report what is short and harmless. */
	if (f->severity == VW_INFO)
		vw_words_put(&remedy, "so short a time does no harm: reported because of"
				      " rcupdate.rcu_exp_cpu_stall_timeout");
	else
		put_remedy(&remedy, f);
}
