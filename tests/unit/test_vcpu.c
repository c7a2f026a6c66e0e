// SPDX-License-Identifier: GPL-2.0-or-later
/* Workers on the CPUs of pinned vCPUs, and vCPUs that hand a CPU to and fro. */
#include "detect_env.h"

#define VCPU 5001
#define VCPU2 5002
#define END (100 * SEC)

static void tell_vcpu(struct env *env, int32_t tid, int32_t tgid, const char *cpus)
{
	struct vw_obs obs = { .kind = VW_OBS_TASK };

	obs.task.tid = tid;
	obs.task.tgid = tgid;
	obs.task.role = VW_ROLE_VCPU;
	snprintf(obs.task.comm, sizeof(obs.task.comm), "CPU %d/KVM", tid % 10);
	snprintf(obs.task.cpus_allowed, sizeof(obs.task.cpus_allowed), "%s", cpus);
	feed(env, &obs);
}

/* Case B4: so many interruptions of 15 us in a second. */
static struct vw_obs share(uint64_t interruptions, uint64_t end_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_SHARE, .ts_ns = end_ns };

	obs.share.cpu = 14;
	obs.share.vcpu_tid = VCPU;
	obs.share.worker_tid = WORKER;
	obs.share.window_ns = SEC;
	obs.share.interruptions = interruptions;
	obs.share.taken_ns = interruptions * 15000;
	return obs;
}

static void test_share(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;
	struct vw_obs obs;
	unsigned int i;

	tell_worker(env);
	tell_vcpu(env, VCPU, 4990, "14");
	for (i = 0; i < 10; i++) {
		obs = share(1000, END + i * SEC);
		feed(env, &obs);
	}
	f = only(env, END + 9 * SEC);
	assert_int_equal(env->n, 2); /* when it opened, and now */
	assert_int_equal(f->kind, VW_WORKER_ON_VCPU_CPU);
	assert_int_equal(f->cause, VW_CAUSE_PLACEMENT);
	assert_int_equal(f->severity, VW_WARNING);
	assert_int_equal(f->status, VW_OPEN);
	assert_int_equal(f->start_ns, END - SEC);
	assert_int_equal(f->duration_ns, 10 * SEC);
	assert_int_equal(f->cpu, 14);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_int_equal(f->n_victims, 1);
	assert_int_equal(f->victims[0].task.tid, VCPU);
	assert_int_equal(f->victims[0].wait_ns, 15000);
	assert_int_equal(f->victims[0].wait_total_ns, 150 * MS);
	assert_int_equal(f->evidence.count, 1);
	assert_int_equal(f->evidence.vcpu.interruptions, 10000);
	assert_int_equal(f->evidence.vcpu.taken_ns, 150 * MS);
	assert_int_equal(f->evidence.vcpu.share_ppm, 15000);
	assert_string_equal(f->message,
			    "vhost worker vhost-3077 (tid 3101) shares CPU 14 with vCPU CPU 1/KVM "
			    "(tid 5001), which is pinned there, and took 150ms from it: 1000 "
			    "interruptions/s, 1.5 % of the CPU");
}

static void test_share_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = share(1000, END);

	tell_vcpu(env, VCPU, 4990, "14");
	obs.share.taken_ns = 10 * MS - 1;
	feed(env, &obs);
	none(env, END);
	obs.share.taken_ns++;
	feed(env, &obs);
	only(env, END);
}

/* A piece of a second is as good as what it would be of a second. */
static void test_share_short_window(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = share(20, END);

	tell_vcpu(env, VCPU, 4990, "14");
	obs.share.window_ns = 2 * MS;
	feed(env, &obs);
	none(env, END);
}

/* Where the vCPU may go elsewhere, or nobody knows, sharing is the scheduler's business. */
static void test_share_not_pinned(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = share(1000, END);

	feed(env, &obs);
	tell_vcpu(env, VCPU, 4990, "");
	feed(env, &obs);
	tell_vcpu(env, VCPU, 4990, "14-15");
	feed(env, &obs);
	none(env, END);
}

static void test_share_ends(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = share(1000, END);

	tell_vcpu(env, VCPU, 4990, "14");
	feed(env, &obs);
	obs = share(100, END + SEC);
	feed(env, &obs);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->end_ns, END);
	/* Windows with hardly any are not told at all. */
	obs = share(1000, END + 10 * SEC);
	feed(env, &obs);
	vw_detect_tick(env->set, END + 13 * SEC);
	assert_int_equal(last(env)->status, VW_OPEN);
	vw_detect_tick(env->set, END + 13 * SEC + 1);
	assert_int_equal(last(env)->status, VW_CLOSED);
}

/* Case E3: so many switches in a second. */
static struct vw_obs pair(uint64_t switches, uint64_t end_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_PAIR, .ts_ns = end_ns };

	obs.pair.cpu = 3;
	obs.pair.tid[0] = VCPU2;
	obs.pair.tid[1] = VCPU;
	obs.pair.window_ns = SEC;
	obs.pair.switches = switches;
	obs.pair.longest_stint_ns = 20000;
	return obs;
}

static void test_pair(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = pair(50000, END);
	const struct vw_finding *f;

	tell_vcpu(env, VCPU, 4990, "");
	tell_vcpu(env, VCPU2, 4990, "");
	feed(env, &obs);
	obs.pair.longest_stint_ns = 10000;
	obs.ts_ns += SEC;
	feed(env, &obs);
	f = only(env, END + SEC);
	assert_int_equal(f->kind, VW_YIELD_PING_PONG);
	assert_int_equal(f->cause, VW_CAUSE_DIRECTED_YIELD);
	assert_int_equal(f->severity, VW_INFO);
	assert_int_equal(f->cpu, 3);
	assert_false(f->has_culprit);
	assert_int_equal(f->n_victims, 2);
	assert_int_equal(f->victims[0].task.tid, VCPU);
	assert_int_equal(f->victims[1].task.tid, VCPU2);
	assert_int_equal(f->victims[0].wait_ns, 20000);
	assert_string_equal(f->message,
			    "vCPU CPU 1/KVM (tid 5001) and vCPU CPU 2/KVM (tid 5002) hand CPU 3 to "
			    "each other 50000 times a second, none keeping it longer than 20us");
}

/* In whichever order the two are told, it is the same pair. */
static void test_pair_order(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = pair(50000, END);

	tell_vcpu(env, VCPU, 4990, "");
	tell_vcpu(env, VCPU2, 4990, "");
	feed(env, &obs);
	obs.ts_ns += SEC;
	obs.pair.tid[0] = VCPU;
	obs.pair.tid[1] = VCPU2;
	feed(env, &obs);
	assert_int_equal(only(env, END + SEC)->duration_ns, 2 * SEC);
}

static void test_pair_boundaries(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = pair(1999, END);

	tell_vcpu(env, VCPU, 4990, "");
	tell_vcpu(env, VCPU2, 4990, "");
	feed(env, &obs);
	obs = pair(2000, END);
	obs.pair.longest_stint_ns = MS + 1;
	feed(env, &obs);
	/* Half a second with half of them. */
	obs = pair(1000, END);
	obs.pair.window_ns = SEC / 2;
	feed(env, &obs);
	none(env, END);
	obs = pair(2000, END);
	obs.pair.longest_stint_ns = MS;
	feed(env, &obs);
	only(env, END);
}

/* Two VMs, or one vCPU and something else, have nothing to yield to each other. */
static void test_pair_not_one_vm(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = pair(50000, END);

	tell_vcpu(env, VCPU, 4990, "");
	tell_vcpu(env, VCPU2, 4991, "");
	feed(env, &obs);
	tell(env, VCPU2, "vhost-4990", VW_ROLE_VHOST_WORKER, true);
	feed(env, &obs);
	tell(env, VCPU, "CPU 0/KVM", VW_ROLE_VCPU, false);
	tell(env, VCPU2, "CPU 1/KVM", VW_ROLE_VCPU, false);
	feed(env, &obs);
	none(env, END);
}

static void test_exit_and_loss(void **state)
{
	struct env *env = *state;
	struct vw_obs s = share(1000, END), p = pair(50000, END);

	tell_vcpu(env, VCPU, 4990, "14");
	tell_vcpu(env, VCPU2, 4990, "");
	feed(env, &s);
	feed(env, &p);
	lose(env, 14, END);
	assert_int_equal(env->n, 3);
	assert_int_equal(last(env)->kind, VW_WORKER_ON_VCPU_CPU);
	assert_int_equal(last(env)->status, VW_CLOSED);
	leave(env, VCPU2, END);
	assert_int_equal(env->n, 4);
	assert_int_equal(last(env)->kind, VW_YIELD_PING_PONG);
	feed(env, &s);
	leave(env, VCPU, END);
	assert_int_equal(env->n, 6);
	assert_int_equal(last(env)->status, VW_CLOSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_share),
		TEST(test_share_boundary),
		TEST(test_share_short_window),
		TEST(test_share_not_pinned),
		TEST(test_share_ends),
		TEST(test_pair),
		TEST(test_pair_order),
		TEST(test_pair_boundaries),
		TEST(test_pair_not_one_vm),
		TEST(test_exit_and_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
