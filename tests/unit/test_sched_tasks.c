// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks: what they are, when they end, and when a number means another one. */
#include "attr/attr.h"
#include "fixture.h"
#include "sched_env.h"

#define PF_KTHREAD 0x00200000u
#define PF_USER_WORKER 0x00004000u

/* @tid shows up under @comm and is named in an observation. */
static const struct vw_task *introduce(struct env *env, int32_t tid, const char *comm)
{
	uint64_t ts = env->last_ns + SEC;

	call(env, tid, comm);
	sw(env, ts, 2, 0, 'R', tid);
	sw(env, ts + 2 * T, 2, tid, 'S', 0);
	return told(env, tid);
}

static void test_roles(void **state)
{
	struct env *env = *state;
	const struct vw_task *task;

	task = introduce(env, WORKER, "vhost-3077");
	assert_int_equal(task->role, VW_ROLE_VHOST_WORKER);
	assert_int_equal(task->owner_pid, OWNER);
	assert_true(task->owner_by_name);
	assert_int_equal(task->backend, VW_BACKEND_NONE);
	assert_true(task->watched);
	assert_int_equal(task->start_ns, 0);
	assert_false(task->flags_known);
	assert_int_equal(introduce(env, 11, "CPU 12/KVM")->role, VW_ROLE_VCPU);
	assert_int_equal(introduce(env, 12, "kworker/3:1H")->role, VW_ROLE_KWORKER);
	assert_int_equal(introduce(env, 13, "vhost-events")->role, VW_ROLE_OTHER);
	assert_int_equal(introduce(env, 14, "vhost-03077")->role, VW_ROLE_OTHER);
	assert_int_equal(introduce(env, 15, "CPU x/KVM")->role, VW_ROLE_OTHER);
	/* All threads of some have the program's name: it tells nothing of one thread. */
	assert_int_equal(introduce(env, 16, "qemu-kvm")->role, VW_ROLE_OTHER);
	assert_false(told(env, 16)->watched);
	assert_int_equal(vw_sched_workers(env->s), 1);
}

/* Where the heads have the process, they tell more. */
static void test_processes(void **state)
{
	struct env *env = *state;
	const struct vw_task *task;

	set_tgid(env, OWNER, OWNER);
	task = introduce(env, OWNER, "qemu-system-x86");
	assert_int_equal(task->role, VW_ROLE_EMULATOR);
	set_tgid(env, WORKER, OWNER);
	task = introduce(env, WORKER, "vhost-3077");
	assert_int_equal(task->backend, VW_BACKEND_VHOST_TASK);
	assert_int_equal(task->owner_pid, OWNER);
	assert_int_equal(task->tgid, OWNER);
	assert_false(task->owner_by_name);
	set_tgid(env, 21, OWNER);
	task = introduce(env, 21, "IO iothread1");
	assert_int_equal(task->role, VW_ROLE_EMULATOR);
	assert_int_equal(task->owner_pid, OWNER);
	set_tgid(env, 22, OWNER);
	assert_int_equal(introduce(env, 22, "qemu-system-x86")->role, VW_ROLE_OTHER);
	set_tgid(env, 23, OWNER);
	task = introduce(env, 23, "CPU 0/KVM");
	assert_int_equal(task->role, VW_ROLE_VCPU);
	assert_int_equal(task->owner_pid, OWNER);
	/* A kernel thread is a process of its own. */
	set_tgid(env, 24, 24);
	task = introduce(env, 24, "vhost-3077");
	assert_int_equal(task->backend, VW_BACKEND_KTHREAD);
	assert_int_equal(task->owner_pid, OWNER);
	assert_true(task->owner_by_name);
	/* A thread of one process that claims to work for another is no worker. */
	set_tgid(env, 25, 9999);
	assert_int_equal(introduce(env, 25, "vhost-3077")->role, VW_ROLE_OTHER);
	/* The number may be that of a thread of the owner. */
	set_tgid(env, 26, OWNER);
	assert_int_equal(introduce(env, 26, "vhost-23")->role, VW_ROLE_VHOST_WORKER);
}

/* Who runs vhost work is a worker whatever its name. */
static void test_worker_by_work(void **state)
{
	struct env *env = *state;

	call(env, OTHER, "kworker/2:1");
	call(env, VICTIM, "renamed");
	set_tgid(env, VICTIM, OWNER);
	sw(env, START, 2, 0, 'R', OTHER);
	assert_int_equal(vw_sched_workers(env->s), 0);
	work(env, VW_EVENT_WORK_START, START, 2, OTHER, 0xa0, "handle_rx_net");
	assert_int_equal(told(env, OTHER)->role, VW_ROLE_VHOST_WORKER);
	assert_int_equal(told(env, OTHER)->backend, VW_BACKEND_WORKQUEUE);
	assert_true(told(env, OTHER)->watched);
	sw(env, START + MS, 2, OTHER, 'S', VICTIM);
	seen(env, START + MS, 2, VICTIM, VW_RESCHED_NONE);
	work(env, VW_EVENT_WORK_START, START + MS, 2, VICTIM, 0xb0, "handle_tx_kick");
	assert_int_equal(told(env, VICTIM)->role, VW_ROLE_VHOST_WORKER);
	assert_int_equal(told(env, VICTIM)->backend, VW_BACKEND_VHOST_TASK);
	assert_int_equal(told(env, VICTIM)->owner_pid, OWNER);
	assert_int_equal(vw_sched_workers(env->s), 2);
}

/* Facts come before what names the task, once, and again when they are others. */
static void test_facts_once(void **state)
{
	struct env *env = *state;
	size_t i;

	for (i = 0; i < 5; i++)
		introduce(env, WORKER, "vhost-3077");
	assert_int_equal(count(env, VW_OBS_TASK), 1);
	assert_int_equal(env->seen[0].kind, VW_OBS_TASK);
	/* It renames itself while it runs. */
	sw(env, 100 * SEC, 2, 0, 'R', WORKER);
	call(env, WORKER, "bash");
	sw(env, 101 * SEC, 2, WORKER, 'S', 0);
	assert_int_equal(count(env, VW_OBS_TASK), 2);
	assert_string_equal(told(env, WORKER)->comm, "bash");
	assert_false(told(env, WORKER)->watched);
	assert_int_equal(count(env, VW_OBS_TASK_EXIT), 0);
	assert_int_equal(vw_sched_workers(env->s), 1);
}

/* F7 of the public cases: the number comes back an hour later as something else. */
static void test_reuse_unseen(void **state)
{
	struct env *env = *state;
	const uint64_t later = UINT64_C(3601000000000);

	call(env, 5000, "vhost-4990");
	sw(env, START - 30 * MS, 1, 0, 'R', 5000);
	sw(env, START, 1, 5000, 'S', 0);
	assert_true(told(env, 5000)->watched);
	call(env, 5000, "bash");
	sw(env, later, 3, 0, 'R', 5000);
	assert_int_equal(only(env, VW_OBS_TASK_EXIT)->tid, 5000);
	sw(env, later + 50 * MS, 3, 5000, 'S', 0);
	assert_string_equal(told(env, 5000)->comm, "bash");
	assert_false(told(env, 5000)->watched);
	finish(env);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
	assert_int_equal(count(env, VW_OBS_MOVE), 0);
	assert_int_equal(count(env, VW_OBS_BUSY), 0);
	/* The worker's row, as it was when it ended; none for the other. */
	assert_int_equal(env->n_rows, 1);
	assert_string_equal(env->rows[0].task.comm, "vhost-4990");
	assert_int_equal(env->rows[0].oncpu_ns, 30 * MS);
	assert_int_equal(env->rows[0].cpu, 1);
}

static void test_reuse_by_fork(void **state)
{
	struct env *env = *state;

	introduce(env, WORKER, "vhost-3077");
	call(env, WORKER, "vhost-3099");
	fk(env, 100 * SEC, 2, WORKER);
	assert_int_equal(count(env, VW_OBS_TASK_EXIT), 1);
	mg(env, 100 * SEC, WORKER, 2, 3);
	wake_by(env, VW_EVENT_WAKEUP_NEW, 100 * SEC, 2, WORKER, 2);
	assert_int_equal(count(env, VW_OBS_TASK_EXIT), 1);
	introduce(env, WORKER, "vhost-3099");
	assert_int_equal(told(env, WORKER)->owner_pid, 3099);
	/* A new worker is no fork that is recorded, yet it is a new task. */
	wake_by(env, VW_EVENT_WAKEUP_NEW, 200 * SEC, 2, WORKER, 2);
	assert_int_equal(count(env, VW_OBS_TASK_EXIT), 2);
	assert_int_equal(vw_sched_workers(env->s), 3);
}

/* A child has its parent's name until it takes another; kernel threads are named by others. */
static void test_names_of_new_tasks(void **state)
{
	struct env *env = *state;

	call(env, WORKER, "kthreadd");
	fk(env, START, 2, WORKER);
	call(env, WORKER, "vhost-3077");
	wake_by(env, VW_EVENT_WAKEUP_NEW, START + MS, 2, WORKER, 2);
	sw(env, START + 2 * MS, 2, 0, 'R', WORKER);
	sw(env, START + 22 * MS, 2, WORKER, 'S', 0);
	assert_string_equal(told(env, WORKER)->comm, "vhost-3077");
	assert_int_equal(count(env, VW_OBS_TASK_EXIT), 0);
}

/* While it waits it is alive: a new name is no new task. */
static void test_renamed_waiter(void **state)
{
	struct env *env = *state;

	sw(env, START, 2, 0, 'R', OTHER);
	wk(env, START + MS, VICTIM, 2);
	call(env, VICTIM, "renamed");
	sw(env, START + 31 * MS, 2, OTHER, 'S', VICTIM);
	assert_int_equal(only(env, VW_OBS_WAIT)->wait.wait_ns, 30 * MS);
	assert_string_equal(told(env, VICTIM)->comm, "renamed");
}

static void test_exit(void **state)
{
	struct env *env = *state;
	size_t i;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	wk(env, START + MS, VICTIM, 2);
	ex(env, START + 30 * MS, 2, WORKER);
	/* Its last words: the stint so far, its row, its end. */
	assert_true(last(env, VW_OBS_STINT)->stint.final);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.oncpu_ns, 30 * MS);
	assert_int_equal(only(env, VW_OBS_TASK_EXIT)->tid, WORKER);
	assert_int_equal(env->n_rows, 1);
	assert_int_equal(env->rows[0].oncpu_ns, 30 * MS);
	/* What it still does on its way out is told of nobody. */
	sw(env, START + 45 * MS, 2, WORKER, 'R', OTHER);
	sw(env, START + 85 * MS, 2, OTHER, 'R', WORKER);
	sw(env, START + 125 * MS, 2, WORKER, 'X', VICTIM);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.tid, OTHER);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.n_waiters, 1);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.waiters[0].tid, VICTIM);
	for (i = 0; i < env->n; i++)
		assert_false(env->seen[i].kind == VW_OBS_WAIT && env->seen[i].wait.tid == WORKER);
	assert_int_equal(count(env, VW_OBS_TASK_EXIT), 1);
	finish(env);
	assert_int_equal(env->n_rows, 1);
	/* The number is free then: an hour of sleep is not told of the next one. */
	assert_int_equal(vw_sched_workers(env->s), 1);
}

/* Without an exit event the state says it. */
static void test_dead(void **state)
{
	struct env *env = *state;

	introduce(env, WORKER, "vhost-3077");
	sw(env, 100 * SEC, 2, 0, 'R', WORKER);
	sw(env, 100 * SEC + MS, 2, WORKER, 'Z', 0);
	assert_int_equal(only(env, VW_OBS_TASK_EXIT)->tid, WORKER);
	assert_int_equal(env->n_rows, 1);
}

static void test_choice(void **state)
{
	struct env *env = *state;
	const int32_t tids[] = { OTHER }, pids[] = { 4000 };

	env->config.choice = (struct vw_choice){ pids, tids, 1, 1 };
	restart(env);
	assert_true(introduce(env, OTHER, "bash")->watched);
	assert_false(introduce(env, 31, "bash")->watched);
	set_tgid(env, 32, 4000);
	assert_true(introduce(env, 32, "thread")->watched);
	finish(env);
	assert_int_equal(env->n_rows, 2);
	/* Named by -t, it is not a worker for that. */
	assert_int_equal(vw_sched_workers(env->s), 0);
}

/* /proc tells more of tasks, but not of those that only have the same number. */
static void test_proc(void **state)
{
	struct env *env = *state;
	struct fixture f;
	const struct vw_task *task;

	fixture_open(&f);
	fixture_task(&f, &(struct fixture_task){
				 .pid = OWNER, .tid = OWNER, .comm = "qemu-system-x86" });
	fixture_task(&f, &(struct fixture_task){ .pid = OWNER,
						 .tid = WORKER,
						 .comm = "vhost-3077",
						 .flags = PF_USER_WORKER,
						 .cpus_allowed = "0-7" });
	fixture_task(&f, &(struct fixture_task){ .tid = OTHER, .comm = "bash" });
	fixture_task(&f, &(struct fixture_task){ .tid = 41, .comm = "vhost-3077" });
	fixture_task(&f, &(struct fixture_task){ .tid = 42,
						 .comm = "kworker/2:1-events",
						 .flags = PF_KTHREAD | 0x20,
						 .cpus_allowed = "2" });
	env->config.attr = vw_attr_new(f.proc_fd, f.sys_fd);
	assert_non_null(env->config.attr);
	restart(env);
	task = introduce(env, WORKER, "vhost-3077");
	assert_int_equal(task->backend, VW_BACKEND_VHOST_TASK);
	assert_int_equal(task->owner_pid, OWNER);
	assert_string_equal(task->cpus_allowed, "0-7");
	assert_true(task->start_ns > 0);
	assert_int_equal(last(env, VW_OBS_STINT)->stint.start_ns, task->start_ns);
	task = introduce(env, OTHER, "zsh");
	assert_string_equal(task->comm, "zsh");
	assert_int_equal(task->start_ns, 0);
	/* A program that took the name: the flags say so. */
	assert_int_equal(introduce(env, 41, "vhost-3077")->role, VW_ROLE_OTHER);
	assert_false(told(env, 41)->watched);
	assert_string_equal(introduce(env, 42, "kworker/2:1")->cpus_allowed, "2");
	assert_int_equal(introduce(env, 43, "vhost-3077")->role, VW_ROLE_VHOST_WORKER);
	vw_sched_free(env->s);
	env->s = NULL;
	vw_attr_free(env->config.attr);
	env->config.attr = NULL;
	fixture_close(&f);
}

/* More tasks than are kept: those that slept longest go, watched ones last. */
static void test_many(void **state)
{
	struct env *env = *state;
	struct vw_event e;
	int32_t i;

	call(env, WORKER, "vhost-3077");
	sw(env, START, 2, 0, 'R', WORKER);
	sw(env, START + 30 * MS, 2, WORKER, 'S', OTHER);
	sw(env, START + 60 * MS, 2, OTHER, 'S', 0);
	for (i = 0; i < 200000; i++) {
		e = event(env, VW_EVENT_WAKEUP, 3, 2 * SEC + (uint64_t)i * US);
		e.wake.task.tid = 10000 + i;
		e.wake.task.prio = 120;
		e.wake.target_cpu = 3;
		strcpy(e.wake.task.comm, "storm");
		give(env, &e);
		e.kind = VW_EVENT_SWITCH;
		memset(&e.sw, 0, sizeof(e.sw));
		e.sw.prev = who(env, 0);
		e.sw.next.tid = 10000 + i;
		strcpy(e.sw.next.comm, "storm");
		give(env, &e);
		e.sw.prev = e.sw.next;
		e.sw.next = who(env, 0);
		e.sw.prev_state = 'S';
		give(env, &e);
	}
	assert_int_equal(only(env, VW_OBS_TASK_EXIT)->tid, OTHER);
	finish(env);
	assert_int_equal(row_of(env, WORKER)->oncpu_ns, 30 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_roles),
		TEST(test_processes),
		TEST(test_worker_by_work),
		TEST(test_facts_once),
		TEST(test_reuse_unseen),
		TEST(test_reuse_by_fork),
		TEST(test_names_of_new_tasks),
		TEST(test_renamed_waiter),
		TEST(test_exit),
		TEST(test_dead),
		TEST(test_choice),
		TEST(test_proc),
		TEST(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
