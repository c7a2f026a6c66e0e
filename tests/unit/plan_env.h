/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts, and what is planned for them. */
#ifndef VW_TESTS_PLAN_ENV_H
#define VW_TESTS_PLAN_ENV_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "load/plan.h"
#include "model/finding.h"

/* A host with everything, as Debian's kernels on x86. */
static inline struct vw_features full(void)
{
	struct vw_features f;

	memset(&f, 0, sizeof(f));
	strcpy(f.host.arch, "x86_64");
	f.btf = f.perf_cpu_clock = f.sched_info = f.vhost_loaded = f.throttled_clock = true;
	f.kernel_log = true;
	f.tp[VW_TP_LOCAL_TIMER] = f.tp[VW_TP_STAT_RUNTIME] = f.tp[VW_TP_SWITCH] = true;
	f.tp[VW_TP_TASK_NEWTASK] = f.tp[VW_TP_TASK_RENAME] = f.tp[VW_TP_PROCESS_EXIT] = true;
	f.tp[VW_TP_MIGRATE] = f.tp[VW_TP_MOVE_NUMA] = f.tp[VW_TP_SWAP_NUMA] = true;
	f.tp[VW_TP_RCU_STALL] = true;
	return f;
}

static inline struct vw_plan make(const struct vw_features *f, enum vw_plan_level level,
				  enum vw_plan_clock clock, int expected)
{
	const struct vw_plan_wanted wanted = { .level = level, .clock = clock };
	struct vw_plan p;
	unsigned int i, k;

	memset(&p, 0xaa, sizeof(p));
	assert_int_equal(vw_plan_make(f, &wanted, &p), expected);
	assert_true(p.n_hooks > 0 && p.n_hooks <= VW_MAX_HOOKS);
	for (i = 0; i < p.n_hooks; i++) {
		const struct vw_hook *h = &p.hooks[i];

		/* What is missing has no way and a reason; what is there has a way. */
		assert_int_equal(h->state == VW_HOOK_MISSING, !h->via[0]);
		if (h->state == VW_HOOK_MISSING) {
			assert_true(h->reason[0]);
			assert_true(h->lost[0]);
		}
		for (k = 0; k < i; k++)
			assert_string_not_equal(p.hooks[k].name, h->name);
	}
	assert_int_equal(p.n_detectors, VW_KIND_COUNT);
	for (i = 0; i < p.n_detectors; i++)
		assert_int_equal(p.detectors[i].state == VW_DETECTOR_FULL,
				 !p.detectors[i].reason[0]);
	return p;
}

static inline struct vw_plan trace(const struct vw_features *f)
{
	return make(f, VW_PLAN_TRACE, VW_PLAN_CLOCK_NONE, 0);
}

static inline const struct vw_hook *hook(const struct vw_plan *p, const char *name)
{
	unsigned int i;

	for (i = 0; i < p->n_hooks; i++)
		if (!strcmp(p->hooks[i].name, name))
			return &p->hooks[i];
	fail_msg("no hook %s", name);
	return NULL;
}

static inline enum vw_detector_state detector(const struct vw_plan *p, const char *kind)
{
	unsigned int i;

	for (i = 0; i < p->n_detectors; i++)
		if (!strcmp(p->detectors[i].kind, kind))
			return p->detectors[i].state;
	fail_msg("no detector %s", kind);
	return VW_DETECTOR_OFF;
}

#endif
