// SPDX-License-Identifier: GPL-2.0-or-later
/* Running tasks that are moved, for good reason and for none. */
#include "detect_env.h"

#define VCPU 5001
#define IO 5002
#define DISPLACED 5011
#define MOVED (1002 * MS + 6000)
#define VM_A 4990

/* Case E5: VCPU moved from CPU 0 to CPU 1, where DISPLACED ran; nothing was idle. */
static struct vw_obs kicked(uint64_t moved_ns)
{
	struct vw_obs obs = { .kind = VW_OBS_MOVE, .ts_ns = moved_ns + 2994000 };
	struct vw_obs_move *m = &obs.move;

	m->tid = VCPU;
	m->start_ns = VCPU * SEC;
	m->from_cpu = 0;
	m->to_cpu = 1;
	m->moved_ns = moved_ns;
	m->ran = true;
	m->wait_ns = 2996000;
	m->old_cpu_idle_ns = 146000;
	m->displaced_tid = DISPLACED;
	m->displaced_start_ns = DISPLACED * SEC;
	m->idle_known = true;
	m->allowed_known = true;
	strcpy(m->allowed, "0-3");
	return obs;
}

/* Most tests are about a vCPU, whose moves are all told. */
static int setup_vcpu(void **state)
{
	setup(state);
	tell(*state, VCPU, "CPU 0/KVM", VW_ROLE_VCPU, false);
	return 0;
}

static void tell_vcpus(struct env *env)
{
	struct vw_obs obs = { .kind = VW_OBS_TASK };

	obs.task.tid = VCPU;
	obs.task.tgid = VM_A;
	obs.task.role = VW_ROLE_VCPU;
	strcpy(obs.task.comm, "CPU 0/KVM");
	strcpy(obs.task.vm, "a");
	feed(env, &obs);
	tell(env, DISPLACED, "CPU 0/KVM", VW_ROLE_VCPU, false);
}

static void test_futile_kick(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(MOVED);
	const struct vw_finding *f;

	tell_vcpus(env);
	feed(env, &obs);
	f = only(env, obs.ts_ns);
	assert_int_equal(env->n, 1);
	assert_int_equal(f->kind, VW_SPURIOUS_MIGRATION_BOOST);
	assert_int_equal(f->cause, VW_CAUSE_FUTILE_KICK);
	assert_int_equal(f->severity, VW_WARNING);
	assert_int_equal(f->status, VW_CLOSED);
	assert_int_equal(f->start_ns, MOVED);
	assert_int_equal(f->cpu, 0);
	assert_int_equal(f->culprit.tid, VCPU);
	assert_int_equal(f->n_victims, 1);
	assert_int_equal(f->victims[0].task.tid, DISPLACED);
	assert_int_equal(f->evidence.count, 1);
	assert_int_equal(f->evidence.boost.from_cpu, 0);
	assert_int_equal(f->evidence.boost.to_cpu, 1);
	assert_true(f->evidence.boost.idle_known);
	assert_int_equal(f->evidence.boost.n_idle, 0);
	assert_string_equal(f->evidence.boost.allowed, "0-3");
	assert_int_equal(f->evidence.boost.displaced_tid, DISPLACED);
	assert_int_equal(f->evidence.boost.wait_ns, 2996000);
	assert_string_equal(
		f->message,
		"vCPU CPU 0/KVM (tid 5001, VM a) was forced off CPU 0 to move to CPU 1 "
		"though no CPU that it may use was idle; vCPU CPU 0/KVM (tid 5011) had "
		"to make room for it; it waited 2.9ms, of which its old CPU was idle for "
		"2.8ms, so that much the move cost it");
}

/* Its twin: CPU 1 is idle. */
static void test_idle_target(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(MOVED);

	obs.move.n_idle = 1;
	obs.move.idle_cpus[0] = 1;
	feed(env, &obs);
	/* Known or not where else it might have gone: it went where nobody ran. */
	obs.move.idle_known = obs.move.allowed_known = false;
	feed(env, &obs);
	none(env, 2 * SEC);
}

/* It could have gone elsewhere: a bad choice, but no futile move. */
static void test_idle_elsewhere(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(MOVED);

	obs.move.n_idle = 1;
	obs.move.idle_cpus[0] = 3;
	feed(env, &obs);
	none(env, 2 * SEC);
	/* Perhaps it may not use that one. */
	obs.move.allowed_known = false;
	feed(env, &obs);
	assert_int_equal(only(env, 2 * SEC)->cause, VW_CAUSE_UNKNOWN);
	assert_int_equal(last(env)->severity, VW_INFO);
	assert_string_equal(last(env)->evidence.boost.allowed, "");
}

/* With an unknown CPU nothing can be told; if all are known to be busy, it matters not which. */
static void test_unknown(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(MOVED);

	obs.move.idle_known = false;
	feed(env, &obs);
	assert_int_equal(only(env, 2 * SEC)->cause, VW_CAUSE_UNKNOWN);
	assert_int_equal(last(env)->severity, VW_INFO);
	assert_false(last(env)->evidence.boost.idle_known);
	assert_non_null(strstr(last(env)->message, "not known"));
	env->n = 0;
	obs.move.idle_known = true;
	obs.move.allowed_known = false;
	feed(env, &obs);
	assert_int_equal(only(env, 2 * SEC)->cause, VW_CAUSE_FUTILE_KICK);
}

/* Case E1: somebody had waited for that CPU for T. */
static void test_relief(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(MOVED);

	obs.move.relieved_ns = T;
	feed(env, &obs);
	none(env, 2 * SEC);
	obs.move.relieved_ns = T - 1;
	feed(env, &obs);
	only(env, 2 * SEC);
}

/* Somebody took the CPU from its list: it had to go. */
static void test_affinity(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(MOVED);

	strcpy(obs.move.allowed, "1-3");
	feed(env, &obs);
	none(env, 2 * SEC);
	/* A list that was cut off proves nothing. */
	memset(obs.move.allowed, '1', sizeof(obs.move.allowed) - 1);
	feed(env, &obs);
	only(env, 2 * SEC);
}

static void test_no_victim(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(MOVED);

	obs.move.displaced_tid = 0;
	obs.move.n_overtaken = 1;
	obs.move.overtaken[0].tid = IO;
	feed(env, &obs);
	assert_int_equal(only(env, 2 * SEC)->severity, VW_INFO);
	assert_int_equal(last(env)->n_victims, 0);
	env->n = 0;
	obs.move.overtaken[0].wait_ns = 1;
	feed(env, &obs);
	assert_int_equal(only(env, 2 * SEC)->severity, VW_WARNING);
	assert_int_equal(last(env)->victims[0].task.tid, IO);
}

/* A tenth of a second, or of the time since the first of the moves if that is longer. */
static void test_critical(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(MOVED);

	obs.move.displaced_wait_ns = 60 * MS;
	obs.move.n_overtaken = 1;
	obs.move.overtaken[0].tid = IO;
	obs.move.overtaken[0].wait_ns = 40 * MS;
	feed(env, &obs);
	assert_int_equal(only(env, 2 * SEC)->severity, VW_WARNING);
	env->n = 0;
	obs.move.overtaken[0].wait_ns++;
	feed(env, &obs);
	assert_int_equal(only(env, 2 * SEC)->severity, VW_CRITICAL);
}

static void test_critical_window(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	unsigned int i;

	for (i = 0; i <= 20; i++) {
		obs = kicked(SEC + i * 500 * MS);
		obs.ts_ns = obs.move.moved_ns;
		obs.move.displaced_wait_ns = i < 20 ? 50 * MS : 0;
		feed(env, &obs);
	}
	/* 1 s of 10 s */
	assert_int_equal(only(env, 20 * SEC)->severity, VW_WARNING);
	env->n = 0;
	for (i = 0; i <= 20; i++) {
		obs = kicked(100 * SEC + i * 500 * MS);
		obs.ts_ns = obs.move.moved_ns;
		obs.move.displaced_wait_ns = i < 20 ? 50 * MS : 1;
		feed(env, &obs);
	}
	assert_int_equal(only(env, 120 * SEC)->severity, VW_CRITICAL);
	assert_int_equal(last(env)->evidence.count, 21);
	assert_int_equal(last(env)->victims[0].wait_total_ns, SEC + 1);
}

/* A single way back is a correction. */
static void test_ping_pong(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		obs = kicked(SEC + i * 100 * MS);
		obs.move.from_cpu = i & 1;
		obs.move.to_cpu = !(i & 1);
		obs.move.back = i > 0;
		feed(env, &obs);
		if (i == 1)
			assert_int_equal(env->n, 0);
	}
	assert_int_equal(only(env, 10 * SEC)->cause, VW_CAUSE_PING_PONG);
	env->n = 0;
	for (i = 0; i < 2; i++) {
		obs = kicked(100 * SEC + i * 100 * MS);
		obs.move.back = i > 0;
		feed(env, &obs);
	}
	assert_int_equal(only(env, 110 * SEC)->cause, VW_CAUSE_FUTILE_KICK);
	assert_int_equal(last(env)->evidence.count, 2);
}

/* Within a second of the last one, or later. */
static void test_merge(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(10 * SEC);
	uint64_t end = obs.ts_ns;

	feed(env, &obs);
	obs = kicked(end + SEC);
	end = obs.ts_ns;
	feed(env, &obs);
	assert_int_equal(env->n, 0);
	obs = kicked(end + SEC + 1);
	feed(env, &obs);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->seen[0].evidence.count, 2);
	vw_detect_finish(env->set, 60 * SEC);
	assert_int_equal(env->n, 2);
}

/* Case E6: ten thousand moves a VM, one finding. */
static void test_numa(void **state)
{
	struct env *env = *state;
	struct vw_obs obs, task = { .kind = VW_OBS_TASK };
	unsigned int i;

	for (i = 0; i < 172; i++) {
		task.task.tid = 6000 + (int32_t)i;
		task.task.tgid = VM_A;
		task.task.role = VW_ROLE_VCPU;
		strcpy(task.task.vm, "huge");
		feed(env, &task);
	}
	for (i = 0; i < 10000; i++) {
		obs = kicked(SEC + i * MS);
		obs.ts_ns = obs.move.moved_ns;
		obs.move.numa = true;
		obs.move.back = i & 1;
		obs.move.tid = 6000 + (int32_t)(i % 172);
		obs.move.start_ns = 0;
		feed(env, &obs);
	}
	assert_int_equal(only(env, 20 * SEC)->cause, VW_CAUSE_NUMA_BALANCING);
	assert_int_equal(env->n, 1);
	assert_int_equal(last(env)->severity, VW_INFO);
	assert_int_equal(last(env)->evidence.count, 10000);
	assert_string_equal(last(env)->culprit.vm, "huge");
	assert_non_null(strstr(last(env)->message, "NUMA balancing moved running tasks of VM huge "
						   "10000 times"));
	/* Of tasks of which nothing is known: still one, with nobody to name. */
	env->n = 0;
	for (i = 0; i < 1000; i++) {
		obs = kicked(100 * SEC + i * MS);
		obs.move.numa = true;
		obs.move.displaced_wait_ns = MS;
		obs.move.idle_known = false;
		obs.move.tid = 8000 + (int32_t)(i % 172);
		feed(env, &obs);
	}
	assert_false(only(env, 120 * SEC)->has_culprit);
	assert_int_equal(env->n, 1);
}

static void move_other(struct env *env, uint64_t moved_ns, uint64_t wait_ns)
{
	struct vw_obs obs = kicked(moved_ns);

	obs.move.tid = OTHER;
	obs.move.displaced_wait_ns = wait_ns;
	feed(env, &obs);
	vw_detect_tick(env->set, obs.ts_ns + MS);
}

/* Of programs that are no VM's only what they do three times and what cost others T in all. */
static void test_others(void **state)
{
	struct env *env = *state;
	unsigned int i;

	for (i = 0; i < 10; i++)
		move_other(env, SEC + i * 100 * MS, i < 9 ? T / 10 : T / 10 - 1);
	none(env, 10 * SEC);
	move_other(env, 20 * SEC, T);
	move_other(env, 20 * SEC + 10 * MS, T);
	none(env, 30 * SEC);
	move_other(env, 40 * SEC, T - 1);
	move_other(env, 40 * SEC + 10 * MS, 0);
	assert_int_equal(env->n, 0);
	move_other(env, 40 * SEC + 20 * MS, 1);
	assert_int_equal(only(env, 50 * SEC)->culprit.tid, OTHER);
	assert_int_equal(last(env)->evidence.count, 3);
	/* One that was named is told like a VM's. */
	env->n = 0;
	tell(env, OTHER, "app", VW_ROLE_OTHER, true);
	move_other(env, 60 * SEC, 1);
	assert_int_equal(only(env, 70 * SEC)->evidence.count, 1);
}

/* The small ones make room first. */
static void test_minor_makes_room(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(SEC);
	unsigned int i;

	feed(env, &obs);
	for (i = 0; i < 3000; i++) {
		obs = kicked(SEC + i * 1000);
		obs.move.tid = 10000 + (int32_t)i;
		feed(env, &obs);
	}
	assert_int_equal(env->n, 0);
	assert_int_equal(only(env, 20 * SEC)->culprit.tid, VCPU);
}

/* Many more tasks than findings can be open. */
static void test_many_tasks(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	unsigned int i;

	for (i = 0; i < 3000; i++) {
		obs = kicked(SEC + i * 1000);
		obs.ts_ns = obs.move.moved_ns;
		obs.move.tid = 10000 + (int32_t)i;
		obs.move.start_ns = 0;
		tell(env, obs.move.tid, "CPU 0/KVM", VW_ROLE_VCPU, false);
		feed(env, &obs);
	}
	assert_int_equal(env->n, 3000 - 1024);
	vw_detect_finish(env->set, 20 * SEC);
	assert_int_equal(env->n, 3000);
}

static void test_life(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(SEC);

	/* One alone is told when it is over. */
	feed(env, &obs);
	vw_detect_tick(env->set, obs.ts_ns + SEC);
	assert_int_equal(env->n, 0);
	obs = kicked(obs.ts_ns + SEC);
	feed(env, &obs);
	vw_detect_tick(env->set, obs.ts_ns + MS);
	assert_int_equal(env->n, 1);
	assert_int_equal(last(env)->status, VW_OPEN);
	vw_detect_tick(env->set, obs.ts_ns + SEC);
	assert_int_equal(env->n, 1);
	vw_detect_tick(env->set, obs.ts_ns + SEC + 1);
	assert_int_equal(env->n, 2);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->end_ns, obs.ts_ns);
}

static void test_exit_and_loss(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = kicked(SEC);

	feed(env, &obs);
	lose(env, 7, 2 * SEC);
	leave(env, OTHER, 2 * SEC);
	assert_int_equal(env->n, 0);
	leave(env, VCPU, 2 * SEC);
	assert_int_equal(env->n, 1);
	tell(env, VCPU, "CPU 0/KVM", VW_ROLE_VCPU, false);
	feed(env, &obs);
	lose(env, 0, 2 * SEC);
	assert_int_equal(env->n, 2);
	none(((env->n = 0), env), 3 * SEC);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_vcpu, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_futile_kick),	    CASE(test_idle_target),
		CASE(test_idle_elsewhere),  CASE(test_unknown),
		CASE(test_relief),	    CASE(test_affinity),
		CASE(test_no_victim),	    CASE(test_critical),
		CASE(test_critical_window), CASE(test_ping_pong),
		CASE(test_merge),	    CASE(test_numa),
		CASE(test_others),	    CASE(test_minor_makes_room),
		CASE(test_many_tasks),	    CASE(test_life),
		CASE(test_exit_and_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
