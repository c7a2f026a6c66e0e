/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reader of a trace or a log is asked; what it answers is in model/replay.h. */
#ifndef VW_SOURCE_REPLAY_H
#define VW_SOURCE_REPLAY_H

#include "model/replay.h"
#include "source/choice.h"

struct vw_replay_config {
	uint64_t threshold_ns;
	struct vw_choice choice; /* these tasks are watched, too */
	const char *procfs, *sysfs; /* NULL: nothing but the input is known of the tasks */
};

#endif
