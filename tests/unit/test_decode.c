// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of the BPF side as observations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "load/decode.h"

#define MS UINT64_C(1000000)
#define SEC (1000 * MS)
#define BASE UINT64_C(0xffffffff81000000)
#define KTHREAD 0x00200000u

static const char symbols[] = "ffffffff81001000 T bpf_get_stack\n"
			      "ffffffff81002000 T sysvec_apic_timer_interrupt\n"
			      "ffffffff81003000 T asm_sysvec_apic_timer_interrupt\n"
			      "ffffffff81004000 T handle_tx\n"
			      "ffffffff81005000 T vhost_worker\n"
			      "ffffffff81006000 T kthread\n"
			      "ffffffff81007000 T el1h_64_irq\n"
			      "ffffffff81008000 T el1h_64_irq_handler\n";

struct env {
	struct fixture f;
	struct vw_decode *d;
	struct vw_rec_stint rec;
	struct vw_obs obs;
	size_t n;
	struct vw_task tasks[16];
};

static int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	fixture_open(&env->f);
	fixture_text(&env->f, "proc/kallsyms", symbols);
	env->d = vw_decode_new(env->f.proc_fd);
	assert_non_null(env->d);
	env->rec.hdr.kind = VW_REC_STINT;
	env->rec.hdr.size = sizeof(env->rec);
	env->rec.hdr.ts_ns = 100 * SEC;
	env->rec.task.tid = 3101;
	env->rec.task.start_ns = 7 * SEC;
	env->rec.oncpu_ns = 50 * MS;
	*state = env;
	return 0;
}

static int teardown(void **state)
{
	struct env *env = *state;

	vw_decode_free(env->d);
	fixture_close(&env->f);
	free(env);
	return 0;
}

static void keep(void *ctx, const struct vw_task *hint, uint64_t ts)
{
	struct env *env = ctx;

	assert_true(env->n < 16);
	assert_int_equal(ts, env->rec.hdr.ts_ns);
	env->tasks[env->n++] = *hint;
}

static const struct vw_obs_stint *decode(struct env *env)
{
	env->n = 0;
	memset(&env->obs, 0xaa, sizeof(env->obs));
	vw_decode_stint(env->d, &env->rec, &env->obs, keep, env);
	assert_int_equal(env->obs.kind, VW_OBS_STINT);
	return &env->obs.stint;
}

static void test_fields(void **state)
{
	struct env *env = *state;
	const struct vw_obs_stint *s;

	env->rec.hdr.cpu = 1;
	env->rec.pending_ns = 40 * MS;
	env->rec.ticks = 12;
	env->rec.pending_ticks = 10;
	env->rec.nr_running = 2;
	env->rec.resched = VW_ABI_RESCHED_FULL;
	env->rec.clock = VW_ABI_CLOCK_CPU_CLOCK;
	env->rec.task.weight = 1024;
	env->rec.task.tgid = 3077;
	env->rec.task.flags = KTHREAD;
	strcpy(env->rec.task.comm, "vhost-3077");
	s = decode(env);
	assert_int_equal(env->obs.ts_ns, 100 * SEC);
	assert_int_equal(s->cpu, 1);
	assert_int_equal(s->tid, 3101);
	assert_int_equal(s->start_ns, 7 * SEC);
	assert_int_equal(s->oncpu_ns, 50 * MS);
	assert_int_equal(s->pending_ns, 40 * MS);
	assert_int_equal(s->ticks, 12);
	assert_int_equal(s->pending_ticks, 10);
	assert_int_equal(s->nr_running, 2);
	assert_int_equal(s->weight, 1024);
	assert_int_equal(s->resched, VW_RESCHED_FULL);
	assert_string_equal(s->clock, "perf_event/cpu-clock");
	assert_false(s->final || s->rt);
	assert_int_equal(s->n_waiters, 0);
	assert_int_equal(s->n_stack, 0);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->tasks[0].tgid, 3077);
	assert_int_equal(env->tasks[0].start_ns, 7 * SEC);
	assert_true(env->tasks[0].flags_known);
	assert_string_equal(env->tasks[0].comm, "vhost-3077");
	/* What a worker is, /proc says; a name alone does not. */
	assert_int_equal(env->tasks[0].role, VW_ROLE_OTHER);
	env->rec.flags = VW_STINT_FINAL;
	assert_true(decode(env)->final && !env->obs.stint.rt);
	env->rec.flags = VW_STINT_RT;
	assert_true(!decode(env)->final && env->obs.stint.rt);
}

static void test_words(void **state)
{
	static const struct {
		uint8_t abi;
		enum vw_resched resched;
		const char *clock;
	} cases[] = {
		{ VW_ABI_RESCHED_UNKNOWN, VW_RESCHED_UNKNOWN, NULL },
		{ VW_ABI_RESCHED_NONE, VW_RESCHED_NONE, "tp_btf/local_timer_entry" },
		{ VW_ABI_RESCHED_LAZY, VW_RESCHED_LAZY, "perf_event/cpu-clock" },
		{ VW_ABI_RESCHED_FULL, VW_RESCHED_FULL, "tp_btf/sched_stat_runtime" },
		{ 200, VW_RESCHED_UNKNOWN, NULL },
	};
	struct env *env = *state;
	const struct vw_obs_stint *s;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		env->rec.resched = cases[i].abi;
		env->rec.clock = cases[i].abi; /* numbered alike */
		s = decode(env);
		assert_int_equal(s->resched, cases[i].resched);
		if (cases[i].clock)
			assert_string_equal(s->clock, cases[i].clock);
		else
			assert_null(s->clock);
	}
}

/* In run-queue order they come, the longest first they go on; each one is told of. */
static void test_waiters(void **state)
{
	static const uint64_t waits[VW_ABI_WAITERS] = { 3, 9, 1, 9, 7, 0, 8, 2 };
	static const int32_t order[VW_ABI_WAITERS] = { 101, 103, 106, 104, 100, 107, 102, 105 };
	struct env *env = *state;
	const struct vw_obs_stint *s;
	unsigned int i;

	for (i = 0; i < VW_ABI_WAITERS; i++) {
		struct vw_abi_waiter *w = &env->rec.waiters[i];

		w->task.tid = 100 + i;
		w->task.start_ns = i;
		w->task.weight = 15 + i;
		w->wait_ns = waits[i] * MS;
		w->flags = i == 4 ? VW_WAITER_THROTTLED : VW_WAITER_LEAD;
		w->lead_ns = -(int64_t)i;
		snprintf(w->task.comm, sizeof(w->task.comm), "kworker/%u:1", i);
		w->task.flags = i < 2 ? KTHREAD : 0;
	}
	/* More than fit: a newer BPF object, or a broken one. */
	env->rec.n_waiters = 255;
	s = decode(env);
	assert_int_equal(s->n_waiters, VW_ABI_WAITERS);
	for (i = 0; i < VW_ABI_WAITERS; i++) {
		assert_int_equal(s->waiters[i].tid, order[i]);
		assert_int_equal(s->waiters[i].wait_ns, waits[order[i] - 100] * MS);
		assert_int_equal(s->waiters[i].start_ns, order[i] - 100);
		assert_int_equal(s->waiters[i].weight, 15 + order[i] - 100);
		assert_int_equal(s->waiters[i].throttled, order[i] == 104);
		assert_int_equal(s->waiters[i].lead_known, order[i] != 104);
		assert_true(s->waiters[i].lead_ns == -(int64_t)(order[i] - 100));
	}
	assert_int_equal(env->n, 1 + VW_ABI_WAITERS);
	assert_int_equal(env->tasks[1].tid, 100);
	/* A kworker is a kernel thread; anybody may take the name. */
	assert_int_equal(env->tasks[2].role, VW_ROLE_KWORKER);
	assert_int_equal(env->tasks[3].role, VW_ROLE_OTHER);
	env->rec.n_waiters = 2;
	assert_int_equal(decode(env)->n_waiters, 2);
	assert_int_equal(env->n, 3);
}

static void test_comm_without_end(void **state)
{
	struct env *env = *state;

	memset(env->rec.task.comm, 'a', sizeof(env->rec.task.comm));
	decode(env);
	assert_int_equal(strlen(env->tasks[0].comm), VW_COMM_LEN - 1);
}

static void frames(struct env *env, const uint32_t *offsets, unsigned int n)
{
	unsigned int i;

	env->rec.n_stack = n;
	for (i = 0; i < n && i < VW_ABI_FRAMES; i++)
		env->rec.stack[i] = BASE + offsets[i] + 0x10;
	decode(env); /* asks for the names */
	vw_decode_work(env->d);
}

static void test_stack(void **state)
{
	static const uint32_t x86[] = { 0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000 };
	static const uint32_t arm[] = { 0x1000, 0x8000, 0x7000, 0x4000, 0x5000 };
	struct env *env = *state;
	const struct vw_obs_stint *s;

	frames(env, x86, 6);
	s = decode(env);
	/* The clock's own frames are not the task's. */
	assert_int_equal(s->n_stack, 3);
	assert_string_equal(s->stack[0], "handle_tx");
	assert_string_equal(s->stack[1], "vhost_worker");
	assert_string_equal(s->stack[2], "kthread");
	frames(env, arm, 5);
	s = decode(env);
	assert_int_equal(s->n_stack, 2);
	assert_string_equal(s->stack[0], "handle_tx");
}

/* A stack that has no interrupt in it is the task's from the first frame. */
static void test_stack_without_interrupt(void **state)
{
	static const uint32_t offsets[] = { 0x4000, 0x5000 };
	struct env *env = *state;

	frames(env, offsets, 2);
	assert_int_equal(decode(env)->n_stack, 2);
	/* Not looked up yet: no stack with a hole in it. */
	env->rec.stack[0] = BASE + (64 << 20);
	assert_int_equal(decode(env)->n_stack, 0);
	vw_decode_work(env->d);
	/* Frames without a name are left out, not made up. */
	assert_int_equal(decode(env)->n_stack, 1);
	assert_string_equal(env->obs.stint.stack[0], "vhost_worker");
}

static void test_deep_stack(void **state)
{
	struct env *env = *state;
	uint32_t offsets[VW_ABI_FRAMES];
	const struct vw_obs_stint *s;
	unsigned int i;

	for (i = 0; i < VW_ABI_FRAMES; i++)
		offsets[i] = i < 3 ? 0x1000 * (i + 1) : 0x4000;
	frames(env, offsets, VW_ABI_FRAMES);
	env->rec.n_stack = UINT32_MAX;
	s = decode(env);
	assert_int_equal(s->n_stack, VW_MAX_FRAMES);
	for (i = 0; i < s->n_stack; i++)
		assert_string_equal(s->stack[i], "handle_tx");
}

/* irq and softirq of CPU 0 in ticks of /proc. */
static void put_stat(struct env *env, unsigned long long irq, unsigned long long softirq)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "cpu  9 9 9 9 9 777 777 9 9 9\ncpu1 1 1 1 1 1 555 555 1 1 1\n"
		 "cpu0 1 1 1 1 1 %llu %llu 1 1 1\nintr 5\n",
		 irq, softirq);
	fixture_text(&env->f, "proc/stat", text);
}

static void look(struct env *env, uint64_t oncpu_ns)
{
	env->rec.hdr.ts_ns = 100 * SEC + oncpu_ns;
	env->rec.oncpu_ns = oncpu_ns;
	decode(env);
}

static void test_softirq_time(void **state)
{
	struct env *env = *state;
	const uint64_t clk = SEC / (uint64_t)sysconf(_SC_CLK_TCK);

	put_stat(env, 1000, 2000);
	/* The first look of a stint is what the others are measured from. */
	look(env, 20 * MS);
	assert_true(env->obs.stint.softirq_ns == VW_UNKNOWN);
	put_stat(env, 1001, 2002);
	/* Counts of 10 ms say nothing about 100. */
	look(env, 200 * MS - 1);
	assert_true(env->obs.stint.softirq_ns == VW_UNKNOWN);
	look(env, 200 * MS);
	assert_int_equal(env->obs.stint.irq_ns, clk);
	assert_int_equal(env->obs.stint.softirq_ns, 2 * clk);
	put_stat(env, 1010, 2300);
	look(env, 4 * SEC);
	assert_int_equal(env->obs.stint.irq_ns, 10 * clk);
	assert_int_equal(env->obs.stint.softirq_ns, 300 * clk);
	/* Counters that step back are not believed. */
	put_stat(env, 1010, 1999);
	look(env, 5 * SEC);
	assert_true(env->obs.stint.softirq_ns == VW_UNKNOWN);
	/* Another stint of the same task has another base. */
	put_stat(env, 1010, 2300);
	env->rec.hdr.ts_ns = 200 * SEC;
	decode(env);
	assert_true(env->obs.stint.softirq_ns == VW_UNKNOWN);
}

static void test_softirq_unknown(void **state)
{
	struct env *env = *state;
	int i;

	for (i = 0; i < 2; i++) {
		look(env, (1 + (uint64_t)i) * SEC); /* no file */
		assert_true(env->obs.stint.irq_ns == VW_UNKNOWN);
	}
	/* A CPU that came after us. */
	fixture_text(&env->f, "proc/stat", "cpu1048576 1 1 1 1 1 7 7 1 1 1\n");
	env->rec.hdr.cpu = 1 << 20;
	for (i = 0; i < 2; i++) {
		look(env, (1 + (uint64_t)i) * SEC);
		assert_true(env->obs.stint.softirq_ns == VW_UNKNOWN);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fields),	    TEST(test_words),
		TEST(test_waiters),	    TEST(test_comm_without_end),
		TEST(test_stack),	    TEST(test_stack_without_interrupt),
		TEST(test_deep_stack),	    TEST(test_softirq_time),
		TEST(test_softirq_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
