// SPDX-License-Identifier: GPL-2.0-or-later
/* A waiter that has run far more than the runner waits with good reason, until they are even. */
#include "hog_env.h"

/* @lead_ns as the kernel's virtual run times show it after @wait_ns of waiting behind OTHER. */
static struct vw_obs behind(uint64_t wait_ns, int64_t lead_ns)
{
	struct vw_obs obs = stint(2, OTHER, 100 * SEC, wait_ns + TICK);
	struct vw_waiter *w = waiter(&obs, WORKER, wait_ns);

	w->lead_known = true;
	w->lead_ns = lead_ns;
	return obs;
}

/* 5 s of starvation are paid back: in the middle, just before and just behind the turn. */
static void test_payback(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;

	tell_worker(env);
	tell(env, OTHER, "vhost-9", VW_ROLE_VHOST_WORKER, true);
	obs = behind(2 * SEC, 3 * (int64_t)SEC);
	assert_null(first_of(env, &obs));
	obs = behind(5 * SEC - MS, (int64_t)MS);
	assert_null(first_of(env, &obs));
	obs = behind(5 * SEC, -(int64_t)(2 * T - 1));
	assert_null(first_of(env, &obs));
}

/* Even again, and the runner stays: from 2 T on that is a new starvation. */
static void test_beyond_payback(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = behind(5 * SEC, -(int64_t)(2 * T));
	const struct vw_finding *f;

	tell_worker(env);
	f = first_of(env, &obs);
	assert_non_null(f);
	assert_int_equal(f->kind, VW_STARVED_TASK);
	assert_int_equal(f->culprit.tid, OTHER);
}

/* A lead of slices is placement (E1: a woken task put too far behind), and excuses nothing. */
static void test_placement_is_no_payback(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = behind(40 * MS, (int64_t)(12 * MS));

	assert_non_null(first_of(env, &obs));
	env->n = 0;
}

static void test_unknown_lead(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = behind(2 * SEC, 3 * (int64_t)SEC);

	obs.stint.waiters[0].lead_known = false;
	assert_non_null(first_of(env, &obs));
}

/* A request that is ignored is no payback, whatever the lead. */
static void test_request_counts(void **state)
{
	struct env *env = *state;
	struct vw_obs obs = behind(2 * SEC, 3 * (int64_t)SEC);

	pending(&obs, 4 * T);
	assert_non_null(first_of(env, &obs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_payback),
		TEST(test_beyond_payback),
		TEST(test_placement_is_no_payback),
		TEST(test_unknown_lead),
		TEST(test_request_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
