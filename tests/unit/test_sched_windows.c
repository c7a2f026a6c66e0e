// SPDX-License-Identifier: GPL-2.0-or-later
/* What workers take from vCPUs, pairs that hand a CPU to each other, and what a trace can tell. */
#include "sched_env.h"

#define VCPU 2931
#define OTHER_VCPU 2932

static void named(struct env *env)
{
	call(env, WORKER, "vhost-3077");
	call(env, VCPU, "CPU 3/KVM");
	call(env, OTHER_VCPU, "CPU 4/KVM");
}

/* B4 of the public cases: @n times a millisecond apart the worker takes 15 us of the vCPU. */
static uint64_t interrupt(struct env *env, uint64_t ts, unsigned int n)
{
	unsigned int i;

	sw(env, ts, 14, 0, 'R', VCPU);
	for (i = 0; i < n; i++) {
		sw(env, ts + MS - 15 * US, 14, VCPU, 'R', WORKER);
		sw(env, ts += MS, 14, WORKER, 'S', VCPU);
	}
	return ts;
}

static void test_share(void **state)
{
	struct env *env = *state;
	const struct vw_obs_share *s;
	uint64_t taken = 0, window = 0;
	size_t i;

	named(env);
	interrupt(env, START, 10000);
	finish(env);
	assert_in_range(count(env, VW_OBS_SHARE), 10, 11);
	for (i = 0; i < count(env, VW_OBS_SHARE); i++) {
		s = &nth(env, VW_OBS_SHARE, i)->share;
		assert_int_equal(s->cpu, 14);
		assert_int_equal(s->vcpu_tid, VCPU);
		assert_int_equal(s->worker_tid, WORKER);
		taken += s->taken_ns;
		window += s->window_ns;
	}
	assert_int_equal(taken, 10000 * 15 * US);
	assert_in_range(window, 9998 * MS, 10000 * MS);
	assert_int_equal(nth(env, VW_OBS_SHARE, 1)->share.interruptions, 1000);
	assert_int_equal(count(env, VW_OBS_PAIR), 0);
	assert_int_equal(count(env, VW_OBS_MOVE), 0);
}

static void test_share_boundary(void **state)
{
	struct env *env = *state;

	named(env);
	interrupt(env, START, 1);
	finish(env);
	assert_int_equal(count(env, VW_OBS_SHARE), 0);
	restart(env);
	interrupt(env, START, 2);
	/* No third one follows: it is told all the same. */
	seen(env, START + 3 * SEC, 14, VCPU, VW_RESCHED_NONE);
	assert_int_equal(only(env, VW_OBS_SHARE)->share.interruptions, 2);
	assert_int_equal(only(env, VW_OBS_SHARE)->share.taken_ns, 30 * US);
	finish(env);
	assert_int_equal(count(env, VW_OBS_SHARE), 1);
}

/* Others that run in between take their own time, and it counts once the vCPU is back. */
static void test_share_others(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;
	int i;

	named(env);
	sw(env, ts, 14, 0, 'R', VCPU);
	for (i = 0; i < 2; i++) {
		sw(env, ts += 10 * US, 14, VCPU, 'R', WORKER);
		sw(env, ts += 10 * US, 14, WORKER, 'R', OTHER);
		sw(env, ts += 50 * US, 14, OTHER, 'S', WORKER);
		sw(env, ts += 5 * US, 14, WORKER, 'S', VCPU);
	}
	/* The vCPU sleeps, and the worker runs then: nothing is taken. */
	sw(env, ts += MS, 14, VCPU, 'S', WORKER);
	sw(env, ts += MS, 14, WORKER, 'S', VCPU);
	/* Another task than a worker interrupts it. */
	sw(env, ts += MS, 14, VCPU, 'R', OTHER);
	sw(env, ts += MS, 14, OTHER, 'S', VCPU);
	finish(env);
	assert_int_equal(only(env, VW_OBS_SHARE)->share.interruptions, 2);
	assert_int_equal(only(env, VW_OBS_SHARE)->share.taken_ns, 30 * US);
}

/* Several workers on one CPU; more of them than are counted at a time. */
static void test_share_many(void **state)
{
	struct env *env = *state;
	uint64_t ts = START, total = 0;
	int32_t i, round;
	size_t n;

	named(env);
	for (i = 0; i < 6; i++)
		call(env, 6000 + i, "vhost-3077");
	sw(env, ts, 14, 0, 'R', VCPU);
	for (i = 0; i < 6; i++)
		for (round = 0; round < 10; round++) {
			sw(env, ts += 10 * US, 14, VCPU, 'R', 6000 + i);
			sw(env, ts += 10 * US, 14, 6000 + i, 'S', VCPU);
		}
	finish(env);
	assert_int_equal(count(env, VW_OBS_SHARE), 6);
	for (n = 0; n < 6; n++)
		total += nth(env, VW_OBS_SHARE, n)->share.interruptions;
	assert_int_equal(total, 60);
}

static void test_share_lost(void **state)
{
	struct env *env = *state;
	uint64_t ts;

	named(env);
	ts = interrupt(env, START, 10);
	lose(env, 14, 3);
	interrupt(env, ts, 3);
	finish(env);
	assert_int_equal(only(env, VW_OBS_SHARE)->share.interruptions, 3);
}

/* --- pairs */

static uint64_t alternate(struct env *env, uint64_t ts, unsigned int switches, uint64_t step_ns)
{
	unsigned int i;

	for (i = 0; i < switches; i++)
		sw(env, ts += step_ns, 3, i % 2 ? OTHER_VCPU : VCPU, 'R',
		   i % 2 ? VCPU : OTHER_VCPU);
	return ts;
}

/* E3 of the public cases. */
static void test_pair(void **state)
{
	struct env *env = *state;
	const struct vw_obs_pair *p;
	uint64_t switches = 0;
	size_t i;

	named(env);
	/* The first of them has run for long before it all began. */
	sw(env, START - SEC, 3, 0, 'R', VCPU);
	alternate(env, START, 50000, 20 * US);
	finish(env);
	assert_in_range(count(env, VW_OBS_PAIR), 1, 2);
	for (i = 0; i < count(env, VW_OBS_PAIR); i++) {
		p = &nth(env, VW_OBS_PAIR, i)->pair;
		assert_int_equal(p->cpu, 3);
		assert_int_equal(p->tid[0], VCPU);
		assert_int_equal(p->tid[1], OTHER_VCPU);
		assert_int_equal(p->longest_stint_ns, 20 * US);
		switches += p->switches;
	}
	assert_int_equal(switches, 50000);
	assert_int_equal(count(env, VW_OBS_MOVE), 0);
	assert_int_equal(count(env, VW_OBS_WAIT), 0);
}

static void test_pair_boundary(void **state)
{
	struct env *env = *state;

	named(env);
	alternate(env, START, 99, 20 * US);
	finish(env);
	assert_int_equal(count(env, VW_OBS_PAIR), 0);
	restart(env);
	alternate(env, START, 100, 20 * US);
	finish(env);
	assert_int_equal(only(env, VW_OBS_PAIR)->pair.switches, 100);
	assert_int_equal(only(env, VW_OBS_PAIR)->pair.window_ns, 99 * 20 * US);
	/* Over long, it is told when its windows are over. */
	restart(env);
	alternate(env, START, 1000, 5 * MS);
	assert_int_equal(count(env, VW_OBS_PAIR), 4);
	assert_int_equal(nth(env, VW_OBS_PAIR, 2)->pair.longest_stint_ns, 5 * MS);
	assert_int_equal(nth(env, VW_OBS_PAIR, 2)->pair.window_ns, SEC);
}

/* A third task now and then makes no other pair; one that takes its turns does. */
static void test_pair_disturbed(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;
	int i;

	named(env);
	for (i = 0; i < 50; i++) {
		ts = alternate(env, ts, 100, 20 * US);
		sw(env, ts += 20 * US, 3, VCPU, 'R', OTHER);
		sw(env, ts += 20 * US, 3, OTHER, 'S', VCPU);
	}
	finish(env);
	assert_int_equal(only(env, VW_OBS_PAIR)->pair.switches, 5000);
	/* Three of them in turns are no pair. */
	restart(env);
	for (i = 0; i < 3000; i++)
		sw(env, ts += 20 * US, 3, 1000 + i % 3, 'R', 1000 + (i + 1) % 3);
	finish(env);
	assert_int_equal(count(env, VW_OBS_PAIR), 0);
}

/* Those that sleep in between wait for each other; that is what one may do. */
static void test_pair_asleep(void **state)
{
	struct env *env = *state;
	uint64_t ts = START;
	int i;

	named(env);
	for (i = 0; i < 1000; i++) {
		sw(env, ts += 20 * US, 3, VCPU, 'S', OTHER_VCPU);
		sw(env, ts += 20 * US, 3, OTHER_VCPU, 'S', VCPU);
	}
	finish(env);
	assert_int_equal(count(env, VW_OBS_PAIR), 0);
}

/* --- what the trace can tell */

static const struct vw_hook *hook(const struct vw_header *h, const char *name)
{
	unsigned int i;

	for (i = 0; i < h->n_hooks; i++)
		if (!strcmp(h->hooks[i].name, name))
			return &h->hooks[i];
	fail_msg("no hook %s", name);
	return NULL;
}

static const struct vw_detector_info *detector(const struct vw_header *h, enum vw_kind kind)
{
	unsigned int i;

	for (i = 0; i < h->n_detectors; i++)
		if (!strcmp(h->detectors[i].kind, vw_kind_name(kind)))
			return &h->detectors[i];
	fail_msg("no detector %s", vw_kind_name(kind));
	return NULL;
}

static void test_describe_nothing(void **state)
{
	struct env *env = *state;
	struct vw_header h = { 0 };
	unsigned int i;

	vw_sched_describe(env->s, &h);
	assert_int_equal(h.n_detectors, VW_KIND_COUNT);
	for (i = 0; i < h.n_detectors; i++) {
		assert_int_equal(h.detectors[i].state, VW_DETECTOR_OFF);
		assert_true(*h.detectors[i].reason);
	}
	for (i = 0; i < h.n_hooks; i++) {
		assert_int_equal(h.hooks[i].state, VW_HOOK_MISSING);
		assert_true(*h.hooks[i].lost && *h.hooks[i].reason && !*h.hooks[i].via);
	}
	/* What others added stays, and there is no room for more than there is. */
	h.n_hooks = VW_MAX_HOOKS - 1;
	h.n_detectors = VW_MAX_DETECTORS;
	vw_sched_describe(env->s, &h);
	assert_int_equal(h.n_hooks, VW_MAX_HOOKS);
	assert_int_equal(h.n_detectors, VW_MAX_DETECTORS);
}

static void test_describe(void **state)
{
	struct env *env = *state;
	struct vw_header h = { 0 };

	named(env);
	sw(env, START, 2, 0, 'R', WORKER);
	wk(env, START, VICTIM, 2);
	vw_sched_describe(env->s, &h);
	assert_int_equal(hook(&h, "switches")->state, VW_HOOK_ATTACHED);
	assert_string_equal(hook(&h, "switches")->via, "sched_switch");
	assert_string_equal(hook(&h, "wakeups")->via, "sched_wakeup");
	assert_int_equal(hook(&h, "charge")->state, VW_HOOK_MISSING);
	assert_int_equal(detector(&h, VW_STARVED_TASK)->state, VW_DETECTOR_FULL);
	assert_int_equal(detector(&h, VW_NON_YIELDING_WORKER)->state, VW_DETECTOR_OFF);
	/* A1 of the public cases. */
	assert_int_equal(detector(&h, VW_DELAYED_WORK_ITEM)->state, VW_DETECTOR_OFF);
	assert_non_null(
		strstr(detector(&h, VW_DELAYED_WORK_ITEM)->reason, "work latency not observable"));
	assert_int_equal(detector(&h, VW_CPU_ACCOUNTING_GAP)->state, VW_DETECTOR_OFF);
	assert_int_equal(detector(&h, VW_RCU_STALL)->state, VW_DETECTOR_OFF);

	seen(env, START + MS, 2, WORKER, VW_RESCHED_NONE);
	rt(env, START + MS, 2, WORKER, MS);
	mg(env, START + MS, VICTIM, 2, 3);
	work(env, VW_EVENT_WORK_START, START + MS, 2, WORKER, 1, "handle_rx_net");
	irq(env, VW_EVENT_SOFTIRQ_ENTRY, START + MS, 2);
	irq(env, VW_EVENT_IRQ_ENTRY, START + MS, 2);
	irq(env, VW_EVENT_CONSOLE, START + MS, 2);
	memset(&h, 0, sizeof(h));
	vw_sched_describe(env->s, &h);
	assert_int_equal(detector(&h, VW_NON_YIELDING_WORKER)->state, VW_DETECTOR_FULL);
	assert_int_equal(detector(&h, VW_DELAYED_WORK_ITEM)->state, VW_DETECTOR_FULL);
	assert_int_equal(detector(&h, VW_CPU_ACCOUNTING_GAP)->state, VW_DETECTOR_FULL);
	assert_int_equal(detector(&h, VW_SOFT_LOCKUP)->state, VW_DETECTOR_FULL);
	/* Without /proc, the CPUs that a task may use are not known. */
	assert_int_equal(detector(&h, VW_SPURIOUS_MIGRATION_BOOST)->state, VW_DETECTOR_DEGRADED);

	lose(env, 2, 1);
	memset(&h, 0, sizeof(h));
	vw_sched_describe(env->s, &h);
	assert_int_equal(detector(&h, VW_STARVED_TASK)->state, VW_DETECTOR_DEGRADED);
	assert_string_equal(detector(&h, VW_STARVED_TASK)->reason, "events were lost");
}

/* Wakings stand in for wake-ups; contradictions are told as what they are. */
static void test_describe_poor(void **state)
{
	struct env *env = *state;
	struct vw_header h = { 0 };

	sw(env, START, 2, 0, 'R', OTHER);
	wake_by(env, VW_EVENT_WAKING, START, 2, VICTIM, 2);
	seen(env, START + SEC, 2, 4444, VW_RESCHED_UNKNOWN);
	vw_sched_describe(env->s, &h);
	assert_string_equal(hook(&h, "wakeups")->via, "sched_waking");
	assert_int_equal(detector(&h, VW_STARVED_TASK)->state, VW_DETECTOR_DEGRADED);
	assert_non_null(strstr(detector(&h, VW_STARVED_TASK)->reason, "filtered"));
	restart(env);
	sw(env, START, 2, 0, 'R', OTHER);
	memset(&h, 0, sizeof(h));
	vw_sched_describe(env->s, &h);
	assert_int_equal(detector(&h, VW_STARVED_TASK)->state, VW_DETECTOR_DEGRADED);
	assert_non_null(strstr(detector(&h, VW_STARVED_TASK)->reason, "sched_wakeup"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_share),	  TEST(test_share_boundary),
		TEST(test_share_others),  TEST(test_share_many),
		TEST(test_share_lost),	  TEST(test_pair),
		TEST(test_pair_boundary), TEST(test_pair_disturbed),
		TEST(test_pair_asleep),	  TEST(test_describe_nothing),
		TEST(test_describe),	  TEST(test_describe_poor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
