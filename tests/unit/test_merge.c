// SPDX-License-Identifier: GPL-2.0-or-later
/* Final states: what becomes one finding, what stays apart, and what is added up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "detect/merge.h"

#define MS UINT64_C(1000000)

struct seen {
	size_t n;
	struct vw_finding v[16];
};

static void keep(void *ctx, const struct vw_finding *f)
{
	struct seen *seen = ctx;

	assert_true(seen->n < sizeof(seen->v) / sizeof(seen->v[0]));
	seen->v[seen->n++] = *f;
}

static struct vw_finding episode(uint64_t start_ms, uint64_t ms, int32_t tid)
{
	struct vw_finding f;

	vw_finding_init(&f, VW_NON_YIELDING_WORKER, start_ms * MS, 2);
	f.cause = VW_CAUSE_IGNORES_RESCHED;
	f.severity = VW_WARNING;
	f.status = VW_CLOSED;
	f.end_ns = f.start_ns + ms * MS;
	f.duration_ns = ms * MS;
	f.evidence.span_ns = f.duration_ns;
	f.has_culprit = tid > 0;
	f.culprit.tid = tid;
	snprintf(f.message, sizeof(f.message), "kept it for %d ms", (int)ms);
	return f;
}

static struct vw_task task(int32_t tid)
{
	return (struct vw_task){ .tid = tid };
}

static struct seen *finish(struct vw_merge *merge)
{
	struct seen *seen = calloc(1, sizeof(*seen));

	assert_int_equal(vw_merge_finish(merge, keep, seen), 0);
	vw_merge_free(merge);
	return seen;
}

static void put(struct vw_merge *merge, struct vw_finding f)
{
	assert_int_equal(vw_merge_put(merge, &f), 0);
}

static void test_episodes(void **state)
{
	struct vw_merge *merge = vw_merge_new();
	struct vw_finding a = episode(100, 30, 7), b = episode(500, 50, 7), c = episode(900, 20, 7);
	struct vw_task v8 = task(8), v9 = task(9);
	struct seen *seen;

	vw_finding_add_victim(&a, &v8, 25 * MS, false);
	vw_finding_add_victim(&b, &v9, 40 * MS, false);
	vw_finding_add_victim(&b, &v8, 50 * MS, false);
	vw_finding_add_victim(&c, &v8, 10 * MS, false);
	b.severity = VW_CRITICAL;
	put(merge, a);
	put(merge, b);
	put(merge, c);
	seen = finish(merge);
	assert_int_equal(seen->n, 1);
	assert_int_equal(seen->v[0].start_ns, 100 * MS);
	assert_int_equal(seen->v[0].end_ns, 920 * MS);
	assert_int_equal(seen->v[0].duration_ns, 100 * MS);
	assert_int_equal(seen->v[0].evidence.span_ns, 820 * MS);
	assert_int_equal(seen->v[0].evidence.count, 3);
	assert_int_equal(seen->v[0].severity, VW_CRITICAL);
	assert_int_equal(seen->v[0].status, VW_CLOSED);
	assert_int_equal(seen->v[0].n_victims, 2);
	assert_int_equal(seen->v[0].victims[0].task.tid, 8);
	assert_int_equal(seen->v[0].victims[0].wait_ns, 50 * MS);
	assert_int_equal(seen->v[0].victims[0].wait_total_ns, 85 * MS);
	assert_int_equal(seen->v[0].victims[1].wait_total_ns, 40 * MS);
	assert_string_equal(seen->v[0].message, "kept it for 50 ms (3 episodes, 100ms in all)");
	free(seen);
}

/* An episode is told many times; its last state counts, once. */
static void test_states(void **state)
{
	struct vw_merge *merge = vw_merge_new();
	struct vw_finding f = episode(100, 10, 7);
	struct seen *seen;

	f.status = VW_OPEN;
	f.cause = VW_CAUSE_UNKNOWN;
	put(merge, f);
	f = episode(100, 60, 7);
	f.status = VW_OPEN;
	put(merge, f);
	f = episode(100, 90, 7);
	put(merge, f);
	/* Another one that never closes. */
	f = episode(300, 15, 7);
	f.status = VW_OPEN;
	put(merge, f);
	seen = finish(merge);
	assert_int_equal(seen->n, 1);
	assert_int_equal(seen->v[0].duration_ns, 105 * MS);
	assert_int_equal(seen->v[0].evidence.count, 2);
	assert_int_equal(seen->v[0].status, VW_OPEN);
	assert_int_equal(seen->v[0].cause, VW_CAUSE_IGNORES_RESCHED);
	free(seen);
}

/* What differs in one of these is another finding. */
static void test_apart(void **state)
{
	struct vw_merge *merge = vw_merge_new();
	struct vw_finding f = episode(100, 10, 7);
	struct seen *seen;
	size_t i;

	put(merge, f);
	f = episode(90, 10, 8);
	put(merge, f);
	f = episode(110, 10, 7);
	f.cpu = 3;
	put(merge, f);
	f = episode(120, 10, 7);
	f.cause = VW_CAUSE_SOFTIRQ_IN_WORKER;
	put(merge, f);
	f = episode(130, 10, 7);
	f.kind = VW_STARVED_TASK;
	put(merge, f);
	f = episode(140, 10, 0);
	put(merge, f);
	/* Known to be another task with the same tid. */
	f = episode(150, 10, 9);
	f.culprit.start_ns = 1000 * MS;
	put(merge, f);
	f = episode(160, 10, 9);
	f.culprit.start_ns = 5000 * MS;
	put(merge, f);
	seen = finish(merge);
	assert_int_equal(seen->n, 8);
	for (i = 1; i < seen->n; i++)
		assert_true(seen->v[i].start_ns > seen->v[i - 1].start_ns);
	free(seen);
}

/* A log without times: nothing is added up that is not known. */
static void test_unknown_times(void **state)
{
	struct vw_merge *merge = vw_merge_new();
	struct vw_finding f = episode(0, 0, 7);
	struct seen *seen;

	f.start_ns = f.end_ns = f.duration_ns = VW_UNKNOWN;
	put(merge, f);
	put(merge, f);
	seen = finish(merge);
	assert_int_equal(seen->n, 1);
	assert_true(seen->v[0].duration_ns == VW_UNKNOWN);
	assert_true(seen->v[0].evidence.span_ns == VW_UNKNOWN);
	assert_int_equal(seen->v[0].evidence.count, 2);
	assert_string_equal(seen->v[0].message, "kept it for 0 ms");
	free(seen);
}

static size_t counted;

static void count(void *ctx, const struct vw_finding *f)
{
	counted++;
}

/* More than fit are counted, and nothing is added to the wrong ones. */
static void test_limit(void **state)
{
	struct vw_merge *merge = vw_merge_new();
	int32_t tid;

	for (tid = 1; tid <= VW_MERGE_MAX + 3; tid++)
		put(merge, episode(100, 10, tid));
	put(merge, episode(200, 10, 5));
	assert_int_equal(vw_merge_dropped(merge), 3);
	assert_int_equal(vw_merge_finish(merge, count, NULL), 0);
	assert_int_equal(counted, VW_MERGE_MAX);
	vw_merge_free(merge);
	vw_merge_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_episodes), cmocka_unit_test(test_states),
		cmocka_unit_test(test_apart),	 cmocka_unit_test(test_unknown_times),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
