/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known about the host and about the tool's own sight: the header of every output.
 */
#ifndef VW_MODEL_HOST_H
#define VW_MODEL_HOST_H

#include <stdbool.h>
#include <stdint.h>

#define VW_MAX_HOOKS 24
#define VW_MAX_DETECTORS 16

enum vw_preempt {
	VW_PREEMPT_UNKNOWN,
	VW_PREEMPT_NONE,
	VW_PREEMPT_VOLUNTARY,
	VW_PREEMPT_FULL,
	VW_PREEMPT_LAZY,
};

struct vw_host {
	char release[65];
	char arch[32];
	enum vw_preempt preempt;
	bool preempt_switchable; /* PREEMPT_DYNAMIC: the mode can be changed at run time */
	uint32_t hz; /* 0: unknown */
	uint32_t cpus; /* online */
};

enum vw_hook_state { VW_HOOK_ATTACHED, VW_HOOK_FALLBACK, VW_HOOK_MISSING };

/* One need of the tool and how it is met. */
struct vw_hook {
	char name[24]; /* what it is for: clock, switches, workers, totals, ... */
	enum vw_hook_state state;
	char via[64]; /* "tp_btf/local_timer_entry", "procfs", ... ; "" when missing */
	char reason[160]; /* why this one and not the first choice; "" when it is the first choice */
	char lost[120]; /* what is not seen because of it; "" when nothing */
	bool optional; /* not part of the plan at this level; told by doctor only */
};

enum vw_detector_state { VW_DETECTOR_FULL, VW_DETECTOR_DEGRADED, VW_DETECTOR_OFF };

struct vw_detector_info {
	char kind[32];
	enum vw_detector_state state;
	char reason[160];
};

/* Everything the JSON header and doctor show. */
struct vw_header {
	const char *input; /* the file's name, NULL when live; outlives the header */
	const char *source; /* static: live, recording, ... */
	const char *clock; /* static: monotonic, trace, printk, tsc */
	const char *level; /* static: guard, trace, offline */
	struct vw_host host;
	unsigned int n_hooks;
	struct vw_hook hooks[VW_MAX_HOOKS];
	unsigned int n_detectors;
	struct vw_detector_info detectors[VW_MAX_DETECTORS];
};

/* NULL for unknown. */
const char *vw_preempt_name(enum vw_preempt preempt);
const char *vw_hook_state_name(enum vw_hook_state state);
const char *vw_detector_state_name(enum vw_detector_state state);

#endif
