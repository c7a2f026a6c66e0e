// SPDX-License-Identifier: GPL-2.0-or-later
/* What single tasks are: roles, odd names, identity, counters. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attr_env.h"

static void test_roles(void **state)
{
	struct env *env = *state;
	const char *const find[] = { "/usr/bin/find", "/", "-name", "core", NULL };
	static const struct {
		int32_t tid;
		enum vw_role role;
		int32_t owner;
		const char *comm;
	} cases[] = {
		{ 3000, VW_ROLE_EMULATOR, 3000, "qemu-system-x86" },
		{ 3001, VW_ROLE_VCPU, 3000, "CPU 0/KVM" },
		{ 3002, VW_ROLE_VCPU, 3000, "CPU 12/TCG" },
		{ 3003, VW_ROLE_EMULATOR, 3000, "IO mon_iothread" },
		{ 3004, VW_ROLE_OTHER, 3000, "qemu-system-x86" },
		{ 3005, VW_ROLE_OTHER, 3000, "kvm-nx-lpage-re" },
		{ 3100, VW_ROLE_OTHER, 3100, "qemu-system-x86" },
		{ 4000, VW_ROLE_OTHER, 0, "find" },
		{ 4001, VW_ROLE_OTHER, 0, "CPU 0/KVMx" },
		{ 5000, VW_ROLE_KWORKER, 0, "kworker/3:0" },
		{ 5001, VW_ROLE_KWORKER, 0, "kworker/u8:1" },
		{ 5002, VW_ROLE_KWORKER, 0, "kworker/R-writeb" },
		{ 5003, VW_ROLE_OTHER, 0, "kworker/9:9" },
		{ 5004, VW_ROLE_OTHER, 0, "migration/1" },
	};
	const char *const nameless[] = { "/usr/bin/qemu-system-x86_64", "-m", "64", NULL };
	struct vw_task task;
	size_t i;

	add(env, 3100, 3100, "qemu-system-x86", 0, 1);
	fixture_cmdline(&env->f, 3100, nameless);
	add_qemu(env, 3000, "guest=web01,debug-threads=on");
	add(env, 3000, 3001, "CPU 0/KVM", 0, 1);
	add(env, 3000, 3002, "CPU 12/TCG", 0, 1);
	add(env, 3000, 3003, "IO mon_iothread", 0, 1);
	add(env, 3000, 3004, "qemu-system-x86", 0, 1);
	add(env, 3000, 3005, "kvm-nx-lpage-re", USER_WORKER, 1);
	add(env, 4000, 4000, "find", 0, 1);
	fixture_cmdline(&env->f, 4000, find);
	add(env, 4000, 4001, "CPU 0/KVMx", 0, 1);
	add(env, 5000, 5000, "kworker/3:0-events", KTHREAD | VW_PF_WQ_WORKER, 2);
	add(env, 5001, 5001, "kworker/u8:1+flush-8:0", KTHREAD | VW_PF_WQ_WORKER, 2);
	add(env, 5002, 5002, "kworker/R-writeb", KTHREAD | VW_PF_WQ_WORKER, 2);
	add(env, 5003, 5003, "kworker/9:9", 0, 1);
	add(env, 5004, 5004, "migration/1", KTHREAD, 2);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(vw_attr_task(env->attr, cases[i].tid, &task), 0);
		assert_int_equal(task.role, cases[i].role);
		assert_int_equal(task.owner_pid, cases[i].owner);
		assert_string_equal(task.vm, cases[i].owner == 3000 ? "web01" : "");
		assert_int_equal(strncmp(task.comm, cases[i].comm, VW_COMM_LEN - 1), 0);
	}
	env->seen.n = 0;
	assert_int_equal(vw_attr_threads(env->attr, 3000, keep, &env->seen), 0);
	assert_int_equal(env->seen.n, 6);
	assert_int_equal(vw_attr_threads(env->attr, 999, keep, &env->seen), -ESRCH);
	assert_int_equal(vw_attr_threads(env->attr, -1, keep, &env->seen), -ESRCH);
}

/* F14: every thread has one name, so it tells nothing about vCPUs. */
static void test_one_name_for_all(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "/usr/libexec/qemu-kvm", "-name", "guest=old", NULL };
	struct vw_task task;
	int32_t tid;

	for (tid = 600; tid < 604; tid++)
		add(env, 600, tid, "qemu-kvm", 0, 1);
	fixture_cmdline(&env->f, 600, args);
	for (tid = 601; tid < 604; tid++) {
		assert_int_equal(vw_attr_task(env->attr, tid, &task), 0);
		assert_int_equal(task.role, VW_ROLE_OTHER);
		assert_string_equal(task.vm, "old");
	}
}

/* F14 and G1: names as the kernel hands them out. */
static void test_odd_names(void **state)
{
	static const char *const names[] = {
		"a\"b", "a\\b", "a\nb", "\xff\xfe", "123456789012345", "a) R 1 (b", "CPU 0/KVM",
		"a\nTgid:\t9",
	};
	struct env *env = *state;
	struct vw_task task;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int32_t tid = 700 + (int32_t)i;

		add(env, tid, tid, names[i], 0, 1);
		assert_int_equal(vw_attr_task(env->attr, tid, &task), 0);
		assert_string_equal(task.comm, names[i]);
		assert_int_equal(task.tgid, tid);
		assert_int_equal(task.start_ns, 10000000000ull);
	}
	scan(env, 0);
}

/* B6 and F7: the number goes to another task. */
static void test_reused_tid(void **state)
{
	struct env *env = *state;
	const struct fixture_task shell = { .tid = 5000, .comm = "bash", .start_ticks = 360099000,
					    .run_ns = 5, .slices = 1 };
	struct vw_proc_counters counters = { .run_ns = 42 };
	struct vw_task worker, now;

	add_qemu(env, 4990, "web01");
	add(env, 5000, 5000, "vhost-4990", KTHREAD, 2);
	scan(env, 1);
	worker = env->seen.tasks[0];
	assert_int_equal(vw_attr_counters(env->attr, &worker, &counters), 0);
	fixture_remove(&env->f, "proc/5000");
	counters.run_ns = 42;
	assert_int_equal(vw_attr_counters(env->attr, &worker, &counters), -ESRCH);
	assert_int_equal(vw_attr_task(env->attr, 5000, &now), -ESRCH);
	fixture_task(&env->f, &shell);
	assert_int_equal(vw_attr_counters(env->attr, &worker, &counters), -ESRCH);
	assert_int_equal(vw_attr_sample(env->attr, &worker, &counters), -ESRCH);
	assert_int_equal(counters.run_ns, 42);
	assert_int_equal(vw_attr_task(env->attr, 5000, &now), 0);
	assert_string_equal(now.comm, "bash");
	assert_string_equal(now.vm, "");
	assert_int_equal(now.role, VW_ROLE_OTHER);
	assert_int_equal(now.owner_pid, 0);
	assert_int_equal(vw_attr_counters(env->attr, &now, &counters), 0);
	assert_int_equal(counters.run_ns, 5);
	scan(env, 0);
	assert_int_equal(vw_attr_task(env->attr, 0, &now), -ESRCH);
	assert_int_equal(vw_attr_task(env->attr, -5, &now), -ESRCH);
}

/* The same for an owner: nothing of the old machine is told of the new one. */
static void test_reused_owner(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "/usr/bin/qemu-system-x86_64", "-name", "new", NULL };
	const struct fixture_task owner = { .tid = 2920, .comm = "qemu", .start_ticks = 2000 };
	const struct fixture_task worker = {
		.pid = 2920, .tid = 2941, .comm = "vhost-2920", .flags = USER_WORKER,
		.start_ticks = 2001,
	};
	struct vw_task now;

	add_qemu(env, 2920, "old");
	add(env, 2920, 2941, "vhost-2920", USER_WORKER, 1);
	scan(env, 1);
	assert_string_equal(env->seen.tasks[0].vm, "old");
	fixture_remove(&env->f, "proc/2920");
	fixture_task(&env->f, &owner);
	fixture_task(&env->f, &worker);
	fixture_cmdline(&env->f, 2920, args);
	assert_int_equal(vw_attr_task(env->attr, 2920, &now), 0);
	assert_string_equal(now.vm, "new");
	scan(env, 1);
	assert_string_equal(env->seen.tasks[0].vm, "new");
}

static void test_counters(void **state)
{
	struct env *env = *state;
	struct fixture_task task = {
		.pid = 155, .tid = 158, .comm = "vhost-155", .flags = USER_WORKER, .state = 'R',
		.cpu = 1, .run_ns = 13037506933ull, .delay_ns = 4161333, .slices = 4,
		.voluntary = 3, .involuntary = 1, .policy = 1,
	};
	struct vw_proc_counters counters;
	struct vw_task worker;

	add_qemu(env, 155, "x");
	fixture_task(&env->f, &task);
	scan(env, 1);
	worker = env->seen.tasks[0];
	assert_int_equal(vw_attr_counters(env->attr, &worker, &counters), 0);
	assert_int_equal(counters.state, 'R');
	assert_int_equal(counters.cpu, 1);
	assert_true(counters.rt);
	assert_int_equal(counters.run_ns, 13037506933ull);
	assert_int_equal(counters.delay_ns, 4161333);
	assert_int_equal(counters.slices, 4);
	assert_int_equal(counters.voluntary, 3);
	assert_int_equal(counters.involuntary, 1);
	assert_int_equal(counters.migrations, 17);
	/* No such file: not known, and nothing else is lost. */
	fixture_remove(&env->f, "proc/155/task/158/sched");
	assert_int_equal(vw_attr_counters(env->attr, &worker, &counters), 0);
	assert_true(counters.migrations == VW_UNKNOWN);
	assert_int_equal(counters.slices, 4);
	/* A kernel that counts nothing writes zeros. */
	task.run_ns = task.delay_ns = task.slices = 0;
	fixture_task(&env->f, &task);
	assert_int_equal(vw_attr_counters(env->attr, &worker, &counters), 0);
	assert_true(counters.run_ns == VW_UNKNOWN);
	assert_true(counters.slices == VW_UNKNOWN);
	/* One that has just been made has zeros too. */
	task.voluntary = task.involuntary = 0;
	fixture_task(&env->f, &task);
	assert_int_equal(vw_attr_counters(env->attr, &worker, &counters), 0);
	assert_int_equal(counters.run_ns, 0);
}

/* Threads named as vCPUs, with all that there is to know, and no others. */
static void test_vcpus(void **state)
{
	struct env *env = *state;

	add_qemu(env, 3000, "guest=web01,debug-threads=on");
	add(env, 3000, 3001, "CPU 0/KVM", 0, 1);
	add(env, 3000, 3002, "CPU 1/KVM", 0, 1);
	add(env, 3000, 3003, "IO mon_iothread", 0, 1);
	add(env, 3000, 3004, "CPU 0/KVMx", 0, 1);
	assert_int_equal(vw_attr_vcpus(env->attr, 3000, keep, &env->seen), 0);
	assert_int_equal(env->seen.n, 2);
	assert_int_equal(env->seen.tasks[0].tid + env->seen.tasks[1].tid, 6003);
	assert_int_equal(env->seen.tasks[0].role, VW_ROLE_VCPU);
	assert_int_equal(env->seen.tasks[0].owner_pid, 3000);
	assert_string_equal(env->seen.tasks[0].vm, "web01");
	assert_string_equal(env->seen.tasks[0].cpus_allowed, "0-3");
	assert_int_equal(vw_attr_vcpus(env->attr, 999, keep, &env->seen), -ESRCH);
	assert_int_equal(vw_attr_vcpus(env->attr, 0, keep, &env->seen), -ESRCH);
}

static void keep_blocked(void *ctx, const struct vw_task *task, uint64_t sleeps)
{
	assert_int_equal(sleeps, 17);
	keep(ctx, task);
}

static void test_blocked(void **state)
{
	struct env *env = *state;
	const struct fixture_task task = {
		.pid = 3000, .tid = 3002, .comm = "CPU 1/KVM", .state = 'D', .voluntary = 17,
	};

	add_qemu(env, 3000, "guest=web01");
	add(env, 3000, 3001, "CPU 0/KVM", 0, 1);
	fixture_task(&env->f, &task);
	assert_int_equal(vw_attr_blocked(env->attr, 3000, keep_blocked, &env->seen), 0);
	assert_int_equal(env->seen.n, 1);
	assert_int_equal(env->seen.tasks[0].tid, 3002);
	assert_int_equal(env->seen.tasks[0].tgid, 3000);
	assert_int_equal(env->seen.tasks[0].start_ns, 10000000000ull);
	assert_string_equal(env->seen.tasks[0].comm, "CPU 1/KVM");
	assert_int_equal(vw_attr_blocked(env->attr, 999, keep_blocked, &env->seen), -ESRCH);
}

static void quota_is(struct env *env, const char *path, uint64_t throttled, uint64_t ns)
{
	struct vw_quota quota = { 0 };

	assert_int_equal(vw_attr_quota(env->attr, path, &quota), throttled ? 0 : -ENOENT);
	assert_int_equal(quota.throttled, throttled);
	assert_int_equal(quota.throttled_ns, ns);
}

/* Both versions; the quota may be that of a group above. */
static void test_quota(void **state)
{
	struct env *env = *state;

	fixture_text(&env->f, "sys/fs/cgroup/vms/vm1/cpu.stat",
		     "usage_usec 9\nuser_usec 5\nnr_periods 50\nnr_throttled 20\n"
		     "throttled_usec 1500\nnr_bursts 0\n");
	fixture_text(&env->f, "sys/fs/cgroup/vms/vm1/vcpu0/cpu.stat",
		     "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
	fixture_text(&env->f, "sys/fs/cgroup/vms/cpu.stat", "usage_usec 9\n");
	fixture_text(&env->f, "sys/fs/cgroup/cpu.stat", "nr_periods 1\nnr_throttled 1\n");
	fixture_text(&env->f, "sys/fs/cgroup/cpu,cpuacct/old/cpu.stat",
		     "nr_periods 7\nnr_throttled 3\nthrottled_time 2500\n");
	quota_is(env, "/vms/vm1", 20, 1500000);
	quota_is(env, "/vms/vm1/vcpu0", 20, 1500000);
	quota_is(env, "/old", 3, 2500);
	quota_is(env, "/vms", 0, 0);
	quota_is(env, "/", 0, 0);
	quota_is(env, "", 0, 0);
	quota_is(env, "/vms/vm2", 0, 0);
	quota_is(env, "/../vms/vm1", 0, 0);
	/* A number too large for what it stands for is none. */
	fixture_text(&env->f, "sys/fs/cgroup/old/cpu.stat",
		     "nr_periods 7\nnr_throttled 3\nthrottled_usec 99999999999999999999\n");
	quota_is(env, "/old", 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_roles),
		TEST(test_one_name_for_all),
		TEST(test_odd_names),
		TEST(test_reused_tid),
		TEST(test_reused_owner),
		TEST(test_counters),
		TEST(test_vcpus),
		TEST(test_blocked),
		TEST(test_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
