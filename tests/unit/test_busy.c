// SPDX-License-Identifier: GPL-2.0-or-later
/* Workers that never sleep and harm nobody. */
#include "hog_env.h"

#define BEGIN (100 * SEC)

/* WORKER has not slept for @busy_ns, shares CPU 2 in halves, and nobody waited longer than 3 ms. */
static struct vw_obs busy(uint64_t busy_ns, bool final)
{
	struct vw_obs obs = { .kind = VW_OBS_BUSY, .ts_ns = BEGIN + busy_ns };
	struct vw_obs_busy *b = &obs.busy;

	b->cpu = 2;
	b->tid = WORKER;
	b->start_ns = WORKER * SEC;
	b->final = final;
	b->busy_ns = busy_ns;
	b->oncpu_ns = b->wait_ns = busy_ns / 2;
	b->longest_wait_ns = 3 * MS;
	b->items = VW_UNKNOWN;
	return obs;
}

/* Case A3 with events of the scheduler only. */
static void test_saturated(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;
	struct vw_obs obs;
	uint64_t s;

	tell_worker(env);
	for (s = 1; s <= 20; s++) {
		obs = busy(s * SEC, false);
		feed(env, &obs);
		vw_detect_tick(env->set, obs.ts_ns);
	}
	f = only(env, BEGIN + 20 * SEC);
	assert_int_equal(env->n, 16);
	assert_int_equal(f->kind, VW_BUSY_WORKER);
	assert_int_equal(f->cause, VW_CAUSE_SATURATED);
	assert_int_equal(f->severity, VW_INFO);
	assert_int_equal(f->status, VW_OPEN);
	assert_int_equal(f->start_ns, BEGIN);
	assert_int_equal(f->duration_ns, 20 * SEC);
	assert_int_equal(f->cpu, 2);
	assert_int_equal(f->culprit.tid, WORKER);
	assert_int_equal(f->n_victims, 0);
	assert_int_equal(f->evidence.oncpu_ns, 10 * SEC);
	assert_string_equal(
		f->message,
		"vhost worker vhost-3077 (tid 3101) has not slept for 20s: it ran 10s "
		"and waited 10s for a CPU; nobody there waited longer "
		"than 3ms");
}

/* Case A6 */
static void test_storm(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = busy(5 * SEC, true);

	obs.busy.items = 600000;
	feed(env, &obs);
	assert_non_null(strstr(only(env, obs.ts_ns)->message, "; 120000 work items/s"));
	assert_int_equal(last(env)->status, VW_CLOSED);
}

static void test_boundary(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = busy(5 * SEC - 1, true);

	feed(env, &obs);
	none(env, obs.ts_ns);
	obs = busy(5 * SEC, true);
	feed(env, &obs);
	only(env, obs.ts_ns);
}

static void test_somebody_waited(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = busy(8 * SEC, false);

	obs.busy.longest_wait_ns = 2 * T;
	feed(env, &obs);
	none(env, obs.ts_ns);
	obs.busy.longest_wait_ns--;
	feed(env, &obs);
	assert_int_equal(last(env)->status, VW_OPEN);
	obs = busy(9 * SEC, false);
	obs.busy.longest_wait_ns = 2 * T;
	feed(env, &obs);
	assert_int_equal(only(env, obs.ts_ns)->status, VW_CLOSED);
	assert_int_equal(last(env)->duration_ns, 8 * SEC);
}

static void test_waits_unknown(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = busy(8 * SEC, false);

	obs.busy.longest_wait_ns = VW_UNKNOWN;
	feed(env, &obs);
	assert_non_null(strstr(only(env, obs.ts_ns)->message, "not known"));
}

/* A stint of that length is told by itself; what comes after it counts from its end. */
static void test_after_a_stint(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = stint(2, WORKER, BEGIN + 8 * SEC, 8 * SEC);

	tell_worker(env);
	obs.stint.final = true;
	feed(env, &obs);
	assert_int_equal(env->n, 1);
	env->n = 0;
	obs = busy(13 * SEC - 1, false);
	feed(env, &obs);
	none(env, obs.ts_ns);
	obs = busy(13 * SEC, false);
	feed(env, &obs);
	assert_int_equal(only(env, obs.ts_ns)->start_ns, BEGIN + 8 * SEC);
	assert_int_equal(last(env)->duration_ns, 5 * SEC);
	/* And another one of them. */
	obs = stint(2, WORKER, BEGIN + 20 * SEC, 6 * SEC);
	obs.stint.final = true;
	feed(env, &obs);
	obs = busy(21 * SEC, false);
	feed(env, &obs);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(last(env)->duration_ns, 5 * SEC);
}

static void test_exit_and_loss(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = busy(8 * SEC, false);

	feed(env, &obs);
	lose(env, 3, obs.ts_ns);
	leave(env, OTHER, obs.ts_ns);
	assert_int_equal(last(env)->status, VW_OPEN);
	lose(env, 2, obs.ts_ns);
	assert_int_equal(last(env)->status, VW_CLOSED);
	feed(env, &obs);
	leave(env, WORKER, obs.ts_ns);
	assert_int_equal(last(env)->status, VW_CLOSED);
	assert_int_equal(env->n, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_saturated),	    TEST(test_storm),	      TEST(test_boundary),
		TEST(test_somebody_waited), TEST(test_waits_unknown), TEST(test_after_a_stint),
		TEST(test_exit_and_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
