// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports put together: several at a time, and logs that lack parts. */
#include "klog_env.h"

/* The console was too slow: a part of what was dropped may belong to the report. */
static void test_dropped_lines(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;

	f = finding_of(env, D1_FIRST "[  500.102000] \t(t=21004 jiffies g=7001 q=55)\n"
				     "** 80 printk messages dropped ** [  500.9] something\n"
				     "[  600.000000] something\n");
	assert_true(f->evidence.stall.incomplete);
	assert_int_equal(f->evidence.stall.gp, 7001);
	/* Before it, or when it was over: it is all there. */
	f = finding_of(env, "[  700.0] ** 80 printk messages dropped **\n"
			    "[  700.1] INFO: rcu_sched detected stall on CPU 3 (t=15010 jiffies)\n"
			    "[  800.0] something\n[  800.1] ** 80 printk messages dropped **\n");
	assert_false(f->evidence.stall.incomplete);
}

/* Nothing is left of a report but the stack of a CPU that tells of itself. */
static void test_only_a_stack(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, "[  500.1] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n"
			   "[  500.1] Call Trace:\n"
			   "[  500.1]  <IRQ>\n"
			   "[  500.1]  dump_stack+0x6b/0x83\n"
			   "[  500.1]  rcu_dump_cpu_stacks+0xa5/0xd7\n"
			   "[  500.1]  </IRQ>\n"
			   "[  500.1] RIP: 0010:tun_sendmsg+0x227/0x17d0\n"
			   "[  500.1]  handle_tx+0xad/0xe0 [vhost_net]\n");
	assert_int_equal(r->kind, VW_REPORT_RCU_STALL);
	assert_true(r->incomplete);
	assert_int_equal(r->culprit.tid, 8123);
	assert_int_equal(r->cpus[0], 2);
	assert_int_equal(r->n_stack, 2);
	assert_string_equal(r->stack[0], "tun_sendmsg");
	/* Any other stack is none of ours. */
	nothing_in(env, "[  600.1] WARNING: CPU: 2 PID: 8123 at kernel/foo.c:1 foo+0x1/0x2\n"
			"[  600.1] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n"
			"[  600.1] Call Trace:\n"
			"[  600.1]  foo+0x1/0x2\n");
}

/* Who told it is not who stalls: where the list is gone, the NMI tells for whom it was. */
static void test_wrapped_list(void **state)
{
	static const char
		tail[] = "[  500.1] rcu: \t(detected by 0, t=21004 jiffies, g=7001, q=5)\n",
		ran[] = "[  500.1] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n",
		other[] = "[  500.1] CPU: 0 PID: 9 Comm: detector Not tainted 5.7.0 #1\n";
	static const char *const announced[] = {
		"[  500.1] Sending NMI from CPU 0 to CPUs 2:\n",
		"[  500.1] Task dump for CPU 2:\n",
	};
	struct env *env = *state;
	const struct vw_obs_report *r;
	char log[512];
	size_t i;

	for (i = 0; i < sizeof(announced) / sizeof(announced[0]); i++) {
		snprintf(log, sizeof(log), "%s%s%s%s", tail, announced[i], ran, other);
		r = report_of(env, log);
		assert_true(r->incomplete);
		assert_int_equal(r->n_cpus, 1);
		assert_int_equal(r->cpus[0], 2);
		assert_int_equal(r->culprit.tid, 8123);
		assert_int_equal(r->detector_cpu, 0);
	}
	/* All are asked: nobody knows for whom. */
	snprintf(log, sizeof(log), "%s[  500.1] Sending NMI from CPU 0 to CPUs 1-3:\n%s", tail,
		 ran);
	r = report_of(env, log);
	assert_int_equal(r->n_cpus, 0);
	assert_int_equal(r->culprit.tid, 0);
}

/* A dump was announced, and the log ends. */
static void test_announced_dump(void **state)
{
	struct env *env = *state;

	assert_true(report_of(env,
			      "INFO: rcu_sched detected stalls on CPUs/tasks: { 2} (detected by"
			      " 0, t=21004 jiffies, g=7001)\n"
			      "Sending NMI from CPU 0 to CPUs 2:\n")
			    ->incomplete);
	assert_false(report_of(env,
			       "INFO: rcu_sched detected stalls on CPUs/tasks: { 2} (detected by"
			       " 0, t=21004 jiffies, g=7001)\n"
			       "Sending NMI from CPU 0 to CPUs 2:\n"
			       "NMI backtrace for cpu 2 skipped: idling at foo+0x1/0x2\n")
			     ->incomplete);
}

/* What a line could also belong to. */
static void test_neighbours(void **state)
{
	struct env *env = *state;

	/* A line about a CPU is not for an expedited stall, which has them in a list. */
	lines(env, "[  500.1] INFO: rcu_sched detected expedited stalls on CPUs/tasks: {\n"
		   "[  500.1] rcu: \t5-....: (20990 ticks this GP) idle=3f2/1/0x4\n"
		   "[  500.1]  0-.... } 7 jiffies s: 91 root: 0x1/.\n");
	finish(env);
	assert_int_equal(env->n_reports, 2);
	assert_int_equal(env->reports[0].report.n_cpus, 1);
	assert_int_equal(env->reports[0].report.cpus[0], 0);
	/* The table of one CPU is not for the lockup of another. */
	env->n_reports = 0;
	lines(env, "[  600.1] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [a:31]\n"
		   "[  600.1] watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [b:32]\n"
		   "[  600.1] CPU#1 Utilization every 4s during lockup:\n"
		   "[  600.1] \t#1: 0% system, 0% softirq, 100% hardirq, 0% idle\n"
		   "[  600.1] CPU#3 Utilization every 4s during lockup:\n"
		   "[  600.1] \t#1: 100% system, 0% softirq, 0% hardirq, 0% idle\n");
	finish(env);
	assert_int_equal(env->n_reports, 2);
	assert_true(env->reports[0].report.interrupts);
	assert_false(env->reports[1].report.interrupts);
	/* A warning before a report has nothing to do with it, nor with its dump. */
	env->n_reports = 0;
	lines(env, "[  700.1] WARNING: CPU: 0 PID: 9 at kernel/foo.c:1 foo+0x1/0x2\n"
		   "[  700.1] INFO: rcu_sched self-detected stall on CPU\t0-....: (9 ticks this GP)"
		   " idle=1/1/0 (t=21004 jiffies g=7001 q=1)\n"
		   "[  700.1] CPU: 0 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n"
		   "[  700.1]  handle_tx+0x1/0x2\n"
		   "[  700.1] CPU: 0 PID: 9 Comm: other Not tainted 5.7.0 #1\n"
		   "[  700.1]  in_other+0x1/0x2\n"
		   "[  700.1] other           R  running task        0    9      2 0x00000008\n"
		   "[  700.1]  in_other+0x1/0x2\n");
	finish(env);
	assert_int_equal(env->n_reports, 1);
	assert_int_equal(env->reports[0].report.cpus[0], 0);
	assert_int_equal(env->reports[0].report.culprit.tid, 8123);
	assert_int_equal(env->reports[0].report.n_stack, 1);
}

/* Two CPUs report at the same time; the caller field tells the lines apart. */
static void test_callers(void **state)
{
	struct env *env = *state;
	const struct vw_finding *a, *b;

	lines(env, "[  500.1][    C0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\n"
		   "[  500.1][    C3] watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [a:31]\n"
		   "[  500.1][    C0] rcu: \t2-....: (20990 ticks this GP) idle=3f2/1/0x4\n"
		   "[  500.1][    C3] CPU: 3 PID: 31 Comm: a Not tainted 5.7.0 #1\n"
		   "[  500.1][    C0] rcu: \t(detected by 0, t=21004 jiffies, g=7001, q=5)\n"
		   "[  500.1][    C3]  in_a+0x1/0x2\n"
		   "[  500.1][    C2] NMI backtrace for cpu 2\n"
		   "[  500.1][    C3]  below_a+0x1/0x2\n"
		   "[  500.1][    C2] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n"
		   "[  500.1][    C3]  bottom_of_a+0x1/0x2\n"
		   "[  500.1][    C2]  handle_tx+0x1/0x2\n"
		   "[  500.1][    C3]  end_of_a+0x1/0x2\n");
	finish(env);
	assert_int_equal(env->n, 2);
	a = env->seen[0].kind == VW_RCU_STALL ? &env->seen[0] : &env->seen[1];
	b = env->seen[0].kind == VW_RCU_STALL ? &env->seen[1] : &env->seen[0];
	assert_int_equal(a->culprit.tid, 8123);
	assert_int_equal(a->evidence.stall.gp, 7001);
	assert_int_equal(a->evidence.stall.detector_cpu, 0);
	assert_int_equal(a->evidence.n_stack, 1);
	assert_string_equal(a->evidence.stack[0], "handle_tx");
	assert_false(a->evidence.stall.incomplete);
	assert_int_equal(b->kind, VW_SOFT_LOCKUP);
	assert_int_equal(b->culprit.tid, 31);
	assert_int_equal(b->evidence.n_stack, 4);
	assert_string_equal(b->evidence.stack[3], "end_of_a");
}

/* Without it the CPU that a line is about, and how the report is told, must do. */
static void test_interleaved(void **state)
{
	struct env *env = *state;

	lines(env, "[  500.1] rcu: INFO: rcu_sched self-detected stall on CPU\n"
		   "[  500.1] rcu: INFO: rcu_bh detected stalls on CPUs/tasks:\n"
		   "[  500.1] rcu: \t2-....: (20990 ticks this GP) idle=3f2/1/0x4\n"
		   "[  500.1] rcu: \t5-....: (20990 ticks this GP) idle=3f2/1/0x4\n"
		   "[  500.1] rcu: \t(t=21004 jiffies g=7001 q=55)\n"
		   "[  500.1] rcu: \t(detected by 0, t=21010 jiffies, g=33, q=5)\n"
		   "[  500.1] CPU: 5 PID: 55 Comm: other Not tainted 5.7.0 #1\n"
		   "[  500.1]  in_other+0x1/0x2\n"
		   "[  500.1] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n"
		   "[  500.1]  handle_tx+0x1/0x2\n");
	finish(env);
	assert_int_equal(env->n_reports, 2);
	/* Which of the two CPUs belongs to whom cannot be told; the tails can. */
	assert_int_equal(env->reports[0].report.gp, 7001);
	assert_int_equal(env->reports[1].report.gp, 33);
	assert_int_equal(env->reports[1].report.detector_cpu, 0);
	assert_int_equal(env->reports[0].report.detector_cpu, -1);
	assert_false(env->reports[0].report.incomplete || env->reports[1].report.incomplete);
}

/* Lines that have lost their stamp still belong to their report. */
static void test_continuation(void **state)
{
	struct env *env = *state;

	assert_int_equal(line(env, "[  500.1] rcu: INFO: rcu_sched self-detected stall on CPU"), 1);
	assert_int_equal(line(env, "\t2-....: (20990 ticks this GP) idle=3f2/1/0x4"), 1);
	assert_int_equal(line(env, "something else"), 0);
	assert_int_equal(line(env, "\t(t=21004 jiffies g=7001 q=55)"), 1);
	assert_int_equal(line(env, "CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1"), 1);
	assert_int_equal(line(env, ""), 0);
	assert_int_equal(line(env, "[  500.2] something else"), 1);
	assert_int_equal(line(env, "Jun 08 12:00:00 host app[1]: something else"), 0);
	finish(env);
	assert_int_equal(env->n_reports, 1);
	assert_int_equal(env->reports[0].report.culprit.tid, 8123);
	assert_int_equal(env->reports[0].ts_ns, 500 * SEC + 100 * MS);
}

/* The console event of a trace has its own time; a stamp in its text may be of another clock. */
static void test_time_of_the_caller(void **state)
{
	static const char text[] = "INFO: rcu_sched detected stall on CPU 3 (t=15010 jiffies)";
	static const char other[] = "[    1.0] INFO: rcu_sched detected stall on CPU 3"
				    " (t=35010 jiffies)";
	struct env *env = *state;

	assert_int_equal(vw_klog_line(env->klog, text, strlen(text), 77 * SEC), 1);
	assert_int_equal(vw_klog_now(env->klog), 77 * SEC);
	finish(env);
	assert_int_equal(env->reports[0].ts_ns, 77 * SEC);
	env->n_reports = 0;
	assert_int_equal(vw_klog_line(env->klog, other, strlen(other), 78 * SEC), 1);
	finish(env);
	assert_int_equal(env->reports[0].ts_ns, 78 * SEC);
	assert_int_equal(env->n_losses, 0);
}

/* The host has booted: its grace periods count from the beginning again. */
static void test_boot(void **state)
{
	struct env *env = *state;

	lines(env, D1_FIRST "[  500.102000] \t(t=21004 jiffies g=7001 q=55)\n"
			    "[    0.000000] Linux version 5.7.0 (gcc) #1\n"
			    "[   20.000000] rcu: INFO: rcu_sched self-detected stall on CPU\n"
			    "[   20.000000] rcu: \t2-....: (750 ticks this GP) idle=19e/1/0x4\n"
			    "[   20.000000] rcu: \t(t=22000 jiffies g=7001 q=9)\n");
	finish(env);
	assert_int_equal(env->n_losses, 1);
	assert_int_equal(env->n, 2);
	assert_int_equal(env->seen[0].start_ns, 500 * SEC + 100 * MS);
	/* Times go on, as nobody knows how long it was down. */
	assert_true(env->seen[1].start_ns >= 520 * SEC && env->seen[1].start_ns < 521 * SEC);
	/* The same where the message of the boot itself is missing, or made by journalctl. */
	lines(env, "[    5.0] something\n");
	assert_int_equal(env->n_losses, 1);
	lines(env, "[  300.0] something\n[    1.0] something\n");
	assert_int_equal(env->n_losses, 2);
	lines(env, "-- Reboot --\n");
	assert_int_equal(env->n_losses, 3);
}

/* CPUs print a little out of order; that is no boot, and time does not run backwards. */
static void test_out_of_order(void **state)
{
	struct env *env = *state;

	lines(env, "[  500.0] something\n[  499.9] something\n");
	assert_int_equal(vw_klog_now(env->klog), 500 * SEC);
	lines(env, "[  440.0] something\n");
	assert_int_equal(env->n_losses, 0);
	lines(env, "[  439.9] something\n");
	assert_int_equal(env->n_losses, 1);
	assert_int_equal(vw_klog_now(env->klog), 500 * SEC);
}

/* A file of syslog where some lines have the kernel's own time and some have not. */
static void test_two_clocks(void **state)
{
	struct env *env = *state;

	lines(env, "Jun  8 12:00:00 h kernel: [  500.0] something\n"
		   "Jun  8 12:00:00 h kernel: something\n"
		   "Jun  8 12:00:01 h kernel: [  501.0] something\n");
	assert_int_equal(vw_klog_now(env->klog), 501 * SEC);
	assert_int_equal(env->n_losses, 0);
}

/* Memory does not grow with what comes. */
static void test_many_reports(void **state)
{
	struct env *env = *state;
	char text[128];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text),
			 "[%5d.5][%5s%d] watchdog: BUG: soft lockup - CPU#%d"
			 " stuck for 22s! [a:%d]",
			 100 + i / 500, "T", i, i, i + 1);
		assert_int_equal(line(env, text), 1);
		env->n = 0;
	}
	/* All but those that are under construction have been given away. */
	assert_int_equal(env->n_reports, MAX_REPORTS);
	assert_int_equal(env->reports[0].report.culprit.tid, 1);
	assert_int_equal(env->reports[63].report.culprit.tid, 64);
}

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

/* Pieces of real lines with bytes changed, cut and put together at random. */
static void test_any_bytes(void **state)
{
	static const char whole[] = D1_FIRST D1_REST
		"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [vhost-3077:3101]\n"
		"CPU#1 Utilization every 4s during lockup:\n\t#1: 0% system, 100% hardirq, 0% idle\n"
		"rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 3-.... P12 } 240"
		" jiffies s: 2301 root: 0x88/.\n6,123,456789,-,caller=T1;\\x09text\n"
		"[Mon Jun  8 12:00:00 2020] Task dump for CPU 2:\n"
		"vhost-8100      R  running task        0  8123      2 0x00000008\n"
		"Jun 08 12:00:00 host kernel: RIP: 0010:[<ffff>] [<ffff>] tun_sendmsg+0x1/0x2\n"
		"<6>kern  :info  : [ 1.0] NMI backtrace for cpu 2 skipped: idling\n"
		"rcu_sched kthread starved for 5 jiffies! g7 f0x0 ->state=0x0 ->cpu=3\n";
	struct env *env = *state;
	uint64_t seed = 20260101;
	char text[400];
	int i;

	for (i = 0; i < 100000; i++) {
		size_t len = next(&seed) % sizeof(text);
		size_t from = next(&seed) % (sizeof(whole) - len);
		size_t n = next(&seed) % 4;

		memcpy(text, whole + from, len);
		while (n-- && len)
			text[next(&seed) % len] = (char)next(&seed);
		assert_true(vw_klog_line(env->klog, text, len, VW_UNKNOWN) >= 0);
		if (env->n > MAX_SEEN / 2)
			env->n = 0;
	}
	env->n = 0;
	finish(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_dropped_lines),  TEST(test_only_a_stack), TEST(test_wrapped_list),
		TEST(test_announced_dump), TEST(test_neighbours),   TEST(test_callers),
		TEST(test_interleaved),	   TEST(test_continuation), TEST(test_time_of_the_caller),
		TEST(test_boot),	   TEST(test_out_of_order), TEST(test_two_clocks),
		TEST(test_many_reports),   TEST(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
