/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The row of one worker: counters since the start of the run.  VW_UNKNOWN (model/finding.h) where
 * this host or level cannot tell.
 */
#ifndef VW_MODEL_WORKER_H
#define VW_MODEL_WORKER_H

#include "model/finding.h"

struct vw_worker_row {
	uint64_t ts_ns;
	uint64_t since_ns; /* what it counts from, 0: not said */
	struct vw_task task;
	int32_t cpu; /* where it ran last, -1 unknown */
	uint64_t oncpu_ns; /* wall time on CPU, the open slice included */
	uint64_t charged_ns; /* what the kernel charged (sum_exec_runtime) */
	uint64_t wait_ns; /* runnable and not running, the open wait included */
	uint64_t longest_pending_ns;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t migrations;
	uint64_t work_items;
	/* From the guest's point of view: tx is what the guest sent. */
	uint64_t tx_packets, tx_bytes, rx_packets, rx_bytes;
};

enum vw_verdict { VW_VERDICT_OK, VW_VERDICT_WARNING, VW_VERDICT_CRITICAL, VW_VERDICT_UNKNOWN };

struct vw_summary {
	enum vw_verdict verdict;
	uint64_t counts[VW_KIND_COUNT];
	uint64_t lost_events;
	uint64_t skipped_lines;
	uint64_t invalid_samples; /* of counters, that no counter can have given */
	uint64_t duration_ns;
	uint32_t workers; /* seen at any time of the run */
};

const char *vw_verdict_name(enum vw_verdict verdict);

#endif
