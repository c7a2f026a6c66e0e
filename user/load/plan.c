// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "load/plan.h"
#include "load/tif.h"

static const char waits[] =
	"attaching waits for an RCU grace period and none ends: a CPU is hogged";

static const char *const clock_via[VW_PLAN_CLOCKS] = {
	[VW_PLAN_CLOCK_NONE] = "",
	[VW_PLAN_CLOCK_LOCAL_TIMER] = "tp_btf/local_timer_entry",
	[VW_PLAN_CLOCK_CPU_CLOCK] = "perf_event/cpu-clock",
	[VW_PLAN_CLOCK_STAT_RUNTIME] = "tp_btf/sched_stat_runtime",
	[VW_PLAN_CLOCK_PROCFS] = "procfs",
};

const char *vw_plan_clock_via(enum vw_plan_clock clock)
{
	return clock < VW_PLAN_CLOCKS ? clock_via[clock] : "";
}

static bool is_silent(const struct vw_features *f, enum vw_plan_clock clock)
{
	return f->silent_clocks & (1u << clock);
}

static bool has_clock(const struct vw_features *f, enum vw_plan_clock clock)
{
	if (is_silent(f, clock))
		return false;
	if (f->refused)
		return false; /* not even /proc: who may not look is to be told so */
	switch (clock) {
	case VW_PLAN_CLOCK_LOCAL_TIMER:
		return f->btf && f->tp[VW_TP_LOCAL_TIMER] && !f->tracepoints_wait;
	case VW_PLAN_CLOCK_CPU_CLOCK:
		return f->btf && f->perf_cpu_clock;
	case VW_PLAN_CLOCK_STAT_RUNTIME:
		return f->btf && f->tp[VW_TP_STAT_RUNTIME] && !f->tracepoints_wait;
	case VW_PLAN_CLOCK_PROCFS:
		return true;
	default:
		return false;
	}
}

static struct vw_hook *add_hook(struct vw_plan *p, const char *name, enum vw_hook_state state,
				const char *via, const char *reason, const char *lost)
{
	struct vw_hook *h = &p->hooks[p->n_hooks++];

	snprintf(h->name, sizeof(h->name), "%s", name);
	h->state = state;
	snprintf(h->via, sizeof(h->via), "%s", via);
	snprintf(h->reason, sizeof(h->reason), "%s", reason);
	snprintf(h->lost, sizeof(h->lost), "%s", lost);
	return h;
}

static void add_detector(struct vw_plan *p, const char *kind, enum vw_detector_state state,
			 const char *reason)
{
	struct vw_detector_info *d = &p->detectors[p->n_detectors++];

	snprintf(d->kind, sizeof(d->kind), "%s", kind);
	d->state = state;
	snprintf(d->reason, sizeof(d->reason), "%s", reason);
}

/* Why @clock is not the one in use. */
static void why_not(const struct vw_features *f, enum vw_plan_clock clock, char *buf, size_t size)
{
	const char *via = vw_plan_clock_via(clock);

	if (f->refused)
		snprintf(buf, size, "this process may not load BPF");
	else if (!f->btf)
		snprintf(buf, size, "the kernel has no BTF");
	else if (is_silent(f, clock))
		snprintf(buf, size, "%s never comes on this machine", via);
	else if (f->tracepoints_wait && clock != VW_PLAN_CLOCK_CPU_CLOCK)
		snprintf(buf, size, "%s", waits);
	else
		snprintf(buf, size, "%s cannot be attached on this kernel", via);
}

static const char *clock_loses(enum vw_plan_clock clock)
{
	switch (clock) {
	case VW_PLAN_CLOCK_CPU_CLOCK:
		return "nothing, but idle CPUs are woken for it";
	case VW_PLAN_CLOCK_STAT_RUNTIME:
		return "tasks of real-time classes on kernels before 6.1";
	case VW_PLAN_CLOCK_PROCFS:
		return "hogs shorter than a second, pending requests, stacks, waiters that are not "
		       "watched";
	default:
		return "";
	}
}

/* The first clock of the order that is there; it is the first hook of the plan. */
static void plan_clock(struct vw_plan *p, const struct vw_features *f,
		       const struct vw_plan_wanted *wanted)
{
	enum vw_plan_clock c, first = wanted->clock ? wanted->clock : VW_PLAN_CLOCK_LOCAL_TIMER;
	char reason[160] = "";

	for (c = first; c < VW_PLAN_CLOCKS && !has_clock(f, c); c++)
		if (wanted->clock)
			break;
	p->clock = c < VW_PLAN_CLOCKS && has_clock(f, c) ? c : VW_PLAN_CLOCK_NONE;
	p->tp[VW_TP_LOCAL_TIMER] = p->clock == VW_PLAN_CLOCK_LOCAL_TIMER;
	p->tp[VW_TP_STAT_RUNTIME] = p->clock == VW_PLAN_CLOCK_STAT_RUNTIME;
	if (p->clock != first)
		why_not(f, first, reason, sizeof(reason));
	else if (wanted->clock)
		snprintf(reason, sizeof(reason), "asked for with --clock");
	if (p->clock == VW_PLAN_CLOCK_NONE)
		add_hook(p, "clock", VW_HOOK_MISSING, "", reason,
			 "everything: no hog can be seen while it lasts");
	else
		add_hook(p, "clock",
			 p->clock == VW_PLAN_CLOCK_LOCAL_TIMER ? VW_HOOK_ATTACHED :
								 VW_HOOK_FALLBACK,
			 vw_plan_clock_via(p->clock), reason, clock_loses(p->clock));
}

static void plan_flags(struct vw_plan *p, const struct vw_features *f)
{
	struct vw_tif tif = vw_tif_choose(f);
	bool bpf = p->clock != VW_PLAN_CLOCK_PROCFS && p->clock != VW_PLAN_CLOCK_NONE;
	char via[48];

	if (bpf && tif.full) {
		snprintf(via, sizeof(via), "thread_info.flags & 0x%llx",
			 (unsigned long long)tif.full);
		add_hook(p, "resched_flag", VW_HOOK_ATTACHED, via, "", "");
	} else {
		add_hook(p, "resched_flag", VW_HOOK_MISSING, "",
			 bpf ? "the flag's bit is not known for this architecture" : "needs BPF",
			 "non_yielding_worker: hogs show as starved_task, cause unknown");
	}
	if (bpf && f->sched_info)
		add_hook(p, "waiters", VW_HOOK_ATTACHED, "rq->cfs_tasks, sched_info.last_queued",
			 "", "");
	else if (bpf)
		add_hook(p, "waiters", VW_HOOK_FALLBACK, "rq->cfs_tasks",
			 "the kernel has no SCHED_INFO", "how long each waiter has waited");
	else
		add_hook(p, "waiters", VW_HOOK_FALLBACK, "procfs", "needs BPF",
			 "waiting tasks that are not watched");
}

/* Moves are made sense of at switches, and only where it is known how long tasks have waited. */
static const char *moves_lack(const struct vw_plan *p, const struct vw_features *f,
			      const struct vw_plan_wanted *wanted, bool can)
{
	if (can && f->tp[VW_TP_SWITCH] && wanted->level == VW_PLAN_GUARD)
		return "not used at guard level";
	if (!p->tp[VW_TP_SWITCH])
		return "needs the switches";
	if (!f->tp[VW_TP_MIGRATE])
		return "the tracepoint does not exist on this kernel";
	return f->sched_info ? NULL : "the kernel does not say how long a task has waited";
}

static void plan_moves(struct vw_plan *p, const struct vw_features *f,
		       const struct vw_plan_wanted *wanted, bool can)
{
	const char *lack = moves_lack(p, f, wanted, can);
	struct vw_hook *h;

	if (lack) {
		h = add_hook(p, "moves", VW_HOOK_MISSING, "", lack,
			     "running tasks that are forced off their CPU to be moved");
		h->optional = wanted->level == VW_PLAN_GUARD;
		return;
	}
	p->tp[VW_TP_MIGRATE] = true;
	/* Kernels without NUMA balancing lack these two, and nothing for it. */
	p->tp[VW_TP_MOVE_NUMA] = f->tp[VW_TP_MOVE_NUMA];
	p->tp[VW_TP_SWAP_NUMA] = f->tp[VW_TP_SWAP_NUMA];
	add_hook(p, "moves", VW_HOOK_ATTACHED,
		 f->tp[VW_TP_MOVE_NUMA] ? "tp_btf/sched_migrate_task, sched_*_numa" :
					  "tp_btf/sched_migrate_task",
		 "", "");
}

/*
 * Text tells all; the tracepoint tells at once who runs on a CPU that reports itself.  The kprobe
 * stands in for both, and only then: to take it off waits for a grace period, which on a kernel
 * that lacks the tracepoint does not come before a hog ends.
 */
static void plan_reports(struct vw_plan *p, const struct vw_features *f, bool can)
{
	static const char *const no_log = "/dev/kmsg cannot be read (it needs CAP_SYSLOG)";
	bool tp = can && f->tp[VW_TP_RCU_STALL];

	p->tp[VW_TP_RCU_STALL] = tp;
	p->stall_kprobe = can && !tp && !f->kernel_log && f->stall_function;
	if (f->kernel_log)
		add_hook(p, "kernel_reports", VW_HOOK_ATTACHED,
			 tp ? "/dev/kmsg, tp_btf/rcu_stall_warning" : "/dev/kmsg", "", "");
	else if (tp || p->stall_kprobe)
		add_hook(p, "kernel_reports", VW_HOOK_FALLBACK,
			 tp ? "tp_btf/rcu_stall_warning" : "kprobe/" VW_STALL_FUNCTION, no_log,
			 "soft lockups; of RCU stalls, who stalls unless it reports itself");
	else
		add_hook(p, "kernel_reports", VW_HOOK_MISSING, "", no_log,
			 "RCU stalls and soft lockups that the kernel reports");
}

static void plan_tracepoints(struct vw_plan *p, const struct vw_features *f,
			     const struct vw_plan_wanted *wanted)
{
	bool bpf = p->clock != VW_PLAN_CLOCK_PROCFS && p->clock != VW_PLAN_CLOCK_NONE;
	bool can = bpf && !f->tracepoints_wait;
	const char *why = can ? "the tracepoint does not exist on this kernel" :
			  bpf ? waits :
				"needs BPF";
	struct vw_hook *h;

	p->tp[VW_TP_SWITCH] = can && f->tp[VW_TP_SWITCH] && wanted->level == VW_PLAN_TRACE;
	if (p->tp[VW_TP_SWITCH]) {
		add_hook(p, "switches", VW_HOOK_ATTACHED, "tp_btf/sched_switch", "", "");
	} else {
		h = add_hook(p, "switches", VW_HOOK_MISSING, "",
			     can && f->tp[VW_TP_SWITCH] ? "not used at guard level" : why,
			     "the exact end of a stint (known to a tick), wall time on CPU");
		h->optional = wanted->level == VW_PLAN_GUARD;
	}
	plan_moves(p, f, wanted, can);
	add_hook(p, "workers", VW_HOOK_ATTACHED, "procfs",
		 f->vhost_loaded ? "" :
				   "the vhost module is not loaded, so there can be no worker yet",
		 "");
	p->tp[VW_TP_TASK_NEWTASK] = p->tp[VW_TP_TASK_RENAME] = can && f->tp[VW_TP_TASK_NEWTASK] &&
							       f->tp[VW_TP_TASK_RENAME];
	if (p->tp[VW_TP_TASK_NEWTASK])
		add_hook(p, "worker_birth", VW_HOOK_ATTACHED, "tp_btf/task_newtask, task_rename",
			 "", "");
	else
		add_hook(p, "worker_birth", VW_HOOK_FALLBACK, "procfs", why,
			 "workers that live less than an interval");
	p->tp[VW_TP_PROCESS_EXIT] = can && f->tp[VW_TP_PROCESS_EXIT];
	if (p->tp[VW_TP_PROCESS_EXIT])
		add_hook(p, "worker_exit", VW_HOOK_ATTACHED, "tp_btf/sched_process_exit", "", "");
	else
		add_hook(p, "worker_exit", VW_HOOK_FALLBACK, "procfs", why,
			 "the moment of an exit (known to an interval)");
	add_hook(p, "totals", VW_HOOK_ATTACHED, "procfs schedstat, status", "", "");
	plan_reports(p, f, can);
}

/* How it is known that a task waits because its group has no quota left. */
static void plan_quota(struct vw_plan *p, const struct vw_features *f)
{
	if (!p->tp[VW_TP_SWITCH])
		add_hook(p, "quota", VW_HOOK_FALLBACK, "cpu.stat", "without the switch hook",
			 "single waits: their mean in a second is told");
	else if (f->throttled_clock)
		add_hook(p, "quota", VW_HOOK_ATTACHED, "cfs_rq->throttled_clock_pelt_time", "", "");
	else
		add_hook(p, "quota", VW_HOOK_FALLBACK, "cfs_rq->throttle_count",
			 "the kernel does not count how long a group is throttled",
			 "throttled groups of tasks that were woken meanwhile");
}

/* One kind that needs a hook which this plan may lack; @reason NULL: nothing lacks. */
static void need(struct vw_plan *p, const char *kind, const char *reason)
{
	add_detector(p, kind, reason ? VW_DETECTOR_OFF : VW_DETECTOR_FULL, reason ?: "");
}

static void plan_hog_detectors(struct vw_plan *p, const struct vw_features *f, bool bpf)
{
	if (!bpf || !vw_tif_choose(f).full)
		need(p, "non_yielding_worker", "the request of the running task cannot be read");
	else
		need(p, "non_yielding_worker", NULL);
	if (!bpf)
		add_detector(p, "starved_task", VW_DETECTOR_DEGRADED,
			     "from /proc: watched tasks only, waits of a second and more");
	else if (!f->sched_info)
		add_detector(p, "starved_task", VW_DETECTOR_DEGRADED,
			     "the kernel does not say how long a task has waited");
	else
		need(p, "starved_task", NULL);
	if (bpf && !p->tp[VW_TP_SWITCH])
		add_detector(p, "busy_worker", VW_DETECTOR_DEGRADED,
			     "without the switch hook only stints without a break are seen");
	else
		need(p, "busy_worker", bpf ? NULL : "needs BPF");
}

/* Why the hook is missing. */
static const char *hook_reason(const struct vw_plan *p, const char *name)
{
	unsigned int i;

	for (i = 0; i < p->n_hooks; i++)
		if (!strcmp(p->hooks[i].name, name))
			return p->hooks[i].reason;
	return "";
}

static void plan_detectors(struct vw_plan *p, const struct vw_features *f)
{
	static const char *const off = "not observed live";
	const char *no_switches = p->tp[VW_TP_SWITCH] ? NULL :
							"needs the switch hook of the trace level";
	static const char *const no_log = "the kernel's log cannot be read";
	bool bpf = p->clock != VW_PLAN_CLOCK_PROCFS && p->clock != VW_PLAN_CLOCK_NONE;

	if (p->clock == VW_PLAN_CLOCK_NONE) {
		need(p, "non_yielding_worker", "no clock");
		need(p, "starved_task", "no clock");
		need(p, "busy_worker", "no clock");
	} else {
		plan_hog_detectors(p, f, bpf);
	}
	need(p, "delayed_work_item", off);
	need(p, "long_work_item", off);
	need(p, "cpu_accounting_gap", off);
	if (f->kernel_log || !(p->tp[VW_TP_RCU_STALL] || p->stall_kprobe))
		need(p, "rcu_stall", f->kernel_log ? NULL : no_log);
	else
		add_detector(p, "rcu_stall", VW_DETECTOR_DEGRADED,
			     "who stalls is known only of a CPU that reports itself");
	need(p, "soft_lockup", f->kernel_log ? NULL : no_log);
	need(p, "spurious_migration_boost", p->tp[VW_TP_MIGRATE] ? NULL : hook_reason(p, "moves"));
	need(p, "worker_on_vcpu_cpu", no_switches);
	need(p, "yield_ping_pong", no_switches);
	need(p, "owner_blocked", no_switches);
}

int vw_plan_make(const struct vw_features *f, const struct vw_plan_wanted *wanted,
		 struct vw_plan *ret_plan)
{
	struct vw_plan p;

	memset(&p, 0, sizeof(p));
	plan_clock(&p, f, wanted);
	plan_flags(&p, f);
	plan_tracepoints(&p, f, wanted);
	plan_quota(&p, f);
	plan_detectors(&p, f);
	*ret_plan = p;
	return p.clock == VW_PLAN_CLOCK_NONE ? -ENOTSUP : 0;
}
