// SPDX-License-Identifier: GPL-2.0-or-later
/* The wordings of RCU stalls from 2.6.3x to 7.x. */
#include "klog_env.h"

static void is_list(const int32_t *list, unsigned int n, const char *want)
{
	char got[128] = "";
	unsigned int i;

	for (i = 0; i < n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%d", i ? " " : "",
			 list[i]);
	assert_string_equal(got, want);
}

#define CPUS(r, want) is_list((r)->cpus, (r)->n_cpus, want)
#define TASKS(r, want) is_list((r)->tasks, (r)->n_tasks, want)

/* Case D2. */
static void test_braces(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, "INFO: rcu_sched_state detected stall on CPU 3 (t=15010 jiffies)");
	assert_int_equal(r->kind, VW_REPORT_RCU_STALL);
	assert_string_equal(r->flavor, "rcu_sched_state");
	CPUS(r, "3");
	TASKS(r, "");
	assert_int_equal(r->jiffies, 15010);
	assert_true(r->gp == VW_UNKNOWN);
	assert_int_equal(r->detector_cpu, -1);
	assert_int_equal(r->culprit.tid, 0);
	assert_int_equal(r->culprit_cpu, -1);
	assert_true(env->reports[0].ts_ns == VW_UNKNOWN);
	assert_false(r->expedited);
	assert_false(r->incomplete);

	r = report_of(env, "INFO: rcu_sched detected stalls on CPUs/tasks: { 4 40 51} (detected by"
			   " 15, t=60011 jiffies, g=1201, c=1200, q=9100)");
	assert_string_equal(r->flavor, "rcu_sched");
	CPUS(r, "4 40 51");
	assert_int_equal(r->detector_cpu, 15);
	assert_int_equal(r->jiffies, 60011);
	assert_int_equal(r->gp, 1201);
	assert_int_equal(r->culprit.tid, 0);
	assert_false(r->incomplete);

	r = report_of(env, "INFO: rcu_sched self-detected stall on CPU { 9} (t=1800500 jiffies"
			   " g=500101 c=500100 q=0)");
	CPUS(r, "9");
	assert_int_equal(r->detector_cpu, -1);
	assert_int_equal(r->jiffies, 1800500);
	assert_int_equal(r->gp, 500101);
	assert_false(r->incomplete);
}

/* Case D4. */
static void test_expedited(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: {"
			   " 0-... } 7 jiffies s: 91 root: 0x1/.");
	assert_true(r->expedited);
	assert_string_equal(r->flavor, "rcu_preempt");
	CPUS(r, "0");
	TASKS(r, "");
	assert_int_equal(r->jiffies, 7);
	assert_int_equal(r->gp, 91);
	assert_int_equal(r->detector_cpu, -1);
	assert_false(r->incomplete);

	r = report_of(env, "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: {"
			   " P4711 } 21400 jiffies s: 133 root: 0x0/T");
	CPUS(r, "");
	TASKS(r, "4711");
	assert_int_equal(r->jiffies, 21400);

	r = report_of(env, "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: {"
			   " 3-.... 7-..D. P12 } 240 jiffies s: 2301 root: 0x88/.");
	CPUS(r, "3 7");
	TASKS(r, "12");
	assert_int_equal(r->jiffies, 240);
	assert_int_equal(r->gp, 2301);
}

/* The console breaks the list where another message comes between. */
static void test_list_over_lines(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, "[   50.0] rcu: INFO: rcu_preempt detected expedited stalls on"
			   " CPUs/tasks: {\n"
			   "[   50.1] eth0: link up 1000\n"
			   " 0-....\n"
			   "[   50.2]  12-...D P77\n"
			   "[   50.3]  } 3076 jiffies s: 5117 root: 0x1/.\n"
			   "[   50.4] rcu: blocking rcu_node structures (internal RCU debug):"
			   " l=1:0-15:0x1/.\n"
			   "[   50.5] 7 17\n");
	CPUS(r, "0 12");
	TASKS(r, "77");
	assert_int_equal(r->jiffies, 3076);
	assert_int_equal(r->gp, 5117);
	assert_false(r->incomplete);
}

struct wording {
	const char *log, *cpus, *tasks;
	uint64_t jiffies, gp;
	int32_t detector;
};

static const struct wording wordings[] = {
	/* 2.6.29 to 2.6.34 */
	{ "INFO: RCU detected CPU 3 stall (t=10002 jiffies)", "3", "", 10002, VW_UNKNOWN, -1 },
	{ "INFO: RCU detected CPU 3 stall (t=4295/1002 jiffies)", "3", "", 1002, VW_UNKNOWN, -1 },
	{ "INFO: RCU detected CPU stalls: 1 12 (detected by 2, t=2502 jiffies)", "1 12", "", 2502,
	  VW_UNKNOWN, 2 },
	/* 2.6.35 to 3.2 */
	{ "INFO: rcu_bh_state detected stalls on CPUs/tasks: { 4 40 51} (detected by 15, t=2502"
	  " jiffies, g=3, c=2, q=1)",
	  "4 40 51", "", 2502, 3, 15 },
	{ "INFO: rcu_preempt_state detected stalls on CPUs/tasks: { P4711} (detected by 1, t=2502"
	  " jiffies)",
	  "", "4711", 2502, VW_UNKNOWN, 1 },
	/* 3.3 to 4.x: with RCU_CPU_STALL_INFO and without */
	{ "INFO: rcu_sched self-detected stall on CPU\n"
	  "\t2: (14999 ticks this GP) idle=5d1/140000000000001/0 softirq=7/7 \n"
	  "\t (t=15000 jiffies g=4 c=3 q=9)",
	  "2", "", 15000, 4, -1 },
	{ "INFO: rcu_sched self-detected stall on CPU { 2}  (t=15000 jiffies g=4 c=3 q=9)", "2", "",
	  15000, 4, -1 },
	{ "INFO: rcu_preempt detected stalls on CPUs/tasks:\n"
	  "\tTasks blocked on level-0 rcu_node (CPUs 0-3): P4711 P99\n"
	  "\t(detected by 0, t=15002 jiffies, g=4, c=3, q=9)",
	  "", "4711 99", 15002, 4, 0 },
	{ "INFO: rcu_sched detected stalls on CPUs/tasks:\n"
	  "\t2-...: (1 GPs behind) idle=5d1/140000000000001/0 softirq=7/7 fqs=2 \n"
	  "\t14-...!: (0 ticks this GP) idle=000/0/0 softirq=7/7 fqs=0 (false positive?)\n"
	  "\t(detected by 0, t=15002 jiffies, g=4, c=3, q=9)",
	  "2 14", "", 15002, 4, 0 },
	/* 4.20 and later */
	{ "rcu: INFO: rcu_sched self-detected stall on CPU\n"
	  "rcu: \t1-....: (750 ticks this GP) idle=19e/1/0x4000000000000000 softirq=1/1 fqs=375 \n"
	  "\t(t=751 jiffies g=-751 q=9)",
	  "1", "", 751, (uint64_t)-751, -1 },
	{ "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\n"
	  "rcu: \t3-.O.9: (21 GPs behind) idle=4e2c/1/0x4000000000000000 softirq=1/1 fqs=375"
	  " rcuc=5252 jiffies(starved)\n"
	  "rcu: \tTasks blocked on level-1 rcu_node (CPUs 0-15): P4711/1:b..l P12\n"
	  "rcu: \t(detected by 12, t=5252 jiffies, g=7001, q=22 ncpus=16)",
	  "3", "4711 12", 5252, 7001, 12 },
	/* 6.2 and later, with the times of the CPU */
	{ "rcu: INFO: rcu_preempt self-detected stall on CPU\n"
	  "rcu: \t0-....: (5250 ticks this GP) idle=1a2c/1/0x4000000000000000 softirq=1/1 fqs=2625\n"
	  "rcu: \t         hardirqs   softirqs   csw/system\n"
	  "rcu: \t number:      624         45            0\n"
	  "rcu: \tcputime:       69          1         2425   ==> 2500(ms)\n"
	  "rcu: \t(t=5251 jiffies g=7001 q=22 ncpus=16)",
	  "0", "", 5251, 7001, -1 },
	/* one CPU only: tiny RCU */
	{ "INFO: rcu_sched stall on CPU (20 ticks this GP) idle=1 (t=2502 jiffies q=3)", "", "",
	  2502, VW_UNKNOWN, -1 },
	/* reports that the kernel keeps short */
	{ "rcu: INFO: rcu_preempt detected stall, but suppressed full report due to a stuck"
	  " CSD-lock.",
	  "", "", VW_UNKNOWN, VW_UNKNOWN, -1 },
	{ "rcu: INFO: rcu_preempt detected expedited stalls, but suppressed full report due to a"
	  " stuck CSD-lock.",
	  "", "", VW_UNKNOWN, VW_UNKNOWN, -1 },
};

static void test_wordings(void **state)
{
	struct env *env = *state;
	size_t i;

	for (i = 0; i < sizeof(wordings) / sizeof(wordings[0]); i++) {
		const struct wording *w = &wordings[i];
		const struct vw_obs_report *r = report_of(env, w->log);

		CPUS(r, w->cpus);
		TASKS(r, w->tasks);
		if (r->jiffies != w->jiffies || r->gp != w->gp || r->incomplete)
			print_error("in: %s\n", w->log);
		assert_int_equal(r->jiffies, w->jiffies);
		assert_int_equal(r->gp, w->gp);
		assert_int_equal(r->detector_cpu, w->detector);
		assert_int_equal(r->culprit.tid, 0);
		assert_false(r->incomplete);
		assert_false(r->gp_kthread_starved || r->timer_late);
	}
}

/* What is no report, though it holds its words. */
static void test_no_reports(void **state)
{
	static const char *const others[] = {
		"[    1.0] rcu: Hierarchical RCU implementation.",
		"[    1.0] rcu: \tRCU CPU stall warnings timeout set to 21 (rcu_cpu_stall_timeout).",
		"[    1.0] app[12]: rcu: INFO: rcu_sched self-detected stall on CPU",
		"[    1.0] the text INFO: rcu_sched self-detected stall on CPU is known",
		"[    1.0] INFO: foo self-detected stall on CPU",
		"[    1.0] INFO: rcu_sched is fine",
		"[    1.0] INFO: task vhost-8100:8123 blocked for more than 120 seconds.",
		"[    1.0] rcu: INFO: Stall ended before state dump start",
		"[    1.0] rcu: rcu_sched kthread starved for 5252 jiffies! g7 f0x0",
		"Jun 08 12:00:00 host app[12]: rcu: INFO: rcu_sched self-detected stall on CPU",
		"<14>[    1.0] rcu: INFO: rcu_sched self-detected stall on CPU",
		"user  :notice: [    1.0] rcu: INFO: rcu_sched self-detected stall on CPU",
		"12,1,1000000,-;rcu: INFO: rcu_sched self-detected stall on CPU",
		"[    1.0] 2-....: (20990 rabbits) and so on",
		"[    1.0] (t=shirt jiffies",
	};
	struct env *env = *state;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		nothing_in(env, others[i]);
}

#define HEAD "[  500.1] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:\n"
#define CPU_2 "[  500.1] rcu: \t2-....: (20990 ticks this GP) idle=3f2/1/0x4 softirq=9/9 fqs=103 \n"
#define TAIL "[  500.1] rcu: \t(detected by 0, t=21004 jiffies, g=7001, q=55 ncpus=4)\n"
#define NMI "[  500.2] Sending NMI from CPU 0 to CPUs 2:\n[  500.2] NMI backtrace for cpu 2\n"
#define RAN_ON_2 "[  500.2] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n"
#define STACK                                                                                      \
	"[  500.2] RIP: 0010:tun_sendmsg+0x10/0x90\n"                                              \
	"[  500.2] Call Trace:\n[  500.2]  <TASK>\n"                                               \
	"[  500.2]  ? handle_tx_copy+0x1f8/0x5a0\n"                                                \
	"[  500.2]  handle_tx+0xad/0xe0 [vhost_net]\n"                                             \
	"[  500.2]  vhost_task_fn+0x10/0x20 [vhost]\n"                                             \
	"[  500.2]  </TASK>\n"
#define STARVED(cpu)                                                                               \
	"[  500.3] rcu: rcu_sched kthread starved for 5252 jiffies! g7001 f0x0"                    \
	" RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=" #cpu "\n"                                         \
	"[  500.3] rcu: \tUnless rcu_sched kthread gets sufficient CPU time, OOM is now"           \
	" expected behavior.\n[  500.3] rcu: RCU grace-period kthread stack dump:\n"               \
	"[  500.3] task:rcu_sched       state:R stack:    0 pid:   14 ppid:     2 flags:0x4000\n"  \
	"[  500.3] Call Trace:\n[  500.3]  __schedule+0x273/0x6e0\n"

static void test_culprit(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r = report_of(env, HEAD CPU_2 TAIL NMI RAN_ON_2 STACK);

	assert_int_equal(r->culprit.tid, 8123);
	assert_string_equal(r->culprit.comm, "vhost-8100");
	assert_int_equal(r->culprit.role, VW_ROLE_VHOST_WORKER);
	assert_int_equal(r->culprit.owner_pid, 8100);
	assert_true(r->culprit.owner_by_name);
	assert_true(r->culprit.watched);
	assert_int_equal(r->culprit.backend, VW_BACKEND_VHOST_TASK);
	assert_int_equal(r->culprit_cpu, 2);
	assert_int_equal(r->n_stack, 3);
	assert_string_equal(r->stack[0], "tun_sendmsg");
	assert_string_equal(r->stack[1], "handle_tx");
	assert_string_equal(r->stack[2], "vhost_task_fn");
	assert_int_equal(env->reports[0].ts_ns, 500 * SEC + 100 * MS);
}

/* All CPUs are dumped; who ran on the one that stalls is what counts. */
static void test_bystanders(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, HEAD CPU_2 TAIL
		      "[  500.2] sending NMI to all CPUs:\n"
		      "[  500.2] NMI backtrace for cpu 0\n"
		      "[  500.2] CPU: 0 PID: 77 Comm: bystander Not tainted 5.7.0 #1\n"
		      "[  500.2] Call Trace:\n[  500.2]  print_other_cpu_stall+0x1/0x2\n"
		      "[  500.2] NMI backtrace for cpu 1\n"
		      "[  500.2] CPU: 1 PID: 78 Comm: vhost-66 Not tainted 5.7.0 #1\n"
		      "[  500.2] Call Trace:\n[  500.2]  bystanding+0x1/0x2\n"
		      "[  500.2] NMI backtrace for cpu 2\n" RAN_ON_2 STACK
		      "[  500.2] NMI backtrace for cpu 3 skipped: idling at foo+0x1/0x2\n");
	assert_int_equal(r->culprit.tid, 8123);
	assert_int_equal(r->n_stack, 3);
	/* Nobody else is blamed where the stalled CPU does not answer. */
	r = report_of(env, HEAD CPU_2 TAIL
		      "[  500.2] CPU: 0 PID: 77 Comm: detector Not tainted 5.7.0 #1\n"
		      "[  500.2] Call Trace:\n[  500.2]  dump_stack+0x1/0x2\n"
		      "[  500.9] WARNING: CPU: 2 PID: 12 at kernel/foo.c:12 foo+0x1/0x2\n"
		      "[  500.9] CPU: 2 PID: 12 Comm: warned Not tainted 5.7.0 #1\n");
	assert_int_equal(r->culprit.tid, 0);
	assert_int_equal(r->n_stack, 0);
	/* The idle task did nothing. */
	r = report_of(env, HEAD CPU_2 TAIL
		      "[  500.2] CPU: 2 PID: 0 Comm: swapper/2 Not tainted 5.7.0 #1\n");
	assert_int_equal(r->culprit.tid, 0);
}

/* The forms in which a task is shown. */
static void test_task_dumps(void **state)
{
	static const char *const dumps[] = {
		"[  500.2] CPU: 2 UID: 0 PID: 8123 Comm: vhost-8100 Tainted: G S W  6.12.0 #1\n",
		"[  500.2] CPU: 2 PID: 8123 Comm: vhost-8100 Tainted: G  OE 5.10.0-46 #1 Debian\n",
		"[  500.2] CPU 2 \n[  500.2] Modules linked in: foo\n[  500.2] \n"
		"[  500.2] Pid: 8123, comm: vhost-8100 Not tainted 2.6.32-5-amd64 #1\n",
		"[  500.2] Task dump for CPU 2:\n"
		"[  500.2] task:vhost-8100      state:R  running task     stack:    0 pid: 8123"
		" ppid:     2 flags:0x00004008\n",
		"[  500.2] Task dump for CPU 2:\n"
		"[  500.2] task:vhost-8100 state:R running task stack:14416 pid:8123 tgid:8123"
		" ppid:2 task_flags:0x208040 flags:0x00004008\n",
		"[  500.2] Task dump for CPU 2:\n"
		"[  500.2] vhost-8100      R  running task        0  8123      2 0x00000008\n",
	};
	struct env *env = *state;
	char log[2048];
	size_t i;

	for (i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++) {
		const struct vw_obs_report *r;

		snprintf(log, sizeof(log), "%s%s%s%s", HEAD CPU_2 TAIL, dumps[i],
			 "[  500.2] Call Trace:\n", "[  500.2]  handle_tx+0xad/0xe0 [vhost_net]\n");
		r = report_of(env, log);
		assert_int_equal(r->culprit.tid, 8123);
		assert_string_equal(r->culprit.comm, "vhost-8100");
		assert_int_equal(r->culprit_cpu, 2);
		assert_int_equal(r->n_stack, 1);
		assert_string_equal(r->stack[0], "handle_tx");
		assert_false(r->incomplete);
	}
}

static void test_odd_names(void **state)
{
	static const struct {
		const char *comm;
		enum vw_role role;
	} names[] = {
		{ "CPU 3/KVM", VW_ROLE_VCPU },	    { "kworker/2:1", VW_ROLE_KWORKER },
		{ "vhost-", VW_ROLE_OTHER },	    { "vhost-12a", VW_ROLE_OTHER },
		{ "a Comm: b", VW_ROLE_OTHER },	    { "vhost-4194304", VW_ROLE_VHOST_WORKER },
		{ "vhost-4194305", VW_ROLE_OTHER }, { "kvm-nx-lpage-re", VW_ROLE_OTHER },
	};
	struct env *env = *state;
	char log[1024];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct vw_obs_report *r;

		snprintf(log, sizeof(log),
			 HEAD CPU_2 TAIL
			 "[  500.2] CPU: 2 PID: 8123 Comm: %s Not tainted 5.7.0 #1\n",
			 names[i].comm);
		r = report_of(env, log);
		assert_string_equal(r->culprit.comm, names[i].comm);
		assert_int_equal(r->culprit.role, names[i].role);
	}
}

/* arm64 has no marks around interrupts and says the first place twice. */
static void test_arm64(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, HEAD CPU_2 TAIL RAN_ON_2
		      "[  500.2] pc : handle_tx+0x10/0x90 [vhost_net]\n"
		      "[  500.2] lr : handle_tx+0x8/0x90 [vhost_net]\n"
		      "[  500.2] Call trace:\n"
		      "[  500.2]  handle_tx+0x10/0x90 [vhost_net] (P)\n"
		      "[  500.2]  handle_tx+0x10/0x90 [vhost_net]\n"
		      "[  500.2]  vhost_task_fn+0x44/0x88\n");
	assert_int_equal(r->n_stack, 3);
	assert_string_equal(r->stack[0], "handle_tx");
	assert_string_equal(r->stack[1], "handle_tx");
	assert_string_equal(r->stack[2], "vhost_task_fn");
	r = report_of(env, HEAD CPU_2 TAIL RAN_ON_2
		      "[  500.2] Call trace:\n"
		      "[  500.2]  dump_backtrace+0x0/0x1a0\n"
		      "[  500.2]  rcu_sched_clock_irq+0x0/0x1a0\n"
		      "[  500.2]  el1_irq+0xb8/0x180\n"
		      "[  500.2]  handle_tx+0x10/0x90 [vhost_net]\n");
	assert_int_equal(r->n_stack, 1);
	assert_string_equal(r->stack[0], "handle_tx");
}

/* A task that sat in a read-side section when it was taken off its CPU. */
static void test_blocked_reader(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(
		env, "[  500.1] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\n"
		     "[  500.1] rcu: \tTasks blocked on level-0 rcu_node (CPUs 0-3): P4711/1:b..l\n"
		     "[  500.1] rcu: \t(detected by 0, t=21004 jiffies, g=7001, q=55 ncpus=4)\n"
		     "[  500.2] task:reader          state:R  running task     stack:    0"
		     " pid: 4711 ppid:     1 flags:0x4000\n"
		     "[  500.2] Call Trace:\n[  500.2]  reading+0x1/0x2\n"
		     "[  500.2] task:other           state:R  running task     stack:    0"
		     " pid: 4712 ppid:     1 flags:0x4000\n");
	assert_int_equal(r->culprit.tid, 4711);
	assert_int_equal(r->culprit_cpu, -1);
	assert_string_equal(r->culprit.comm, "reader");
	assert_string_equal(r->stack[0], "reading");
}

static void test_rcu_tasks(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, "[  500.1] INFO: rcu_tasks detected stalls on tasks:\n"
			   "[  500.1] 00000000b92b832d: .. nvcsw: 1/1 holdout: 1 idle_cpu: -1/7\n"
			   "[  500.1] task:osnoise/7       state:R  running task     stack:    0"
			   " pid: 2133 ppid:     2 flags:0x00004000\n"
			   "[  500.1] Call Trace:\n[  500.1]  osnoise_main+0x10e/0x450\n");
	assert_string_equal(r->flavor, "rcu_tasks");
	TASKS(r, "2133");
	assert_int_equal(r->culprit.tid, 2133);
	assert_string_equal(r->culprit.comm, "osnoise/7");
	assert_false(r->incomplete);
	r = report_of(env, "[  900.1] INFO: rcu_tasks_trace detected stalls on tasks:\n"
			   "[  900.1] P85: ... nesting: 1N cpu: 2\n[  900.1] P86: .\n");
	TASKS(r, "85 86");
}

/* The thread that drives RCU does not run: the one that runs where it should is to blame. */
static void test_starved_kthread(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(env, HEAD CPU_2 TAIL NMI RAN_ON_2 STACK STARVED(
				   3) "[  500.3] rcu: Stack dump where RCU GP kthread last ran:\n"
				      "[  500.3] Sending NMI from CPU 0 to CPUs 3:\n"
				      "[  500.3] NMI backtrace for cpu 3\n"
				      "[  500.3] CPU: 3 PID: 55 Comm: rt-hog Not tainted 5.7.0 #1\n"
				      "[  500.3] RIP: 0033:0x7f99bf52fc00\n");
	assert_true(r->gp_kthread_starved);
	assert_int_equal(r->culprit.tid, 55);
	assert_int_equal(r->culprit_cpu, 3);
	/* On the stalled CPU itself, told before its dump. */
	r = report_of(env, HEAD CPU_2 TAIL STARVED(2) NMI RAN_ON_2 STACK);
	assert_int_equal(r->culprit.tid, 8123);
	/* Not told: not guessed. */
	r = report_of(env, HEAD CPU_2 TAIL NMI RAN_ON_2 STACK STARVED(3));
	assert_true(r->gp_kthread_starved);
	assert_int_equal(r->culprit.tid, 0);
	/* 4.0 says no more. */
	r = report_of(env,
		      HEAD CPU_2 TAIL "[  500.3] rcu_sched kthread starved for 5252 jiffies!\n");
	assert_true(r->gp_kthread_starved);
	/* The threads of the callbacks are others. */
	r = report_of(env, HEAD CPU_2 TAIL NMI RAN_ON_2
		      "[  500.3] rcu: rcuc/2 kthread starved for 5252 jiffies\n");
	assert_false(r->gp_kthread_starved);
	assert_int_equal(r->culprit.tid, 8123);
}

static void test_late_timer(void **state)
{
	struct env *env = *state;
	const struct vw_obs_report *r;

	r = report_of(
		env, HEAD CPU_2 TAIL
		"[  500.3] rcu: rcu_sched kthread timer wakeup didn't happen for 5251 jiffies!"
		" g7001 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402\n"
		"[  500.3] rcu: \tPossible timer handling issue on cpu=2 timer-softirq=1143\n" STARVED(
			2));
	assert_true(r->timer_late);
	assert_int_equal(r->gp, 7001);
	assert_false(r->incomplete);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_braces),	   TEST(test_expedited),  TEST(test_list_over_lines),
		TEST(test_wordings),	   TEST(test_no_reports), TEST(test_culprit),
		TEST(test_bystanders),	   TEST(test_task_dumps), TEST(test_odd_names),
		TEST(test_arm64),
		TEST(test_blocked_reader), TEST(test_rcu_tasks),  TEST(test_starved_kthread),
		TEST(test_late_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
