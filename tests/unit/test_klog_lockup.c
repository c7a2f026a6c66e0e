// SPDX-License-Identifier: GPL-2.0-or-later
/* The wordings of soft lockups from 2.6.1x to 7.x. */
#include "klog_env.h"

static void test_prefixes(void **state)
{
	static const char *const logs[] = {
		"[  268.5] BUG: soft lockup - CPU#1 stuck for 22s! [vhost-3077:3101]",
		"[  268.5] NMI watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [vhost-3077:3101]",
		"[  268.5] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [vhost-3077:3101]",
		"[  268.5][    C1] watchdog: BUG: soft lockup - CPU#1 stuck for 22s!"
		" [vhost-3077:3101]",
		"Jun 08 12:00:00 host kernel: [  268.5] BUG: soft lockup - CPU#1 stuck for 22s!"
		" [vhost-3077:3101]\r",
		"kern  :emerg : [  268.5] watchdog: BUG: soft lockup - CPU#1 stuck for 22s!"
		" [vhost-3077:3101]",
		"0,77,268500000,-;watchdog: BUG: soft lockup - CPU#1 stuck for 22s!"
		" [vhost-3077:3101]",
		"<0>[  268.5] \033[31mwatchdog: BUG: soft lockup - CPU#1 stuck for 22s!"
		" [vhost-3077:3101]\033[0m",
	};
	struct env *env = *state;
	size_t i;

	for (i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		const struct vw_obs_report *r = report_of(env, logs[i]);

		assert_int_equal(r->kind, VW_REPORT_SOFT_LOCKUP);
		assert_string_equal(r->flavor, "");
		assert_int_equal(r->n_cpus, 1);
		assert_int_equal(r->cpus[0], 1);
		assert_int_equal(r->n_tasks, 0);
		assert_int_equal(r->stuck_ns, 22 * SEC);
		assert_true(r->gp == VW_UNKNOWN && r->jiffies == VW_UNKNOWN);
		assert_int_equal(r->culprit.tid, 3101);
		assert_string_equal(r->culprit.comm, "vhost-3077");
		assert_int_equal(r->culprit.role, VW_ROLE_VHOST_WORKER);
		assert_int_equal(r->culprit_cpu, 1);
		assert_int_equal(r->detector_cpu, -1);
		assert_false(r->incomplete || r->interrupts);
		/* Each log has booted again for all that is known. */
		teardown(state);
		setup(state);
		env = *state;
	}
}

/* Until 2.6.22: no time, and the task in a line of its own. */
static void test_oldest(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, "BUG: soft lockup detected on CPU#0!\n"
			   "\n"
			   "Pid: 10743, comm:             ifconfig\n"
			   "EIP: 0060:[<f88bf2f9>] CPU: 0\n"
			   "EIP is at e100_clean_cbs+0x2f/0x12b [e100]\n"
			   "Call Trace:\n"
			   " [<c01b3b80>] e100_down+0xdb/0x152\n"
			   " [<c01b3e72>] dev_close+0x4b/0x1b2\n");
	assert_int_equal(r->cpus[0], 0);
	assert_true(r->stuck_ns == VW_UNKNOWN);
	assert_int_equal(r->culprit.tid, 10743);
	assert_string_equal(r->culprit.comm, "ifconfig");
	assert_int_equal(r->n_stack, 3);
	assert_string_equal(r->stack[0], "e100_clean_cbs");
	assert_string_equal(r->stack[1], "e100_down");
	assert_string_equal(r->stack[2], "dev_close");
	assert_false(r->incomplete);
}

static void test_odd_names(void **state)
{
	static const char *const names[] = {
		"a:b", "a]b", "[x] y:1", "kworker/1:2", ":", "", " ] "
	};
	struct env *env = *state;
	char log[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct vw_obs_report *r;

		snprintf(log, sizeof(log),
			 "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [%s:3101]", names[i]);
		r = report_of(env, log);
		assert_string_equal(r->culprit.comm, names[i]);
		assert_int_equal(r->culprit.tid, 3101);
		assert_false(r->incomplete);
	}
}

/* What is cut is not guessed. */
static void test_cut(void **state)
{
	static const char *const cut[] = {
		"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [vhost-3077:31",
		"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [vhost-30",
		"watchdog: BUG: soft lockup - CPU#1 stuck for 22s!",
		"watchdog: BUG: soft lockup - CPU#1 stuck for 2",
		"watchdog: BUG: soft lockup - CPU#1",
		"watchdog: BUG: soft lockup",
		"BUG: soft lockup detected on CPU#1",
	};
	struct env *env = *state;
	size_t i;

	for (i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		const struct vw_obs_report *r = report_of(env, cut[i]);

		assert_true(r->incomplete);
		assert_int_equal(r->culprit.tid, 0);
		assert_int_equal(r->n_cpus, i < 4);
		assert_int_equal(r->stuck_ns == VW_UNKNOWN, i > 2);
		/* The one finding of them has no more than that. */
		assert_int_equal(env->n, 1);
		assert_true(env->seen[0].evidence.stall.incomplete);
		assert_int_equal(env->seen[0].cause, VW_CAUSE_UNKNOWN);
	}
}

#define HEAD "[  580.0] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [vhost-3077:3101]\n"
#define TABLE "[  580.0] CPU#1 Utilization every 4s during lockup:\n"
#define ROW(n, system, irq)                                                                        \
	"[  580.0] \t#" #n ":  " #system "% system,\t  0% softirq,\t" #irq "% hardirq,\t  0% idle\n"

static void test_table(void **state)
{
	struct env *env = *state;

	assert_true(report_of(env, HEAD TABLE ROW(1, 0, 100))->interrupts);
	assert_true(
		report_of(env, HEAD TABLE ROW(1, 99, 1) ROW(2, 0, 100) ROW(3, 0, 100))->interrupts);
	/* Half of the time is not most of it. */
	assert_false(report_of(env, HEAD TABLE ROW(1, 0, 100) ROW(2, 100, 0))->interrupts);
	assert_true(report_of(env, HEAD TABLE ROW(1, 0, 100) ROW(2, 98, 1))->interrupts);
	assert_false(report_of(env, HEAD TABLE ROW(1, 100, 0) ROW(2, 100, 0))->interrupts);
	/* A moment of it does not make a storm, where the table says otherwise. */
	assert_false(
		report_of(
			env,
			HEAD TABLE ROW(1, 100, 0) ROW(
				2, 80,
				20) "[  580.0] CPU#1 Detect HardIRQ Time exceeds 50%. Most frequent"
				    " HardIRQs:\n[  580.0] \t#1: 330945    \tirq#7\n")
			->interrupts);
	assert_true(report_of(env, HEAD "[  580.0] CPU#1 Detect HardIRQ Time exceeds 50%. Most"
					" frequent HardIRQs:\n[  580.0] \t#1: 330945\tirq#7\n")
			    ->interrupts);
	/* Another CPU's. */
	assert_int_equal(env->reports[0].report.culprit.tid, 3101);
}

/* The head is gone, the table is there. */
static void test_wrapped(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(
		env,
		TABLE ROW(1, 100,
			  0) "[  580.1] CPU: 1 PID: 3101 Comm: vhost-3077 Not tainted 6.12.0 #1\n"
			     "[  580.1] RIP: 0010:handle_tx+0x1/0x2 [vhost_net]\n");
	assert_int_equal(r->kind, VW_REPORT_SOFT_LOCKUP);
	assert_true(r->incomplete);
	assert_int_equal(r->cpus[0], 1);
	assert_int_equal(r->culprit.tid, 3101);
	assert_string_equal(r->stack[0], "handle_tx");
	assert_true(r->stuck_ns == VW_UNKNOWN);
}

static void test_stack(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, HEAD "[  580.0] Modules linked in: vhost_net vhost\n"
				"[  580.0] CPU: 1 PID: 3101 Comm: vhost-3077 Not tainted 6.1.0 #1\n"
				"[  580.0] RIP: 0010:copy_it+0x11/0x50\n"
				"[  580.0] RSP: 0018:ff45b673003e3b50 EFLAGS: 00000246\n"
				"[  580.0] Call Trace:\n"
				"[  580.0]  <IRQ>\n"
				"[  580.0]  net_rx_action+0x1/0x2\n"
				"[  580.0]  </IRQ>\n"
				"[  580.0]  <TASK>\n"
				"[  580.0]  asm_sysvec_apic_timer_interrupt+0x12/0x20\n"
				"[  580.0] RIP: 0010:really_here+0x11/0x50\n"
				"[  580.0]  ? not_sure+0x1/0x2\n"
				"[  580.0]  tun_sendmsg+0x1/0x2 [tun]\n"
				"[  580.0]  vhost_worker+0x72/0xb0 [vhost]\n"
				"[  580.0]  </TASK>\n"
				"[  580.0] Sending NMI from CPU 1 to CPUs 0,2-3:\n"
				"[  580.0] NMI backtrace for cpu 0\n"
				"[  580.0] CPU: 0 PID: 9 Comm: bystander Not tainted 6.1.0 #1\n"
				"[  580.0] RIP: 0010:bystanding+0x11/0x50\n");
	assert_int_equal(r->culprit.tid, 3101);
	assert_int_equal(r->culprit.backend, VW_BACKEND_KTHREAD);
	assert_int_equal(r->n_stack, 3);
	assert_string_equal(r->stack[0], "really_here");
	assert_string_equal(r->stack[1], "tun_sendmsg");
	assert_string_equal(r->stack[2], "vhost_worker");
	assert_false(r->incomplete);
}

/* More frames than are kept, and names that are longer. */
static void test_deep_stack(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;
	char log[4096];
	int i, n;

	n = snprintf(log, sizeof(log),
		     HEAD "[  580.0] CPU: 1 PID: 3101 Comm: vhost-3077 Not tainted 6.1.0 #1\n");
	for (i = 0; i < 2 * VW_MAX_FRAMES; i++)
		n += snprintf(log + n, sizeof(log) - (size_t)n,
			      "[  580.0]  frame_%02d_with_a_name_of_more_than_forty_seven_letters"
			      "+0x1/0x2\n",
			      i);
	r = report_of(env, log);
	assert_int_equal(r->n_stack, VW_MAX_FRAMES);
	assert_int_equal(strlen(r->stack[0]), VW_FRAME_LEN - 1);
	assert_memory_equal(r->stack[VW_MAX_FRAMES - 1], "frame_15", 8);
}

static void test_no_reports(void **state)
{
	static const char *const others[] = {
		"[    1.0] watchdog: Delayed init of the lockup detector failed: -19",
		"[    1.0] watchdog: Watchdog detected hard LOCKUP on cpu 1",
		"[    1.0] app[12]: watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [a:1]",
		"Jun 08 12:00:00 host app: BUG: soft lockup - CPU#1 stuck for 22s! [a:1]",
		"[    1.0] BUG: scheduling while atomic: a/1/0x00000100",
		"[    1.0] CPU#1 Utilisation is fine",
		"[    1.0] \t#1: 0% system, 0% softirq, 100% hardirq, 0% idle",
	};
	struct env *env = *state;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		nothing_in(env, others[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_prefixes), TEST(test_oldest),	    TEST(test_odd_names),
		TEST(test_cut),	     TEST(test_table),	    TEST(test_wrapped),
		TEST(test_stack),    TEST(test_deep_stack), TEST(test_no_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
