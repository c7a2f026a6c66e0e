/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Model objects for the tests of the sinks, with names nobody should have. */
#ifndef VW_TESTS_SAMPLES_H
#define VW_TESTS_SAMPLES_H

#include <stdio.h>
#include <string.h>

#include "model/finding.h"
#include "model/host.h"
#include "model/worker.h"

#define SEC 1000000000ULL
#define MS 1000000ULL

static inline struct vw_task sample_task(int32_t tid, const char *comm, const char *vm,
					 const char *device)
{
	struct vw_task task = { .tid = tid, .role = VW_ROLE_VHOST_WORKER };

	snprintf(task.comm, sizeof(task.comm), "%s", comm);
	snprintf(task.vm, sizeof(task.vm), "%s", vm);
	snprintf(task.device, sizeof(task.device), "%s", device);
	return task;
}

/* A row in which everything but time, task and CPU is unknown. */
static inline struct vw_worker_row sample_row(struct vw_task task, uint64_t ts_ns)
{
	struct vw_worker_row row = { .ts_ns = ts_ns, .task = task, .cpu = 1 };

	memset(&row.oncpu_ns, 0xff, sizeof(row) - offsetof(struct vw_worker_row, oncpu_ns));
	return row;
}

/* The bug of 2012: one worker ignores a request for 16 s, another waits. */
static inline struct vw_finding sample_finding(void)
{
	struct vw_finding f = {
		.kind = VW_NON_YIELDING_WORKER, .severity = VW_CRITICAL, .status = VW_OPEN,
		.cause = VW_CAUSE_IGNORES_RESCHED, .start_ns = 5 * SEC, .end_ns = 21 * SEC,
		.duration_ns = 16 * SEC, .cpu = 1, .has_culprit = true,
		.culprit = sample_task(951, "vhost-941", "web01", "vhost-net:vnet7"),
		.n_victims = 1,
		.victims = { { .task = sample_task(952, "vhost-942", "web02", "vhost-net:vnet8"),
			       .wait_ns = 15900 * MS, .wait_total_ns = 17 * SEC } },
		.evidence = { .count = 1, .span_ns = 16 * SEC, .resched = VW_RESCHED_FULL,
			      .resched_pending_ns = 15990 * MS, .oncpu_ns = 16 * SEC,
			      .softirq_ns = VW_UNKNOWN, .irq_ns = VW_UNKNOWN, .nr_running = 2,
			      .clock = "tp_btf/local_timer_entry", .n_stack = 2,
			      .stack = { "handle_tx", "vhost_worker" } },
		.printed_after_ns = 12 * MS,
		.message = "vhost-941 kept CPU 1 for 16s while vhost-942 waited.",
		.remedy = "Let the worker loop call cond_resched().",
	};

	f.culprit.backend = VW_BACKEND_KTHREAD;
	f.culprit.owner_pid = 941;
	return f;
}

static inline struct vw_header sample_header(void)
{
	return (struct vw_header){
		.source = "live", .clock = "monotonic", .level = "trace",
		.host = { .release = "6.1.0-57-amd64", .arch = "x86_64",
			  .preempt = VW_PREEMPT_NONE, .hz = 250, .cpus = 2 },
		.n_hooks = 3,
		.hooks = { { .name = "clock", .via = "tp_btf/local_timer_entry" },
			   { .name = "switches", .state = VW_HOOK_MISSING,
			     .reason = "BTF does not have it", .lost = "short stints" },
			   { .name = "work", .state = VW_HOOK_FALLBACK, .via = "kprobe/handle_tx",
			     .optional = true } },
		.n_detectors = 2,
		.detectors = { { .kind = "non_yielding_worker" },
			       { .kind = "starved_task", .state = VW_DETECTOR_DEGRADED,
				 .reason = "no switch hook" } },
	};
}

#endif
