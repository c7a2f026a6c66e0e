// SPDX-License-Identifier: GPL-2.0-or-later
/* One log in all the forms that dmesg, journalctl, syslog and /dev/kmsg have, read from files. */
#include <errno.h>

#include "fixture.h"
#include "klog_env.h"
#include "source/klog_report.h"

#define FOLDER "tests/fixtures/klog/"

static unsigned int ticks;

static int count_tick(void *ctx, uint64_t ts_ns)
{
	(void)ctx;
	(void)ts_ns;
	ticks++;
	return 0;
}

static int read_with(struct env *env, const char *path, const char *procfs,
		     struct vw_replay_result *result, struct vw_error *e)
{
	const struct vw_replay_config config = { .threshold_ns = 10 * MS, .procfs = procfs };
	struct vw_input *in;
	size_t len;
	int err;

	ticks = env->n_reports = env->n = 0;
	env->out.tick = count_tick;
	assert_int_equal(vw_input_open(path, &in, e), 0);
	if (vw_input_head(in, &len) && len)
		assert_true(vw_klog_looks_like(vw_input_head(in, &len), len) ||
			    strstr(path, "odd"));
	err = vw_klog_read(in, &config, &env->out, result, e);
	vw_input_close(in);
	if (!err)
		vw_detect_finish(env->set, result->end_ns);
	return err;
}

static int read_path(struct env *env, const char *path, struct vw_replay_result *result,
		     struct vw_error *e)
{
	return read_with(env, path, NULL, result, e);
}

struct form {
	const char *file;
	bool exact; /* times are told to a microsecond, else to a second */
	bool timeless;
	uint64_t boot_ns; /* the time that the log gives to the boot */
	uint64_t foreign; /* lines of others */
};

/* 1 March 2026, 11:51:40 UTC; and since the beginning of the year */
#define BOOT (UINT64_C(1772365900) * SEC)
#define BOOT_YEARLESS (((31 + 29) * UINT64_C(24) * 3600 + 11 * 3600 + 51 * 60 + 40) * SEC)

static const struct form forms[] = {
	{ .file = "dmesg.txt", .exact = true },
	{ .file = "dmesg-x.txt", .exact = true, .foreign = 1 },
	{ .file = "dmesg-T.txt", .boot_ns = BOOT },
	{ .file = "dmesg-iso.txt", .exact = true, .boot_ns = BOOT },
	{ .file = "caller.txt", .exact = true },
	{ .file = "colour.txt", .exact = true },
	{ .file = "kmsg.txt", .exact = true, .foreign = 1 },
	{ .file = "syslog.txt", .exact = true, .foreign = 23 },
	{ .file = "journal-short.txt", .boot_ns = BOOT_YEARLESS, .foreign = 23 },
	{ .file = "journal-precise.txt", .exact = true, .boot_ns = BOOT_YEARLESS, .foreign = 23 },
	{ .file = "journal-iso.txt", .boot_ns = BOOT, .foreign = 23 },
	/* What is not the kernel's cannot be told here, but it is not taken for its words. */
	{ .file = "journal-monotonic.txt", .exact = true },
	{ .file = "unstamped.txt", .timeless = true },
};

static void check_times(const struct form *form, const struct vw_finding *f, uint64_t start_ns,
			uint64_t duration_ns)
{
	uint64_t slack = form->exact ? 0 : SEC;

	if (form->timeless) {
		assert_true(f->start_ns == VW_UNKNOWN && f->end_ns == VW_UNKNOWN);
		return;
	}
	start_ns += form->boot_ns;
	assert_in_range(f->start_ns, start_ns - slack, start_ns + slack);
	assert_in_range(f->duration_ns, duration_ns - slack, duration_ns + slack);
}

static void check_form(struct env *env, const struct form *form)
{
	struct vw_replay_result result;
	const struct vw_finding *f = env->seen;
	struct vw_error e = { 0 };
	char path[128];

	snprintf(path, sizeof(path), FOLDER "%s", form->file);
	assert_int_equal(read_path(env, path, &result, &e), 0);
	assert_int_equal(env->n, 2);
	assert_int_equal(env->n_losses, 0);
	assert_int_equal(f->kind, VW_RCU_STALL);
	assert_int_equal(f->culprit.tid, 8123);
	assert_int_equal(f->culprit.role, VW_ROLE_VHOST_WORKER);
	assert_int_equal(f->culprit.backend, VW_BACKEND_KTHREAD);
	assert_int_equal(f->cpu, 2);
	assert_int_equal(f->evidence.stall.gp, 7001);
	assert_int_equal(f->evidence.stall.jiffies, 21001);
	assert_int_equal(f->evidence.stall.reports, 2);
	assert_false(f->evidence.stall.incomplete);
	assert_int_equal(f->evidence.n_stack, 4);
	assert_string_equal(f->evidence.stack[0], "tun_sendmsg");
	assert_string_equal(f->evidence.stack[3], "kthread");
	/* 15750 jiffies in 63 s: 250 in one. */
	check_times(form, f, 500 * SEC + 100 * MS - 5251 * (SEC / 250),
		    63 * SEC + 5251 * (SEC / 250));
	f++;
	assert_int_equal(f->kind, VW_SOFT_LOCKUP);
	assert_int_equal(f->culprit.tid, 5003);
	assert_int_equal(f->culprit.role, VW_ROLE_VCPU);
	assert_string_equal(f->culprit.comm, "CPU 3/KVM");
	check_times(form, f, 678 * SEC, 22 * SEC);

	assert_string_equal(result.header.source, "kernel-log");
	assert_string_equal(result.header.clock, "printk");
	assert_string_equal(result.header.level, "offline");
	assert_string_equal(result.header.host.release, "5.10.0-1-amd64");
	assert_int_equal(result.header.host.cpus, 4);
	assert_int_equal(result.header.host.hz, 0);
	assert_int_equal(result.other_events, form->foreign);
	assert_int_equal(result.workers, 1);
	assert_int_equal(result.end_ns == VW_UNKNOWN, form->timeless);
	if (!form->timeless) {
		assert_int_equal(result.skipped_lines, 0);
		assert_in_range(result.duration_ns, 699 * SEC, 801 * SEC);
		assert_true(ticks >= 5 && ticks <= 9);
	}
}

static void test_forms(void **state)
{
	struct env *env = *state;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		print_message("%s\n", forms[i].file);
		check_form(env, &forms[i]);
	}
}

static const struct vw_detector_info *detector(const struct vw_header *h, enum vw_kind kind)
{
	unsigned int i;

	for (i = 0; i < h->n_detectors; i++)
		if (!strcmp(h->detectors[i].kind, vw_kind_name(kind)))
			return &h->detectors[i];
	return NULL;
}

static void test_header(void **state)
{
	struct env *env = *state;
	struct vw_replay_result result;
	const struct vw_header *h = &result.header;
	struct vw_error e = { 0 };
	enum vw_kind kind;

	assert_int_equal(read_path(env, FOLDER "dmesg.txt", &result, &e), 0);
	assert_int_equal(h->n_detectors, VW_KIND_COUNT);
	for (kind = 0; kind < VW_KIND_COUNT; kind++) {
		bool full = kind == VW_RCU_STALL || kind == VW_SOFT_LOCKUP;

		assert_int_equal(detector(h, kind)->state,
				 full ? VW_DETECTOR_FULL : VW_DETECTOR_OFF);
		assert_int_equal(*detector(h, kind)->reason == '\0', full);
	}
	assert_int_equal(h->n_hooks, 1);
	assert_int_equal(h->hooks[0].state, VW_HOOK_ATTACHED);
	assert_string_equal(h->hooks[0].via, "kernel log");
	assert_string_equal(h->hooks[0].lost, "");
	assert_int_equal(read_path(env, FOLDER "unstamped.txt", &result, &e), 0);
	assert_string_not_equal(h->hooks[0].lost, "");
}

static void test_quiet(void **state)
{
	struct env *env = *state;
	struct vw_replay_result result;
	struct vw_error e = { 0 };

	assert_int_equal(read_path(env, FOLDER "quiet.txt", &result, &e), 0);
	assert_int_equal(env->n_reports, 0);
	assert_int_equal(env->n, 0);
	assert_int_equal(result.end_ns, 50 * SEC);
	assert_int_equal(result.workers, 0);
}

static int read_text(struct env *env, const char *text, size_t len, struct vw_replay_result *result,
		     struct vw_error *e)
{
	struct fixture f;
	char path[128];
	int err;

	fixture_open(&f);
	fixture_write(&f, "odd", text, len);
	snprintf(path, sizeof(path), "%s/odd", f.dir);
	err = read_path(env, path, result, e);
	fixture_close(&f);
	return err;
}

/* Never success for nothing read. */
static void test_nothing_in_it(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n\n",
		"no log at all\nnor here\n",
		"-- No entries --\n",
		"Jun 08 12:00:00 host app[123]: nothing of the kernel\n",
	};
	struct env *env = *state;
	struct vw_replay_result result;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct vw_error e = { 0 };

		assert_int_equal(read_text(env, texts[i], strlen(texts[i]), &result, &e), -ENODATA);
		assert_string_equal(e.reason, "no_input");
		assert_non_null(strstr(e.message, "no line of a kernel log"));
	}
}

static void test_skipped_lines(void **state)
{
	static const char text[] = "[    1.0] one\nwhat is this\n\n[    2.0] two\nand this\n";
	struct env *env = *state;
	struct vw_replay_result result;
	struct vw_error e = { 0 };
	char *long_line;

	assert_int_equal(read_text(env, text, strlen(text), &result, &e), 0);
	assert_int_equal(result.skipped_lines, 2);
	assert_non_null(strstr(result.complaint, "odd:2: "));
	assert_int_equal(result.duration_ns, SEC);
	assert_int_equal(result.lost_events, 0);
	assert_int_equal(read_text(env, "[ 1.0] ** 7 printk messages dropped **\n[ 2.0] x\n", 48,
				   &result, &e),
			 0);
	assert_int_equal(result.lost_events, 7);
	/* A line of 1 MiB. */
	long_line = malloc(1 << 20);
	assert_non_null(long_line);
	memset(long_line, 'x', 1 << 20);
	memcpy(long_line, "[    1.0] one\n", 14);
	memcpy(long_line + (1 << 20) - 15, "\n[    2.0] two\n", 15);
	assert_int_equal(read_text(env, long_line, 1 << 20, &result, &e), 0);
	free(long_line);
	assert_int_equal(result.skipped_lines, 1);
	assert_non_null(strstr(result.complaint, "odd:2: "));
	assert_int_equal(result.end_ns, 2 * SEC);
}

/* The host may still be up: then /proc knows more of the culprit than its name. */
static void test_procfs(void **state)
{
	const struct fixture_task worker = { .tid = 8123, .comm = "vhost-8100", .ppid = 2,
					     .flags = 0x00200040 };
	const struct fixture_task owner = { .tid = 8100, .comm = "qemu", .start_ticks = 1 };
	const struct fixture_task other = { .tid = 8123, .comm = "bash" };
	static const char *const args[] = { "/usr/bin/qemu-system-x86_64", "-name",
					    "guest=web1", NULL };
	struct env *env = *state;
	struct vw_replay_result result;
	struct vw_error e = { 0 };
	struct fixture f;
	char path[128];

	fixture_open(&f);
	fixture_task(&f, &worker);
	fixture_task(&f, &owner);
	fixture_cmdline(&f, 8100, args);
	snprintf(path, sizeof(path), "%s/proc", f.dir);
	assert_int_equal(read_with(env, FOLDER "dmesg.txt", path, &result, &e), 0);
	assert_string_equal(env->seen[0].culprit.vm, "web1");
	assert_int_equal(env->seen[0].culprit.owner_pid, 8100);
	assert_int_equal(env->seen[0].culprit.backend, VW_BACKEND_KTHREAD);
	/* The number is another task's by now. */
	fixture_task(&f, &other);
	assert_int_equal(read_with(env, FOLDER "dmesg.txt", path, &result, &e), 0);
	assert_string_equal(env->seen[0].culprit.comm, "vhost-8100");
	fixture_close(&f);
	/* A folder that is not there. */
	assert_int_equal(read_with(env, FOLDER "dmesg.txt", path, &result, &e), -ENOENT);
	assert_string_equal(e.reason, "no_input");
}

static bool looks(const char *text)
{
	return vw_klog_looks_like(text, strlen(text));
}

static void test_looks_like(void **state)
{
	(void)state;
	assert_true(looks("[    0.000000] Linux version 5.10\n"));
	assert_true(looks("[    0.000000] cut in the mid"));
	assert_true(looks("-- Logs begin at some time --\nJun 08 12:00:00 host kernel: x\n"));
	assert_true(looks("6,1,0,-;x\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:00.0\n6,2,0,-;y\n"));
	assert_true(looks("noise\nnoise\nnoise\nnoise\nINFO: rcu_sched detected stall on CPU 3 (t=1"
			  " jiffies)\n"));
	assert_true(looks("watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [a:1]\n"));
	assert_false(looks(""));
	assert_false(looks("\n\n"));
	assert_false(looks("# tracer: nop\n#\n"));
	assert_false(looks("   vhost-3077-3101    [002] d..3.   500.100000: sched_switch: x\n"));
	assert_false(looks("vhost-3077  3101 [002]   500.100000: sched:sched_switch: x\n"));
	assert_false(looks("noise\nnoise\nnoise\nnoise\nnoise\n[    1.0] one\n"));
	assert_false(looks("{\"type\":\"header\"}\n"));
	assert_false(vw_klog_looks_like("SQLite format 3\0\n", 17));
	assert_false(vw_klog_looks_like("\177ELF\2\1\1\0\0\0\0", 11));
}

static void test_host(void **state)
{
	struct vw_host host = { 0 };

	(void)state;
	vw_klog_host(&host, "CPU: 2 PID: 1 Comm: a Tainted: G           OE     6.1.0-9 #1 Debian");
	assert_string_equal(host.release, "6.1.0-9");
	vw_klog_host(&host, "CPU: 2 PID: 1 Comm: a Not tainted 6.17.0+ #2 PREEMPT(lazy)");
	assert_string_equal(host.release, "6.17.0+");
	assert_int_equal(host.preempt, VW_PREEMPT_LAZY);
	vw_klog_host(&host, "Dynamic Preempt: voluntary");
	assert_int_equal(host.preempt, VW_PREEMPT_VOLUNTARY);
	assert_true(host.preempt_switchable);
	vw_klog_host(&host, "Linux version 6.12.3 (a@b) #1 SMP");
	assert_string_equal(host.release, "6.12.3");
	vw_klog_host(&host, "smp: Brought up 2 nodes, 64 CPUs");
	assert_int_equal(host.cpus, 64);
	/* Nothing of that sort. */
	vw_klog_host(&host, "CPU: 2 PID: 1 Comm: a Not tainted #1");
	vw_klog_host(&host, "Dynamic Preempt: odd");
	vw_klog_host(&host, "smp: Brought up");
	vw_klog_host(&host, "smp: Brought up 1 node, 0 CPUs");
	assert_string_equal(host.release, "6.12.3");
	assert_int_equal(host.cpus, 64);
	assert_int_equal(host.preempt, VW_PREEMPT_VOLUNTARY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_forms),
		TEST(test_header),
		TEST(test_quiet),
		TEST(test_nothing_in_it),
		TEST(test_procfs),
		TEST(test_skipped_lines),
		cmocka_unit_test(test_looks_like),
		cmocka_unit_test(test_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
