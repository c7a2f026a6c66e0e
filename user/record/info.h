/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording says of the run that it is of: its one row, and the lists that belong to it. */
#ifndef VW_RECORD_INFO_H
#define VW_RECORD_INFO_H

#include <stdbool.h>

#include "model/finding.h"
#include "model/host.h"

#define VW_RECORD_MAX_IDS 64 /* processes and tasks that were asked for, each */
#define VW_RECORD_VERSION_LEN 32

struct vw_record_info {
	uint32_t schema;
	char version[VW_RECORD_VERSION_LEN]; /* of the tool */
	struct vw_header header;
	uint64_t start_ns; /* of the run's clock, as all times but the next */
	uint64_t start_utc_ns; /* since 1970 */
	/* What the detectors were set to; detect/detect.h */
	uint64_t threshold_ns, tick_ns, stale_ns;
	/* -p and -t */
	unsigned int n_pids, n_tids;
	int32_t pids[VW_RECORD_MAX_IDS], tids[VW_RECORD_MAX_IDS];
	/* As far as it went. */
	bool finished;
	uint64_t end_ns; /* of the run; while it is not finished, what is recorded ends here */
	uint64_t lost_events;
	uint32_t workers; /* seen so far */
};

#endif
