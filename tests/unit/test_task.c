// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/task.h"
#include "util/str.h"

#define MS 1000000ull

static void test_same(void **state)
{
	struct vw_task a = { .tid = 7, .start_ns = 5000 * MS };
	struct vw_task b = a;

	(void)state;
	assert_true(vw_task_same(&a, &b));
	b.tid = 8;
	assert_false(vw_task_same(&a, &b));
	b.tid = 7;
	/* One exact, one cut to a tick. */
	b.start_ns = 5010 * MS - 1;
	assert_true(vw_task_same(&a, &b));
	assert_true(vw_task_same(&b, &a));
	b.start_ns = 5010 * MS;
	assert_false(vw_task_same(&a, &b));
	assert_false(vw_task_same(&b, &a));
	/* Who does not know cannot contradict. */
	b.start_ns = 0;
	assert_true(vw_task_same(&a, &b));
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(vw_role_name(VW_ROLE_VHOST_WORKER), "vhost_worker");
	assert_string_equal(vw_role_name(VW_ROLE_VCPU), "vcpu");
	assert_string_equal(vw_role_name(VW_ROLE_EMULATOR), "emulator");
	assert_string_equal(vw_role_name(VW_ROLE_KWORKER), "kworker");
	assert_string_equal(vw_role_name(VW_ROLE_OTHER), "other");
	assert_string_equal(vw_backend_name(VW_BACKEND_KTHREAD), "kthread");
	assert_string_equal(vw_backend_name(VW_BACKEND_VHOST_TASK), "vhost_task");
	assert_string_equal(vw_backend_name(VW_BACKEND_WORKQUEUE), "workqueue");
	assert_null(vw_backend_name(VW_BACKEND_NONE));
}

static void test_reused_tid(void **state)
{
	struct vw_task worker = { .tid = 3101, .start_ns = 100 * MS, .role = VW_ROLE_VHOST_WORKER,
				  .vm = "web01", .comm = "vhost-3077" };
	struct vw_task shell = { .tid = 3101, .start_ns = 9000 * MS, .comm = "bash" };
	struct vw_task later = { .tid = 3101, .comm = "sh" };
	struct vw_tasks *set = vw_tasks_new();
	const struct vw_task *got;

	(void)state;
	assert_non_null(set);
	assert_int_equal(vw_tasks_put(set, &worker), 0);
	assert_int_equal(vw_tasks_put(set, &shell), 0);
	assert_int_equal(vw_tasks_count(set), 1);
	got = vw_tasks_get(set, 3101);
	assert_non_null(got);
	assert_string_equal(got->comm, "bash");
	assert_string_equal(got->vm, "");
	assert_int_equal(got->role, VW_ROLE_OTHER);
	/* The start stays known. */
	assert_int_equal(vw_tasks_put(set, &later), 0);
	got = vw_tasks_get(set, 3101);
	assert_string_equal(got->comm, "sh");
	assert_int_equal(got->start_ns, 9000 * MS);
	vw_tasks_remove(set, 3101);
	vw_tasks_remove(set, 3101);
	assert_null(vw_tasks_get(set, 3101));
	assert_int_equal(vw_tasks_count(set), 0);
	vw_tasks_free(set);
	vw_tasks_free(NULL);
}

struct order {
	int32_t last;
	size_t n;
};

static void check_order(void *ctx, const struct vw_task *task)
{
	struct order *order = ctx;

	assert_true(task->tid > order->last);
	order->last = task->tid;
	order->n++;
}

static void test_order(void **state)
{
	struct vw_tasks *set = vw_tasks_new();
	struct order order = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		struct vw_task task = { .tid = (int32_t)(1 + i * 7919 % 1009) };

		assert_int_equal(vw_tasks_put(set, &task), 0);
	}
	vw_tasks_each(set, check_order, &order);
	assert_int_equal(order.n, 1000);
	/* And again after a change, once with nothing in it. */
	vw_tasks_remove(set, order.last);
	order = (struct order){ 0 };
	vw_tasks_each(set, check_order, &order);
	assert_int_equal(order.n, 999);
	vw_tasks_free(set);
	set = vw_tasks_new();
	vw_tasks_each(set, check_order, &order);
	assert_int_equal(order.n, 999);
	vw_tasks_free(set);
}

struct cull {
	struct vw_tasks *set;
	unsigned int n;
};

static void cull(void *ctx, const struct vw_task *task)
{
	struct cull *c = ctx;

	c->n++;
	if (task->tid % 2)
		vw_tasks_remove(c->set, task->tid);
}

/* The callback may remove what it is given, also the first, the last and all of it. */
static void test_remove_while_walking(void **state)
{
	struct cull c = { .set = vw_tasks_new() };
	int32_t tid;

	(void)state;
	for (tid = 1; tid <= 99; tid++) {
		struct vw_task task = { .tid = tid };

		assert_int_equal(vw_tasks_put(c.set, &task), 0);
	}
	vw_tasks_each(c.set, cull, &c);
	assert_int_equal(c.n, 99);
	assert_int_equal(vw_tasks_count(c.set), 49);
	for (tid = 1; tid <= 99; tid++)
		assert_int_equal(vw_tasks_get(c.set, tid) == NULL, tid % 2);
	vw_tasks_free(c.set);
	c = (struct cull){ .set = vw_tasks_new() };
	for (tid = 1; tid <= 9; tid += 2) {
		struct vw_task task = { .tid = tid };

		assert_int_equal(vw_tasks_put(c.set, &task), 0);
	}
	vw_tasks_each(c.set, cull, &c);
	assert_int_equal(vw_tasks_count(c.set), 0);
	vw_tasks_free(c.set);
}

static void test_strings(void **state)
{
	uint64_t value = 1;
	const char *end;
	char buf[4];
	int32_t pid = 0;

	(void)state;
	assert_true(vw_str_copy(buf, sizeof(buf), "abcdef", 3));
	assert_string_equal(buf, "abc");
	assert_false(vw_str_copy(buf, sizeof(buf), "abcdef", 4));
	assert_string_equal(buf, "abc");
	assert_true(vw_str_copy(buf, sizeof(buf), "a\0b", 3));
	assert_string_equal(buf, "a");
	assert_int_equal(vw_str_u64("18446744073709551615", NULL, &value), 0);
	assert_true(value == UINT64_MAX);
	assert_true(vw_str_u64("18446744073709551616", NULL, &value) < 0);
	assert_true(vw_str_u64("-1", NULL, &value) < 0);
	assert_true(vw_str_u64("", NULL, &value) < 0);
	assert_true(vw_str_u64("12 ", NULL, &value) < 0);
	assert_int_equal(vw_str_u64("12 ", &end, &value), 0);
	assert_int_equal(value, 12);
	assert_string_equal(end, " ");
	assert_int_equal(vw_str_pid("4194304", &pid), 0);
	assert_int_equal(pid, 4194304);
	assert_true(vw_str_pid("4194305", &pid) < 0);
	assert_true(vw_str_pid("0", &pid) < 0);
	assert_true(vw_str_pid("007", &pid) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_reused_tid),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_remove_while_walking),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
