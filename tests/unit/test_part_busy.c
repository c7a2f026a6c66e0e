// SPDX-License-Identifier: GPL-2.0-or-later
/* What the part of rest tells: BUSY of workers that do not sleep, BLOCKED of their owners. */
#include "part_env.h"

/* Awake for @ns, of which it ran a third, and switched out now and then. */
static struct vw_abi_totals *awake(struct env *env, int32_t tid, uint64_t ns)
{
	struct vw_abi_totals *t = add_totals(env, tid);

	t->awake_ns = env->now - ns;
	t->awake_oncpu_ns = 5 * SEC;
	t->awake_wait_ns = 3 * SEC;
	t->oncpu_ns = 5 * SEC + ns / 3;
	t->wait_ns = 3 * SEC + ns - ns / 3;
	t->in_ts_ns = env->now;
	t->cpu = 1;
	t->flags = VW_TOTALS_SWITCHED;
	t->followed_ns = 4 * MS;
	return t;
}

static void set_state(struct env *env, int32_t tid, char task_state, uint64_t sleeps)
{
	const struct fixture_task task = {
		.pid = OWNER,
		.tid = tid,
		.comm = "qemu-system-x86",
		.state = task_state,
		.voluntary = sleeps,
	};

	fixture_task(&env->f, &task);
}

static const struct vw_obs *only(const struct env *env, enum vw_obs_kind kind)
{
	const struct vw_obs *found = NULL;
	size_t i;

	for (i = 0; i < env->n; i++) {
		if (env->obs[i].kind != kind)
			continue;
		assert_null(found);
		found = &env->obs[i];
	}
	return found;
}

static void test_busy(void **state)
{
	struct env *env = *state;
	struct vw_abi_totals *t = awake(env, WORKER, 6 * SEC);

	open_part(env, &vw_part_busy);
	second(env);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].kind, VW_OBS_BUSY);
	assert_int_equal(env->obs[0].ts_ns, env->now);
	assert_int_equal(env->obs[0].busy.tid, WORKER);
	assert_int_equal(env->obs[0].busy.cpu, 1);
	assert_false(env->obs[0].busy.final);
	assert_int_equal(env->obs[0].busy.busy_ns, 7 * SEC);
	/* The stint and the wait under way count. */
	assert_int_equal(env->obs[0].busy.oncpu_ns, 3 * SEC);
	assert_int_equal(env->obs[0].busy.wait_ns, 4 * SEC);
	assert_int_equal(env->obs[0].busy.longest_wait_ns, 4 * MS);
	assert_int_equal(env->obs[0].busy.items, VW_UNKNOWN);
	t->out_ts_ns = t->in_ts_ns;
	t->in_ts_ns = 0;
	t->flags |= VW_TOTALS_RUNNABLE;
	second(env);
	assert_int_equal(env->obs[0].busy.busy_ns, 8 * SEC);
	assert_int_equal(env->obs[0].busy.oncpu_ns, 2 * SEC);
	assert_int_equal(env->obs[0].busy.wait_ns, 6 * SEC);
}

/* Not yet for a second; never switched out, which its stint tells; asleep; not ours. */
static void test_not_busy(void **state)
{
	struct env *env = *state;
	struct vw_abi_totals *t = awake(env, WORKER, 0);

	open_part(env, &vw_part_busy);
	t->awake_ns = env->now + 1;
	second(env);
	assert_int_equal(env->n, 0);
	second(env);
	assert_int_equal(env->n, 1);
	t->flags = 0;
	second(env);
	assert_int_equal(env->n, 0);
	t->flags = VW_TOTALS_SWITCHED;
	t->awake_ns = 0;
	second(env);
	assert_int_equal(env->n, 0);
	t->awake_ns = env->now - 5 * SEC;
	t->start_ns = 77 * SEC; /* of a task that had the number before */
	second(env);
	assert_int_equal(env->n, 0);
	t->start_ns = 10 * SEC;
	env->attached = false;
	second(env);
	assert_int_equal(env->n, 0);
}

static struct vw_rec_rest sleeps(const struct env *env)
{
	struct vw_rec_rest rec = { .what = VW_REST_SLEEPS };

	rec.hdr.kind = VW_REC_REST;
	rec.hdr.ts_ns = env->now + SEC / 4;
	rec.task.tid = WORKER;
	rec.task.start_ns = 10 * SEC;
	rec.totals = env->totals[0];
	rec.totals.oncpu_ns += SEC / 4;
	rec.totals.in_ts_ns = 0;
	return rec;
}

/* It goes to sleep: told at once, as of then. */
static void test_end(void **state)
{
	struct env *env = *state;
	struct vw_rec_rest rec;

	awake(env, WORKER, 6 * SEC);
	open_part(env, &vw_part_busy);
	rec = sleeps(env);
	assert_int_equal(vw_part_busy.record(env->part, &rec.hdr), 0);
	assert_int_equal(env->n, 1);
	assert_true(env->obs[0].busy.final);
	assert_int_equal(env->obs[0].ts_ns, env->now + SEC / 4);
	assert_int_equal(env->obs[0].busy.busy_ns, 6 * SEC + SEC / 4);
	assert_int_equal(env->obs[0].busy.oncpu_ns, 2 * SEC + SEC / 4);
	assert_int_equal(env->obs[0].busy.wait_ns, 4 * SEC);
	/* Another record, another task, one that nobody watches. */
	env->n = 0;
	rec.what = VW_REST_WAITED;
	vw_part_busy.record(env->part, &rec.hdr);
	rec.what = VW_REST_SLEEPS;
	rec.task.start_ns = 11 * SEC;
	vw_part_busy.record(env->part, &rec.hdr);
	rec.task.start_ns = 10 * SEC;
	rec.task.tid = 999;
	vw_part_busy.record(env->part, &rec.hdr);
	rec.task.tid = WORKER;
	rec.hdr.kind = VW_REC_STINT;
	vw_part_busy.record(env->part, &rec.hdr);
	assert_int_equal(env->n, 0);
}

/* A record that is read late has its time, but time does not go back. */
static void test_late_record(void **state)
{
	struct env *env = *state;
	struct vw_rec_rest rec;

	awake(env, WORKER, 6 * SEC);
	open_part(env, &vw_part_busy);
	rec = sleeps(env);
	second(env);
	env->n = 0;
	assert_int_equal(vw_part_busy.record(env->part, &rec.hdr), 0);
	assert_int_equal(env->obs[0].ts_ns, env->now);
	assert_int_equal(env->obs[0].busy.busy_ns, 7 * SEC);
}

/* Case A3: the owner's main thread sits in D state, its worker does not sleep. */
static void test_blocked(void **state)
{
	struct env *env = *state;
	const struct vw_obs *obs;
	int i;

	awake(env, WORKER, 6 * SEC);
	set_state(env, OWNER, 'D', 17);
	open_part(env, &vw_part_busy);
	second(env);
	assert_null(only(env, VW_OBS_BLOCKED)); /* it may have been there for a moment only */
	for (i = 1; i <= 3; i++) {
		second(env);
		obs = only(env, VW_OBS_BLOCKED);
		assert_non_null(obs);
		assert_int_equal(obs->blocked.tid, OWNER);
		assert_false(obs->blocked.final);
		assert_int_equal(obs->blocked.state_ns, (uint64_t)i * SEC);
		assert_int_equal(obs->blocked.worker_tid, WORKER);
		assert_int_equal(obs->blocked.worker_busy_ns, (7 + (uint64_t)i) * SEC);
	}
	assert_true(env->known[OWNER]);
	/* It woke up and fell asleep again: another one. */
	set_state(env, OWNER, 'D', 18);
	second(env);
	assert_null(only(env, VW_OBS_BLOCKED));
	second(env);
	assert_int_equal(only(env, VW_OBS_BLOCKED)->blocked.state_ns, SEC);
	/* It is over. */
	set_state(env, OWNER, 'S', 18);
	second(env);
	obs = only(env, VW_OBS_BLOCKED);
	assert_true(obs->blocked.final);
	assert_int_equal(obs->blocked.worker_tid, 0);
	second(env);
	assert_null(only(env, VW_OBS_BLOCKED));
}

/* The worker sleeps: nobody looks for threads in D state. */
static void test_worker_sleeps(void **state)
{
	struct env *env = *state;
	struct vw_abi_totals *t = awake(env, WORKER, 6 * SEC);
	const struct vw_obs *obs;

	set_state(env, OWNER, 'D', 17);
	open_part(env, &vw_part_busy);
	t->awake_ns = 0;
	second(env);
	second(env);
	second(env);
	assert_int_equal(env->n, 0);
	/* It falls asleep while the owner waits on. */
	t->awake_ns = env->now - 6 * SEC;
	second(env);
	second(env);
	assert_non_null(only(env, VW_OBS_BLOCKED));
	t->awake_ns = 0;
	second(env);
	obs = only(env, VW_OBS_BLOCKED);
	assert_true(obs->blocked.final);
	assert_int_equal(obs->blocked.worker_tid, 0);
	second(env);
	assert_int_equal(env->n, 0);
}

/* Woken, and has not had its CPU since: the clock has seen it wait, the switch hook has not. */
static void test_worker_waits(void **state)
{
	struct env *env = *state;
	const struct fixture_task task = {
		.pid = OWNER,
		.tid = WORKER,
		.comm = "vhost-3077",
		.flags = VW_PF_USER_WORKER,
		.state = 'R',
		.run_ns = SEC,
		.slices = 8,
	};
	struct vw_worker *w = vw_workers_get(env->workers, WORKER);
	const struct vw_obs *obs;

	add_totals(env, WORKER);
	fixture_task(&env->f, &task);
	w->waiting_since_ns = env->now - 3 * SEC;
	w->waiting_slices = 8;
	set_state(env, OWNER, 'D', 17);
	open_part(env, &vw_part_busy);
	second(env);
	second(env);
	obs = only(env, VW_OBS_BLOCKED);
	assert_non_null(obs);
	assert_int_equal(obs->blocked.worker_busy_ns, 5 * SEC);
	assert_null(only(env, VW_OBS_BUSY));
	/* It has had a slice meanwhile, so that the wait is another one. */
	w->waiting_slices = 7;
	second(env);
	assert_int_equal(only(env, VW_OBS_BLOCKED)->blocked.worker_tid, 0);
}

/* Of several workers that which has been awake for longest; another VM's does not count. */
static void test_longest_worker(void **state)
{
	struct env *env = *state;
	const struct vw_obs *obs;

	add_thread(env, OWNER2, OWNER2, "qemu-system-x86", NULL);
	add_worker(env, OWNER2, WORKER2);
	add_worker(env, OWNER, 3102);
	awake(env, WORKER2, 9 * SEC);
	awake(env, WORKER, 6 * SEC);
	awake(env, 3102, 7 * SEC);
	set_state(env, OWNER, 'D', 17);
	open_part(env, &vw_part_busy);
	second(env);
	second(env);
	obs = only(env, VW_OBS_BLOCKED);
	assert_int_equal(obs->blocked.worker_tid, 3102);
	assert_int_equal(obs->blocked.worker_busy_ns, 9 * SEC);
}

/* With very many busy owners each has its turn, and an interval is not taken for an end. */
static void test_many_owners(void **state)
{
	struct env *env = *state;
	struct vw_task task = { .role = VW_ROLE_VHOST_WORKER, .backend = VW_BACKEND_VHOST_TASK };
	bool is_new;
	int32_t i;
	size_t told = 0;

	for (i = 0; i < 100; i++) {
		struct vw_worker *w;
		const struct fixture_task thread = {
			.pid = 6000 + 2 * i,
			.tid = 6001 + 2 * i,
			.comm = "vhost-6000",
			.flags = VW_PF_USER_WORKER,
			.state = 'R',
			.run_ns = 1,
			.slices = 1,
		};

		fixture_task(&env->f, &thread);
		task.tid = thread.tid;
		task.tgid = task.owner_pid = thread.pid;
		assert_int_equal(vw_workers_put(env->workers, &task, true, env->now, &is_new), 0);
		w = vw_workers_get(env->workers, task.tid);
		w->waiting_since_ns = env->now - 5 * SEC;
		w->waiting_slices = 1;
	}
	set_state(env, OWNER, 'D', 17);
	awake(env, WORKER, 6 * SEC)->flags = 0;
	open_part(env, &vw_part_busy);
	for (i = 0; i < 6; i++) {
		second(env);
		told += only(env, VW_OBS_BLOCKED) ? 1 : 0;
		if (only(env, VW_OBS_BLOCKED))
			assert_false(only(env, VW_OBS_BLOCKED)->blocked.final);
	}
	assert_true(told >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_busy),	 TEST(test_not_busy),	    TEST(test_end),
		TEST(test_late_record),	 TEST(test_blocked),	    TEST(test_worker_sleeps),
		TEST(test_worker_waits), TEST(test_longest_worker), TEST(test_many_owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
