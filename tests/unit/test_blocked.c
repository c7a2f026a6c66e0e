// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads of a VM in D state while its worker does not come to rest. */
#include "detect_env.h"

#define BEGIN (100 * SEC)

/* OWNER has been in D state for @state_ns; its worker has not slept since 2 s before that. */
static struct vw_obs blocked(uint64_t state_ns, bool final)
{
	struct vw_obs obs = { .kind = VW_OBS_BLOCKED, .ts_ns = BEGIN + state_ns };
	struct vw_obs_blocked *b = &obs.blocked;

	b->tid = OWNER;
	b->start_ns = OWNER * SEC;
	b->final = final;
	b->state_ns = state_ns;
	b->worker_tid = WORKER;
	b->worker_start_ns = WORKER * SEC;
	b->worker_busy_ns = state_ns + 2 * SEC;
	return obs;
}

/* Case A3 */
static void test_open(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;
	struct vw_obs obs;
	uint64_t s;

	tell_worker(env);
	tell(env, OWNER, "qemu-kvm", VW_ROLE_EMULATOR, false);
	for (s = 1; s <= 18; s++) {
		obs = blocked(s * SEC, false);
		feed(env, &obs);
		vw_detect_tick(env->set, obs.ts_ns);
	}
	f = only(env, BEGIN + 18 * SEC);
	assert_int_equal(env->n, 9);
	assert_int_equal(f->kind, VW_OWNER_BLOCKED);
	assert_int_equal(f->cause, VW_CAUSE_WAITS_FOR_WORKER);
	assert_int_equal(f->severity, VW_WARNING);
	assert_int_equal(f->status, VW_OPEN);
	assert_int_equal(f->start_ns, BEGIN);
	assert_int_equal(f->duration_ns, 18 * SEC);
	assert_int_equal(f->cpu, -1);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_int_equal(f->n_victims, 1);
	assert_int_equal(f->victims[0].task.tid, OWNER);
	assert_int_equal(f->victims[0].wait_ns, 18 * SEC);
	assert_int_equal(f->victims[0].wait_total_ns, 18 * SEC);
	assert_int_equal(f->evidence.blocked.state_ns, 18 * SEC);
	assert_string_equal(f->message,
			    "emulator thread qemu-kvm (tid 3077) has been in D state for 18s while "
			    "vhost worker vhost-3077 (tid 3101) has not slept for 20s");
}

static void test_boundaries(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = blocked(10 * SEC - 1, true);

	feed(env, &obs);
	none(env, obs.ts_ns);
	obs = blocked(10 * SEC, true);
	feed(env, &obs);
	assert_int_equal(env->n, 1);
	assert_int_equal(last(env)->status, VW_CLOSED);
	env->n = 0;
	obs = blocked(60 * SEC - 1, true);
	feed(env, &obs);
	assert_int_equal(only(env, obs.ts_ns)->severity, VW_WARNING);
	env->n = 0;
	obs = blocked(60 * SEC, true);
	feed(env, &obs);
	assert_int_equal(only(env, obs.ts_ns)->severity, VW_CRITICAL);
}

/* A disk that is slow: no worker has to do with it. */
static void test_no_worker(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = blocked(100 * SEC, false);

	obs.blocked.worker_tid = 0;
	feed(env, &obs);
	/* It slept in between. */
	obs = blocked(100 * SEC, false);
	obs.blocked.worker_busy_ns = 99 * SEC - 1;
	feed(env, &obs);
	none(env, obs.ts_ns);
	obs.blocked.worker_busy_ns++;
	feed(env, &obs);
	only(env, obs.ts_ns);
}

/* The worker came to rest, the thread did not: the finding ends where it was last true. */
static void test_worker_slept(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = blocked(12 * SEC, false);

	feed(env, &obs);
	obs = blocked(13 * SEC, false);
	obs.blocked.worker_tid = 0;
	feed(env, &obs);
	assert_int_equal(only(env, obs.ts_ns)->status, VW_CLOSED);
	assert_int_equal(last(env)->duration_ns, 12 * SEC);
}

static void test_again(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = blocked(12 * SEC, true);

	feed(env, &obs);
	obs.ts_ns += 12 * SEC + 1;
	feed(env, &obs);
	assert_int_equal(env->n, 2);
	assert_int_equal(last(env)->start_ns, BEGIN + 12 * SEC + 1);
}

static void test_exit_and_loss(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = blocked(12 * SEC, false);

	feed(env, &obs);
	leave(env, OTHER, obs.ts_ns);
	assert_int_equal(last(env)->status, VW_OPEN);
	leave(env, WORKER, obs.ts_ns);
	assert_int_equal(last(env)->status, VW_CLOSED);
	feed(env, &obs);
	leave(env, OWNER, obs.ts_ns);
	assert_int_equal(last(env)->status, VW_CLOSED);
	/* It may have left that state on any CPU. */
	feed(env, &obs);
	lose(env, 3, obs.ts_ns);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(env->n, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open),	 TEST(test_boundaries), TEST(test_no_worker),
		TEST(test_worker_slept), TEST(test_again),	TEST(test_exit_and_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
