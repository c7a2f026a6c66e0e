// SPDX-License-Identifier: GPL-2.0-or-later
/* Heads of lines as tracefs, trace-cmd and perf write them, and what is no event. */
#include <stdio.h>

#include "ftrace_env.h"

#define EXIT "sched_process_exit: comm=x pid=7 prio=120"

static void check_head(const struct vw_event *e, const char *comm, int32_t tid, int32_t cpu,
		       uint64_t ts_ns)
{
	assert_string_equal(e->comm, comm);
	assert_int_equal(e->tid, tid);
	assert_int_equal(e->cpu, cpu);
	assert_true(e->ts_ns == ts_ns);
	assert_int_equal(e->kind, VW_EVENT_EXIT);
	assert_int_equal(e->exit.tid, 7);
}

static void test_tracefs(void **state)
{
	struct vw_event e;

	e = ftrace("      vhost-3077-20669   [001] dNh2. 22097.709710: " EXIT);
	check_head(&e, "vhost-3077", 20669, 1, UINT64_C(22097709710000));
	assert_int_equal(e.tgid, 0);
	assert_int_equal(e.resched, VW_RESCHED_FULL);
	assert_true(e.in_interrupt);
	e = ftrace("          <idle>-0       [000] ..s1. 22097.585703: " EXIT);
	check_head(&e, "<idle>", 0, 0, UINT64_C(22097585703000));
	assert_int_equal(e.resched, VW_RESCHED_NONE);
	assert_true(e.in_interrupt);
	/* The kernel has forgotten its name; before 4.x the number had five columns. */
	e = ftrace("           <...>-3979  [007] d..3   217.975284: " EXIT);
	check_head(&e, "", 3979, 7, UINT64_C(217975284000));
	assert_false(e.in_interrupt);
	/* No flags: noirq-info, and kernels before 2.6.39. */
	e = ftrace("            bash-21596   [000]  22162.410201: " EXIT);
	check_head(&e, "bash", 21596, 0, UINT64_C(22162410201000));
	assert_int_equal(e.resched, VW_RESCHED_UNKNOWN);
	assert_false(e.in_interrupt);
	/* trace_clock tai */
	e = ftrace("            bash-1       [001] ..... 1796102939.586144: " EXIT);
	check_head(&e, "bash", 1, 1, UINT64_C(1796102939586144000));
}

static void test_tgid(void **state)
{
	struct vw_event e;

	e = ftrace("            bash-21596   (  21596) [000] ..... 22162.410201: " EXIT);
	check_head(&e, "bash", 21596, 0, UINT64_C(22162410201000));
	assert_int_equal(e.tgid, 21596);
	e = ftrace("     CPU 0/KVM-5001  ( 4990) [003] d..2 22162.410201: " EXIT);
	check_head(&e, "CPU 0/KVM", 5001, 3, UINT64_C(22162410201000));
	assert_int_equal(e.tgid, 4990);
	e = ftrace("          <idle>-0       (-------) [001] dNh2. 22162.434560: " EXIT);
	check_head(&e, "<idle>", 0, 1, UINT64_C(22162434560000));
	assert_int_equal(e.tgid, 0);
}

/* Names may hold all that a head is made of. */
static void test_odd_names(void **state)
{
	static const char *const names[] = {
		"a b-c: [x]", "x-1 [001] 1.5: ", "we(ird)-12 [001", "=",
		"-",	      "[000] 1.000: a",	 "\xff\xfe\x01z",   "fifteen-bytes-1"
	};
	struct vw_event e;
	char line[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(line, sizeof(line), "%16s-123     [002] d..2.     5.000001: " EXIT,
			 names[i]);
		e = ftrace(line);
		check_head(&e, names[i], 123, 2, UINT64_C(5000001000));
		snprintf(line, sizeof(line), "%16s   123 [002]     5.000001:   sched:" EXIT,
			 names[i]);
		e = perf(line);
		check_head(&e, names[i], 123, 2, UINT64_C(5000001000));
	}
	/* Wider than a name can be; and where a place that looks like a head is none. */
	e = ftrace("sixteen-bytes-16-123     [002] d..2.     5.000001: " EXIT);
	check_head(&e, "sixteen-bytes-1", 123, 2, UINT64_C(5000001000));
	e = ftrace("a-1   (    9) [0] dN.2. no b-12 [002] 5.000001: " EXIT);
	assert_int_equal(e.tid, 12);
	assert_int_equal(e.tgid, 0);
	assert_int_equal(e.resched, VW_RESCHED_UNKNOWN);
	/* Blanks in front of the name were cut off, or an instance's name was put there. */
	e = ftrace("a b-c-123 [002] d..2. 5.000001: " EXIT);
	check_head(&e, "a b-c", 123, 2, UINT64_C(5000001000));
	e = ftrace("vw:             bash-20889 [000] 22128.722463: " EXIT);
	check_head(&e, "bash", 20889, 0, UINT64_C(22128722463000));
	e = ftrace("vw: fifteen-bytes-1-20889 [000] 22128.722463: " EXIT);
	check_head(&e, "fifteen-bytes-1", 20889, 0, UINT64_C(22128722463000));
	/* A trace that the kernel dumped into its log. */
	e = ftrace("[  501.222333]   <idle>-0       2d.h1 500123456us : " EXIT);
	check_head(&e, "<idle>", 0, 2, UINT64_C(500123456000));
}

/* Heads of the common shape are read by a way of their own: it must not be another reading. */
static void test_both_ways(void **state)
{
	static const char *const lines[] = {
		"      vhost-3077-20669   [001] dNh2. 22097.709710: " EXIT,
		"          <idle>-0       [000] ..s1.     0.000001: " EXIT,
		"           <...>-4194304 [999] d..3   217.975284: " EXIT,
		"            bash-21596 [100] 9999999.999999: " EXIT,
		"      -1 [2] 3.4-7       [123] dL.2..  1.000000: " EXIT,
		" fifteen-bytes-1-12      [012] .....     1.000000: " EXIT,
	};
	struct vw_event quick, other;
	char line[256];
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		quick = ftrace(lines[i]);
		/* Not in its columns any more. */
		snprintf(line, sizeof(line), "vw:  %s", lines[i]);
		other = ftrace(line);
		assert_int_equal(quick.kind, VW_EVENT_EXIT);
		assert_memory_equal(&quick, &other, sizeof(quick));
	}
	quick = perf("            perf 20788/20790   [000] 22101.407322: sched:" EXIT);
	other = perf("perf 20788/20790   [000] 22101.407322: sched:" EXIT);
	assert_memory_equal(&quick, &other, sizeof(quick));
	assert_int_equal(quick.tgid, 20788);
}

static void test_flags(void **state)
{
	static const struct {
		const char *flags;
		enum vw_resched resched;
		bool in_interrupt;
	} cases[] = {
		{ "d..2", VW_RESCHED_NONE, false },
		{ "dN.2", VW_RESCHED_FULL, false },
		{ "dn.2.", VW_RESCHED_FULL, false },
		{ "bp.2.", VW_RESCHED_FULL, false },
		{ "Db.21", VW_RESCHED_FULL, false },
		{ ".B.2.", VW_RESCHED_FULL, false },
		{ "dL.2.", VW_RESCHED_LAZY, false },
		{ "dlh2.", VW_RESCHED_LAZY, true },
		{ "X.H1.", VW_RESCHED_NONE, true },
		{ "..sf.", VW_RESCHED_NONE, true },
		{ "..z1.", VW_RESCHED_NONE, true },
		{ "d.Z1.", VW_RESCHED_NONE, true },
		/* PREEMPT_RT until 6.11: the lazy request, and a depth for it. */
		{ "d..h2..", VW_RESCHED_NONE, true },
		{ "d.L.2..", VW_RESCHED_LAZY, false },
		{ "d.Lh2..", VW_RESCHED_LAZY, true },
		{ "dNL.2..", VW_RESCHED_FULL, false },
		{ "dN..2..", VW_RESCHED_FULL, false },
	};
	struct vw_event e;
	char line[128];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "            bash-12    [001] %s 5.000001: " EXIT,
			 cases[i].flags);
		e = ftrace(line);
		assert_int_equal(e.resched, cases[i].resched);
		assert_int_equal(e.in_interrupt, cases[i].in_interrupt);
	}
	why_bad("            bash-12    [001] d.?2. 5.000001: " EXIT, VW_TRACE_FTRACE, -EINVAL);
	why_bad("            bash-12    [001] dQ.2. 5.000001: " EXIT, VW_TRACE_FTRACE, -EINVAL);
	why_bad("            bash-12    [001] d.. 5.000001: " EXIT, VW_TRACE_FTRACE, -EINVAL);
	/* A lazy request has no column of its own in five. */
	why_bad("            bash-12    [001] d.L.. 5.000001: " EXIT, VW_TRACE_FTRACE, -EINVAL);
}

static void test_latency_format(void **state)
{
	struct vw_event e;

	e = ftrace("    bash-21613     0dN.4. 44584us+: " EXIT);
	check_head(&e, "bash", 21613, 0, UINT64_C(44584000));
	assert_int_equal(e.resched, VW_RESCHED_FULL);
	e = ftrace("  <idle>-0      12d.h2. 7us : " EXIT);
	check_head(&e, "<idle>", 0, 12, UINT64_C(7000));
	assert_true(e.in_interrupt);
	/* It cuts names to eight bytes: this may be another's. */
	e = ftrace("vhost-30-3101    1d..2.  100us!: " EXIT);
	check_head(&e, "", 3101, 1, UINT64_C(100000));
	why_bad("    bash-12       1d..2. 99999999999999999us!: " EXIT, VW_TRACE_FTRACE, -EINVAL);
	/* trace-cmd report -l has the common time. */
	e = ftrace("  <idle>-0       1dNs5. 22128.736921: " EXIT);
	check_head(&e, "<idle>", 0, 1, UINT64_C(22128736921000));
}

static void test_trace_cmd(void **state)
{
	struct vw_event e;

	e = ftrace("            bash-20889 [000] 22128.722463: sched_process_exit:   comm=x pid=7");
	check_head(&e, "bash", 20889, 0, UINT64_C(22128722463000));
	e = ftrace("            bash-20889 [000] 22128.722463450: " EXIT);
	check_head(&e, "bash", 20889, 0, UINT64_C(22128722463450));
	skipped("cpus=2", VW_TRACE_FTRACE);
	skipped("version = 6", VW_TRACE_FTRACE);
	skipped("CPU 3 is empty", VW_TRACE_FTRACE);
}

static void test_perf(void **state)
{
	struct vw_event e;

	e = perf("      vhost-3077 20832 [001] 22101.511605:       sched:" EXIT);
	check_head(&e, "vhost-3077", 20832, 1, UINT64_C(22101511605000));
	assert_int_equal(e.tgid, 0);
	assert_int_equal(e.resched, VW_RESCHED_UNKNOWN);
	e = perf("            perf 20788/20790   [000] 22101.407322144: sched:" EXIT);
	check_head(&e, "perf", 20790, 0, UINT64_C(22101407322144));
	assert_int_equal(e.tgid, 20788);
	/* With call chains names have no columns; the period may stand before the event. */
	e = perf("thread 5 20788 [000] 22101.407322:          1 sched:" EXIT);
	check_head(&e, "thread 5", 20788, 0, UINT64_C(22101407322000));
	e = perf("         swapper     0 [011] 22101.512724:       sched:" EXIT);
	check_head(&e, "swapper", 0, 11, UINT64_C(22101512724000));
	/* Who is not known to perf. */
	e = perf("             :-1    -1 [001] 22101.512724:       sched:" EXIT);
	assert_int_equal(e.tid, -1);
	e = perf("             :-1    -1/-1    [001] 22101.512724:       sched:" EXIT);
	assert_int_equal(e.tid, -1);
	assert_int_equal(e.tgid, 0);
	e = perf("          :20999 20999 [001] 22101.512724:       sched:" EXIT);
	check_head(&e, "", 20999, 1, UINT64_C(22101512724000));
	e = perf(
		"            perf 20788 [000] 22101.407322:     250000 cycles:ppp:  ffff8100 f ([k])");
	assert_int_equal(e.kind, VW_EVENT_OTHER);
	assert_int_equal(e.tid, 20788);
	why_bad("            perf 20788 [000] 22101.407322: no event", VW_TRACE_PERF, -EBADMSG);
	/* perf -F without cpu: of no use, and said so. */
	why_bad("            perf 20788 22101.407322: sched:" EXIT, VW_TRACE_PERF, -EINVAL);
	/* An event whose time is 0 tells of a task that was there before. */
	e = perf("         swapper     0 [000]     0.000000: PERF_RECORD_FORK(1:1):(0:0)");
	assert_int_equal(e.kind, VW_EVENT_OTHER);
	assert_true(e.ts_ns == VW_UNKNOWN);
}

static void test_lost(void **state)
{
	struct vw_event e;

	e = ftrace("CPU:1 [LOST 2542 EVENTS]");
	assert_int_equal(e.kind, VW_EVENT_LOST);
	assert_int_equal(e.cpu, 1);
	assert_int_equal(e.lost, 2542);
	assert_true(e.ts_ns == VW_UNKNOWN);
	assert_int_equal(e.tid, -1);
	/* So many that the kernel does not know. */
	assert_int_equal(ftrace("CPU:4095 [LOST EVENTS]").lost, 1);
	assert_int_equal(ftrace("CPU:4095 [LOST EVENTS]").cpu, 4095);
	assert_int_equal(ftrace("CPU:7 [204600 EVENTS DROPPED]").lost, 204600);
	assert_int_equal(ftrace("CPU:7 [EVENTS DROPPED]").lost, 1);
	assert_int_equal(ftrace("vw: CPU:2 [LOST 9 EVENTS]").cpu, 2);
	assert_int_equal(ftrace("CPU:2 [LOST 0 EVENTS]").lost, 1);
	e = perf("            perf 20788 [003] 22101.407322: PERF_RECORD_LOST lost 12");
	assert_int_equal(e.kind, VW_EVENT_LOST);
	assert_int_equal(e.cpu, 3);
	assert_int_equal(e.lost, 12);
	assert_true(e.ts_ns == UINT64_C(22101407322000));
	e = perf("            perf 20788 [003] 22101.407322: unknown: PERF_RECORD_LOST lost 0");
	assert_int_equal(e.kind, VW_EVENT_LOST);
	assert_int_equal(e.lost, 1);
	e = perf("PERF_RECORD_LOST lost 12");
	assert_int_equal(e.kind, VW_EVENT_LOST);
	assert_int_equal(e.cpu, -1);
	assert_int_equal(e.lost, 12);
	why_bad("CPU:8192 [LOST 1 EVENTS]", VW_TRACE_FTRACE, -EINVAL);
	why_bad("CPU:1 [LOST EVENT", VW_TRACE_FTRACE, -EINVAL);
}

static void test_no_event(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"\t",
		"# tracer: nop",
		"#",
		"#           TASK-PID     CPU#  |||||  TIMESTAMP",
		"##### CPU 2 buffer started ####",
		" => __schedule",
		"=> schedule+0x12/0x90",
		"\tffffffff81399f41 __traceiter_sched_stat_runtime+0x31 ([kernel.kallsyms])",
		"\t           ee137 sched_setaffinity@@GLIBC_2.3.4+0x7 (libc.so.6)",
		"\t               0 [unknown] ([unknown])",
		"        7f12aa3b4c10",
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		skipped(lines[i], VW_TRACE_FTRACE);
		skipped(lines[i], VW_TRACE_PERF);
	}
}

static void test_limits(void **state)
{
	struct vw_event e;
	const char *cpu, *tid;

	e = ftrace("            bash-4194304 [8191] ..... 5.000001: " EXIT);
	check_head(&e, "bash", 4194304, 8191, UINT64_C(5000001000));
	cpu = why_bad("            bash-12    [8192] ..... 5.000001: " EXIT, VW_TRACE_FTRACE,
		      -EBADMSG);
	assert_non_null(strstr(cpu, "CPU"));
	tid = why_bad("            bash-4194305 [001] ..... 5.000001: " EXIT, VW_TRACE_FTRACE,
		      -EBADMSG);
	assert_non_null(strstr(tid, "task"));
	assert_ptr_equal(why_bad("            bash 4194305 [001] 5.000001: sched:" EXIT,
				 VW_TRACE_PERF, -EBADMSG),
			 tid);
	why_bad("            bash-99999999999999999999 [001] ..... 5.000001: " EXIT,
		VW_TRACE_FTRACE, -EINVAL);
	/* 10^10 s fit into 64 bits of nanoseconds, ten times as many do not. */
	e = ftrace("            bash-12    [001] ..... 10000000000.000001: " EXIT);
	assert_true(e.ts_ns == UINT64_C(10000000000000001000));
	e = ftrace("            bash-12    [001] ..... 5.123: " EXIT);
	assert_true(e.ts_ns == UINT64_C(5123000000));
	why_bad("            bash-12    [001] ..... 5.12: " EXIT, VW_TRACE_FTRACE, -EBADMSG);
	why_bad("            bash-12    [001] ..... 10000000001.000001: " EXIT, VW_TRACE_FTRACE,
		-EBADMSG);
}

/* Clocks that count have no dot. */
static void test_other_clocks(void **state)
{
	const char *why;

	why = why_bad("            bash-21655   [001] d..3.           49: " EXIT, VW_TRACE_FTRACE,
		      -EBADMSG);
	assert_non_null(strstr(why, "trace_clock"));
	assert_ptr_equal(why_bad("         python3-21696   [001] d..2. 57538874975924: " EXIT,
				 VW_TRACE_FTRACE, -EBADMSG),
			 why);
	/* trace-cmd report --raw-ts */
	assert_ptr_equal(why_bad("            bash-20889 [000]22128722463450: " EXIT,
				 VW_TRACE_FTRACE, -EBADMSG),
			 why);
	/* The verbose latency format has no CPU in brackets. */
	why_bad("            bash   21596   0 1 00000002 00000001 [528fb8adc] 20.436ms (+0.003ms): x",
		VW_TRACE_FTRACE, -EINVAL);
}

static void test_garbage(void **state)
{
	static const char *const lines[] = {
		"hello",
		"  ab text",
		"            bash-12    [001} d..2. 5.000001: " EXIT,
		"            bash-12    [001] d..2. 5.000001; " EXIT,
		"            bash-12    [001] d..2. 5.000001 " EXIT,
		"[  500.103000] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1",
		"[  500.100000] rcu: INFO: rcu_sched self-detected stall on CPU",
		"-1 [",
		"[0]",
		"bash-1",
		"bash-1 [000]",
		"bash-1 [000] ",
		"bash-1 [000] 5",
		"bash-1 [000] 5.",
		"bash-1 [000] 5.1",
		"bash-1 [000] 5.000001",
		"                -",
		"                -1",
		"                -1 ",
		"                -1 [",
		"                -1 [0",
		"                -1 [0]",
	};
	struct vw_event e;
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_true(parse_bytes(lines[i], strlen(lines[i]), VW_TRACE_FTRACE, &e, &why) < 0);
		assert_true(parse_bytes(lines[i], strlen(lines[i]), VW_TRACE_PERF, &e, &why) < 0);
	}
	/* A NUL is a byte like others. */
	assert_int_equal(
		parse_bytes("ab\0c-12 [001] 5.000001: x: y", 28, VW_TRACE_FTRACE, &e, &why), 1);
	assert_int_equal(e.tid, 12);
}

/* What the tracers of functions and marks print still tells who runs where. */
static void test_other_events(void **state)
{
	static const char *const texts[] = {
		"softirq_raise: vec=9 [action=RCU]",
		"tracing_mark_write: hello",
		"__schedule <-schedule",
		"",
		"bprint: f: text",
		"sched_switchx: prev_comm=",
		"workqueue_queue_work: work struct=1 function=f workqueue=events req_cpu=256 cpu=0",
	};
	struct vw_event e;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		e = fields(texts[i]);
		assert_int_equal(e.kind, VW_EVENT_OTHER);
		assert_int_equal(e.tid, 0);
		assert_int_equal(e.cpu, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracefs),	  cmocka_unit_test(test_tgid),
		cmocka_unit_test(test_odd_names), cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_flags),	  cmocka_unit_test(test_latency_format),
		cmocka_unit_test(test_trace_cmd), cmocka_unit_test(test_perf),
		cmocka_unit_test(test_lost),	  cmocka_unit_test(test_no_event),
		cmocka_unit_test(test_limits),	  cmocka_unit_test(test_other_clocks),
		cmocka_unit_test(test_garbage),	  cmocka_unit_test(test_other_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
