// SPDX-License-Identifier: GPL-2.0-or-later
/* What the part of placement tells: vCPUs that are found, SHARE and PAIR from what was counted. */
#include "part_env.h"

static void two_vcpus(struct env *env)
{
	add_thread(env, OWNER, VCPU, "CPU 0/KVM", "14");
	add_thread(env, OWNER, VCPU2, "CPU 1/KVM", "14");
	add_thread(env, OWNER, 3082, "IO mon_iothread", "14");
	open_part(env, &vw_part_place);
}

static struct vw_abi_pair *count_pair(struct env *env, uint32_t kind, uint32_t a, uint32_t b)
{
	struct vw_abi_pair *pair = &env->pairs[env->n_pairs];

	assert_true(env->n_pairs < MAX_ENTRIES);
	env->pair_keys[env->n_pairs++] = (struct vw_abi_pair_key){ 14, kind, a, b };
	memset(pair, 0, sizeof(*pair));
	pair->first_ns = env->now;
	pair->last_ns = env->now + SEC;
	return pair;
}

/* vCPUs are followed, nobody else is; those that are gone no longer. */
static void test_vcpus(void **state)
{
	struct env *env = *state;
	int i;

	two_vcpus(env);
	second(env);
	assert_int_equal(env->flags[VCPU], VW_WATCH_VCPU);
	assert_int_equal(env->flags[VCPU2], VW_WATCH_VCPU);
	assert_int_equal(env->flags[3082], 0);
	assert_int_equal(env->flags[OWNER], 0);
	/* Watched they are not, so that they make no rows. */
	assert_null(vw_workers_get(env->workers, VCPU));
	assert_int_equal(env->n, 0);
	/* One ends, one is pinned elsewhere: seen when the owner is looked at again. */
	fixture_remove(&env->f, "proc/3077/task/3081");
	add_thread(env, OWNER, VCPU, "CPU 0/KVM", "2-3");
	for (i = 0; i < 4; i++) {
		second(env);
		assert_int_equal(env->flags[VCPU2], VW_WATCH_VCPU);
		assert_int_equal(env->n, 0);
	}
	second(env);
	assert_int_equal(env->flags[VCPU2], 0);
	assert_int_equal(env->flags[VCPU], VW_WATCH_VCPU);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].kind, VW_OBS_TASK);
	assert_int_equal(env->obs[0].task.tid, VCPU);
	assert_string_equal(env->obs[0].task.cpus_allowed, "2-3");
	/* The owner has no worker any more. */
	vw_workers_remove(env->workers, WORKER);
	second(env);
	assert_int_equal(env->flags[VCPU], 0);
}

/* A vCPU that was asked for stays watched when it is no vCPU of interest any more. */
static void test_asked_for(void **state)
{
	struct env *env = *state;
	struct vw_task task;
	bool is_new;

	two_vcpus(env);
	assert_int_equal(vw_attr_task(env->attr, VCPU, &task), 0);
	assert_int_equal(vw_workers_put(env->workers, &task, true, env->now, &is_new), 0);
	env->flags[VCPU] = VW_WATCH_TASK;
	second(env);
	assert_int_equal(env->flags[VCPU], VW_WATCH_TASK | VW_WATCH_VCPU);
	vw_workers_remove(env->workers, WORKER);
	second(env);
	assert_true(env->flags[VCPU] & VW_WATCH_TASK);
	assert_int_equal(env->flags[VCPU2], 0);
}

/* Case B4: 1000 interruptions a second of 15 us. */
static void test_share(void **state)
{
	struct env *env = *state;
	struct vw_abi_pair *pair;
	int i;

	two_vcpus(env);
	second(env);
	pair = count_pair(env, VW_PAIR_SHARE, VCPU, WORKER);
	for (i = 1; i <= 3; i++) {
		pair->count = 1000 * (uint64_t)i;
		pair->taken_ns = 15 * MS * (uint64_t)i;
		pair->last_ns = env->now + SEC;
		second(env);
		assert_int_equal(env->n, 1);
		assert_int_equal(env->obs[0].kind, VW_OBS_SHARE);
		assert_int_equal(env->obs[0].ts_ns, env->now);
		assert_int_equal(env->obs[0].share.cpu, 14);
		assert_int_equal(env->obs[0].share.vcpu_tid, VCPU);
		assert_int_equal(env->obs[0].share.worker_tid, WORKER);
		assert_int_equal(env->obs[0].share.interruptions, 1000);
		assert_int_equal(env->obs[0].share.taken_ns, 15 * MS);
		assert_int_equal(env->obs[0].share.window_ns, SEC);
	}
	assert_true(env->known[VCPU]);
	/* Nothing more, or one in a second: no window. */
	second(env);
	assert_int_equal(env->n, 0);
	pair->count++;
	second(env);
	assert_int_equal(env->n, 0);
	pair->count += 2;
	second(env);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].share.interruptions, 2);
}

/* Tasks that are no vCPU of ours, or no worker, have nothing to do with it. */
static void test_share_of_others(void **state)
{
	struct env *env = *state;
	struct vw_task task;
	bool is_new;

	two_vcpus(env);
	add_thread(env, 5000, 5000, "stress", NULL);
	assert_int_equal(vw_attr_task(env->attr, 5000, &task), 0);
	assert_int_equal(vw_workers_put(env->workers, &task, true, env->now, &is_new), 0);
	second(env);
	count_pair(env, VW_PAIR_SHARE, 5001, WORKER)->count = 1000;
	count_pair(env, VW_PAIR_SHARE, VCPU, 5000)->count = 1000;
	count_pair(env, VW_PAIR_SHARE, VCPU, 5002)->count = 1000;
	second(env);
	assert_int_equal(env->n, 0);
}

static void test_pair(void **state)
{
	struct env *env = *state;
	uint32_t epoch;
	struct vw_abi_pair *pair;

	two_vcpus(env);
	second(env);
	pair = count_pair(env, VW_PAIR_YIELD, VCPU, VCPU2);
	epoch = (uint32_t)((env->now + SEC) >> VW_ABI_PAIR_EPOCH_SHIFT);
	pair->count = 6000;
	pair->longest_ns[epoch & 1] = 80000;
	pair->epoch[epoch & 1] = epoch;
	/* Of long ago. */
	pair->longest_ns[!(epoch & 1)] = 9 * MS;
	pair->epoch[!(epoch & 1)] = epoch - 3;
	second(env);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].kind, VW_OBS_PAIR);
	assert_int_equal(env->obs[0].pair.cpu, 14);
	assert_int_equal(env->obs[0].pair.tid[0], VCPU);
	assert_int_equal(env->obs[0].pair.tid[1], VCPU2);
	assert_int_equal(env->obs[0].pair.switches, 6000);
	assert_int_equal(env->obs[0].pair.window_ns, SEC);
	assert_int_equal(env->obs[0].pair.longest_stint_ns, 80000);
	assert_true(env->known[VCPU] && env->known[VCPU2]);
	/* Few; or a third one takes part. */
	pair->count += 99;
	second(env);
	assert_int_equal(env->n, 0);
	pair->count += 400;
	pair->misses += 108;
	second(env);
	assert_int_equal(env->n, 1);
	pair->count += 400;
	pair->misses += 109;
	second(env);
	assert_int_equal(env->n, 0);
}

/* What has come to rest leaves the map; what begins again is not what was before. */
static void test_rest(void **state)
{
	struct env *env = *state;
	struct vw_abi_pair *pair;
	int i;

	two_vcpus(env);
	second(env);
	pair = count_pair(env, VW_PAIR_SHARE, VCPU, WORKER);
	pair->count = 1000;
	for (i = 0; i < 11; i++) {
		assert_int_equal(env->n_pairs, 1);
		second(env);
		assert_int_equal(env->n, i ? 0 : 1);
	}
	assert_int_equal(env->n_pairs, 0);
	pair = count_pair(env, VW_PAIR_SHARE, VCPU, WORKER);
	pair->count = 500;
	second(env);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].share.interruptions, 500);
	/* Thrown out by the kernel and made anew between two looks. */
	pair->first_ns = env->now + SEC / 2;
	pair->count = 300;
	second(env);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->obs[0].share.interruptions, 300);
	assert_int_equal(env->obs[0].share.window_ns, SEC / 2);
}

/* More owners than are looked at in one second: each has its turn, new ones first. */
static void test_many_owners(void **state)
{
	struct env *env = *state;
	struct vw_task task = { .role = VW_ROLE_VHOST_WORKER, .backend = VW_BACKEND_VHOST_TASK };
	bool is_new;
	int32_t i, n;

	for (i = 0; i < 40; i++) {
		task.tid = 6001 + 10 * i;
		task.tgid = task.owner_pid = 6000 + 10 * i;
		add_thread(env, task.tgid, task.tgid + 2, "CPU 0/KVM", "1");
		assert_int_equal(vw_workers_put(env->workers, &task, true, env->now, &is_new), 0);
	}
	open_part(env, &vw_part_place);
	for (n = 0; n < 3; n++)
		second(env);
	for (i = 0, n = 0; i < 40; i++)
		n += env->flags[6002 + 10 * i] == VW_WATCH_VCPU;
	assert_int_equal(n, 40);
}

/* Nothing to do where nobody sees switches. */
static void test_no_switches(void **state)
{
	struct env *env = *state;

	env->plan.tp[VW_TP_SWITCH] = false;
	open_part(env, &vw_part_place);
	assert_null(env->part);
	env->plan.tp[VW_TP_SWITCH] = true;
	env->part_env.sight = NULL;
	open_part(env, &vw_part_place);
	assert_null(env->part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_vcpus),	    TEST(test_asked_for),   TEST(test_share),
		TEST(test_share_of_others), TEST(test_pair),	    TEST(test_rest),
		TEST(test_many_owners),	    TEST(test_no_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
