/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what the host offers to what is attached: a pure function, so that every host can be tested
 * on any.
 */
#ifndef VW_LOAD_PLAN_H
#define VW_LOAD_PLAN_H

#include "load/features.h"

enum vw_plan_level { VW_PLAN_GUARD, VW_PLAN_TRACE };

/* In the order of preference. */
enum vw_plan_clock {
	VW_PLAN_CLOCK_NONE,
	VW_PLAN_CLOCK_LOCAL_TIMER,
	VW_PLAN_CLOCK_CPU_CLOCK,
	VW_PLAN_CLOCK_STAT_RUNTIME,
	VW_PLAN_CLOCK_PROCFS, /* no BPF at all */
	VW_PLAN_CLOCKS,
};

struct vw_plan_wanted {
	enum vw_plan_level level;
	enum vw_plan_clock clock; /* NONE: the best; else only this one */
};

struct vw_plan {
	enum vw_plan_clock clock;
	bool tp[VW_TP_COUNT]; /* to be attached; the clock's own included */
	bool stall_kprobe; /* on VW_STALL_FUNCTION */
	unsigned int n_hooks;
	struct vw_hook hooks[VW_MAX_HOOKS];
	unsigned int n_detectors;
	struct vw_detector_info detectors[VW_MAX_DETECTORS];
};

/* 0, or -ENOTSUP when the forced clock does not exist here (@ret_plan then says why). */
int vw_plan_make(const struct vw_features *f, const struct vw_plan_wanted *wanted,
		 struct vw_plan *ret_plan);

/* The hook as users name it, "tp_btf/local_timer_entry"; never NULL. */
const char *vw_plan_clock_via(enum vw_plan_clock clock);

#endif
