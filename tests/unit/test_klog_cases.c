// SPDX-License-Identifier: GPL-2.0-or-later
/* The public cases D1, D2, D4 and D6, from lines to findings. */
#include "klog_env.h"

static void is_d1(const struct vw_finding *f)
{
	const struct vw_stall_evidence *s = &f->evidence.stall;

	assert_int_equal(f->kind, VW_RCU_STALL);
	assert_int_equal(f->severity, VW_CRITICAL);
	assert_int_equal(f->status, VW_CLOSED);
	assert_int_equal(f->cause, VW_CAUSE_WORKER);
	assert_int_equal(f->cpu, 2);
	assert_true(f->has_culprit);
	assert_int_equal(f->culprit.tid, 8123);
	assert_int_equal(f->culprit.role, VW_ROLE_VHOST_WORKER);
	assert_int_equal(f->culprit.owner_pid, 8100);
	assert_string_equal(f->culprit.vm, "");
	assert_int_equal(f->n_victims, 0);
	assert_int_equal(s->n_cpus, 1);
	assert_int_equal(s->cpus[0], 2);
	assert_int_equal(s->n_tasks, 0);
	assert_int_equal(s->gp, 7001);
	assert_int_equal(s->jiffies, 36780);
	assert_int_equal(s->reports, 2);
	assert_int_equal(s->detector_cpu, -1);
	assert_string_equal(s->flavor, "rcu_sched");
	assert_int_equal(f->evidence.count, 1);
	/* 250 ticks a second: it began 84.016 s before the first report. */
	assert_int_equal(f->end_ns, 563 * SEC + 200 * MS);
}

static void test_d1(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f = finding_of(env, D1_FIRST D1_REST);

	is_d1(f);
	assert_false(f->evidence.stall.incomplete);
	assert_int_equal(f->start_ns, 416 * SEC + 84 * MS);
	assert_int_equal(f->duration_ns, 147 * SEC + 116 * MS);
	assert_int_equal(f->evidence.span_ns, f->duration_ns);
	assert_string_equal(f->message,
			    "vhost worker vhost-8100 (tid 8123) ran on CPU 2 while a grace period"
			    " of rcu_sched did not end for 2m27s (36780 jiffies); the kernel"
			    " reported it 2 times");
	assert_int_equal(env->n_reports, 2);
}

/* The ring buffer wrapped. */
static void test_d1_wrapped(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f = finding_of(env, D1_REST);

	is_d1(f);
	assert_true(f->evidence.stall.incomplete);
	assert_true(env->reports[0].report.incomplete);
	assert_int_equal(env->reports[0].report.culprit.tid, 8123);
	assert_int_equal(env->reports[0].report.culprit_cpu, 2);
	assert_false(env->reports[1].report.incomplete);
	assert_int_equal(env->n_losses, 0);
	assert_non_null(strstr(f->message, "a part of the report is missing"));
}

/* Wrapped at each line and cut at each line, and in the middle of each. */
static void test_d1_any_part(void **state)
{
	static const char whole[] = D1_FIRST D1_REST;
	struct env *env;
	size_t from, to;

	for (from = 0; from < sizeof(whole) - 1; from += 7) {
		for (to = from; to < sizeof(whole); to += 11) {
			char *part = strndup(whole + from, to - from);
			unsigned int i;

			assert_non_null(part);
			teardown(state);
			setup(state);
			env = *state;
			lines(env, part);
			finish(env);
			for (i = 0; i < env->n; i++) {
				const struct vw_finding *f = &env->seen[i];

				assert_int_equal(f->kind, VW_RCU_STALL);
				/* Less may be known, nothing else. */
				assert_true(!f->has_culprit || f->culprit.tid == 8123);
				assert_true(f->cpu == 2 || f->cpu == -1);
				assert_true(f->evidence.stall.gp == 7001 ||
					    f->evidence.stall.gp == VW_UNKNOWN);
				assert_true(f->evidence.stall.jiffies == 21004 ||
					    f->evidence.stall.jiffies == 36780 ||
					    f->evidence.stall.jiffies == VW_UNKNOWN);
			}
			free(part);
		}
	}
}

static void test_d1_cut(void **state)
{
	static const char *const cut[] = {
		D1_FIRST,
		D1_FIRST "[  500.102000] \t(t=21004 jiffies g=7001 q=5",
		D1_FIRST "[  500.102000] \t(t=21004 jiffies g=7001 q=55)\n"
			 "[  500.103000] CPU: 2 PID: 81",
		D1_FIRST "[  500.102000] \t(t=21004 jiffies g=7001 q=55)\n"
			 "[  500.103000] CPU: 2 PID: 8123 Comm: vhost-8100 Not",
		D1_FIRST "[  500.102000] \t(t=21004 jiffies g=7001 q=55)\n"
			 "[  500.103000] NMI backtrace for cpu 2\n",
	};
	struct env *env = *state;
	size_t i;

	for (i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		const struct vw_finding *f = finding_of(env, cut[i]);

		assert_true(f->evidence.stall.incomplete);
		assert_int_equal(f->cpu, 2);
		assert_false(f->has_culprit);
		assert_int_equal(f->cause, VW_CAUSE_UNKNOWN);
		assert_true(f->duration_ns == VW_UNKNOWN);
		teardown(state);
		setup(state);
		env = *state;
	}
}

/* Case D2, to the end. */
static void test_d2(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;

	f = finding_of(env, "INFO: rcu_sched detected stalls on CPUs/tasks: { 4 40 51} (detected by"
			    " 15, t=60011 jiffies, g=1201, c=1200, q=9100)");
	assert_int_equal(f->severity, VW_CRITICAL);
	assert_int_equal(f->cause, VW_CAUSE_UNKNOWN);
	assert_false(f->has_culprit);
	assert_int_equal(f->cpu, 4);
	assert_true(f->start_ns == VW_UNKNOWN && f->duration_ns == VW_UNKNOWN);
	assert_string_equal(f->message, "a grace period of rcu_sched did not end for 60011 jiffies,"
					" waiting for CPUs 4, 40, 51");
	f = finding_of(env, "INFO: rcu_sched_state detected stall on CPU 3 (t=15010 jiffies)");
	assert_int_equal(f->cpu, 3);
	assert_true(f->evidence.stall.gp == VW_UNKNOWN);
}

/* Case D4, to the end: three stalls, and the first one is minor. */
static void test_d4(void **state)
{
	struct env *env = *state;

	lines(env, "[    1.0] rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: {"
		   " 0-... } 7 jiffies s: 91 root: 0x1/.\n"
		   "[    2.0] rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: {"
		   " P4711 } 21400 jiffies s: 133 root: 0x0/T\n"
		   "[    3.0] rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: {"
		   " 3-.... 7-..D. P12 } 240 jiffies s: 2301 root: 0x88/.\n");
	finish(env);
	assert_int_equal(env->n, 3);
	assert_int_equal(env->seen[0].severity, VW_INFO);
	assert_int_equal(env->seen[0].cpu, 0);
	assert_int_equal(env->seen[1].severity, VW_CRITICAL);
	assert_int_equal(env->seen[1].cpu, -1);
	assert_int_equal(env->seen[1].evidence.stall.tasks[0], 4711);
	assert_int_equal(env->seen[2].severity, VW_CRITICAL);
	assert_int_equal(env->seen[2].cpu, 3);
	assert_int_equal(env->seen[2].evidence.stall.gp, 2301);
}

#define LOCKUP(t, s)                                                                               \
	"[  " t "] " PREFIX "soft lockup - CPU#1 stuck for " s "s! [vhost-3077:3101]\n"            \
	"[  " t "] CPU: 1 PID: 3101 Comm: vhost-3077 Not tainted 5.7.0 #1\n"                       \
	"[  " t "]  handle_tx+0xad/0xe0 [vhost_net]\n"

static void is_d6(const struct vw_finding *f, uint64_t duration_ns, uint64_t reports)
{
	assert_int_equal(f->kind, VW_SOFT_LOCKUP);
	assert_int_equal(f->severity, VW_CRITICAL);
	assert_int_equal(f->cpu, 1);
	assert_int_equal(f->duration_ns, duration_ns);
	assert_int_equal(f->end_ns - f->start_ns, duration_ns);
	assert_int_equal(f->evidence.stall.reports, reports);
	assert_int_equal(f->evidence.stall.n_cpus, 1);
	assert_true(f->evidence.stall.gp == VW_UNKNOWN);
	assert_true(f->evidence.stall.jiffies == VW_UNKNOWN);
	assert_int_equal(f->evidence.n_stack, 1);
}

/* Each report tells the time since the one before. */
static void test_d6_old(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;

#define PREFIX "BUG: "
	f = finding_of(env, LOCKUP("268.0", "22") LOCKUP("296.0", "22") LOCKUP("336.0", "23"));
#undef PREFIX
	is_d6(f, 90 * SEC, 3);
	assert_int_equal(f->start_ns, 246 * SEC);
	assert_int_equal(f->cause, VW_CAUSE_WORKER);
	assert_int_equal(f->culprit.tid, 3101);
	assert_string_equal(f->message,
			    "vhost worker vhost-3077 (tid 3101) kept CPU 1 in the kernel"
			    " for at least 90s; the kernel reported it 3 times");
}

/* Each report tells the whole time. */
static void test_d6_new(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;

#define PREFIX "watchdog: BUG: "
	f = finding_of(env, LOCKUP("580.0", "26") LOCKUP("608.0", "54") LOCKUP("648.0", "94"));
#undef PREFIX
	is_d6(f, 94 * SEC, 3);
	assert_int_equal(f->cause, VW_CAUSE_WORKER);
	assert_null(strstr(f->message, "at least"));
}

/* With the table, and a caller field. */
static void test_d6_interrupts(void **state)
{
	struct env *env = *state;
	const struct vw_finding *f;

#define PREFIX "[    C1] NMI watchdog: BUG: "
	f = finding_of(
		env,
		LOCKUP("580.0",
		       "26") "[  580.0] CPU#1 Utilization every 4s during lockup:\n"
			     "[  580.0] \t#1:   0% system,\t  0% softirq,\t100% hardirq,\t  0% idle\n" LOCKUP(
				     "608.0", "54") LOCKUP("648.0", "94"));
#undef PREFIX
	is_d6(f, 94 * SEC, 3);
	assert_int_equal(f->cause, VW_CAUSE_INTERRUPT_STORM);
	assert_false(f->has_culprit);
	assert_non_null(strstr(f->message, "is not to blame"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_d1),
		TEST(test_d1_wrapped),
		TEST(test_d1_any_part),
		TEST(test_d1_cut),
		TEST(test_d2),
		TEST(test_d4),
		TEST(test_d6_old),
		TEST(test_d6_new),
		TEST(test_d6_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
