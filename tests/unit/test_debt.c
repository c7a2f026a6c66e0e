// SPDX-License-Identifier: GPL-2.0-or-later
/* What a scheduler pays back after a hog is no new hog; what goes beyond is. */
#include "detect/debt.h"
#include "hog_env.h"

#define OWED (5 * SEC)
#define MARGIN (OWED / 4)

static void test_amount(void **state)
{
	struct vw_debts d;

	(void)state;
	memset(&d, 0, sizeof(d));
	assert_false(vw_debts_excuse(&d, VICTIM, WORKER, 1, 100 * SEC));
	vw_debts_add(&d, VICTIM, WORKER, OWED, 100 * SEC);
	assert_true(vw_debts_excuse(&d, VICTIM, WORKER, OWED + MARGIN, 106 * SEC));
	assert_false(vw_debts_excuse(&d, VICTIM, WORKER, OWED + MARGIN + 1, 106 * SEC));
	/* It is owed by one to one, and not the other way round. */
	assert_false(vw_debts_excuse(&d, WORKER, VICTIM, SEC, 101 * SEC));
	assert_false(vw_debts_excuse(&d, OTHER, WORKER, SEC, 101 * SEC));
	assert_false(vw_debts_excuse(&d, VICTIM, OTHER, SEC, 101 * SEC));
}

static void test_time(void **state)
{
	const uint64_t end = 100 * SEC + 2 * (OWED + MARGIN);
	struct vw_debts d;

	(void)state;
	memset(&d, 0, sizeof(d));
	vw_debts_add(&d, VICTIM, WORKER, OWED, 100 * SEC);
	assert_true(vw_debts_excuse(&d, VICTIM, WORKER, SEC, end));
	assert_false(vw_debts_excuse(&d, VICTIM, WORKER, SEC, end + 1));
}

/* The rest of an older debt is owed too, but not once its time is over. */
static void test_sum(void **state)
{
	struct vw_debts d;

	(void)state;
	memset(&d, 0, sizeof(d));
	vw_debts_add(&d, VICTIM, WORKER, SEC, 100 * SEC);
	vw_debts_add(&d, VICTIM, WORKER, SEC, 101 * SEC);
	assert_true(vw_debts_excuse(&d, VICTIM, WORKER, 2500 * MS, 102 * SEC));
	assert_false(vw_debts_excuse(&d, VICTIM, WORKER, 2500 * MS + 1, 102 * SEC));
	vw_debts_add(&d, VICTIM, WORKER, SEC, 200 * SEC);
	assert_true(vw_debts_excuse(&d, VICTIM, WORKER, 1250 * MS, 201 * SEC));
	assert_false(vw_debts_excuse(&d, VICTIM, WORKER, 1250 * MS + 1, 201 * SEC));
}

/* Between two hogs the first debt was being paid; what was paid is owed no more. */
static void test_paid(void **state)
{
	struct vw_debts d;

	(void)state;
	memset(&d, 0, sizeof(d));
	vw_debts_add(&d, VICTIM, WORKER, 4 * SEC, 100 * SEC);
	/* Let go at 100, took the CPU again at 103 for 1 s: 1 s of the first is left. */
	vw_debts_add(&d, VICTIM, WORKER, SEC, 104 * SEC);
	assert_true(vw_debts_excuse(&d, VICTIM, WORKER, 2500 * MS, 105 * SEC));
	assert_false(vw_debts_excuse(&d, VICTIM, WORKER, 2500 * MS + 1, 105 * SEC));
}

/* Memory is bounded: the debt that ends first makes room. */
static void test_room(void **state)
{
	struct vw_debts d;
	int32_t i;

	(void)state;
	memset(&d, 0, sizeof(d));
	for (i = 0; i < VW_DEBTS; i++)
		vw_debts_add(&d, 1000 + i, WORKER, OWED, 100 * SEC + (uint64_t)(i ^ 5) * MS);
	for (i = 0; i < VW_DEBTS; i++)
		assert_true(vw_debts_excuse(&d, 1000 + i, WORKER, OWED, 101 * SEC));
	vw_debts_add(&d, VICTIM, WORKER, OWED, 101 * SEC);
	assert_true(vw_debts_excuse(&d, VICTIM, WORKER, OWED, 102 * SEC));
	for (i = 0; i < VW_DEBTS; i++)
		assert_int_equal(vw_debts_excuse(&d, 1000 + i, WORKER, OWED, 102 * SEC), i != 5);
}

/* WORKER hogs CPU 2 for 5 s until 105 s, VICTIM waits; then the finding closes. */
static void hog_and_yield(struct env *env)
{
	struct vw_obs obs;
	uint64_t t;

	tell_worker(env);
	tell(env, VICTIM, "vhost-155", VW_ROLE_VHOST_WORKER, true);
	for (t = SEC; t <= OWED; t += SEC) {
		obs = hogging(WORKER, 100 * SEC + t, t);
		obs.stint.final = t == OWED;
		feed(env, &obs);
	}
	assert_int_equal(last(env)->status, VW_CLOSED);
	env->n = 0;
}

/* @tid runs for @oncpu_ns since 105 s while @waits waits as long, with no request. */
static struct vw_obs behind(int32_t tid, int32_t waits, uint64_t oncpu_ns)
{
	struct vw_obs obs = stint(2, tid, 105 * SEC + oncpu_ns, oncpu_ns);

	waiter(&obs, waits, oncpu_ns);
	return obs;
}

static void test_payback(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;
	uint64_t t;

	hog_and_yield(env);
	for (t = 100 * MS; t <= OWED + MARGIN; t += 50 * MS) {
		obs = behind(VICTIM, WORKER, t);
		feed(env, &obs);
	}
	assert_int_equal(env->n, 0);
	/* Longer than it was owed: the former victim is the hog now. */
	obs = behind(VICTIM, WORKER, OWED + MARGIN + MS);
	feed(env, &obs);
	assert_int_equal(env->n, 1);
	assert_int_equal(last(env)->kind, VW_STARVED_TASK);
	assert_int_equal(last(env)->culprit.tid, VICTIM);
	assert_int_equal(last(env)->severity, VW_CRITICAL);
}

/* A third one was not paid for and waits unfairly. */
static void test_payback_is_between_two(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;

	hog_and_yield(env);
	obs = behind(VICTIM, WORKER, SEC);
	waiter(&obs, OTHER, 30 * MS);
	feed(env, &obs);
	assert_int_equal(env->n, 1);
	assert_int_equal(last(env)->kind, VW_STARVED_TASK);
	assert_int_equal(last(env)->duration_ns, 30 * MS);
}

/* Being owed time is no right to ignore a request. */
static void test_payback_with_request(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;

	hog_and_yield(env);
	obs = behind(VICTIM, WORKER, SEC);
	pending(&obs, 100 * MS);
	feed(env, &obs);
	assert_int_equal(env->n, 1);
	assert_int_equal(last(env)->kind, VW_NON_YIELDING_WORKER);
	assert_int_equal(last(env)->culprit.tid, VICTIM);
}

/* The former hog again: it is owed nothing. */
static void test_no_credit_for_the_hog(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;

	hog_and_yield(env);
	obs = behind(WORKER, VICTIM, 30 * MS);
	feed(env, &obs);
	assert_int_equal(env->n, 1);
	assert_int_equal(last(env)->culprit.tid, WORKER);
}

/* Long after, nothing is owed any more. */
static void test_payback_expires(void **state)
{
	struct env *env = *state;
	struct vw_obs obs;

	hog_and_yield(env);
	obs = stint(2, VICTIM, 118 * SEC, SEC);
	waiter(&obs, WORKER, 900 * MS);
	feed(env, &obs);
	assert_int_equal(env->n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amount),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_paid),
		cmocka_unit_test(test_room),
		TEST(test_payback),
		TEST(test_payback_is_between_two),
		TEST(test_payback_with_request),
		TEST(test_no_credit_for_the_hog),
		TEST(test_payback_expires),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
