// SPDX-License-Identifier: GPL-2.0-or-later
/* From features to plan: every host on any. */
#include "plan_env.h"

/* The kinds that nothing but switches can tell. */
static void need_switches(const struct vw_plan *p, enum vw_detector_state state)
{
	assert_int_equal(detector(p, "worker_on_vcpu_cpu"), state);
	assert_int_equal(detector(p, "yield_ping_pong"), state);
	assert_int_equal(detector(p, "owner_blocked"), state);
}

static void test_everything(void **state)
{
	struct vw_features f = full();
	struct vw_plan p = trace(&f);
	unsigned int i;

	(void)state;
	assert_int_equal(p.clock, VW_PLAN_CLOCK_LOCAL_TIMER);
	assert_true(p.tp[VW_TP_SWITCH] && p.tp[VW_TP_TASK_NEWTASK] && p.tp[VW_TP_PROCESS_EXIT]);
	for (i = 0; i < p.n_hooks; i++) {
		assert_int_equal(p.hooks[i].state, VW_HOOK_ATTACHED);
		assert_string_equal(p.hooks[i].reason, "");
		assert_string_equal(p.hooks[i].lost, "");
		assert_false(p.hooks[i].optional);
	}
	assert_string_equal(hook(&p, "clock")->via, "tp_btf/local_timer_entry");
	assert_string_equal(hook(&p, "switches")->via, "tp_btf/sched_switch");
	assert_string_equal(hook(&p, "resched_flag")->via, "thread_info.flags & 0x8");
	assert_string_equal(hook(&p, "quota")->via, "cfs_rq->throttled_clock_pelt_time");
	for (i = 0; i <= VW_BUSY_WORKER; i++)
		assert_int_equal(p.detectors[i].state, VW_DETECTOR_FULL);
	need_switches(&p, VW_DETECTOR_FULL);
	f.tp_need_resched = true;
	f.throttled_clock = false;
	p = trace(&f);
	assert_string_equal(hook(&p, "resched_flag")->via, "thread_info.flags & 0x10");
	assert_int_equal(hook(&p, "quota")->state, VW_HOOK_FALLBACK);
	assert_string_equal(hook(&p, "quota")->via, "cfs_rq->throttle_count");
}

/* Nothing on the switch path; and that is by choice, not for lack. */
static void test_guard(void **state)
{
	struct vw_features f = full();
	struct vw_plan p = make(&f, VW_PLAN_GUARD, VW_PLAN_CLOCK_NONE, 0);

	(void)state;
	assert_int_equal(p.clock, VW_PLAN_CLOCK_LOCAL_TIMER);
	assert_false(p.tp[VW_TP_SWITCH]);
	assert_true(p.tp[VW_TP_TASK_NEWTASK] && p.tp[VW_TP_PROCESS_EXIT]);
	assert_int_equal(hook(&p, "switches")->state, VW_HOOK_MISSING);
	assert_true(hook(&p, "switches")->optional);
	assert_string_equal(hook(&p, "switches")->reason, "not used at guard level");
	assert_int_equal(detector(&p, "non_yielding_worker"), VW_DETECTOR_FULL);
	assert_int_equal(detector(&p, "busy_worker"), VW_DETECTOR_DEGRADED);
	need_switches(&p, VW_DETECTOR_OFF);
	assert_string_equal(hook(&p, "quota")->via, "cpu.stat");
	/* Where the hook is missing, that is what is said. */
	f.tp[VW_TP_SWITCH] = false;
	p = make(&f, VW_PLAN_GUARD, VW_PLAN_CLOCK_NONE, 0);
	assert_non_null(strstr(hook(&p, "switches")->reason, "does not exist"));
	p = trace(&f);
	assert_false(p.tp[VW_TP_SWITCH]);
	assert_false(hook(&p, "switches")->optional);
}

static void no_moves(const struct vw_plan *p, const char *reason)
{
	assert_false(p->tp[VW_TP_MIGRATE] || p->tp[VW_TP_MOVE_NUMA] || p->tp[VW_TP_SWAP_NUMA]);
	assert_int_equal(hook(p, "moves")->state, VW_HOOK_MISSING);
	assert_string_equal(hook(p, "moves")->reason, reason);
	assert_int_equal(detector(p, "spurious_migration_boost"), VW_DETECTOR_OFF);
}

/* Moves need the switches, the move itself, and how long others had waited. */
static void test_moves(void **state)
{
	struct vw_features f = full();
	struct vw_plan p = trace(&f);

	(void)state;
	assert_true(p.tp[VW_TP_MIGRATE] && p.tp[VW_TP_MOVE_NUMA] && p.tp[VW_TP_SWAP_NUMA]);
	assert_int_equal(detector(&p, "spurious_migration_boost"), VW_DETECTOR_FULL);
	/* A kernel without NUMA balancing lacks nothing for it. */
	f.tp[VW_TP_MOVE_NUMA] = f.tp[VW_TP_SWAP_NUMA] = false;
	p = trace(&f);
	assert_true(p.tp[VW_TP_MIGRATE] && !p.tp[VW_TP_MOVE_NUMA] && !p.tp[VW_TP_SWAP_NUMA]);
	assert_string_equal(hook(&p, "moves")->via, "tp_btf/sched_migrate_task");
	assert_int_equal(detector(&p, "spurious_migration_boost"), VW_DETECTOR_FULL);
	f = full();
	p = make(&f, VW_PLAN_GUARD, VW_PLAN_CLOCK_NONE, 0);
	no_moves(&p, "not used at guard level");
	assert_true(hook(&p, "moves")->optional);
	f.tp[VW_TP_MIGRATE] = false;
	p = trace(&f);
	no_moves(&p, "the tracepoint does not exist on this kernel");
	assert_false(hook(&p, "moves")->optional);
	f = full();
	f.tp[VW_TP_SWITCH] = false;
	p = trace(&f);
	no_moves(&p, "needs the switches");
	f = full();
	f.sched_info = false;
	p = trace(&f);
	no_moves(&p, "the kernel does not say how long a task has waited");
	f = full();
	f.btf = false;
	p = trace(&f);
	no_moves(&p, "needs the switches");
}

/* Each clock in turn away: the next one of the order, and the header says why. */
static void test_clock_order(void **state)
{
	struct vw_features f = full();
	struct vw_plan p;

	(void)state;
	f.tp[VW_TP_LOCAL_TIMER] = false;
	p = trace(&f);
	assert_int_equal(p.clock, VW_PLAN_CLOCK_CPU_CLOCK);
	assert_string_equal(hook(&p, "clock")->via, "perf_event/cpu-clock");
	assert_int_equal(hook(&p, "clock")->state, VW_HOOK_FALLBACK);
	assert_non_null(strstr(hook(&p, "clock")->reason, "local_timer_entry"));
	assert_non_null(strstr(hook(&p, "clock")->lost, "idle CPUs are woken"));
	f.perf_cpu_clock = false;
	p = trace(&f);
	assert_int_equal(p.clock, VW_PLAN_CLOCK_STAT_RUNTIME);
	assert_string_equal(hook(&p, "clock")->via, "tp_btf/sched_stat_runtime");
	assert_non_null(strstr(hook(&p, "clock")->lost, "real-time"));
	assert_int_equal(detector(&p, "starved_task"), VW_DETECTOR_FULL);
	f.tp[VW_TP_STAT_RUNTIME] = false;
	p = trace(&f);
	assert_int_equal(p.clock, VW_PLAN_CLOCK_PROCFS);
	assert_string_equal(hook(&p, "clock")->via, "procfs");
	/* One absent behind the chosen one changes nothing. */
	f = full();
	f.perf_cpu_clock = f.tp[VW_TP_STAT_RUNTIME] = false;
	p = trace(&f);
	assert_int_equal(p.clock, VW_PLAN_CLOCK_LOCAL_TIMER);
	assert_int_equal(hook(&p, "clock")->state, VW_HOOK_ATTACHED);
}

static void test_forced_clock(void **state)
{
	static const enum vw_plan_clock clocks[] = {
		VW_PLAN_CLOCK_LOCAL_TIMER,
		VW_PLAN_CLOCK_CPU_CLOCK,
		VW_PLAN_CLOCK_STAT_RUNTIME,
		VW_PLAN_CLOCK_PROCFS,
	};
	struct vw_features f = full(), none = full();
	struct vw_plan p;
	size_t i;

	(void)state;
	none.tp[VW_TP_LOCAL_TIMER] = none.perf_cpu_clock = none.tp[VW_TP_STAT_RUNTIME] = false;
	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		p = make(&f, VW_PLAN_TRACE, clocks[i], 0);
		assert_int_equal(p.clock, clocks[i]);
		assert_string_equal(hook(&p, "clock")->via, vw_plan_clock_via(clocks[i]));
		assert_non_null(strstr(hook(&p, "clock")->reason, "--clock"));
		if (clocks[i] == VW_PLAN_CLOCK_PROCFS)
			continue;
		/* Never another in its place. */
		p = make(&none, VW_PLAN_TRACE, clocks[i], -ENOTSUP);
		assert_int_equal(p.clock, VW_PLAN_CLOCK_NONE);
		assert_int_equal(hook(&p, "clock")->state, VW_HOOK_MISSING);
		assert_non_null(strstr(hook(&p, "clock")->reason, vw_plan_clock_via(clocks[i])));
		assert_false(p.tp[VW_TP_SWITCH] || p.tp[VW_TP_TASK_NEWTASK] ||
			     p.tp[VW_TP_PROCESS_EXIT]);
		assert_int_equal(detector(&p, "non_yielding_worker"), VW_DETECTOR_OFF);
		assert_int_equal(detector(&p, "starved_task"), VW_DETECTOR_OFF);
		assert_int_equal(detector(&p, "busy_worker"), VW_DETECTOR_OFF);
	}
}

static void is_procfs(struct vw_plan p)
{
	assert_int_equal(p.clock, VW_PLAN_CLOCK_PROCFS);
	assert_false(p.tp[VW_TP_SWITCH] || p.tp[VW_TP_TASK_NEWTASK] || p.tp[VW_TP_PROCESS_EXIT]);
	assert_int_equal(hook(&p, "resched_flag")->state, VW_HOOK_MISSING);
	assert_string_equal(hook(&p, "resched_flag")->reason, "needs BPF");
	assert_string_equal(hook(&p, "waiters")->via, "procfs");
	assert_int_equal(hook(&p, "worker_birth")->state, VW_HOOK_FALLBACK);
	assert_int_equal(hook(&p, "worker_exit")->state, VW_HOOK_FALLBACK);
	assert_int_equal(detector(&p, "non_yielding_worker"), VW_DETECTOR_OFF);
	assert_int_equal(detector(&p, "starved_task"), VW_DETECTOR_DEGRADED);
	assert_int_equal(detector(&p, "busy_worker"), VW_DETECTOR_OFF);
	need_switches(&p, VW_DETECTOR_OFF);
}

/* Without BTF there is no BPF, whatever else is offered. */
static void test_no_btf(void **state)
{
	struct vw_features f = full();
	struct vw_plan p;

	(void)state;
	f.btf = false;
	p = trace(&f);
	is_procfs(p);
	assert_non_null(strstr(hook(&p, "clock")->reason, "no BTF"));
	p = make(&f, VW_PLAN_TRACE, VW_PLAN_CLOCK_CPU_CLOCK, -ENOTSUP);
	assert_non_null(strstr(hook(&p, "clock")->reason, "no BTF"));
	f = full();
	is_procfs(make(&f, VW_PLAN_TRACE, VW_PLAN_CLOCK_PROCFS, 0));
}

/* A hogged CPU at the start: only what needs no grace period. */
static void test_tracepoints_wait(void **state)
{
	struct vw_features f = full();
	struct vw_plan p;

	(void)state;
	f.tracepoints_wait = true;
	p = trace(&f);
	assert_int_equal(p.clock, VW_PLAN_CLOCK_CPU_CLOCK);
	assert_false(p.tp[VW_TP_SWITCH] || p.tp[VW_TP_TASK_NEWTASK] || p.tp[VW_TP_PROCESS_EXIT]);
	assert_non_null(strstr(hook(&p, "clock")->reason, "RCU grace period"));
	assert_non_null(strstr(hook(&p, "switches")->reason, "RCU grace period"));
	assert_non_null(strstr(hook(&p, "worker_birth")->reason, "RCU grace period"));
	assert_non_null(strstr(hook(&p, "worker_exit")->reason, "RCU grace period"));
	assert_int_equal(detector(&p, "non_yielding_worker"), VW_DETECTOR_FULL);
	p = make(&f, VW_PLAN_TRACE, VW_PLAN_CLOCK_STAT_RUNTIME, -ENOTSUP);
	assert_non_null(strstr(hook(&p, "clock")->reason, "RCU grace period"));
	f.perf_cpu_clock = false;
	is_procfs(trace(&f));
}

/* A clock that was attached and never came is passed over, and said to be so. */
static void test_silent_clock(void **state)
{
	struct vw_features f = full();
	struct vw_plan p;

	(void)state;
	f.silent_clocks = 1u << VW_PLAN_CLOCK_LOCAL_TIMER;
	p = trace(&f);
	assert_int_equal(p.clock, VW_PLAN_CLOCK_CPU_CLOCK);
	assert_non_null(strstr(hook(&p, "clock")->reason, "never comes on this machine"));
	f.silent_clocks |= 1u << VW_PLAN_CLOCK_CPU_CLOCK;
	assert_int_equal(trace(&f).clock, VW_PLAN_CLOCK_STAT_RUNTIME);
	p = make(&f, VW_PLAN_TRACE, VW_PLAN_CLOCK_LOCAL_TIMER, -ENOTSUP);
	assert_non_null(strstr(hook(&p, "clock")->reason, "never comes on this machine"));
}

static void test_no_sched_info(void **state)
{
	struct vw_features f = full();
	struct vw_plan p;

	(void)state;
	f.sched_info = false;
	p = trace(&f);
	assert_int_equal(hook(&p, "waiters")->state, VW_HOOK_FALLBACK);
	assert_non_null(strstr(hook(&p, "waiters")->reason, "SCHED_INFO"));
	assert_int_equal(detector(&p, "starved_task"), VW_DETECTOR_DEGRADED);
	assert_int_equal(detector(&p, "non_yielding_worker"), VW_DETECTOR_FULL);
	assert_int_equal(p.clock, VW_PLAN_CLOCK_LOCAL_TIMER);
}

static void test_arm64(void **state)
{
	struct vw_features f = full();
	struct vw_plan p;

	(void)state;
	strcpy(f.host.arch, "aarch64");
	f.tp[VW_TP_LOCAL_TIMER] = false;
	p = trace(&f);
	assert_int_equal(p.clock, VW_PLAN_CLOCK_CPU_CLOCK);
	assert_string_equal(hook(&p, "resched_flag")->via, "thread_info.flags & 0x2");
	assert_int_equal(detector(&p, "non_yielding_worker"), VW_DETECTOR_FULL);
}

/* Where the flag's bit is not known, ignored requests cannot be told; starvation can. */
static void test_unknown_architecture(void **state)
{
	struct vw_features f = full();
	struct vw_plan p;

	(void)state;
	strcpy(f.host.arch, "riscv64");
	p = trace(&f);
	assert_int_equal(hook(&p, "resched_flag")->state, VW_HOOK_MISSING);
	assert_non_null(strstr(hook(&p, "resched_flag")->reason, "architecture"));
	assert_non_null(strstr(hook(&p, "resched_flag")->lost, "non_yielding_worker"));
	assert_int_equal(detector(&p, "non_yielding_worker"), VW_DETECTOR_OFF);
	assert_int_equal(detector(&p, "starved_task"), VW_DETECTOR_FULL);
	assert_int_equal(detector(&p, "busy_worker"), VW_DETECTOR_FULL);
}

/* Case F4: no vhost yet is no fault; it may be loaded later. */
static void test_vhost_not_loaded(void **state)
{
	struct vw_features f = full();
	struct vw_plan p;

	(void)state;
	f.vhost_loaded = false;
	f.tp[VW_TP_TASK_NEWTASK] = f.tp[VW_TP_TASK_RENAME] = f.tp[VW_TP_PROCESS_EXIT] = false;
	p = trace(&f);
	assert_int_equal(hook(&p, "workers")->state, VW_HOOK_ATTACHED);
	assert_non_null(strstr(hook(&p, "workers")->reason, "not loaded"));
	assert_int_equal(hook(&p, "worker_birth")->state, VW_HOOK_FALLBACK);
	assert_string_equal(hook(&p, "worker_birth")->via, "procfs");
	assert_false(p.tp[VW_TP_TASK_NEWTASK] || p.tp[VW_TP_PROCESS_EXIT]);
	assert_int_equal(detector(&p, "non_yielding_worker"), VW_DETECTOR_FULL);
}

/* Every host: no text is cut, a clock is said to be what is used, hooks of BPF need a BPF clock. */
static void test_all_hosts(void **state)
{
	struct vw_features f;
	struct vw_plan p;
	unsigned int bits, i;
	int err;

	(void)state;
	for (bits = 0; bits < 1u << 14; bits++) {
		struct vw_plan_wanted wanted = { bits & 1 ? VW_PLAN_TRACE : VW_PLAN_GUARD,
						 (enum vw_plan_clock)((bits >> 1) % 5) };

		memset(&f, 0, sizeof(f));
		strcpy(f.host.arch, "x86_64");
		f.btf = bits & 1 << 4;
		f.perf_cpu_clock = bits & 1 << 5;
		f.tp[VW_TP_LOCAL_TIMER] = bits & 1 << 6;
		f.tp[VW_TP_STAT_RUNTIME] = bits & 1 << 7;
		f.tp[VW_TP_SWITCH] = f.tp[VW_TP_TASK_RENAME] = bits & 1 << 8;
		f.tracepoints_wait = bits & 1 << 9;
		f.sched_info = bits & 1 << 10;
		f.silent_clocks = bits & 1 << 11 ? 1u << VW_PLAN_CLOCK_LOCAL_TIMER : 0;
		f.kernel_log = bits & 1 << 12;
		f.stall_function = bits & 1 << 13;
		err = vw_plan_make(&f, &wanted, &p);
		assert_int_equal(err == 0, p.clock != VW_PLAN_CLOCK_NONE);
		if (p.clock == VW_PLAN_CLOCK_NONE || p.clock == VW_PLAN_CLOCK_PROCFS)
			assert_false(p.tp[VW_TP_SWITCH] || p.tp[VW_TP_TASK_NEWTASK] ||
				     p.tp[VW_TP_PROCESS_EXIT]);
		else
			assert_true(f.btf);
		if (wanted.clock && !err)
			assert_int_equal(p.clock, wanted.clock);
		if (!wanted.clock)
			assert_int_equal(err, 0);
		for (i = 0; i < p.n_hooks; i++) {
			assert_true(strlen(p.hooks[i].reason) + 1 < sizeof(p.hooks[i].reason));
			assert_true(strlen(p.hooks[i].lost) + 1 < sizeof(p.hooks[i].lost));
			assert_true(strlen(p.hooks[i].via) + 1 < sizeof(p.hooks[i].via));
			assert_true(strlen(p.hooks[i].name) + 1 < sizeof(p.hooks[i].name));
		}
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(vw_plan_clock_via(VW_PLAN_CLOCK_NONE), "");
	assert_string_equal(vw_plan_clock_via(VW_PLAN_CLOCKS), "");
	assert_string_equal(vw_plan_clock_via(VW_PLAN_CLOCK_PROCFS), "procfs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_guard),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_clock_order),
		cmocka_unit_test(test_forced_clock),
		cmocka_unit_test(test_no_btf),
		cmocka_unit_test(test_tracepoints_wait),
		cmocka_unit_test(test_silent_clock),
		cmocka_unit_test(test_no_sched_info),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_unknown_architecture),
		cmocka_unit_test(test_vhost_not_loaded),
		cmocka_unit_test(test_all_hosts),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
