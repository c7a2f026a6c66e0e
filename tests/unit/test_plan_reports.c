// SPDX-License-Identifier: GPL-2.0-or-later
/* By which ways the kernel's own reports are read. */
#include "plan_env.h"

/* The kernel's own reports: by text, by the tracepoint, by both, or not at all. */
static void test_kernel_reports(void **state)
{
	struct vw_features f = full();
	struct vw_plan p = trace(&f);

	(void)state;
	assert_true(p.tp[VW_TP_RCU_STALL]);
	assert_int_equal(detector(&p, "rcu_stall"), VW_DETECTOR_FULL);
	assert_int_equal(detector(&p, "soft_lockup"), VW_DETECTOR_FULL);
	f.tp[VW_TP_RCU_STALL] = false;
	p = trace(&f);
	assert_string_equal(hook(&p, "kernel_reports")->via, "/dev/kmsg");
	assert_int_equal(detector(&p, "rcu_stall"), VW_DETECTOR_FULL);
	f.kernel_log = false;
	p = trace(&f);
	assert_int_equal(hook(&p, "kernel_reports")->state, VW_HOOK_MISSING);
	assert_int_equal(detector(&p, "rcu_stall"), VW_DETECTOR_OFF);
	assert_int_equal(detector(&p, "soft_lockup"), VW_DETECTOR_OFF);
	f.tp[VW_TP_RCU_STALL] = true;
	p = trace(&f);
	assert_int_equal(hook(&p, "kernel_reports")->state, VW_HOOK_FALLBACK);
	assert_int_equal(detector(&p, "rcu_stall"), VW_DETECTOR_DEGRADED);
	/* Linux 5.10 has the function and no tracepoint; one way will do. */
	f.stall_function = true;
	assert_false(trace(&f).stall_kprobe);
	f.tp[VW_TP_RCU_STALL] = false;
	p = trace(&f);
	assert_string_equal(hook(&p, "kernel_reports")->via, "kprobe/" VW_STALL_FUNCTION);
	assert_int_equal(detector(&p, "rcu_stall"), VW_DETECTOR_DEGRADED);
	f.kernel_log = true;
	assert_false(trace(&f).stall_kprobe);
	f.kernel_log = false;
	f.tracepoints_wait = true;
	assert_false(trace(&f).stall_kprobe);
	/* The guard reads it, too; without BPF there is still the log. */
	f = full();
	p = make(&f, VW_PLAN_GUARD, VW_PLAN_CLOCK_NONE, 0);
	assert_true(p.tp[VW_TP_RCU_STALL]);
	p = make(&f, VW_PLAN_TRACE, VW_PLAN_CLOCK_PROCFS, 0);
	assert_false(p.tp[VW_TP_RCU_STALL]);
	assert_int_equal(detector(&p, "soft_lockup"), VW_DETECTOR_FULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
