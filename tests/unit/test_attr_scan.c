// SPDX-License-Identifier: GPL-2.0-or-later
/* Which tasks of a /proc are vhost workers, and whose. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attr_env.h"

/* B1 (i) and B3: a kernel thread, its owner known by name. */
static void test_kthread(void **state)
{
	struct env *env = *state;
	const struct vw_task *task = &env->seen.tasks[0];

	add_qemu(env, 2920, "guest=web01,debug-threads=on");
	add(env, 2941, 2941, "vhost-2920", KTHREAD, 2);
	scan(env, 1);
	assert_int_equal(task->tid, 2941);
	assert_int_equal(task->owner_pid, 2920);
	assert_true(task->owner_by_name);
	assert_true(task->watched);
	assert_true(task->flags_known);
	assert_int_equal(task->role, VW_ROLE_VHOST_WORKER);
	assert_int_equal(task->backend, VW_BACKEND_KTHREAD);
	assert_int_equal(task->start_ns, 10000000000ull);
	assert_string_equal(task->vm, "web01");
	assert_string_equal(task->comm, "vhost-2920");
	assert_string_equal(task->cpus_allowed, "0-3");
	assert_string_equal(task->cgroup, "/");
	assert_string_equal(vw_attr_worker_kind_name(vw_attr_worker_kind(task)), "kthread");
}

/* B1 (ii): a process of its own, also where its folder has no task/. */
static void test_process(void **state)
{
	struct env *env = *state;
	const struct fixture_task flat = {
		.tid = 2942, .comm = "vhost-2920", .flags = USER_WORKER, .ppid = 2920,
	};
	size_t i;

	add_qemu(env, 2920, "web01");
	add(env, 2941, 2941, "vhost-2920", USER_WORKER, 2920);
	fixture_task_at(&env->f, "2942", &flat);
	scan(env, 2);
	for (i = 0; i < 2; i++) {
		const struct vw_task *task = &env->seen.tasks[i];

		assert_int_equal(task->tid, 2941 + (int)i);
		assert_int_equal(task->owner_pid, 2920);
		assert_false(task->owner_by_name);
		assert_int_equal(task->backend, VW_BACKEND_VHOST_TASK);
		assert_string_equal(task->vm, "web01");
		assert_string_equal(vw_attr_worker_kind_name(vw_attr_worker_kind(task)),
				    "process");
	}
}

/* Its owner has ended: init is its parent now, and owns nothing. */
static void test_process_orphan(void **state)
{
	struct env *env = *state;

	add(env, 1, 1, "systemd", 0, 1);
	add(env, 2941, 2941, "vhost-2920", USER_WORKER, 1);
	scan(env, 1);
	assert_int_equal(env->seen.tasks[0].owner_pid, 0);
	assert_string_equal(env->seen.tasks[0].vm, "");
}

/* B1 (iii): a thread of its owner, once even where /proc/TID shows it too. */
static void test_thread(void **state)
{
	struct env *env = *state;
	const struct fixture_task worker = {
		.pid = 2920, .tid = 2941, .comm = "vhost-2920", .flags = USER_WORKER, .ppid = 1,
	};
	const struct vw_task *task = &env->seen.tasks[0];
	struct vw_task one;

	add_qemu(env, 2920, "web01");
	fixture_task(&env->f, &worker);
	scan(env, 1);
	assert_int_equal(task->tid, 2941);
	assert_int_equal(task->tgid, 2920);
	assert_int_equal(task->owner_pid, 2920);
	assert_false(task->owner_by_name);
	assert_int_equal(task->backend, VW_BACKEND_VHOST_TASK);
	assert_string_equal(task->vm, "web01");
	assert_string_equal(vw_attr_worker_kind_name(vw_attr_worker_kind(task)), "thread");
	assert_int_equal(vw_attr_task(env->attr, 2941, &one), 0);
	assert_memory_equal(&one, task, sizeof(one));
	fixture_task_at(&env->f, "2941", &worker);
	scan(env, 1);
	assert_int_equal(task->owner_pid, 2920);
	fixture_task_at(&env->f, "2941/task/2941", &worker);
	scan(env, 1);
	assert_string_equal(vw_attr_worker_kind_name(vw_attr_worker_kind(task)), "thread");
	/* Where no file says whose thread it is, the folders do. */
	fixture_remove(&env->f, "proc/2941/task/2941/status");
	fixture_remove(&env->f, "proc/2920/task/2941/status");
	scan(env, 1);
	assert_string_equal(vw_attr_worker_kind_name(vw_attr_worker_kind(task)), "thread");
}

/* B3: both kinds on one host; never owner 2, and no owner that is not a process. */
static void test_both_kinds(void **state)
{
	struct env *env = *state;
	const struct vw_task *tasks = env->seen.tasks;

	add(env, 2, 2, "kthreadd", KTHREAD, 1);
	add_qemu(env, 2920, "one");
	add_qemu(env, 3040, "two");
	add(env, 2941, 2941, "vhost-2920", KTHREAD, 2);
	add(env, 2950, 2950, "vhost-2", KTHREAD, 2);
	add(env, 2951, 2951, "vhost-999", KTHREAD, 2);
	add(env, 2952, 2952, "vhost-2941", KTHREAD, 2);
	add(env, 3040, 3055, "vhost-3040", USER_WORKER, 1);
	scan(env, 5);
	assert_int_equal(tasks[0].owner_pid, 2920);
	assert_int_equal(tasks[0].backend, VW_BACKEND_KTHREAD);
	assert_int_equal(tasks[1].tid, 2950);
	assert_int_equal(tasks[1].owner_pid, 0);
	assert_false(tasks[1].owner_by_name);
	assert_int_equal(tasks[2].owner_pid, 0);
	assert_false(tasks[2].owner_by_name);
	/* A kernel thread owns nobody. */
	assert_int_equal(tasks[3].tid, 2952);
	assert_int_equal(tasks[3].owner_pid, 0);
	assert_int_equal(tasks[4].tid, 3055);
	assert_int_equal(tasks[4].owner_pid, 3040);
	assert_int_equal(tasks[4].backend, VW_BACKEND_VHOST_TASK);
	assert_string_equal(tasks[4].vm, "two");
}

/* A process that took the number of an owner that is gone. */
static void test_younger_owner(void **state)
{
	struct env *env = *state;
	struct fixture_task owner = { .tid = 2920, .comm = "qemu-kvm", .start_ticks = 5001 };
	const struct fixture_task worker = {
		.tid = 2941, .comm = "vhost-2920", .flags = KTHREAD, .ppid = 2, .start_ticks = 5000,
	};

	fixture_task(&env->f, &owner);
	fixture_task(&env->f, &worker);
	scan(env, 1);
	assert_int_equal(env->seen.tasks[0].owner_pid, 0);
	owner.start_ticks = 5000;
	fixture_task(&env->f, &owner);
	scan(env, 1);
	assert_int_equal(env->seen.tasks[0].owner_pid, 2920);
}

/* The number is that of the thread that set the owner, which need not be the main one. */
static void test_owner_thread(void **state)
{
	struct env *env = *state;
	const struct fixture_task thread = { .pid = 2920, .tid = 2925, .comm = "IO iothread0" };

	add_qemu(env, 2920, "web01");
	fixture_task(&env->f, &thread);
	fixture_task_at(&env->f, "2925", &thread);
	add(env, 2941, 2941, "vhost-2925", KTHREAD, 2);
	scan(env, 1);
	assert_int_equal(env->seen.tasks[0].owner_pid, 2920);
	assert_string_equal(env->seen.tasks[0].vm, "web01");
}

static void test_look_alikes(void **state)
{
	struct env *env = *state;
	struct vw_task task;

	add_qemu(env, 2920, "web01");
	add(env, 100, 100, "vhost-123", 0, 1);
	add(env, 2920, 2931, "vhost-2920", 0, 1);
	add(env, 2920, 2932, "kvm-nx-lpage-re", USER_WORKER, 1);
	add(env, 102, 102, "kvm-nx-lpage-recovery-2920", KTHREAD, 2);
	add(env, 103, 103, "kvm-pit/2920", KTHREAD, 2);
	add(env, 104, 104, "vhost-events", 0, 1);
	add(env, 2920, 2933, "iou-wrk-2920", USER_WORKER | VW_PF_IO_WORKER, 1);
	add(env, 2920, 2934, "vhost-2920", USER_WORKER | VW_PF_IO_WORKER, 1);
	add(env, 105, 105, "vhost-2920", KTHREAD | VW_PF_WQ_WORKER, 2);
	add(env, 106, 106, "vhost-12345678901234567890", KTHREAD, 2);
	add(env, 107, 107, "vhost-123456789", USER_WORKER, 1);
	add(env, 108, 108, "vhost-2920-x", KTHREAD, 2);
	add(env, 109, 109, "vhost-", KTHREAD, 2);
	add(env, 110, 110, "vhost_task", USER_WORKER, 1);
	scan(env, 0);
	/* Named like one, yet a plain program. */
	assert_int_equal(vw_attr_task(env->attr, 100, &task), 0);
	assert_int_equal(task.role, VW_ROLE_OTHER);
	assert_int_equal(task.backend, VW_BACKEND_NONE);
	assert_int_equal(task.owner_pid, 0);
	assert_false(task.watched);
	assert_int_equal(vw_attr_task(env->attr, 105, &task), 0);
	assert_int_equal(task.role, VW_ROLE_KWORKER);
}

/* A5: one name, four workers. */
static void test_shared_name(void **state)
{
	struct env *env = *state;
	int32_t tid;

	add_qemu(env, 4190, "big");
	for (tid = 4204; tid >= 4201; tid--)
		add(env, 4190, tid, "vhost-4190", USER_WORKER, 1);
	scan(env, 4);
	for (tid = 4201; tid <= 4204; tid++) {
		assert_int_equal(env->seen.tasks[tid - 4201].tid, tid);
		assert_int_equal(env->seen.tasks[tid - 4201].owner_pid, 4190);
	}
}

/* B4: where it may run and which group it is in are its own, not its owner's. */
static void test_placement(void **state)
{
	struct env *env = *state;
	const struct fixture_task worker = {
		.pid = 2920, .tid = 2941, .comm = "vhost-2920", .flags = USER_WORKER,
		.cpus_allowed = "0-63",
		.cgroup = "2:cpuset:/x\n1:cpu,cpuacct:/machine.slice/vm/emulator\n0::/other\n",
	};
	const struct fixture_task vcpu = {
		.pid = 2920, .tid = 2943, .comm = "CPU 3/KVM", .cpus_allowed = "14",
	};
	struct fixture_task scattered = worker;
	char list[4 * VW_CPULIST_LEN] = "0";
	struct vw_task task;
	int i;

	add_qemu(env, 2920, "web01");
	fixture_task(&env->f, &worker);
	fixture_task(&env->f, &vcpu);
	scan(env, 1);
	assert_string_equal(env->seen.tasks[0].cpus_allowed, "0-63");
	assert_string_equal(env->seen.tasks[0].cgroup, "/machine.slice/vm/emulator");
	assert_int_equal(vw_attr_task(env->attr, 2943, &task), 0);
	assert_string_equal(task.cpus_allowed, "14");
	assert_int_equal(task.role, VW_ROLE_VCPU);
	assert_int_equal(task.owner_pid, 2920);
	assert_string_equal(task.vm, "web01");
	/* Half a list would be another list. */
	for (i = 2; strlen(list) < VW_CPULIST_LEN; i += 2)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), ",%d", i);
	scattered.cpus_allowed = list;
	fixture_task(&env->f, &scattered);
	scan(env, 1);
	assert_string_equal(env->seen.tasks[0].cpus_allowed, "");
}

static void test_vm_from_cgroup(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "/usr/bin/vmm", "--cpus", "2", NULL };
	const struct fixture_task owner = {
		.tid = 2920, .comm = "vmm",
		.cgroup = "0::/machine.slice/machine-qemu\\x2d1\\x2dweb\\x2d01.scope/libvirt\n",
	};
	struct fixture_task gone = {
		.tid = 2942, .comm = "vhost-77", .flags = KTHREAD, .ppid = 2,
		.cgroup = "0::/machine.slice/machine-qemu\\x2d7\\x2ddb.scope/libvirt\n",
	};

	fixture_task(&env->f, &owner);
	fixture_cmdline(&env->f, 2920, args);
	add(env, 2920, 2941, "vhost-2920", USER_WORKER, 1);
	fixture_task(&env->f, &gone);
	scan(env, 2);
	assert_string_equal(env->seen.tasks[0].vm, "web-01");
	/* Without its owner, by the group that the kernel put the worker in. */
	assert_int_equal(env->seen.tasks[1].owner_pid, 0);
	assert_string_equal(env->seen.tasks[1].vm, "db");
}

static void test_no_proc(void **state)
{
	struct env *env = *state;
	struct vw_attr *attr = vw_attr_new(-1, -1);

	assert_non_null(attr);
	assert_true(vw_attr_scan(attr, keep, &env->seen) < 0);
	vw_attr_free(attr);
	vw_attr_free(NULL);
	scan(env, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_kthread),
		TEST(test_process),
		TEST(test_process_orphan),
		TEST(test_thread),
		TEST(test_both_kinds),
		TEST(test_younger_owner),
		TEST(test_owner_thread),
		TEST(test_look_alikes),
		TEST(test_shared_name),
		TEST(test_placement),
		TEST(test_vm_from_cgroup),
		TEST(test_no_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
