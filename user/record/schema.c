// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/worker.h"
#include "record/schema.h"

#define COLUMN(kind, strct, label, member)                                                         \
	.name = (label), .type = VW_RECORD_##kind, .offset = offsetof(strct, member),              \
	.size = sizeof(((strct *)0)->member)
#define C(kind, strct, label, member)                                                              \
	{                                                                                          \
		COLUMN(kind, strct, label, member)                                                 \
	}
/* A column that is not in the first version; such come last. */
#define SINCE(version, kind, strct, label, member)                                                 \
	{                                                                                          \
		COLUMN(kind, strct, label, member), .since = (version)                             \
	}
#define KNOWN(kind, strct, label, member, flag)                                                    \
	{                                                                                          \
		COLUMN(kind, strct, label, member), .known = offsetof(strct, flag)                 \
	}
#define BIT(strct, label, member, bit, flag)                                                       \
	{                                                                                          \
		COLUMN(BIT, strct, label, member), .mask = (bit), .known = offsetof(strct, flag)   \
	}
#define WORD(strct, label, member, names, n)                                                       \
	{                                                                                          \
		COLUMN(WORD, strct, label, member), .word = (names), .n_words = (n)                \
	}

#define TASK(strct, prefix, member)                                                                \
	C(ID, strct, prefix "tid", member.tid), C(ID, strct, prefix "tgid", member.tgid),          \
		C(START, strct, prefix "start_ns", member.start_ns),                               \
		KNOWN(U32, strct, prefix "flags", member.flags, member.flags_known),               \
		C(BOOL, strct, prefix "watched", member.watched),                                  \
		C(TEXT, strct, prefix "comm", member.comm),                                        \
		WORD(strct, prefix "role", member.role, vw_role_name, VW_ROLE_KWORKER + 1),        \
		WORD(strct, prefix "backend", member.backend, vw_backend_name,                     \
		     VW_BACKEND_WORKQUEUE + 1),                                                    \
		C(ID, strct, prefix "owner_pid", member.owner_pid),                                \
		C(BOOL, strct, prefix "owner_by_name", member.owner_by_name),                      \
		C(TEXT, strct, prefix "vm", member.vm),                                            \
		C(TEXT, strct, prefix "device", member.device),                                    \
		C(TEXT, strct, prefix "queue", member.queue),                                      \
		C(TEXT, strct, prefix "cgroup", member.cgroup),                                    \
		C(TEXT, strct, prefix "cpus_allowed", member.cpus_allowed)

#define OBS struct vw_obs
#define TIMES C(NS, OBS, "ts_ns", ts_ns)

#define NAME_OF(table, i) ((i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : NULL)

static const char *phase_name(unsigned int phase)
{
	static const char *const names[] = {
		[VW_WORK_QUEUED] = "queued",
		[VW_WORK_STARTED] = "started",
		[VW_WORK_LASTS] = "lasts",
		[VW_WORK_ENDED] = "ended",
	};

	return NAME_OF(names, phase);
}

static const char *report_name(unsigned int kind)
{
	static const char *const names[] = {
		[VW_REPORT_RCU_STALL] = "rcu_stall",
		[VW_REPORT_SOFT_LOCKUP] = "soft_lockup",
	};

	return NAME_OF(names, kind);
}

static const struct vw_record_column task_columns[] = {
	C(NS, struct vw_record_task, "ts_ns", obs.ts_ns),
	C(BOOL, struct vw_record_task, "told", told),
	TASK(struct vw_record_task, "", obs.task),
};

static const struct vw_record_column task_exit_columns[] = {
	TIMES,
	C(ID, OBS, "tid", tid),
};

static const struct vw_record_column stint_columns[] = {
	TIMES,
	C(CPU, OBS, "cpu", stint.cpu),
	C(ID, OBS, "tid", stint.tid),
	C(START, OBS, "start_ns", stint.start_ns),
	C(BOOL, OBS, "final", stint.final),
	C(BOOL, OBS, "rt", stint.rt),
	C(NS, OBS, "oncpu_ns", stint.oncpu_ns),
	WORD(OBS, "resched", stint.resched, vw_resched_name, VW_RESCHED_FULL + 1),
	C(NS, OBS, "pending_ns", stint.pending_ns),
	C(U32, OBS, "ticks", stint.ticks),
	C(U32, OBS, "pending_ticks", stint.pending_ticks),
	C(POSITIVE, OBS, "weight", stint.weight),
	C(POSITIVE, OBS, "nr_running", stint.nr_running),
	C(NS, OBS, "softirq_ns", stint.softirq_ns),
	C(NS, OBS, "irq_ns", stint.irq_ns),
	C(NAME, OBS, "clock", stint.clock),
};

static const struct vw_record_column loss_columns[] = {
	TIMES,
	C(CPU, OBS, "cpu", loss.cpu),
	C(COUNT, OBS, "count", loss.count),
};

static const struct vw_record_column wait_columns[] = {
	TIMES,
	C(CPU, OBS, "cpu", wait.cpu),
	C(ID, OBS, "tid", wait.tid),
	C(START, OBS, "start_ns", wait.start_ns),
	C(BOOL, OBS, "final", wait.final),
	C(BOOL, OBS, "throttled", wait.throttled),
	C(POSITIVE, OBS, "weight", wait.weight),
	C(POSITIVE, OBS, "heaviest", wait.heaviest),
	C(NS, OBS, "wait_ns", wait.wait_ns),
	C(NS, OBS, "idle_ns", wait.idle_ns),
	C(NS, OBS, "rt_ns", wait.rt_ns),
	C(NS, OBS, "softirq_ns", wait.softirq_ns),
	C(NS, OBS, "longest_stint_ns", wait.longest_stint_ns),
	C(NS, OBS, "fair_ns", wait.fair_ns),
	C(U32, OBS, "runners", wait.runners),
	C(ID, OBS, "top_tid", wait.top_tid),
	C(START, OBS, "top_start_ns", wait.top_start_ns),
	C(NS, OBS, "top_ns", wait.top_ns),
	C(BOOL, OBS, "released", wait.released),
	C(CPU, OBS, "woken_cpu", wait.woken_cpu),
};

static const struct vw_record_column work_columns[] = {
	TIMES,
	WORD(OBS, "phase", work.phase, phase_name, VW_WORK_ENDED + 1),
	C(CPU, OBS, "cpu", work.cpu),
	C(ID, OBS, "tid", work.tid),
	C(START, OBS, "start_ns", work.start_ns),
	C(ADDRESS, OBS, "work", work.work),
	C(TEXT, OBS, "function", work.function),
	C(NS, OBS, "oncpu_ns", work.oncpu_ns),
	C(NS, OBS, "wait_ns", work.wait_ns),
	C(NS, OBS, "throttled_ns", work.throttled_ns),
	SINCE(2, START, OBS, "since_ns", work.since_ns),
};

static const struct vw_record_column busy_columns[] = {
	TIMES,
	C(CPU, OBS, "cpu", busy.cpu),
	C(ID, OBS, "tid", busy.tid),
	C(START, OBS, "start_ns", busy.start_ns),
	C(BOOL, OBS, "final", busy.final),
	C(NS, OBS, "busy_ns", busy.busy_ns),
	C(NS, OBS, "oncpu_ns", busy.oncpu_ns),
	C(NS, OBS, "wait_ns", busy.wait_ns),
	C(NS, OBS, "longest_wait_ns", busy.longest_wait_ns),
	C(COUNT, OBS, "items", busy.items),
};

static const struct vw_record_column charge_columns[] = {
	TIMES,
	C(ID, OBS, "tid", charge.tid),
	C(START, OBS, "start_ns", charge.start_ns),
	C(CPU, OBS, "cpu", charge.cpu),
	C(NS, OBS, "window_ns", charge.window_ns),
	C(SIGNED, OBS, "oncpu_ns", charge.oncpu_ns),
	C(SIGNED, OBS, "charged_ns", charge.charged_ns),
	C(SIGNED, OBS, "irq_ns", charge.irq_ns),
	C(SIGNED, OBS, "softirq_ns", charge.softirq_ns),
	C(SIGNED, OBS, "steal_ns", charge.steal_ns),
	BIT(OBS, "irq_taken_out", charge.taken_out, VW_TAKEN_IRQ, charge.taken_out_known),
	BIT(OBS, "softirq_taken_out", charge.taken_out, VW_TAKEN_SOFTIRQ, charge.taken_out_known),
	BIT(OBS, "steal_taken_out", charge.taken_out, VW_TAKEN_STEAL, charge.taken_out_known),
	C(BOOL, OBS, "totals", charge.totals),
};

static const struct vw_record_column move_columns[] = {
	TIMES,
	C(ID, OBS, "tid", move.tid),
	C(START, OBS, "start_ns", move.start_ns),
	C(CPU, OBS, "from_cpu", move.from_cpu),
	C(CPU, OBS, "to_cpu", move.to_cpu),
	C(NS, OBS, "moved_ns", move.moved_ns),
	C(BOOL, OBS, "ran", move.ran),
	C(NS, OBS, "wait_ns", move.wait_ns),
	C(NS, OBS, "old_cpu_idle_ns", move.old_cpu_idle_ns),
	C(NS, OBS, "relieved_ns", move.relieved_ns),
	C(ID, OBS, "displaced_tid", move.displaced_tid),
	C(START, OBS, "displaced_start_ns", move.displaced_start_ns),
	C(NS, OBS, "displaced_wait_ns", move.displaced_wait_ns),
	C(BOOL, OBS, "idle_known", move.idle_known),
	KNOWN(TEXT, OBS, "allowed", move.allowed, move.allowed_known),
	C(BOOL, OBS, "numa", move.numa),
	C(BOOL, OBS, "back", move.back),
};

static const struct vw_record_column share_columns[] = {
	TIMES,
	C(CPU, OBS, "cpu", share.cpu),
	C(ID, OBS, "vcpu_tid", share.vcpu_tid),
	C(START, OBS, "vcpu_start_ns", share.vcpu_start_ns),
	C(ID, OBS, "worker_tid", share.worker_tid),
	C(START, OBS, "worker_start_ns", share.worker_start_ns),
	C(NS, OBS, "window_ns", share.window_ns),
	C(COUNT, OBS, "interruptions", share.interruptions),
	C(NS, OBS, "taken_ns", share.taken_ns),
};

static const struct vw_record_column pair_columns[] = {
	TIMES,
	C(CPU, OBS, "cpu", pair.cpu),
	C(ID, OBS, "tid", pair.tid[0]),
	C(START, OBS, "start_ns", pair.start_ns[0]),
	C(ID, OBS, "other_tid", pair.tid[1]),
	C(START, OBS, "other_start_ns", pair.start_ns[1]),
	C(NS, OBS, "window_ns", pair.window_ns),
	C(COUNT, OBS, "switches", pair.switches),
	C(NS, OBS, "longest_stint_ns", pair.longest_stint_ns),
};

static const struct vw_record_column blocked_columns[] = {
	TIMES,
	C(ID, OBS, "tid", blocked.tid),
	C(START, OBS, "start_ns", blocked.start_ns),
	C(BOOL, OBS, "final", blocked.final),
	C(NS, OBS, "state_ns", blocked.state_ns),
	C(ID, OBS, "worker_tid", blocked.worker_tid),
	C(START, OBS, "worker_start_ns", blocked.worker_start_ns),
	C(NS, OBS, "worker_busy_ns", blocked.worker_busy_ns),
};

static const struct vw_record_column report_columns[] = {
	TIMES,
	WORD(OBS, "kind", report.kind, report_name, VW_REPORT_SOFT_LOCKUP + 1),
	C(TEXT, OBS, "flavor", report.flavor),
	C(BOOL, OBS, "expedited", report.expedited),
	C(BOOL, OBS, "incomplete", report.incomplete),
	C(CPU, OBS, "detector_cpu", report.detector_cpu),
	C(SERIAL, OBS, "gp", report.gp),
	C(COUNT, OBS, "jiffies", report.jiffies),
	C(NS, OBS, "stuck_ns", report.stuck_ns),
	TASK(OBS, "culprit_", report.culprit),
	C(CPU, OBS, "culprit_cpu", report.culprit_cpu),
	C(BOOL, OBS, "gp_kthread_starved", report.gp_kthread_starved),
	C(BOOL, OBS, "timer_late", report.timer_late),
	C(BOOL, OBS, "interrupts", report.interrupts),
};

static const char *elsewhere_name(unsigned int how)
{
	static const char *const names[] = {
		[VW_ELSEWHERE_KTHREAD] = "kthread",
		[VW_ELSEWHERE_KWORKER] = "kworker",
		[VW_ELSEWHERE_CGROUP] = "cgroup",
	};

	return NAME_OF(names, how);
}

static const struct vw_record_column elsewhere_columns[] = {
	TIMES,
	WORD(OBS, "how", elsewhere.how, elsewhere_name, VW_ELSEWHERE_CGROUP + 1),
	C(ID, OBS, "owner_pid", elsewhere.owner_pid),
	C(ID, OBS, "tid", elsewhere.tid),
	C(START, OBS, "start_ns", elsewhere.start_ns),
	C(NS, OBS, "window_ns", elsewhere.window_ns),
	C(NS, OBS, "used_ns", elsewhere.used_ns),
	C(NS, OBS, "process_ns", elsewhere.process_ns),
};

static const struct vw_record_column tick_columns[] = {
	TIMES,
};

#define ROW struct vw_worker_row
static const struct vw_record_column worker_columns[] = {
	C(NS, ROW, "ts_ns", ts_ns),
	C(ID, ROW, "tid", task.tid),
	C(CPU, ROW, "cpu", cpu),
	C(NS, ROW, "oncpu_ns", oncpu_ns),
	C(NS, ROW, "charged_ns", charged_ns),
	C(NS, ROW, "wait_ns", wait_ns),
	C(NS, ROW, "longest_resched_pending_ns", longest_pending_ns),
	C(COUNT, ROW, "voluntary_switches", voluntary),
	C(COUNT, ROW, "involuntary_switches", involuntary),
	C(COUNT, ROW, "migrations", migrations),
	C(COUNT, ROW, "work_items", work_items),
	C(COUNT, ROW, "tx_packets", tx_packets),
	C(COUNT, ROW, "tx_bytes", tx_bytes),
	C(COUNT, ROW, "rx_packets", rx_packets),
	C(COUNT, ROW, "rx_bytes", rx_bytes),
};

#define FOUND struct vw_record_finding
static const struct vw_record_column finding_columns[] = {
	WORD(FOUND, "kind", finding.kind, vw_kind_name, VW_KIND_COUNT),
	WORD(FOUND, "severity", finding.severity, vw_severity_name, VW_CRITICAL + 1),
	WORD(FOUND, "status", finding.status, vw_status_name, VW_CLOSED + 1),
	WORD(FOUND, "cause", finding.cause, vw_cause_name, VW_CAUSE_COUNT),
	C(NS, FOUND, "start_ns", finding.start_ns),
	C(NS, FOUND, "end_ns", finding.end_ns),
	C(NS, FOUND, "duration_ns", finding.duration_ns),
	C(CPU, FOUND, "cpu", finding.cpu),
	KNOWN(ID, FOUND, "culprit_tid", finding.culprit.tid, finding.has_culprit),
	KNOWN(TEXT, FOUND, "culprit_comm", finding.culprit.comm, finding.has_culprit),
	KNOWN(TEXT, FOUND, "culprit_vm", finding.culprit.vm, finding.has_culprit),
	KNOWN(TEXT, FOUND, "culprit_device", finding.culprit.device, finding.has_culprit),
	C(COUNT, FOUND, "episodes", finding.evidence.count),
	C(NS, FOUND, "span_ns", finding.evidence.span_ns),
	C(TEXT, FOUND, "message", finding.message),
	C(TEXT, FOUND, "remedy", finding.remedy),
	C(NAME, FOUND, "json", json),
};

#define WAITER struct vw_waiter
static const struct vw_record_column waiter_columns[] = {
	C(ID, WAITER, "tid", tid),
	C(START, WAITER, "start_ns", start_ns),
	C(NS, WAITER, "wait_ns", wait_ns),
	C(POSITIVE, WAITER, "weight", weight),
	C(BOOL, WAITER, "throttled", throttled),
	KNOWN(SIGNED, WAITER, "lead_ns", lead_ns, lead_known),
};

#define VICTIM struct vw_victim
static const struct vw_record_column victim_columns[] = {
	C(ID, VICTIM, "tid", task.tid),	   C(TEXT, VICTIM, "comm", task.comm),
	C(TEXT, VICTIM, "vm", task.vm),	   C(TEXT, VICTIM, "device", task.device),
	C(NS, VICTIM, "wait_ns", wait_ns), C(NS, VICTIM, "wait_total_ns", wait_total_ns),
};

static const struct vw_record_column frame_columns[] = {
	{ .name = "function", .type = VW_RECORD_TEXT, .size = VW_FRAME_LEN },
};

static const struct vw_record_column cpu_columns[] = {
	{ .name = "cpu", .type = VW_RECORD_CPU, .size = sizeof(int32_t) },
};

static const struct vw_record_column tid_columns[] = {
	{ .name = "tid", .type = VW_RECORD_ID, .size = sizeof(int32_t) },
};

static const struct vw_record_column pid_columns[] = {
	{ .name = "pid", .type = VW_RECORD_ID, .size = sizeof(int32_t) },
};

#define INFO struct vw_record_info
static const struct vw_record_column run_columns[] = {
	C(U32, INFO, "schema", schema),
	C(TEXT, INFO, "version", version),
	C(NAME, INFO, "source", header.source),
	C(NAME, INFO, "clock", header.clock),
	C(NAME, INFO, "level", header.level),
	C(NS, INFO, "start_ns", start_ns),
	C(NS, INFO, "start_utc_ns", start_utc_ns),
	C(BOOL, INFO, "finished", finished),
	C(NS, INFO, "end_ns", end_ns),
	C(COUNT, INFO, "lost_events", lost_events),
	C(U32, INFO, "workers", workers),
	C(NS, INFO, "threshold_ns", threshold_ns),
	C(NS, INFO, "tick_ns", tick_ns),
	C(NS, INFO, "stale_ns", stale_ns),
	C(TEXT, INFO, "host_release", header.host.release),
	C(TEXT, INFO, "host_arch", header.host.arch),
	WORD(INFO, "host_preempt", header.host.preempt, vw_preempt_name, VW_PREEMPT_LAZY + 1),
	C(BOOL, INFO, "host_preempt_switchable", header.host.preempt_switchable),
	C(POSITIVE, INFO, "host_hz", header.host.hz),
	C(POSITIVE, INFO, "host_cpus", header.host.cpus),
};

#define HOOK struct vw_hook
static const struct vw_record_column hook_columns[] = {
	C(TEXT, HOOK, "name", name), WORD(HOOK, "state", state, vw_hook_state_name, 3),
	C(TEXT, HOOK, "via", via),   C(TEXT, HOOK, "reason", reason),
	C(TEXT, HOOK, "lost", lost), C(BOOL, HOOK, "optional", optional),
};

#define DETECTOR struct vw_detector_info
static const struct vw_record_column detector_columns[] = {
	C(TEXT, DETECTOR, "kind", kind),
	WORD(DETECTOR, "state", state, vw_detector_state_name, 3),
	C(TEXT, DETECTOR, "reason", reason),
};

#define COLUMNS(list) .columns = (list), .n_columns = sizeof(list) / sizeof((list)[0])
#define ARRAY(strct, n, member)                                                                    \
	.count = offsetof(strct, n), .array = offsetof(strct, member),                             \
	.stride = sizeof(((strct *)0)->member[0]),                                                 \
	.max = sizeof(((strct *)0)->member) / sizeof(((strct *)0)->member[0])
#define EVENT(label, list)                                                                         \
	{                                                                                          \
		.name = (label), .shape = VW_RECORD_EVENT, COLUMNS(list)                           \
	}
#define EVENT_SINCE(version, label, list)                                                          \
	{                                                                                          \
		.name = (label), .shape = VW_RECORD_EVENT, COLUMNS(list), .since = (version)       \
	}
#define LIST(label, list, of, strct, n, member)                                                    \
	{                                                                                          \
		.name = (label), .shape = VW_RECORD_LIST, COLUMNS(list), .parent = (of),           \
		ARRAY(strct, n, member)                                                            \
	}
#define ROW_LIST(label, list, n, member)                                                           \
	{                                                                                          \
		.name = (label), .shape = VW_RECORD_ROW_LIST, COLUMNS(list),                       \
		.parent = VW_RECORD_RUN, ARRAY(INFO, n, member)                                    \
	}

const struct vw_record_table vw_record_tables[VW_RECORD_TABLES] = {
	[VW_OBS_TASK] = EVENT("task", task_columns),
	[VW_OBS_TASK_EXIT] = EVENT("task_exit", task_exit_columns),
	[VW_OBS_STINT] = EVENT("stint", stint_columns),
	[VW_OBS_LOSS] = EVENT("loss", loss_columns),
	[VW_OBS_WAIT] = EVENT("wait", wait_columns),
	[VW_OBS_WORK] = EVENT("work", work_columns),
	[VW_OBS_BUSY] = EVENT("busy", busy_columns),
	[VW_OBS_CHARGE] = EVENT("charge", charge_columns),
	[VW_OBS_MOVE] = EVENT("move", move_columns),
	[VW_OBS_SHARE] = EVENT("share", share_columns),
	[VW_OBS_PAIR] = EVENT("pair", pair_columns),
	[VW_OBS_BLOCKED] = EVENT("blocked", blocked_columns),
	[VW_OBS_REPORT] = EVENT("report", report_columns),
	[VW_OBS_ELSEWHERE] = EVENT_SINCE(2, "elsewhere", elsewhere_columns),
	[VW_RECORD_TICK] = EVENT("tick", tick_columns),
	[VW_RECORD_WORKER] = EVENT("worker", worker_columns),
	[VW_RECORD_FINDING] = EVENT("finding", finding_columns),
	[VW_RECORD_STINT_WAITER] = LIST("stint_waiter", waiter_columns, VW_OBS_STINT, OBS,
					stint.n_waiters, stint.waiters),
	[VW_RECORD_STINT_FRAME] =
		LIST("stint_frame", frame_columns, VW_OBS_STINT, OBS, stint.n_stack, stint.stack),
	[VW_RECORD_MOVE_OVERTAKEN] = LIST("move_overtaken", waiter_columns, VW_OBS_MOVE, OBS,
					  move.n_overtaken, move.overtaken),
	[VW_RECORD_MOVE_IDLE_CPU] =
		LIST("move_idle_cpu", cpu_columns, VW_OBS_MOVE, OBS, move.n_idle, move.idle_cpus),
	[VW_RECORD_REPORT_CPU] =
		LIST("report_cpu", cpu_columns, VW_OBS_REPORT, OBS, report.n_cpus, report.cpus),
	[VW_RECORD_REPORT_TASK] =
		LIST("report_task", tid_columns, VW_OBS_REPORT, OBS, report.n_tasks, report.tasks),
	[VW_RECORD_REPORT_FRAME] = LIST("report_frame", frame_columns, VW_OBS_REPORT, OBS,
					report.n_stack, report.stack),
	[VW_RECORD_FINDING_VICTIM] = LIST("finding_victim", victim_columns, VW_RECORD_FINDING,
					  FOUND, finding.n_victims, finding.victims),
	[VW_RECORD_RUN] = { .name = "run", .shape = VW_RECORD_ROW, COLUMNS(run_columns) },
	[VW_RECORD_HOOK] = ROW_LIST("hook", hook_columns, header.n_hooks, header.hooks),
	[VW_RECORD_DETECTOR] =
		ROW_LIST("detector", detector_columns, header.n_detectors, header.detectors),
	[VW_RECORD_CHOSEN_PROCESS] = ROW_LIST("chosen_process", pid_columns, n_pids, pids),
	[VW_RECORD_CHOSEN_TASK] = ROW_LIST("chosen_task", tid_columns, n_tids, tids),
};
