// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Public cases from events to findings: the scheduler's model and the detectors at work together.
 * What each of them does by itself is tested elsewhere.
 */
#include "detect/detect.h"
#include "detect/merge.h"
#include "sched_env.h"

#define MAX_FINDINGS 32

#define VCPU 5001
#define VCPU2 5002
#define VM_A 4990

#define TX 0x1000
#define RX 0x2000

struct results {
	size_t n;
	struct vw_finding findings[MAX_FINDINGS];
};

static void take_finding(void *ctx, const struct vw_finding *f)
{
	struct results *r = ctx;

	assert_true(r->n < MAX_FINDINGS);
	r->findings[r->n++] = *f;
}

static void put_in(void *ctx, const struct vw_finding *f)
{
	assert_int_equal(vw_merge_put(ctx, f), 0);
}

/* Ends the trace; all findings of it, merged, as `analyze` prints them.  The caller frees them. */
static struct results *analyze(struct env *env)
{
	const struct vw_detect_config config = { .threshold_ns = T, .stale_ns = SEC };
	struct results *r = calloc(1, sizeof(*r));
	struct vw_merge *merge = vw_merge_new();
	struct vw_detect *detect;
	uint64_t tick_ns = 0;
	size_t i;

	finish(env);
	assert_true(r && merge);
	detect = vw_detect_create(&config, put_in, merge);
	assert_non_null(detect);
	for (i = 0; i < env->n; i++) {
		if (env->seen[i].ts_ns > tick_ns + SEC)
			vw_detect_tick(detect, tick_ns = env->seen[i].ts_ns);
		assert_int_equal(vw_detect_feed(detect, &env->seen[i]), 0);
	}
	vw_detect_finish(detect, env->last_ns);
	vw_detect_destroy(detect);
	assert_int_equal(vw_merge_finish(merge, take_finding, r), 0);
	vw_merge_free(merge);
	return r;
}

/* The only finding of @kind, NULL without one. */
static const struct vw_finding *of(const struct results *r, enum vw_kind kind)
{
	const struct vw_finding *found = NULL;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (r->findings[i].kind != kind)
			continue;
		assert_null(found);
		found = &r->findings[i];
	}
	return found;
}

static void name_worker(struct env *env)
{
	call(env, WORKER, "vhost-3077");
	call(env, OWNER, "qemu-kvm");
	set_tgid(env, OWNER, OWNER);
}

static void test_a1_head_of_line(void **state)
{
	struct env *env = *state;
	struct results *r;

	name_worker(env);
	sw(env, START, 2, 0, 'R', WORKER);
	work(env, VW_EVENT_WORK_START, START + 500, 2, WORKER, TX, "handle_tx_kick");
	work(env, VW_EVENT_WORK_QUEUE, START + MS, 2, WORKER, RX, "handle_rx_net");
	work(env, VW_EVENT_WORK_END, START + 57 * MS, 2, WORKER, TX, "handle_tx_kick");
	work(env, VW_EVENT_WORK_START, START + 57 * MS + 10 * US, 2, WORKER, RX, "handle_rx_net");
	r = analyze(env);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->findings[0].kind, VW_DELAYED_WORK_ITEM);
	assert_int_equal(r->findings[0].cause, VW_CAUSE_HEAD_OF_LINE);
	assert_int_equal(r->findings[0].duration_ns, 56 * MS + 10 * US);
	assert_string_equal(r->findings[0].evidence.work.behind, "handle_tx_kick");
	free(r);
}

/* Preempted every 3 ms for 20 s; the owner sits in D state from the third second on. */
static void livelock(struct env *env, bool items)
{
	uint64_t at;

	name_worker(env);
	sw(env, START, 0, 0, 'R', OWNER);
	sw(env, START, 2, 0, 'R', WORKER);
	if (items)
		work(env, VW_EVENT_WORK_START, START, 2, WORKER, RX, "handle_rx_net");
	wk(env, START + MS, OTHER, 2);
	for (at = START + 3 * MS; at < START + 20 * SEC + 10 * MS; at += 6 * MS) {
		if (at > START + 2 * SEC && at < START + 2 * SEC + 6 * MS)
			sw(env, at, 0, OWNER, 'D', 0);
		sw(env, at, 2, WORKER, 'R', OTHER);
		sw(env, at + 3 * MS, 2, OTHER, 'R', WORKER);
	}
}

static void test_a3_livelock(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;
	struct results *r;

	livelock(env, true);
	r = analyze(env);
	assert_null(of(r, VW_STARVED_TASK));
	assert_null(of(r, VW_NON_YIELDING_WORKER));
	f = of(r, VW_LONG_WORK_ITEM);
	assert_non_null(f);
	assert_int_equal(f->cause, VW_CAUSE_STILL_RUNNING);
	assert_int_equal(f->severity, VW_CRITICAL);
	assert_int_equal(f->status, VW_OPEN);
	assert_int_equal(f->duration_ns / SEC, 20);
	assert_in_range(f->evidence.oncpu_ns, 9900 * MS, 10100 * MS);
	f = of(r, VW_OWNER_BLOCKED);
	assert_non_null(f);
	assert_int_equal(f->duration_ns / SEC, 18);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_int_equal(f->victims[0].task.tid, OWNER);
	free(r);
}

static void test_a3_without_items(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;
	struct results *r;

	livelock(env, false);
	r = analyze(env);
	f = of(r, VW_BUSY_WORKER);
	assert_non_null(f);
	assert_int_equal(f->severity, VW_INFO);
	assert_null(of(r, VW_STARVED_TASK));
	assert_null(of(r, VW_LONG_WORK_ITEM));
	free(r);
}

static void test_a6_storm(void **state)
{
	struct env *env = *state;
	struct results *r;
	uint64_t at;

	name_worker(env);
	sw(env, START, 2, 0, 'R', WORKER);
	for (at = START; at < START + 6 * SEC; at += 10 * US) {
		work(env, VW_EVENT_WORK_START, at, 2, WORKER, TX, "handle_tx_kick");
		work(env, VW_EVENT_WORK_QUEUE, at + 4 * US, 2, WORKER, TX, "handle_tx_kick");
		work(env, VW_EVENT_WORK_END, at + 8 * US, 2, WORKER, TX, "handle_tx_kick");
		if (at % (100 * MS))
			continue;
		wk(env, at + 8 * US, VICTIM, 2);
		sw(env, at + 8500, 2, WORKER, 'R', VICTIM);
		sw(env, at + 9 * US, 2, VICTIM, 'S', WORKER);
	}
	r = analyze(env);
	assert_int_equal(r->n, 1);
	assert_non_null(of(r, VW_BUSY_WORKER));
	assert_non_null(strstr(r->findings[0].message, "work items/s"));
	free(r);
}

static void test_b6_worker_exits(void **state)
{
	struct env *env = *state;
	struct results *r;

	name_worker(env);
	sw(env, START, 2, 0, 'R', WORKER);
	sw(env, START + MS, 2, WORKER, 'S', 0);
	work(env, VW_EVENT_WORK_QUEUE, START + MS, 3, WORKER, RX, "handle_rx_net");
	sw(env, START + 2 * MS, 2, 0, 'R', WORKER);
	ex(env, START + 2 * MS, 2, WORKER);
	sw(env, START + 3 * MS, 2, WORKER, 'X', 0);
	fk(env, START + 900 * MS, 3, WORKER);
	call(env, WORKER, "bash");
	sw(env, START + 900 * MS, 2, 0, 'R', WORKER);
	sw(env, START + 980 * MS, 2, WORKER, 'S', 0);
	seen(env, START + 5 * SEC, 2, 0, VW_RESCHED_NONE);
	r = analyze(env);
	assert_int_equal(r->n, 0);
	free(r);
}

static void test_c4_unknown_interrupts(void **state)
{
	struct env *env = *state;
	struct results *r;
	uint64_t at;

	name_worker(env);
	sw(env, START, 2, 0, 'R', WORKER);
	for (at = START; at < START + 3 * SEC; at += 10 * MS)
		rt(env, at + 10 * MS, 2, WORKER, 6500 * US);
	sw(env, START + 3 * SEC, 2, WORKER, 'S', 0);
	r = analyze(env);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->findings[0].kind, VW_CPU_ACCOUNTING_GAP);
	assert_int_equal(r->findings[0].cause, VW_CAUSE_UNKNOWN);
	assert_int_equal(r->findings[0].severity, VW_INFO);
	assert_int_equal(r->findings[0].evidence.gap.unexplained_ns, 1050 * MS);
	free(r);
}

static void test_e1_no_request(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;
	struct results *r;
	uint64_t at;

	name_worker(env);
	env->flag = VW_RESCHED_NONE;
	sw(env, START, 6, VCPU, 'S', WORKER);
	wk(env, START + 43 * US, VICTIM, 6);
	seen(env, START + 44 * US, 6, WORKER, VW_RESCHED_NONE);
	for (at = START + 10 * MS; at <= START + 40 * MS; at += 10 * MS)
		rt(env, at, 6, WORKER, 10 * MS);
	set_prio(env, 41, 0);
	call(env, 41, "migration/6");
	wk(env, START + 40 * MS, 41, 6);
	sw(env, START + 40 * MS + 16 * US, 6, WORKER, 'R', 41);
	mg(env, START + 40 * MS + 18 * US, WORKER, 6, 7);
	sw(env, START + 40 * MS + 22 * US, 6, 41, 'S', VICTIM);
	sw(env, START + 41 * MS, 6, VICTIM, 'S', 0);
	r = analyze(env);
	assert_int_equal(r->n, 1);
	f = of(r, VW_STARVED_TASK);
	assert_non_null(f);
	assert_int_equal(f->cause, VW_CAUSE_SCHEDULER_NO_REQUEST);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_int_equal(f->victims[0].task.tid, VICTIM);
	free(r);
}

static void test_e3_ping_pong(void **state)
{
	struct env *env = *state;
	struct results *r;
	uint64_t at;

	call(env, VCPU, "CPU 0/KVM");
	call(env, VCPU2, "CPU 1/KVM");
	set_tgid(env, VCPU, VM_A);
	set_tgid(env, VCPU2, VM_A);
	sw(env, START, 3, 0, 'R', VCPU);
	for (at = START + 20 * US; at < START + 2 * SEC; at += 40 * US) {
		sw(env, at, 3, VCPU, 'R', VCPU2);
		sw(env, at + 20 * US, 3, VCPU2, 'R', VCPU);
	}
	r = analyze(env);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->findings[0].kind, VW_YIELD_PING_PONG);
	assert_int_equal(r->findings[0].n_victims, 2);
	free(r);
}

/* @idle: CPU 1 has nothing to do. */
static struct results *kick(struct env *env, bool idle)
{
	const uint64_t at = START + 2 * MS;
	int32_t cpu;

	call(env, VCPU, "CPU 0/KVM");
	call(env, VCPU2, "CPU 1/KVM");
	sw(env, START, 0, 0, 'R', VCPU);
	for (cpu = 1; cpu <= 3; cpu++)
		sw(env, START, cpu, cpu == 1 && idle ? 5019 : 0, 'S',
		   cpu == 1 && idle ? 0 : 5010 + cpu);
	wk(env, at, VCPU2, 0);
	sw(env, at + 4 * US, 0, VCPU, 'R', VCPU2);
	mg(env, at + 6 * US, VCPU, 0, 1);
	if (idle)
		sw(env, at + 10 * US, 1, 0, 'R', VCPU);
	sw(env, at + 150 * US, 0, VCPU2, 'S', 0);
	if (!idle)
		sw(env, at + 3 * MS, 1, 5011, 'R', VCPU);
	return analyze(env);
}

/* Nobody says which CPUs it may use; tests/replay has the case in which /proc does. */
static void test_e5_affinity_unknown(void **state)
{
	struct env *env = *state;
	struct results *r = kick(env, false);
	const struct vw_finding *f = of(r, VW_SPURIOUS_MIGRATION_BOOST);

	assert_int_equal(r->n, 1);
	assert_non_null(f);
	assert_int_equal(f->cause, VW_CAUSE_UNKNOWN);
	assert_int_equal(f->severity, VW_INFO);
	assert_int_equal(f->culprit.tid, VCPU);
	assert_int_equal(f->victims[0].task.tid, 5011);
	assert_int_equal(f->evidence.boost.wait_ns, 2996 * US);
	assert_int_equal(f->evidence.count, 1);
	free(r);
}

static void test_e5_twin(void **state)
{
	struct env *env = *state;
	struct results *r = kick(env, true);

	assert_int_equal(r->n, 0);
	free(r);
}

static void test_e8_forced_idle(void **state)
{
	struct env *env = *state;
	struct results *r;

	sw(env, START, 0, 0, 'R', VCPU);
	sw(env, START, 1, OTHER, 'S', 0);
	wk(env, START + 100 * US, VICTIM, 1);
	sw(env, START + 30 * MS, 0, VCPU, 'S', 0);
	sw(env, START + 30 * MS, 1, 0, 'R', VICTIM);
	r = analyze(env);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->findings[0].kind, VW_STARVED_TASK);
	assert_int_equal(r->findings[0].cause, VW_CAUSE_FORCED_IDLE);
	assert_int_equal(r->findings[0].duration_ns, 29900 * US);
	assert_false(r->findings[0].has_culprit);
	free(r);
}

/* Two in small groups take all the turns of a third. */
static void test_passed_over(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;
	struct results *r;
	uint64_t at;

	name_worker(env);
	sw(env, START, 6, 0, 'R', OTHER);
	wk(env, START, WORKER, 6);
	wk(env, START + MS, VICTIM, 6);
	for (at = START + 3 * MS; at < START + 300 * MS; at += 6 * MS) {
		sw(env, at, 6, OTHER, 'R', WORKER);
		sw(env, at + 3 * MS, 6, WORKER, 'R', OTHER);
	}
	sw(env, at, 6, OTHER, 'R', VICTIM);
	sw(env, at + MS, 6, VICTIM, 'S', WORKER);
	r = analyze(env);
	f = of(r, VW_STARVED_TASK);
	assert_non_null(f);
	assert_int_equal(f->cause, VW_CAUSE_GROUP_OR_PAIR);
	assert_int_equal(f->severity, VW_CRITICAL);
	assert_int_equal(f->victims[0].task.tid, VICTIM);
	assert_int_equal(f->evidence.count, 1);
	free(r);
}

/* Three that share a CPU wait for each other, two slices at a time. */
static void test_fair(void **state)
{
	static const int32_t tids[] = { WORKER, OTHER, VICTIM };
	struct env *env = *state;
	struct results *r;
	uint64_t at = START;
	unsigned int i;

	name_worker(env);
	sw(env, at, 6, 0, 'R', tids[0]);
	wk(env, at, tids[1], 6);
	wk(env, at, tids[2], 6);
	for (i = 0; i < 300; i++) {
		at += 12 * MS;
		sw(env, at, 6, tids[i % 3], 'R', tids[(i + 1) % 3]);
	}
	r = analyze(env);
	assert_int_equal(r->n, 0);
	free(r);
}

static void test_f6_loss(void **state)
{
	struct env *env = *state;
	struct results *r;

	name_worker(env);
	wk(env, START - MS, VICTIM, 2);
	sw(env, START, 2, 0, 'R', WORKER);
	work(env, VW_EVENT_WORK_START, START + 1, 2, WORKER, TX, "handle_tx_kick");
	work(env, VW_EVENT_WORK_QUEUE, START + 2, 2, WORKER, RX, "handle_rx_net");
	seen(env, START + 200 * US, 2, WORKER, VW_RESCHED_FULL);
	lose(env, 2, 5000);
	sw(env, START + 5 * SEC, 2, OTHER, 'R', 0);
	r = analyze(env);
	assert_int_equal(r->n, 0);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a1_head_of_line),
		TEST(test_a3_livelock),
		TEST(test_a3_without_items),
		TEST(test_a6_storm),
		TEST(test_b6_worker_exits),
		TEST(test_c4_unknown_interrupts),
		TEST(test_e1_no_request),
		TEST(test_e3_ping_pong),
		TEST(test_e5_affinity_unknown),
		TEST(test_e5_twin),
		TEST(test_e8_forced_idle),
		TEST(test_passed_over),
		TEST(test_fair),
		TEST(test_f6_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
