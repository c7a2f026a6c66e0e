// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows: what the kernel counts now, less what it had counted, and the wait that is not over. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attr_env.h"
#include "source/workers.h"

#define MS 1000000ull
#define SEC (1000 * MS)
#define TID 158

struct world {
	struct env *env;
	struct vw_workers *set;
	struct fixture_task file; /* what /proc shows of TID */
	uint64_t now;
};

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	void *env;

	assert_non_null(w);
	setup(&env);
	w->env = env;
	w->set = vw_workers_new(w->env->attr);
	assert_non_null(w->set);
	w->now = 1000 * SEC;
	w->file = (struct fixture_task){
		.tid = TID,
		.comm = "vhost-155",
		.flags = KTHREAD,
		.ppid = 2,
		.state = 'R',
		.cpu = 1,
		.run_ns = 700 * MS,
		.delay_ns = 300 * MS,
		.slices = 40,
		.voluntary = 30,
		.involuntary = 9,
	};
	fixture_task(&w->env->f, &w->file);
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;
	void *env = w->env;

	vw_workers_free(w->set);
	teardown(&env);
	free(w);
	return 0;
}

static struct vw_task task_of(int32_t tid)
{
	struct vw_task task = { .tid = tid, .start_ns = 10 * SEC };

	strcpy(task.comm, "vhost-155");
	return task;
}

static struct vw_worker *put(struct world *w, const struct vw_task *task, bool born, bool expected)
{
	bool is_new = !expected;

	assert_int_equal(vw_workers_put(w->set, task, born, w->now, &is_new), 0);
	assert_int_equal(is_new, expected);
	return vw_workers_get(w->set, task->tid);
}

static struct vw_worker_row row(struct world *w)
{
	struct vw_worker_row r;

	memset(&r, 0xaa, sizeof(r));
	assert_int_equal(vw_workers_row(w->set, vw_workers_get(w->set, TID), w->now, &r), 0);
	assert_int_equal(r.ts_ns, w->now);
	return r;
}

/* It was there before the run: only what came since counts. */
static void test_base(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);
	struct vw_worker_row r;

	assert_int_equal(put(w, &task, false, true)->seen_ns, w->now);
	r = row(w);
	assert_int_equal(r.task.tid, TID);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(r.charged_ns, 0);
	assert_int_equal(r.wait_ns, 0);
	assert_int_equal(r.voluntary, 0);
	assert_int_equal(r.involuntary, 0);
	assert_int_equal(r.migrations, 0);
	assert_true(r.oncpu_ns == VW_UNKNOWN);
	assert_true(r.work_items == VW_UNKNOWN);
	assert_true(r.tx_packets == VW_UNKNOWN);
	w->file.run_ns += 80 * MS;
	w->file.delay_ns += 20 * MS;
	w->file.voluntary += 3;
	w->file.involuntary += 4;
	w->file.cpu = 2;
	fixture_task(&w->env->f, &w->file);
	w->now += SEC;
	r = row(w);
	assert_int_equal(r.cpu, 2);
	assert_int_equal(r.charged_ns, 80 * MS);
	assert_int_equal(r.wait_ns, 20 * MS);
	assert_int_equal(r.voluntary, 3);
	assert_int_equal(r.involuntary, 4);
}

/* It began within the run: all that it did, it did in the run. */
static void test_born(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);
	struct vw_worker_row r;

	assert_true(put(w, &task, true, true)->born);
	r = row(w);
	assert_int_equal(r.charged_ns, 700 * MS);
	assert_int_equal(r.wait_ns, 300 * MS);
	assert_int_equal(r.voluntary, 30);
	assert_int_equal(r.involuntary, 9);
	assert_int_equal(r.migrations, 17);
}

/* Counters that step back do not make counts that are huge (case G6). */
static void test_backwards(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);

	put(w, &task, false, true);
	w->file.run_ns -= MS;
	fixture_task(&w->env->f, &w->file);
	assert_int_equal(row(w).charged_ns, 0);
}

/* The tap is older than its worker, so its counters are never the worker's. */
static void test_traffic(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);
	struct vw_worker_row r;
	int born;

	strcpy(task.device, "vhost-net:vnet7");
	for (born = 0; born < 2; born++) {
		fixture_interface(&w->env->f, "vnet7", 9, 1000, 100000, 2000, 200000);
		put(w, &task, born, true);
		assert_int_equal(row(w).tx_packets, 0);
		fixture_interface(&w->env->f, "vnet7", 9, 1011, 101100, 2022, 202200);
		r = row(w);
		assert_int_equal(r.tx_packets, 11);
		assert_int_equal(r.tx_bytes, 1100);
		assert_int_equal(r.rx_packets, 22);
		assert_int_equal(r.rx_bytes, 2200);
		vw_workers_remove(w->set, TID);
	}
}

/* A new worker's device becomes known a little later; its traffic counts from then. */
static void test_late_device(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);

	fixture_interface(&w->env->f, "vnet7", 9, 1000, 100000, 2000, 200000);
	put(w, &task, true, true);
	assert_true(row(w).tx_packets == VW_UNKNOWN);
	strcpy(task.device, "vhost-net:vnet7");
	put(w, &task, true, false);
	assert_int_equal(row(w).tx_packets, 0);
	fixture_interface(&w->env->f, "vnet7", 9, 1011, 101100, 2022, 202200);
	assert_int_equal(row(w).tx_packets, 11);
	assert_int_equal(row(w).rx_bytes, 2200);
}

static void note(struct world *w, int32_t culprit, uint64_t pending_ns, uint64_t wait_ns,
		 bool final)
{
	struct vw_obs obs = { .kind = VW_OBS_STINT, .ts_ns = w->now };

	obs.stint.tid = culprit;
	obs.stint.pending_ns = pending_ns;
	obs.stint.final = final;
	obs.stint.n_waiters = 1;
	obs.stint.waiters[0].tid = TID;
	obs.stint.waiters[0].wait_ns = wait_ns;
	vw_workers_note(w->set, &obs);
}

/* The wait is not over: the kernel has not counted it, the row has. */
static void test_open_wait(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);

	put(w, &task, false, true);
	w->now += 3 * SEC;
	note(w, 999, 2 * SEC, 2 * SEC, false);
	assert_int_equal(row(w).wait_ns, 2 * SEC);
	w->now += SEC;
	assert_int_equal(row(w).wait_ns, 3 * SEC);
	/* Served: another slice, and the wait is in the kernel's own sum. */
	w->file.slices++;
	w->file.delay_ns += 3 * SEC;
	fixture_task(&w->env->f, &w->file);
	assert_int_equal(row(w).wait_ns, 3 * SEC);
	w->now += SEC;
	assert_int_equal(row(w).wait_ns, 3 * SEC);
}

/* What it waited before the run is not of the run. */
static void test_wait_before_the_run(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);

	put(w, &task, false, true);
	w->now += SEC;
	note(w, 999, 0, 60 * SEC, false);
	assert_int_equal(row(w).wait_ns, SEC);
}

static void test_wait_ends(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);

	put(w, &task, false, true);
	w->now += 3 * SEC;
	note(w, 999, 0, SEC, false);
	assert_int_equal(row(w).wait_ns, SEC);
	/* The stint that it waited for is over. */
	note(w, 999, 0, SEC, true);
	assert_int_equal(row(w).wait_ns, 0);
	/* It sleeps. */
	note(w, 999, 0, SEC, false);
	w->file.state = 'S';
	fixture_task(&w->env->f, &w->file);
	assert_int_equal(row(w).wait_ns, 0);
	/* Nonsense: it waits since before time began, or for no time. */
	w->file.state = 'R';
	fixture_task(&w->env->f, &w->file);
	note(w, 999, 0, w->now + 1, false);
	assert_int_equal(row(w).wait_ns, 0);
	note(w, 999, 0, 0, false);
	assert_int_equal(row(w).wait_ns, 0);
}

static void test_longest_pending(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);
	struct vw_obs other = { .kind = VW_OBS_LOSS };

	put(w, &task, false, true);
	assert_int_equal(row(w).longest_pending_ns, 0);
	note(w, TID, 20 * MS, 0, false);
	note(w, TID, 70 * MS, 0, true);
	note(w, TID, 30 * MS, 0, false);
	note(w, 999, 90 * MS, 0, false);
	vw_workers_note(w->set, &other);
	assert_int_equal(row(w).longest_pending_ns, 70 * MS);
}

/* Identity is number and start: what comes under the number begins anew, or is gone. */
static void test_identity(void **state)
{
	struct world *w = *state;
	struct vw_task task = task_of(TID);
	struct vw_worker_row r;

	put(w, &task, true, true)->longest_pending_ns = SEC;
	strcpy(task.vm, "web01");
	task.start_ns += 9 * MS;
	put(w, &task, true, false);
	r = row(w);
	assert_string_equal(r.task.vm, "web01");
	assert_int_equal(r.longest_pending_ns, SEC);
	task.start_ns = 20 * SEC;
	w->file.start_ticks = 2000;
	fixture_task(&w->env->f, &w->file);
	put(w, &task, true, true);
	assert_int_equal(vw_workers_count(w->set), 1);
	assert_int_equal(row(w).longest_pending_ns, 0);
	w->file.start_ticks = 3000;
	fixture_task(&w->env->f, &w->file);
	memset(&r, 0x11, sizeof(r));
	assert_int_equal(vw_workers_row(w->set, vw_workers_get(w->set, TID), w->now, &r), -ESRCH);
	assert_int_equal(r.cpu, 0x11111111);
	fixture_remove(&w->env->f, "proc/158");
	assert_int_equal(vw_workers_row(w->set, vw_workers_get(w->set, TID), w->now, &r), -ESRCH);
}

/* Rows come out in order of tid, however many there are and in whatever order they came. */
static void test_order(void **state)
{
	struct world *w = *state;
	struct vw_task task;
	int32_t i, n = 500;

	assert_null(vw_workers_get(w->set, 7));
	vw_workers_remove(w->set, 7);
	for (i = 0; i < n; i++) {
		task = task_of(1000 + i * 7 % n);
		put(w, &task, true, true);
	}
	assert_int_equal(vw_workers_count(w->set), n);
	for (i = 0; i < n; i++)
		assert_int_equal(vw_workers_at(w->set, (unsigned int)i)->task.tid, 1000 + i);
	for (i = 0; i < n; i += 2)
		vw_workers_remove(w->set, 1000 + i);
	vw_workers_remove(w->set, 1000);
	assert_int_equal(vw_workers_count(w->set), n / 2);
	assert_null(vw_workers_get(w->set, 1000));
	assert_int_equal(vw_workers_get(w->set, 1499)->task.tid, 1499);
	assert_int_equal(vw_workers_at(w->set, 0)->task.tid, 1001);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_base),
		TEST(test_born),
		TEST(test_backwards),
		TEST(test_traffic),
		TEST(test_late_device),
		TEST(test_open_wait),
		TEST(test_wait_before_the_run),
		TEST(test_wait_ends),
		TEST(test_longest_pending),
		TEST(test_identity),
		TEST(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
