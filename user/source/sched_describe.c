// SPDX-License-Identifier: GPL-2.0-or-later
/* What kinds of events the trace had, and what detectors can be made of them. */
#include <stdio.h>

#include "source/sched_internal.h"

static void add_hook(struct vw_header *h, const char *name, bool seen, const char *via,
		     const char *lost)
{
	struct vw_hook *hook;

	if (h->n_hooks >= VW_MAX_HOOKS)
		return;
	hook = &h->hooks[h->n_hooks++];
	*hook = (struct vw_hook){ .state = seen ? VW_HOOK_ATTACHED : VW_HOOK_MISSING };
	snprintf(hook->name, sizeof(hook->name), "%s", name);
	if (seen) {
		snprintf(hook->via, sizeof(hook->via), "%s", via);
		return;
	}
	snprintf(hook->reason, sizeof(hook->reason), "the trace has no %s", via);
	snprintf(hook->lost, sizeof(hook->lost), "%s", lost);
}

/* Full unless @off or @degraded says why not; the first one counts. */
static void add_detector(struct vw_header *h, enum vw_kind kind, const char *off,
			 const char *degraded)
{
	struct vw_detector_info *d;

	if (h->n_detectors >= VW_MAX_DETECTORS)
		return;
	d = &h->detectors[h->n_detectors++];
	*d = (struct vw_detector_info){ 0 };
	snprintf(d->kind, sizeof(d->kind), "%s", vw_kind_name(kind));
	d->state = off ? VW_DETECTOR_OFF : degraded ? VW_DETECTOR_DEGRADED : VW_DETECTOR_FULL;
	if (off || degraded)
		snprintf(d->reason, sizeof(d->reason), "%s", off ? off : degraded);
}

static bool has_waits(const struct vw_sched_seen *seen)
{
	return seen->wakeups || seen->wakings;
}

static void add_hooks(const struct vw_sched *s, struct vw_header *h)
{
	const struct vw_sched_seen *seen = &s->seen;

	add_hook(h, "switches", seen->switches, "sched_switch", "who runs and who waits");
	add_hook(h, "wakeups", has_waits(seen),
		 seen->wakeups || !seen->wakings ? "sched_wakeup" : "sched_waking",
		 "waits of tasks that were woken");
	add_hook(h, "migrations", seen->migrations, "sched_migrate_task", "tasks that are moved");
	add_hook(h, "charge", seen->charges, "sched_stat_runtime", "what tasks are charged");
	add_hook(h, "softirqs", seen->softirqs, "softirq_entry", "time in soft interrupts");
	add_hook(h, "interrupts", seen->irqs, "irq_handler_entry", "time in hard interrupts");
	add_hook(h, "work", seen->works, "vhost_work_execute_start",
		 "work latency not observable, nor how long items run");
	add_hook(h, "request", seen->flags, "flags column",
		 "whether a request to leave the CPU was pending");
	add_hook(h, "log", seen->console, "console", "reports of stalls and lockups");
}

/* What is missing of the trace itself degrades all that looks at who runs where. */
static const char *gaps_of(const struct vw_sched *s)
{
	if (s->lost)
		return "events were lost";
	if (s->breaks)
		return "events are missing, the trace was filtered or has gaps";
	if (s->unseen)
		return "the trace lacks switches from idle to a task";
	return NULL;
}

void vw_sched_describe(const struct vw_sched *s, struct vw_header *h)
{
	const struct vw_sched_seen *seen = &s->seen;
	const char *gaps = gaps_of(s);
	const char *switches = seen->switches ? NULL : "the trace has no sched_switch";
	const char *waits = has_waits(seen) ? gaps : "the trace has no sched_wakeup";
	const char *work = seen->works ? NULL :
					 "work latency not observable: the trace has no vhost work";
	const char *charge = switches ? switches : "the trace has no sched_stat_runtime";
	const char *moves = switches ? switches : "the trace has no sched_migrate_task";
	const char *log = seen->console ? NULL : "the trace has no console events";

	add_hooks(s, h);
	add_detector(h, VW_NON_YIELDING_WORKER,
		     switches	 ? switches :
		     seen->flags ? NULL :
				   "the trace has no flags column: requests do not show",
		     waits);
	add_detector(h, VW_STARVED_TASK, switches, waits);
	add_detector(h, VW_BUSY_WORKER, switches, waits);
	add_detector(h, VW_DELAYED_WORK_ITEM, work, switches ? switches : gaps);
	add_detector(h, VW_LONG_WORK_ITEM, work, switches ? switches : gaps);
	add_detector(h, VW_CPU_ACCOUNTING_GAP, seen->charges && !switches ? NULL : charge,
		     !seen->irqs || !seen->softirqs ? "time in interrupts is not all seen" : gaps);
	add_detector(h, VW_RCU_STALL, log, NULL);
	add_detector(h, VW_SOFT_LOCKUP, log, NULL);
	add_detector(h, VW_SPURIOUS_MIGRATION_BOOST, seen->migrations && !switches ? NULL : moves,
		     s->config.attr ? gaps : "it is not known which CPUs a task may use");
	add_detector(h, VW_WORKER_ON_VCPU_CPU, switches, gaps);
	add_detector(h, VW_YIELD_PING_PONG, switches, gaps);
	add_detector(h, VW_OWNER_BLOCKED, switches, waits);
}
