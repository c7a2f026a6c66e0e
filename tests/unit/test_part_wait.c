// SPDX-License-Identifier: GPL-2.0-or-later
/* What the part of waits tells: from records of the switch hook, and without it from files. */
#include <stdio.h>

#include "part_env.h"
#include "source/totals.h"

static struct vw_rec_rest waited(const struct env *env, uint64_t wait_ns, uint64_t throttled_ns,
				 uint64_t idle_ns)
{
	struct vw_rec_rest rec = {
		.what = VW_REST_WAITED,
		.wait_ns = wait_ns,
		.throttled_ns = throttled_ns,
		.idle_ns = idle_ns,
	};

	rec.hdr.kind = VW_REC_REST;
	rec.hdr.cpu = 2;
	rec.hdr.ts_ns = env->now;
	rec.task.tid = WORKER;
	rec.task.start_ns = 10 * SEC;
	rec.task.weight = 1024;
	return rec;
}

static const struct vw_obs_wait *tell(struct env *env, const struct vw_rec_rest *rec)
{
	env->n = 0;
	assert_int_equal(vw_part_wait.record(env->part, &rec->hdr), 0);
	if (!env->n)
		return NULL;
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].kind, VW_OBS_WAIT);
	return &env->obs[0].wait;
}

/* Case B7: 80 ms to the next period, and the CPU was idle. */
static void test_throttled(void **state)
{
	struct env *env = *state;
	struct vw_rec_rest rec = waited(env, 80 * MS, 80 * MS, 61 * MS);
	const struct vw_obs_wait *w;

	open_part(env, &vw_part_wait);
	w = tell(env, &rec);
	assert_int_equal(env->obs[0].ts_ns, env->now);
	assert_int_equal(w->tid, WORKER);
	assert_int_equal(w->cpu, 2);
	assert_true(w->final && w->throttled && !w->released);
	assert_int_equal(w->wait_ns, 80 * MS);
	assert_int_equal(w->idle_ns, 61 * MS);
	assert_int_equal(w->woken_cpu, -1);
	assert_int_equal(w->weight, 1024);
	/* What the hook does not know stays unknown. */
	assert_int_equal(w->longest_stint_ns, VW_UNKNOWN);
	assert_int_equal(w->fair_ns, VW_UNKNOWN);
	assert_int_equal(w->rt_ns, VW_UNKNOWN);
	assert_int_equal(w->softirq_ns, VW_UNKNOWN);
	assert_int_equal(w->runners, 0);
	/* Half of it is not yet for the most part. */
	rec.throttled_ns = 40 * MS;
	assert_false(tell(env, &rec)->throttled);
	rec.throttled_ns++;
	rec.idle_ns = VW_ABI_UNKNOWN;
	rec.flags = VW_REST_WOKEN;
	w = tell(env, &rec);
	assert_true(w->throttled);
	assert_int_equal(w->idle_ns, VW_UNKNOWN);
	assert_int_equal(w->woken_cpu, 2);
}

static void test_not_ours(void **state)
{
	struct env *env = *state;
	struct vw_rec_rest rec = waited(env, 80 * MS, 80 * MS, 61 * MS);

	open_part(env, &vw_part_wait);
	rec.task.start_ns = 12 * SEC;
	assert_null(tell(env, &rec));
	rec.task.start_ns = 10 * SEC;
	rec.task.tid = 999;
	assert_null(tell(env, &rec));
	rec.task.tid = WORKER;
	rec.what = VW_REST_SLEEPS;
	assert_null(tell(env, &rec));
	rec.what = VW_REST_WAITED;
	rec.hdr.kind = VW_REC_STINT;
	assert_null(tell(env, &rec));
	rec.hdr.kind = VW_REC_REST;
	assert_non_null(tell(env, &rec));
}

/* A wait for a quota of one in many seconds is told while it lasts. */
static void test_open(void **state)
{
	struct env *env = *state;
	struct vw_abi_totals *t = add_totals(env, WORKER);

	t->flags = VW_TOTALS_RUNNABLE | VW_TOTALS_THROTTLED;
	t->out_ts_ns = env->now + 1;
	t->cpu = 3;
	open_part(env, &vw_part_wait);
	second(env);
	assert_int_equal(env->n, 0);
	second(env);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].wait.wait_ns, 2 * SEC - 1);
	assert_int_equal(env->obs[0].wait.cpu, 3);
	assert_true(env->obs[0].wait.throttled && !env->obs[0].wait.final);
	/* It has the CPU; it waits for another reason, which is not for us to tell. */
	t->in_ts_ns = env->now;
	second(env);
	assert_int_equal(env->n, 0);
	t->in_ts_ns = 0;
	t->flags = VW_TOTALS_RUNNABLE;
	second(env);
	assert_int_equal(env->n, 0);
}

/* The figure that work items show. */
static void test_figures(void **state)
{
	struct env *env = *state;
	const struct vw_task task = { .tid = WORKER, .start_ns = 10 * SEC };
	struct vw_abi_totals *t = add_totals(env, WORKER), got;

	t->throttled_ns = 7 * SEC;
	t->wait_ns = 9 * SEC;
	t->oncpu_ns = 2 * SEC;
	t->out_ts_ns = env->now;
	assert_int_equal(vw_totals_read(&env->sight, &task, &got), 0);
	assert_int_equal(vw_totals_throttled(&got, env->now + SEC), 7 * SEC);
	assert_int_equal(vw_totals_wait(&got, env->now + SEC), 9 * SEC);
	assert_int_equal(vw_totals_oncpu(&got, env->now + SEC), 2 * SEC);
	/* It waits, for its CPU or for quota. */
	got.flags = VW_TOTALS_RUNNABLE;
	assert_int_equal(vw_totals_throttled(&got, env->now + SEC), 7 * SEC);
	assert_int_equal(vw_totals_wait(&got, env->now + SEC), 10 * SEC);
	got.flags |= VW_TOTALS_THROTTLED;
	assert_int_equal(vw_totals_throttled(&got, env->now + SEC), 8 * SEC);
	/* A clock that was read before the map. */
	assert_int_equal(vw_totals_throttled(&got, env->now - 1), 7 * SEC);
	/* It runs. */
	got.in_ts_ns = env->now;
	assert_int_equal(vw_totals_throttled(&got, env->now + SEC), 7 * SEC);
	assert_int_equal(vw_totals_wait(&got, env->now + SEC), 9 * SEC);
	assert_int_equal(vw_totals_oncpu(&got, env->now + SEC), 3 * SEC);
	t->start_ns = 11 * SEC;
	assert_int_equal(vw_totals_read(&env->sight, &task, &got), -ENOENT);
	assert_int_equal(vw_totals_read(NULL, &task, &got), -ENOENT);
}

static void no_hook(struct env *env)
{
	env->plan.tp[VW_TP_SWITCH] = false;
	open_part(env, &vw_part_wait);
}

static void worker_has(struct env *env, char task_state, uint64_t delay_ns)
{
	const struct fixture_task task = {
		.pid = OWNER,
		.tid = WORKER,
		.comm = "vhost-3077",
		.flags = VW_PF_USER_WORKER,
		.state = task_state,
		.cpu = 3,
		.cgroup = "0::/vms/vm1\n",
		.run_ns = SEC,
		.delay_ns = delay_ns,
		.slices = 20,
	};

	fixture_task(&env->f, &task);
}

static void group_has(struct env *env, unsigned int throttled, unsigned int usec)
{
	char text[200];

	snprintf(text, sizeof(text),
		 "usage_usec 1\nnr_periods 1000\nnr_throttled %u\nthrottled_usec %u\n", throttled,
		 usec);
	fixture_text(&env->f, "sys/fs/cgroup/vms/vm1/cpu.stat", text);
}

/* Without the hook: ten times in a second 80 ms. */
static void test_files(void **state)
{
	struct env *env = *state;

	no_hook(env);
	worker_has(env, 'R', 3 * SEC);
	group_has(env, 50, 1000000);
	second(env);
	assert_int_equal(env->n, 0); /* there was nothing to compare with */
	worker_has(env, 'R', 3 * SEC + 800 * MS);
	group_has(env, 60, 2600000);
	second(env);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].kind, VW_OBS_WAIT);
	assert_int_equal(env->obs[0].wait.tid, WORKER);
	assert_int_equal(env->obs[0].wait.cpu, 3);
	assert_int_equal(env->obs[0].wait.wait_ns, 80 * MS);
	assert_true(env->obs[0].wait.throttled && env->obs[0].wait.final);
	assert_int_equal(env->obs[0].wait.idle_ns, VW_UNKNOWN);
	/* It waited, but not for quota; or its group did, but it did not wait. */
	worker_has(env, 'R', 4 * SEC + 600 * MS);
	second(env);
	assert_int_equal(env->n, 0);
	group_has(env, 70, 4200000);
	second(env);
	assert_int_equal(env->n, 0);
	/* No more than the group was throttled, however long it waited for others. */
	group_has(env, 71, 4225000);
	worker_has(env, 'R', 5 * SEC + 500 * MS);
	second(env);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].wait.wait_ns, 25 * MS);
	/* Below 2 T. */
	group_has(env, 72, 4244999);
	worker_has(env, 'R', 6 * SEC + 400 * MS);
	second(env);
	assert_int_equal(env->n, 0);
}

/* One that sleeps at a look begins anew; so does one whose counters run back. */
static void test_files_gaps(void **state)
{
	struct env *env = *state;

	no_hook(env);
	worker_has(env, 'R', 3 * SEC);
	group_has(env, 50, 1000000);
	second(env);
	worker_has(env, 'S', 3 * SEC + 500 * MS);
	group_has(env, 55, 1800000);
	second(env);
	worker_has(env, 'R', 3 * SEC + 800 * MS);
	group_has(env, 60, 2600000);
	second(env);
	assert_int_equal(env->n, 0);
	worker_has(env, 'R', 2 * SEC);
	group_has(env, 70, 3600000);
	second(env);
	assert_int_equal(env->n, 0);
	worker_has(env, 'R', 2 * SEC + 900 * MS);
	group_has(env, 1, 100000);
	second(env);
	assert_int_equal(env->n, 0);
	fixture_remove(&env->f, "sys/fs/cgroup/vms/vm1/cpu.stat");
	second(env);
	assert_int_equal(env->n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_throttled), TEST(test_not_ours), TEST(test_open),
		TEST(test_figures),   TEST(test_files),	   TEST(test_files_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
