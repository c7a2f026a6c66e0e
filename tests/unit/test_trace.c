// SPDX-License-Identifier: GPL-2.0-or-later
/* Whole traces as text: what they are taken for, what is left out of them and said about it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "fixture.h"
#include "source/trace.h"

#define MS UINT64_C(1000000)
#define SEC (1000 * MS)
#define T (10 * MS)

#define HEADER                                                                                     \
	"# tracer: nop\n#\n# entries-in-buffer/entries-written: 2/2   #P:2\n#\n"                   \
	"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
#define SWITCH(time)                                                                               \
	"            bash-21     [000] d..2. " time ": sched_switch: prev_comm=bash prev_pid=21 "  \
	"prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
#define OTHER(time)                                                                                \
	"          <idle>-0      [000] d..2. " time ": softirq_raise: vec=9 [action=RCU]\n"
#define PERF                                                                                       \
	"            bash    21 [000]   100.000001:       sched:sched_switch: prev_comm=bash "     \
	"prev_pid=21 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"

struct env {
	struct fixture f;
	char path[128];
	struct vw_input *in;
	struct vw_replay_config config;
	struct vw_replay_result result;
	struct vw_error e;
	unsigned int n[VW_OBS_REPORT + 1], ticks, rows;
	struct vw_obs last[VW_OBS_REPORT + 1];
	uint64_t last_ns; /* of the last observation */
	int err; /* what the callbacks return */
};

static int keep_obs(void *ctx, const struct vw_obs *obs)
{
	struct env *env = ctx;

	if (obs->kind != VW_OBS_REPORT) {
		assert_true(obs->ts_ns >= env->last_ns);
		env->last_ns = obs->ts_ns;
	}
	env->n[obs->kind]++;
	env->last[obs->kind] = *obs;
	return env->err;
}

static int keep_tick(void *ctx, uint64_t ts_ns)
{
	struct env *env = ctx;

	env->ticks++;
	return env->err;
}

static int keep_row(void *ctx, const struct vw_worker_row *row)
{
	struct env *env = ctx;

	env->rows++;
	return env->err;
}

static int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	fixture_open(&env->f);
	snprintf(env->path, sizeof(env->path), "%s/trace", env->f.dir);
	env->config.threshold_ns = T;
	*state = env;
	return 0;
}

static int teardown(void **state)
{
	struct env *env = *state;

	vw_input_close(env->in);
	fixture_close(&env->f);
	free(env);
	return 0;
}

static enum vw_trace_form form_of(const char *text)
{
	return vw_trace_looks_like(text, strlen(text));
}

/* Reads @data as what it looks like. */
static int read_bytes(struct env *env, const void *data, size_t len)
{
	const struct vw_replay out = { keep_obs, keep_tick, keep_row, env };
	enum vw_trace_form form;
	const char *head;

	fixture_write(&env->f, "trace", data, len);
	vw_input_close(env->in);
	env->in = NULL;
	memset(env->n, 0, sizeof(env->n));
	env->ticks = env->rows = 0;
	env->last_ns = 0;
	assert_int_equal(vw_input_open(env->path, &env->in, &env->e), 0);
	head = vw_input_head(env->in, &len);
	form = vw_trace_looks_like(head, len);
	assert_true(form != VW_TRACE_NONE);
	memset(&env->result, 0x5a, sizeof(env->result));
	return vw_trace_read(env->in, form, &env->config, &out, &env->result, &env->e);
}

static int read_text(struct env *env, const char *text)
{
	return read_bytes(env, text, strlen(text));
}

static void test_looks_like(void **state)
{
	assert_int_equal(form_of(HEADER SWITCH("  100.000001")), VW_TRACE_FTRACE);
	assert_int_equal(form_of(SWITCH("  100.000001")), VW_TRACE_FTRACE);
	assert_int_equal(form_of(OTHER("  100.000001")), VW_TRACE_FTRACE);
	assert_int_equal(form_of("cpus=2\n" SWITCH("  100.000001")), VW_TRACE_FTRACE);
	assert_int_equal(form_of("CPU:1 [LOST 5 EVENTS]\n"), VW_TRACE_FTRACE);
	assert_int_equal(form_of("bash-21 [000] 1.000001: sched_process_exit: comm=x pid=1"),
			 VW_TRACE_FTRACE);
	assert_int_equal(form_of(PERF), VW_TRACE_PERF);
	assert_int_equal(form_of("# ========\n# captured on: x\n\n" PERF
				 "\tffffffff81399f41 f+0x31 ([k])\n\tffffffff81399f41 g ([k])\n\n"),
			 VW_TRACE_PERF);
	/* An empty trace, and one whose clock counts: a trace, though of no use. */
	assert_int_equal(form_of(HEADER), VW_TRACE_FTRACE);
	assert_int_equal(form_of(SWITCH("       12345")), VW_TRACE_FTRACE);
}

static void test_looks_like_others(void **state)
{
	static const char log[] = "[  500.100000] rcu: INFO: rcu_sched self-detected stall on CPU\n"
				  "[  500.103000] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted\n"
				  "Dec  1 10:00:00 host kernel: usb 1-1: new device\n";
	static const char binary[64] = "SQLite format 3\0\0\n\1\2\3[0] 1.5: x";
	static const unsigned char xen[] = { 0x03, 0xf0, 0x01, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 10 };

	assert_int_equal(form_of(""), VW_TRACE_NONE);
	assert_int_equal(form_of("\n\n\n"), VW_TRACE_NONE);
	assert_int_equal(form_of("# a comment\n"), VW_TRACE_NONE);
	assert_int_equal(form_of("hello\nworld\n"), VW_TRACE_NONE);
	assert_int_equal(form_of(log), VW_TRACE_NONE);
	/* Much of a head, but no time behind it. */
	assert_int_equal(form_of("[    1.234567] nvme0-1 [3] hello\n"
				 "[    1.234568] pci 00-2 [80860] 5 x\n"
				 "[    1.234569] a 12 [80860] 5.1 x\n"),
			 VW_TRACE_NONE);
	assert_int_equal(vw_trace_looks_like(binary, sizeof(binary)), VW_TRACE_NONE);
	assert_int_equal(vw_trace_looks_like((const char *)xen, sizeof(xen)), VW_TRACE_NONE);
}

/* People paste what they have into mails; but a book with one such line is no trace. */
static void test_looks_like_mail(void **state)
{
	char text[8192] = SWITCH("  100.000001");
	unsigned int i;

	assert_int_equal(form_of("Hi,\nlook at this:\n" SWITCH("  100.000001") "Regards\n"),
			 VW_TRACE_FTRACE);
	for (i = 0; i < 64; i++)
		strcat(text, "Call me Ishmael.\n");
	assert_int_equal(form_of(text), VW_TRACE_NONE);
}

/* The last line of the head may be cut anywhere. */
static void test_looks_like_cut(void **state)
{
	static const char text[] = SWITCH("  100.000001") SWITCH("  100.000002");
	size_t len;

	for (len = sizeof(text) / 2; len < sizeof(text); len++)
		assert_int_equal(vw_trace_looks_like(text, len), VW_TRACE_FTRACE);
}

static void test_result(void **state)
{
	struct env *env = *state;

	assert_int_equal(read_text(env,
				   HEADER SWITCH("  100.000001")
					   OTHER("  100.500000") "CPU:1 [LOST 5 EVENTS]\n" OTHER(
						   "  103.000001")),
			 0);
	assert_string_equal(env->result.header.source, "ftrace");
	assert_string_equal(env->result.header.clock, "trace");
	assert_string_equal(env->result.header.level, "offline");
	assert_true(env->result.header.n_hooks > 0);
	assert_true(env->result.header.n_detectors > 0);
	assert_int_equal(env->result.end_ns, 103 * SEC + 1000);
	assert_int_equal(env->result.duration_ns, 3 * SEC);
	assert_int_equal(env->result.other_events, 2);
	assert_int_equal(env->result.lost_events, 5);
	assert_int_equal(env->result.skipped_lines, 0);
	assert_int_equal(env->result.workers, 0);
	assert_string_equal(env->result.complaint, "");
	assert_string_equal(env->result.unfinished, "");
	assert_int_equal(env->n[VW_OBS_LOSS], 1);
	assert_true(env->ticks > 0);
	assert_int_equal(read_text(env, PERF), 0);
	assert_string_equal(env->result.header.source, "perf-script");
	assert_int_equal(env->result.duration_ns, 0);
}

static void test_skipped_lines(void **state)
{
	struct env *env = *state;
	char want[256];

	assert_int_equal(
		read_text(
			env,
			SWITCH("  100.000001") "garbage\n" SWITCH(
				"  100.000002") "            bash-12    [9999] d..2. 5.000001: x: y\n" SWITCH("  100.000003")),
		0);
	assert_int_equal(env->result.skipped_lines, 2);
	snprintf(want, sizeof(want), "%s:2: not a line of a trace", env->path);
	assert_string_equal(env->result.complaint, want);
}

static void test_long_lines(void **state)
{
	struct env *env = *state;
	size_t len = 1 << 20, first = strlen(SWITCH("  100.000001"));
	char *text = malloc(2 * first + len + 1);

	assert_non_null(text);
	memcpy(text, SWITCH("  100.000001"), first);
	memset(text + first, 'x', len);
	text[first + len] = '\n';
	memcpy(text + first + len + 1, SWITCH("  100.000002"), first);
	assert_int_equal(read_bytes(env, text, 2 * first + len + 1), 0);
	assert_int_equal(env->result.skipped_lines, 1);
	assert_non_null(strstr(env->result.complaint, ":2: the line is too long"));
	assert_int_equal(env->result.duration_ns, 1000);
	free(text);
}

/* Up to a millisecond back is as good as at the same time, more is the past. */
static void test_backwards(void **state)
{
	struct env *env = *state;

	assert_int_equal(read_text(env, SWITCH("  100.001001") SWITCH("  100.000001")), 0);
	assert_int_equal(env->result.skipped_lines, 0);
	assert_int_equal(env->result.duration_ns, 0);
	assert_int_equal(env->result.end_ns, 100 * SEC + MS + 1000);
	/* What is told has no time of the past either: here of a task that the CPU cannot run. */
	assert_int_equal(read_text(env, SWITCH("  100.001000") SWITCH("  100.001001")
						SWITCH("  100.000001")),
			 0);
	assert_int_equal(env->result.skipped_lines, 0);
	assert_int_equal(env->n[VW_OBS_LOSS], 2);
	assert_int_equal(read_text(env, SWITCH("  100.001002") SWITCH("  100.000001")
						SWITCH("  100.002002")),
			 0);
	assert_int_equal(env->result.skipped_lines, 1);
	assert_non_null(strstr(env->result.complaint, ":2: its time is before"));
	assert_int_equal(env->result.duration_ns, MS);
}

static void expect_no_event(struct env *env, const char *text, const char *word)
{
	struct vw_replay_result untouched;

	memset(&untouched, 0x5a, sizeof(untouched));
	assert_int_equal(read_text(env, text), -ENODATA);
	assert_memory_equal(&env->result, &untouched, sizeof(untouched));
	assert_string_equal(env->e.reason, "no_input");
	assert_non_null(strstr(env->e.message, env->path));
	assert_non_null(strstr(env->e.message, word));
	assert_int_equal(env->n[VW_OBS_STINT], 0);
}

static void test_no_event(void **state)
{
	struct env *env = *state;

	expect_no_event(env, HEADER, "without any event");
	expect_no_event(env, "# tracer: nop\nhello\n", ":2: not a line of a trace");
	expect_no_event(env, SWITCH("       12345"), "trace_clock");
	expect_no_event(env, "CPU:1 [LOST 5 EVENTS]\n", "without any event");
	expect_no_event(env, "         swapper     0 [000]     0.000000: PERF_RECORD_COMM: x:1/1\n",
			"without any event");
}

/* What came before the damage is used, and it is said that more is missing. */
static void test_damaged_gzip(void **state)
{
	struct env *env = *state;
	char text[16384] = "";
	unsigned char packed[16384];
	z_stream z = { .next_out = packed, .avail_out = sizeof(packed) };
	unsigned int i;

	for (i = 0; i < 80; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), SWITCH("  100.0000%02u"),
			 i);
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)text;
	z.avail_in = (unsigned int)strlen(text);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	assert_int_equal(read_bytes(env, packed, z.total_out), 0);
	assert_string_equal(env->result.unfinished, "");
	assert_int_equal(env->result.duration_ns, 79000);
	assert_int_equal(read_bytes(env, packed, z.total_out - 9), 0);
	assert_non_null(strstr(env->result.unfinished, "gzip"));
	assert_in_range(env->result.duration_ns, 1000, 79000);
}

/* A worker that ignores a request for 60 ms while a kworker waits, seen by any event of its CPU. */
static void test_hog(void **state)
{
	static const char text[] =
		"     CPU 1/KVM-7060    [006] d..2.  1000.000000: sched_switch: prev_comm=CPU 1/KVM "
		"prev_pid=7060 prev_prio=120 prev_state=S ==> next_comm=vhost-7050 next_pid=7101 "
		"next_prio=120\n"
		"      vhost-7050-7101  [006] dN.3.  1000.010000: sched_wakeup: comm=kworker/6:1 "
		"pid=812 prio=120 target_cpu=006\n"
		"      vhost-7050-7101  [006] dNh2.  1000.040000: sched_stat_runtime: comm=vhost-7050 "
		"pid=7101 runtime=4000000 [ns]\n"
		"      vhost-7050-7101  [006] d..2.  1000.070000: sched_switch: prev_comm=vhost-7050 "
		"prev_pid=7101 prev_prio=120 prev_state=R ==> next_comm=kworker/6:1 next_pid=812 "
		"next_prio=120\n";
	struct env *env = *state;
	const struct vw_obs_stint *s = &env->last[VW_OBS_STINT].stint;

	assert_int_equal(read_text(env, text), 0);
	assert_int_equal(env->result.skipped_lines, 0);
	assert_int_equal(env->result.workers, 1);
	assert_true(env->n[VW_OBS_STINT] > 0);
	assert_int_equal(env->n[VW_OBS_LOSS], 0);
	assert_int_equal(s->tid, 7101);
	assert_int_equal(s->cpu, 6);
	assert_true(s->final);
	assert_int_equal(s->oncpu_ns, 70 * MS);
	assert_int_equal(s->resched, VW_RESCHED_FULL);
	assert_int_equal(s->pending_ns, 60 * MS);
	assert_int_equal(s->n_waiters, 1);
	assert_int_equal(s->waiters[0].tid, 812);
	assert_int_equal(s->waiters[0].wait_ns, 60 * MS);
	assert_int_equal(env->rows, 1);
}

/* What the kernel printed while it was traced. */
static void test_console(void **state)
{
	static const char text[] =
		"      vhost-8100-8123  [002] d.h1.  500.100000: console: rcu: INFO: rcu_sched "
		"self-detected stall on CPU\n"
		"      vhost-8100-8123  [002] d.h1.  500.100900: console: rcu: \t2-....: (20990 ticks "
		"this GP) idle=3f2/1/0x4000000000000002 softirq=900/900 fqs=10300\n"
		"      vhost-8100-8123  [002] d.h1.  500.102000: console: \t(t=21004 jiffies g=7001 "
		"q=55)\n"
		"      vhost-8100-8123  [002] d.h1.  500.103000: console: CPU: 2 PID: 8123 Comm: "
		"vhost-8100 Not tainted 5.7.0 #1\n";
	struct env *env = *state;
	const struct vw_obs_report *r = &env->last[VW_OBS_REPORT].report;

	assert_int_equal(read_text(env, text), 0);
	assert_int_equal(env->n[VW_OBS_REPORT], 1);
	assert_int_equal(r->kind, VW_REPORT_RCU_STALL);
	assert_int_equal(r->n_cpus, 1);
	assert_int_equal(r->cpus[0], 2);
	assert_int_equal(env->last[VW_OBS_REPORT].ts_ns, 500 * SEC + 100 * MS);
}

/* Older kernels put the stamp of the log in front of the text; a new boot in it is none of ours. */
static void test_console_stamps(void **state)
{
	static const char text[] =
		"      vhost-8100-8123  [002] d.h1.  500.100000: console: [    7.000000] rcu: INFO: "
		"rcu_sched self-detected stall on CPU\n"
		"      vhost-8100-8123  [002] d.h1.  500.101000: console: [    7.001000] rcu: "
		"\t2-....: (20990 ticks this GP) idle=3f2/1/0x4 softirq=900/900 fqs=10300\n"
		"      vhost-8100-8123  [002] d.h1.  500.102000: console: -- Boot 1 --\n"
		"      vhost-8100-8123  [002] d.h1.  500.103000: console: [    1.000000] hello\n";
	struct env *env = *state;

	assert_int_equal(read_text(env, text), 0);
	assert_int_equal(env->n[VW_OBS_REPORT], 1);
	assert_int_equal(env->n[VW_OBS_LOSS], 0);
	assert_int_equal(env->last[VW_OBS_REPORT].ts_ns, 500 * SEC + 100 * MS);
}

/* A log into which the dying kernel wrote its trace: both count. */
static void test_dumped_trace(void **state)
{
	static const char text[] =
		"[  500.100000] rcu: INFO: rcu_sched self-detected stall on CPU\n"
		"[  500.100900] rcu: \t2-....: (20990 ticks this GP) idle=3f2/1/0x4 softirq=9/9 fqs=1\n"
		"[  500.102000] \t(t=21004 jiffies g=7001 q=55)\n"
		"[  500.103000] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n"
		"[  500.200000] Dumping ftrace buffer:\n"
		"[  500.200001] ---------------------------------\n"
		"[  500.200002]   <idle>-0       2d.h1 499000000us : sched_switch: prev_comm=swapper/2 "
		"prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=vhost-8100 next_pid=8123 "
		"next_prio=120\n"
		"[  500.200003]     bash-21      1d.h1 499100000us : sched_wakeup: comm=x pid=12 prio=120 "
		"target_cpu=002\n"
		"[  500.200004] ---------------------------------\n";
	struct env *env = *state;

	assert_int_equal(read_text(env, text), 0);
	assert_int_equal(env->n[VW_OBS_REPORT], 1);
	assert_int_equal(env->last[VW_OBS_REPORT].ts_ns, 500 * SEC + 100 * MS);
	assert_int_equal(env->result.skipped_lines, 0);
	assert_int_equal(env->result.workers, 1);
	assert_int_equal(env->result.end_ns, 499 * SEC + 100 * MS);
}

static void test_failures(void **state)
{
	struct env *env = *state;

	env->err = -EPIPE;
	assert_int_equal(read_text(env, SWITCH("  100.000001") "CPU:0 [LOST 5 EVENTS]\n"), -EPIPE);
	env->err = 0;
	env->config.procfs = "/nonexistent";
	assert_int_equal(read_text(env, SWITCH("  100.000001")), -ENOENT);
	assert_string_equal(env->e.reason, "no_input");
	assert_non_null(strstr(env->e.message, "/nonexistent"));
	env->config.procfs = env->f.dir;
	assert_int_equal(read_text(env, SWITCH("  100.000001")), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks_like),
		cmocka_unit_test(test_looks_like_others),
		cmocka_unit_test(test_looks_like_mail),
		cmocka_unit_test(test_looks_like_cut),
		TEST(test_result),
		TEST(test_skipped_lines),
		TEST(test_long_lines),
		TEST(test_backwards),
		TEST(test_no_event),
		TEST(test_damaged_gzip),
		TEST(test_hog),
		TEST(test_console),
		TEST(test_console_stamps),
		TEST(test_dumped_trace),
		TEST(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
