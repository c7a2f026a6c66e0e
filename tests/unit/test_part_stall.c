// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports of the kernel as they come: text in the log, the tracepoint, and both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/part.h"

#define MS UINT64_C(1000000)
#define SEC (1000 * MS)
#define AT (1000 * SEC)
#define MAX_SEEN 16

struct env {
	int log[2]; /* what stands for /dev/kmsg, a record a datagram, and its other end */
	struct vw_part_env part_env;
	void *part;
	unsigned int n, known;
	struct vw_obs seen[MAX_SEEN];
};

static void emit(void *ctx, const struct vw_obs *obs)
{
	struct env *env = ctx;

	assert_true(env->n < MAX_SEEN);
	env->seen[env->n++] = *obs;
}

static void know(void *ctx, const struct vw_task *hint, uint64_t ts_ns)
{
	struct env *env = ctx;

	assert_true(hint->tid > 0);
	env->known++;
}

static int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, env->log), 0);
	env->part_env = (struct vw_part_env){
		.log_fd = env->log[0], .emit = emit, .know = know, .ctx = env
	};
	assert_int_equal(vw_part_stall.open(&env->part_env, &env->part), 0);
	*state = env;
	return 0;
}

static int teardown(void **state)
{
	struct env *env = *state;

	vw_part_stall.close(env->part);
	close(env->log[0]);
	close(env->log[1]);
	free(env);
	return 0;
}

/* @lines are separated by line feeds; each becomes a record of facility and level @prefix. */
static void print(struct env *env, unsigned int prefix, const char *lines)
{
	static unsigned int seq;
	char record[512];
	size_t len;

	for (; *lines; lines += len + (lines[len] == '\n')) {
		len = strcspn(lines, "\n");
		snprintf(record, sizeof(record), "%u,%u,9973388,-;%.*s\n SUBSYSTEM=cpu\n", prefix,
			 seq++, (int)len, lines);
		assert_int_equal(send(env->log[1], record, strlen(record), 0), strlen(record));
	}
}

static void poll_at(struct env *env, uint64_t ts_ns)
{
	assert_int_equal(vw_part_stall.poll(env->part, ts_ns), 0);
}

static void sign(struct env *env, uint64_t ts_ns, enum vw_abi_stall how, const char *flavor)
{
	struct vw_rec_stall rec = {
		.hdr = { VW_REC_STALL, sizeof(rec), 2, ts_ns },
		.task = { .tid = 8123, .tgid = 8123, .start_ns = 99, .comm = "vhost-8100" },
		.how = how,
	};

	snprintf(rec.flavor, sizeof(rec.flavor), "%s", flavor);
	assert_int_equal(vw_part_stall.record(env->part, &rec.hdr), 0);
}

static const char lockup[] =
	"watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [vhost-111:115]\n"
	"CPU: 1 PID: 115 Comm: vhost-111 Tainted: G           OE      6.1.0-57-amd64 #1\n"
	"RIP: 0010:handle_tx_copy+0x11e/0x620 [vhost_net]\n"
	"Call Trace:\n <TASK>\n handle_tx+0xbc/0xd0 [vhost_net]\n"
	" vhost_worker+0x72/0xb0 [vhost]\n </TASK>";

static const char stall[] = "rcu: INFO: rcu_sched self-detected stall on CPU\n"
			    "rcu: \t2-....: (750 ticks this GP) idle=19e/1/0x4000000000000000\n"
			    "\t(t=751 jiffies g=1201 q=9)\n"
			    "NMI backtrace for cpu 2\n"
			    "CPU: 2 PID: 8123 Comm: vhost-8100 Tainted: G  5.10.0-46-amd64 #1";

static void test_lockup(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r = &env->seen[0].report;

	print(env, 0, lockup);
	poll_at(env, AT);
	assert_int_equal(env->n, 0); /* more may come */
	poll_at(env, AT + 299 * MS);
	assert_int_equal(env->n, 0);
	poll_at(env, AT + 300 * MS);
	assert_int_equal(env->n, 1);
	assert_int_equal(env->known, 1);
	assert_int_equal(env->seen[0].kind, VW_OBS_REPORT);
	assert_int_equal(env->seen[0].ts_ns, AT + 300 * MS);
	assert_int_equal(r->kind, VW_REPORT_SOFT_LOCKUP);
	assert_int_equal(r->stuck_ns, 23 * SEC);
	assert_int_equal(r->culprit.tid, 115);
	assert_int_equal(r->cpus[0], 1);
	poll_at(env, AT + 60 * SEC);
	assert_int_equal(env->n, 1); /* once */
}

/* The second half comes a round later. */
static void test_in_pieces(void **state)
{
	struct env *env = *state;

	print(env, 0, "watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [vhost-111:115]");
	poll_at(env, AT);
	print(env, 0, strchr(lockup, '\n') + 1);
	poll_at(env, AT + 250 * MS);
	poll_at(env, AT + 500 * MS);
	assert_int_equal(env->n, 0);
	poll_at(env, AT + 600 * MS);
	assert_int_equal(env->n, 1);
	assert_false(env->seen[0].report.incomplete);
	assert_int_equal(env->seen[0].report.n_stack, 3);
}

/* A log in which something is printed all the time. */
static void test_busy_log(void **state)
{
	struct env *env = *state;
	unsigned int i;

	print(env, 0, lockup);
	for (i = 0; i < 25; i++) {
		poll_at(env, AT + i * 200 * MS);
		print(env, 6, "eth0: link is up");
		assert_int_equal(env->n, 0);
	}
	poll_at(env, AT + 25 * 200 * MS);
	assert_int_equal(env->n, 1);
}

static void test_not_the_kernel(void **state)
{
	struct env *env = *state;

	print(env, 8, lockup); /* user space: LOG_USER */
	print(env, 30, stall); /* a daemon */
	poll_at(env, AT);
	poll_at(env, AT + SEC);
	assert_int_equal(env->n, 0);
	print(env, 7, lockup); /* the highest of the kernel's */
	poll_at(env, AT + 2 * SEC);
	poll_at(env, AT + 3 * SEC);
	assert_int_equal(env->n, 1);
}

static void test_no_records(void **state)
{
	struct env *env = *state;
	static const char *const odd[] = { "x", ",,,;", ";watchdog", "99999999999999999999,1;x" };
	unsigned int i;

	for (i = 0; i < 4; i++)
		assert_true(send(env->log[1], odd[i], strlen(odd[i]), 0) > 0);
	poll_at(env, AT);
	poll_at(env, AT + SEC);
	assert_int_equal(env->n, 0);
}

static void test_sign_and_text(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r = &env->seen[0].report;

	sign(env, AT, VW_ABI_STALL_SELF, "rcu_sched");
	poll_at(env, AT + 50 * MS);
	print(env, 3, stall);
	poll_at(env, AT + 100 * MS);
	poll_at(env, AT + SEC);
	poll_at(env, AT + 10 * SEC);
	assert_int_equal(env->n, 1); /* one report, not two */
	assert_int_equal(r->kind, VW_REPORT_RCU_STALL);
	assert_string_equal(r->flavor, "rcu_sched");
	assert_int_equal(r->jiffies, 751);
	assert_int_equal(r->gp, 1201);
	assert_int_equal(r->culprit.tid, 8123);
}

/* The text does not say who it was, the tracepoint does. */
static void test_sign_names(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r = &env->seen[0].report;

	sign(env, AT, VW_ABI_STALL_SELF, "rcu_sched");
	print(env, 3,
	      "rcu: INFO: rcu_sched self-detected stall on CPU\n"
	      "rcu: \t2-....: (750 ticks this GP) idle=19e/1/0x4000000000000000\n"
	      "\t(t=751 jiffies g=1201 q=9)");
	poll_at(env, AT);
	poll_at(env, AT + SEC);
	assert_int_equal(env->n, 1);
	assert_int_equal(r->culprit.tid, 8123);
	assert_string_equal(r->culprit.comm, "vhost-8100");
	assert_int_equal(r->culprit_cpu, 2);
	assert_int_equal(r->n_cpus, 1);
}

static void test_sign_alone(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r = &env->seen[0].report;

	sign(env, AT, VW_ABI_STALL_SELF, "rcu_preempt");
	sign(env, AT, VW_ABI_STALL_OTHER, "rcu_tasks");
	sign(env, AT, VW_ABI_STALL_EXPEDITED, "rcu_sched");
	poll_at(env, AT + 2 * SEC - 1);
	assert_int_equal(env->n, 0);
	poll_at(env, AT + 2 * SEC);
	assert_int_equal(env->n, 3);
	assert_string_equal(r->flavor, "rcu_preempt");
	assert_true(r->incomplete);
	assert_int_equal(r->culprit.tid, 8123);
	assert_int_equal(r->cpus[0], 2);
	assert_int_equal(r->jiffies, VW_UNKNOWN);
	/* Who reports others is not who stalls. */
	assert_int_equal(env->seen[1].report.culprit.tid, 0);
	assert_int_equal(env->seen[1].report.n_cpus, 0);
	assert_int_equal(env->seen[1].report.detector_cpu, 2);
	assert_true(env->seen[2].report.expedited);
}

/* Where the log cannot be read no text can come: told at once. */
static void test_no_log(void **state)
{
	struct env *env = *state;

	env->part_env.log_fd = -1;
	sign(env, AT, VW_ABI_STALL_UNKNOWN, "");
	poll_at(env, AT + 1);
	assert_int_equal(env->n, 1);
	assert_true(env->seen[0].report.incomplete);
	assert_int_equal(env->seen[0].report.detector_cpu, 2);
	/* The kprobe does not say whether that CPU is the one that stalls. */
	assert_int_equal(env->seen[0].report.culprit.tid, 0);
	assert_int_equal(env->seen[0].report.n_cpus, 0);
}

/* Text of another flavour does not use the sign up. */
static void test_two_stalls(void **state)
{
	struct env *env = *state;

	sign(env, AT, VW_ABI_STALL_SELF, "rcu_preempt");
	print(env, 3, stall);
	poll_at(env, AT);
	poll_at(env, AT + SEC);
	assert_int_equal(env->n, 1);
	poll_at(env, AT + 2 * SEC);
	assert_int_equal(env->n, 2);
	assert_string_equal(env->seen[1].report.flavor, "rcu_preempt");
}

static void test_many_signs(void **state)
{
	struct env *env = *state;
	unsigned int i;

	for (i = 0; i < 20; i++)
		sign(env, AT + i, VW_ABI_STALL_OTHER, "rcu_preempt");
	poll_at(env, AT + 5 * SEC);
	assert_int_equal(env->n, 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lockup),     TEST(test_in_pieces),	  TEST(test_busy_log),
		TEST(test_no_records), TEST(test_not_the_kernel), TEST(test_sign_and_text),
		TEST(test_sign_names), TEST(test_sign_alone),	  TEST(test_two_stalls),
		TEST(test_many_signs), TEST(test_no_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
