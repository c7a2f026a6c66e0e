// SPDX-License-Identifier: GPL-2.0-or-later
/* Time on a CPU against time charged, and what excuses a difference. */
#include "detect_env.h"

#define END (100 * SEC)
#define UNKNOWN VW_SAMPLE_UNKNOWN

/* WORKER ran for @oncpu_ms of a second on CPU 2 and was charged @charged_ms; no interrupts. */
static struct vw_obs charge(int64_t oncpu_ms, int64_t charged_ms)
{
	struct vw_obs obs = { .kind = VW_OBS_CHARGE, .ts_ns = END };
	struct vw_obs_charge *c = &obs.charge;

	c->tid = WORKER;
	c->start_ns = WORKER * SEC;
	c->cpu = 2;
	c->window_ns = SEC;
	c->oncpu_ns = oncpu_ms * (int64_t)MS;
	c->charged_ns = charged_ms * (int64_t)MS;
	return obs;
}

static struct vw_obs with_parts(struct vw_obs obs, int64_t irq_ms, int64_t softirq_ms,
				int64_t steal_ms)
{
	obs.charge.irq_ns = irq_ms == UNKNOWN ? UNKNOWN : irq_ms * (int64_t)MS;
	obs.charge.softirq_ns = softirq_ms == UNKNOWN ? UNKNOWN : softirq_ms * (int64_t)MS;
	obs.charge.steal_ns = steal_ms == UNKNOWN ? UNKNOWN : steal_ms * (int64_t)MS;
	return obs;
}

static struct vw_obs taking_out(struct vw_obs obs, unsigned int taken_out)
{
	obs.charge.taken_out_known = true;
	obs.charge.taken_out = taken_out;
	return obs;
}

static void test_not_charged(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = with_parts(charge(1000, 300), 20, 30, 0);
	const struct vw_finding *f;

	feed(env, &obs);
	f = only(env, END);
	assert_int_equal(f->kind, VW_CPU_ACCOUNTING_GAP);
	assert_int_equal(f->cause, VW_CAUSE_NOT_CHARGED);
	assert_int_equal(f->severity, VW_WARNING);
	assert_int_equal(f->status, VW_OPEN);
	assert_int_equal(f->start_ns, END - SEC);
	assert_int_equal(f->duration_ns, SEC);
	assert_int_equal(f->cpu, 2);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_int_equal(f->evidence.oncpu_ns, SEC);
	assert_int_equal(f->evidence.gap.charged_ns, 300 * MS);
	assert_int_equal(f->evidence.irq_ns, 20 * MS);
	assert_int_equal(f->evidence.softirq_ns, 30 * MS);
	assert_int_equal(f->evidence.gap.steal_ns, 0);
	assert_int_equal(f->evidence.gap.unexplained_ns, 650 * MS);
	assert_int_equal(f->evidence.gap.taken_out, 0);
	assert_string_equal(f->message,
			    "vhost worker vhost-3077 (tid 3101) was on a CPU for 1s and charged "
			    "300ms: the kernel did not charge 650ms");
}

static void test_overcharged(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = charge(500, 800);

	feed(env, &obs);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_OVERCHARGED);
	assert_int_equal(last(env)->severity, VW_WARNING);
	assert_int_equal(last(env)->evidence.gap.unexplained_ns, 300 * MS);
}

/* @ns more on CPU than charged, of @oncpu_ms: is it a gap? */
static bool found(struct env *env, int64_t oncpu_ms, uint64_t ns, bool over)
{
	struct vw_obs obs = charge(oncpu_ms, oncpu_ms);

	if (over)
		obs.charge.charged_ns += (int64_t)ns;
	else
		obs.charge.charged_ns -= (int64_t)ns;
	env->n = 0;
	feed(env, &obs);
	lose(env, -1, END);
	return env->n > 0;
}

static void test_boundaries(void **state)
{
	struct env *env = *state;

	/* 10 ms */
	assert_false(found(env, 100, 10 * MS, false));
	assert_true(found(env, 100, 10 * MS + 1, false));
	assert_false(found(env, 100, 10 * MS, true));
	assert_true(found(env, 100, 10 * MS + 1, true));
	/* 5 % */
	assert_false(found(env, 1000, 50 * MS, false));
	assert_true(found(env, 1000, 50 * MS + 1, false));
	assert_false(found(env, 800, 42 * MS, true));
	assert_true(found(env, 800, 43 * MS, true));
}

/* A tick of 100 Hz, and one of an unknown rate: what one tick explains is none. */
static void test_tick_boundary(void **state)
{
	struct env *env = *state;
	struct vw_detect_config config = { .threshold_ns = T, .tick_ns = 20 * MS, .stale_ns = SEC };

	vw_detect_destroy(env->set);
	env->set = vw_detect_create(&config, keep, env);
	tell_worker(env);
	assert_false(found(env, 100, 20 * MS, false));
	assert_true(found(env, 100, 20 * MS + 1, false));
	config.tick_ns = 0;
	config.host.hz = 40;
	vw_detect_destroy(env->set);
	env->set = vw_detect_create(&config, keep, env);
	tell_worker(env);
	assert_false(found(env, 100, 25 * MS, false));
	assert_true(found(env, 100, 25 * MS + 1, false));
	config.host.hz = 0;
	vw_detect_destroy(env->set);
	env->set = vw_detect_create(&config, keep, env);
	tell_worker(env);
	assert_true(found(env, 100, 10 * MS + 1, false));
}

/* Case C1: totals stand still, the task is charged. */
static void test_frozen_totals(void **state)
{
	struct env *env = *state;
	struct vw_obs task = charge(1000, 1000), totals = charge(1000, 0);

	feed(env, &task);
	totals.charge.tid = 0;
	totals.charge.cpu = 5;
	totals.charge.totals = true;
	feed(env, &totals);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_CPU_TOTALS);
	assert_int_equal(last(env)->severity, VW_INFO);
	assert_int_equal(last(env)->cpu, 5);
	assert_false(last(env)->has_culprit);
	assert_non_null(strstr(last(env)->message, "CPU 5 was busy for 1s and its totals count 0"));
}

/* Case C4, interrupts known; the kernel is known to take them out, or nothing is known of it. */
static void test_interrupts(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = with_parts(charge(1000, 650), 100, 250, 0), known;

	known = taking_out(obs, VW_TAKEN_IRQ | VW_TAKEN_SOFTIRQ);
	feed(env, &known);
	none(env, END);
	feed(env, &obs);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_CHARGED_ELSEWHERE);
	assert_int_equal(last(env)->severity, VW_INFO);
	assert_int_equal(last(env)->evidence.gap.unexplained_ns, 0);
	assert_non_null(strstr(last(env)->message, "100ms interrupts, 250ms softirqs"));
	/* A kernel that charges them to the task cannot be excused by them. */
	lose(env, -1, END);
	env->n = 0;
	known = taking_out(obs, VW_TAKEN_STEAL);
	feed(env, &known);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_NOT_CHARGED);
	assert_int_equal(last(env)->evidence.gap.unexplained_ns, 350 * MS);
	assert_int_equal(last(env)->evidence.gap.taken_out, VW_TAKEN_STEAL);
}

/* Case C4 without interrupts: no blame for what cannot be known. */
static void test_interrupts_unknown(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = with_parts(charge(1000, 650), UNKNOWN, UNKNOWN, UNKNOWN), known;

	feed(env, &obs);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_UNKNOWN);
	assert_int_equal(last(env)->severity, VW_INFO);
	assert_int_equal(last(env)->evidence.gap.unexplained_ns, 350 * MS);
	assert_true(last(env)->evidence.irq_ns == VW_UNKNOWN);
	assert_null(strstr(last(env)->message, "did not charge"));
	lose(env, -1, END);
	env->n = 0;
	known = taking_out(obs, VW_TAKEN_IRQ | VW_TAKEN_SOFTIRQ);
	feed(env, &known);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_UNKNOWN);
	assert_non_null(strstr(last(env)->message, "350ms are unexplained"));
	assert_non_null(strstr(last(env)->message, "likely interrupts"));
	assert_null(strstr(last(env)->message, "did not charge"));
	/* One that takes nothing out needs no excuse. */
	lose(env, -1, END);
	env->n = 0;
	known = taking_out(obs, 0);
	feed(env, &known);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_NOT_CHARGED);
}

/* No interrupts leave a task nothing at all: the bug of 2012 shows without knowing them. */
static void test_next_to_nothing(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = with_parts(charge(1000, 50), UNKNOWN, UNKNOWN, UNKNOWN);

	feed(env, &obs);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_UNKNOWN);
	lose(env, -1, END);
	env->n = 0;
	obs = with_parts(charge(1000, 49), UNKNOWN, UNKNOWN, UNKNOWN);
	feed(env, &obs);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_NOT_CHARGED);
	assert_non_null(strstr(last(env)->message, "stolen time"));
}

/* Stolen time alone is unknown in most traces. */
static void test_steal_unknown(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = with_parts(charge(1000, 650), 0, 0, UNKNOWN);

	feed(env, &obs);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_NOT_CHARGED);
	assert_non_null(strstr(last(env)->message, "stolen time"));
	lose(env, -1, END);
	env->n = 0;
	obs = taking_out(obs, VW_TAKEN_STEAL);
	feed(env, &obs);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_UNKNOWN);
	assert_non_null(strstr(last(env)->message, "stolen time out of charged time"));
}

/* Case C6: (a) absurd samples are thrown away, (b) 60 % are stolen. */
static void test_steal(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = with_parts(charge(1000, 400), 0, 0, 600);

	obs = taking_out(obs, VW_TAKEN_STEAL);
	feed(env, &obs);
	none(env, END);
	obs.charge.taken_out_known = false;
	feed(env, &obs);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_CHARGED_ELSEWHERE);
	assert_int_equal(last(env)->evidence.gap.steal_ns, 600 * MS);
}

static void test_invalid(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = charge(1000, 0);

	obs.charge.steal_ns = -832000000 * INT64_C(10000000);
	feed(env, &obs);
	obs.charge.steal_ns = INT64_MAX;
	feed(env, &obs);
	obs.charge.steal_ns = 0;
	obs.charge.charged_ns = -1;
	feed(env, &obs);
	obs.charge.charged_ns = 0;
	obs.charge.oncpu_ns = (int64_t)(SEC + SEC / 4 + 2 * TICK) + 1;
	feed(env, &obs);
	assert_int_equal(vw_detect_invalid_samples(env->set), 4);
	obs.charge.window_ns = 0;
	feed(env, &obs);
	assert_int_equal(vw_detect_invalid_samples(env->set), 5);
	none(env, END);
	obs = charge(0, 0);
	obs.charge.oncpu_ns = (int64_t)(SEC + SEC / 4 + 2 * TICK);
	feed(env, &obs);
	only(env, END);
	assert_int_equal(vw_detect_invalid_samples(env->set), 5);
}

/* Case C8: charged right, though it dodges each tick. */
static void test_dodger(void **state)
{
	struct env *env = *state;
	struct vw_obs task = charge(500, 500), totals = charge(500, 0);

	feed(env, &task);
	none(env, END);
	totals.charge.tid = 0;
	totals.charge.totals = true;
	feed(env, &totals);
	assert_int_equal(only(env, END)->cause, VW_CAUSE_CPU_TOTALS);
}

static void test_not_known(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = charge(1000, 0);

	obs.charge.charged_ns = UNKNOWN;
	feed(env, &obs);
	obs = charge(1000, 0);
	obs.charge.oncpu_ns = UNKNOWN;
	feed(env, &obs);
	none(env, END);
	assert_int_equal(vw_detect_invalid_samples(env->set), 0);
}

/* Window after window is one finding; a good one ends it, the other sign is another. */
static void test_life(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = charge(1000, 500);
	unsigned int i;

	for (i = 0; i < 3; i++, obs.ts_ns += SEC) {
		feed(env, &obs);
		vw_detect_tick(env->set, obs.ts_ns);
	}
	assert_int_equal(env->n, 3);
	assert_int_equal(last(env)->status, VW_OPEN);
	assert_int_equal(last(env)->duration_ns, 3 * SEC);
	assert_int_equal(last(env)->evidence.count, 1);
	assert_int_equal(last(env)->evidence.oncpu_ns, 3 * SEC);
	assert_int_equal(last(env)->evidence.gap.unexplained_ns, 1500 * MS);
	obs.charge.charged_ns = (int64_t)SEC;
	feed(env, &obs);
	assert_int_equal(env->n, 4);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->end_ns, END + 2 * SEC);
	obs.ts_ns += SEC;
	obs.charge.charged_ns = (int64_t)(500 * MS);
	feed(env, &obs);
	obs.ts_ns += SEC;
	obs.charge.charged_ns = (int64_t)(1200 * MS);
	feed(env, &obs);
	assert_int_equal(env->n, 7);
	assert_int_equal(env->seen[5].status, VW_CLOSED);
	assert_int_equal(env->seen[6].cause, VW_CAUSE_OVERCHARGED);
	assert_int_equal(env->seen[6].start_ns, obs.ts_ns - SEC);
}

/* Totals that lag behind and then make up for it are two findings. */
static void test_totals_both_ways(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = charge(500, 100);

	obs.charge.tid = 0;
	obs.charge.totals = true;
	feed(env, &obs);
	obs.charge.charged_ns = (int64_t)(900 * MS);
	obs.ts_ns += SEC;
	feed(env, &obs);
	assert_int_equal(env->n, 3);
	assert_int_equal(env->seen[1].status, VW_CLOSED);
	assert_int_equal(env->seen[2].cause, VW_CAUSE_CPU_TOTALS);
	assert_int_equal(env->seen[2].start_ns, END);
}

static void test_exit_and_loss(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = charge(1000, 500);

	feed(env, &obs);
	leave(env, OTHER, END);
	lose(env, 3, END);
	assert_int_equal(last(env)->status, VW_OPEN);
	leave(env, WORKER, END);
	assert_int_equal(last(env)->status, VW_CLOSED);
	tell_worker(env);
	feed(env, &obs);
	lose(env, 2, END);
	assert_int_equal(last(env)->status, VW_CLOSED);
	/* It ran on several CPUs: the loss may have been on one of them. */
	obs.charge.cpu = -1;
	feed(env, &obs);
	lose(env, 3, END);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(env->n, 6);
}

static int setup_worker(void **state)
{
	int err = setup(state);

	tell_worker(*state);
	return err;
}

/* Tasks that belong to no VM are charged for what others ran; a CPU and a VM's threads are told. */
static void test_of_a_vm(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = charge(1, 300);

	obs.charge.tid = OTHER;
	obs.charge.start_ns = OTHER * SEC;
	feed(env, &obs);
	tell(env, OTHER, "bash", VW_ROLE_OTHER, false);
	feed(env, &obs);
	none(env, END + 2 * SEC);
	tell(env, OTHER, "CPU 0/KVM", VW_ROLE_VCPU, false);
	obs.ts_ns += SEC;
	feed(env, &obs);
	assert_int_equal(only(env, END + SEC)->culprit.tid, OTHER);
}

#define GAP_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_worker, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GAP_TEST(test_not_charged),
		GAP_TEST(test_overcharged),
		GAP_TEST(test_boundaries),
		GAP_TEST(test_tick_boundary),
		GAP_TEST(test_frozen_totals),
		GAP_TEST(test_interrupts),
		GAP_TEST(test_interrupts_unknown),
		GAP_TEST(test_next_to_nothing),
		GAP_TEST(test_steal_unknown),
		GAP_TEST(test_steal),
		GAP_TEST(test_invalid),
		GAP_TEST(test_dodger),
		GAP_TEST(test_not_known),
		GAP_TEST(test_life),
		GAP_TEST(test_totals_both_ways),
		GAP_TEST(test_exit_and_loss),
		GAP_TEST(test_of_a_vm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
