// SPDX-License-Identifier: GPL-2.0-or-later
/* What the host offers, where files say so; and who is at fault when BPF may not be loaded. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "load/features.h"

#define VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define MIB (UINT64_C(1) << 20)

static void test_preempt(void **state)
{
	static const struct {
		const char *debugfs, *uname;
		enum vw_preempt mode;
	} cases[] = {
		{ "(none) voluntary full", "#1 SMP PREEMPT_DYNAMIC Debian", VW_PREEMPT_NONE },
		{ "none (voluntary) full\n", "#1 SMP PREEMPT_DYNAMIC Debian",
		  VW_PREEMPT_VOLUNTARY },
		{ "none voluntary (full)", "#1 SMP PREEMPT_DYNAMIC", VW_PREEMPT_FULL },
		{ "none voluntary full (lazy)", "#1 SMP PREEMPT_DYNAMIC", VW_PREEMPT_LAZY },
		{ "(full) lazy", "#1 SMP PREEMPT_DYNAMIC", VW_PREEMPT_FULL },
		/* The file says what is in force, whatever the kernel was built for. */
		{ "(none) voluntary full", "#1 SMP PREEMPT Debian", VW_PREEMPT_NONE },
		/* Without debugfs the name of the kernel knows only a model fixed at build. */
		{ NULL, "#1 SMP PREEMPT_DYNAMIC Debian 6.1", VW_PREEMPT_UNKNOWN },
		{ NULL, "#1 SMP PREEMPT Debian", VW_PREEMPT_FULL },
		{ NULL, "#1 SMP PREEMPT_RT Debian", VW_PREEMPT_FULL },
		{ NULL, "#1 SMP Debian 5.10.0", VW_PREEMPT_UNKNOWN },
		{ NULL, NULL, VW_PREEMPT_UNKNOWN },
		{ "none voluntary full", "#1 SMP PREEMPT_DYNAMIC", VW_PREEMPT_UNKNOWN },
		{ "", "#1 SMP PREEMPT", VW_PREEMPT_FULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (vw_features_preempt(cases[i].debugfs, cases[i].uname) != cases[i].mode)
			fail_msg("\"%s\", \"%s\"", cases[i].debugfs, cases[i].uname);
}

static struct vw_features root(void)
{
	return (struct vw_features){
		.version = VERSION(6, 1, 0),
		.cap_bpf = true,
		.cap_perfmon = true,
		.cap_resource = true,
		.memlock_bytes = 64 * 1024,
		.btf = true,
	};
}

/* The word for programs; "" when BPF may be loaded. */
static void refused(const struct vw_features *f, const char *reason, const char *piece)
{
	struct vw_error e = { "", "" };
	int err = vw_features_may_load(f, &e);

	assert_int_equal(err, *reason ? -EPERM : 0);
	assert_string_equal(e.reason, reason);
	if (*reason && !strstr(e.message, piece))
		fail_msg("\"%s\" is not in \"%s\"", piece, e.message);
	assert_true(strlen(e.message) + 1 < sizeof(e.message));
	assert_null(strchr(e.message, '\n'));
	/* Whoever does not want the words gets the same answer. */
	assert_int_equal(vw_features_may_load(f, NULL), err);
}

static void test_may_load(void **state)
{
	struct vw_features f = root();

	(void)state;
	refused(&f, "", "");
	f.cap_resource = false;
	refused(&f, "", "");
}

static void test_lockdown(void **state)
{
	struct vw_features f = root();

	(void)state;
	f.lockdown = VW_LOCKDOWN_INTEGRITY;
	refused(&f, "", "");
	f.lockdown = VW_LOCKDOWN_CONFIDENTIALITY;
	refused(&f, "lockdown", "lockdown=integrity");
	/* No capability helps against it, so it is named first. */
	f.cap_bpf = f.cap_perfmon = false;
	refused(&f, "lockdown", "confidentiality");
}

static void test_capability(void **state)
{
	struct vw_features f = root();

	(void)state;
	f.cap_bpf = false;
	refused(&f, "capability", "lacks CAP_BPF;");
	f.cap_perfmon = false;
	refused(&f, "capability", "lacks both;");
	f.cap_bpf = true;
	refused(&f, "capability", "lacks CAP_PERFMON;");
}

/* Case F5: memory locks are to blame on old kernels only. */
static void test_memlock(void **state)
{
	struct vw_features f = root();

	(void)state;
	f.cap_resource = false;
	f.version = VERSION(5, 10, 255);
	refused(&f, "memlock", "65536 bytes");
	f.version = VERSION(5, 11, 0);
	refused(&f, "", "");
	f.version = VERSION(5, 15, 0);
	refused(&f, "", "");
	f.version = VERSION(5, 10, 0);
	f.memlock_bytes = 8 * MIB - 1;
	refused(&f, "memlock", "ulimit -l");
	f.memlock_bytes = 8 * MIB;
	refused(&f, "", "");
	f.memlock_bytes = UINT64_MAX; /* RLIM_INFINITY */
	refused(&f, "", "");
	f.memlock_bytes = 0;
	f.cap_resource = true;
	refused(&f, "", "");
	/* Who may not load at all is told that, not of memory. */
	f.cap_resource = f.cap_bpf = false;
	refused(&f, "capability", "CAP_BPF");
}

/* The parts of probing that rest on files; the rest is this machine's, see tests/live. */
static void test_probe_files(void **state)
{
	static const struct {
		const char *text;
		enum vw_lockdown lockdown;
	} cases[] = {
		{ "[none] integrity confidentiality\n", VW_LOCKDOWN_NONE },
		{ "none [integrity] confidentiality\n", VW_LOCKDOWN_INTEGRITY },
		{ "none integrity [confidentiality]\n", VW_LOCKDOWN_CONFIDENTIALITY },
		{ "", VW_LOCKDOWN_NONE },
	};
	struct vw_features f;
	struct fixture fix;
	size_t i;

	(void)state;
	fixture_open(&fix);
	vw_features_probe(&f, fix.sys_fd);
	assert_int_equal(f.lockdown, VW_LOCKDOWN_NONE);
	assert_false(f.vhost_loaded);
	assert_false(f.preempt_lazy);
	assert_true(f.version > VERSION(4, 0, 0));
	assert_true(f.tick_ns >= 500000 && f.tick_ns <= 10000000);
	assert_true(f.host.cpus > 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture_text(&fix, "sys/kernel/security/lockdown", cases[i].text);
		vw_features_probe(&f, fix.sys_fd);
		assert_int_equal(f.lockdown, cases[i].lockdown);
	}
	fixture_text(&fix, "sys/module/vhost/refcnt", "1\n");
	fixture_text(&fix, "sys/kernel/debug/sched/preempt", "none voluntary full (lazy) \n");
	vw_features_probe(&f, fix.sys_fd);
	assert_true(f.vhost_loaded);
	assert_true(f.preempt_lazy);
	assert_int_equal(f.host.preempt, VW_PREEMPT_LAZY);
	fixture_text(&fix, "sys/kernel/debug/sched/preempt", "none (voluntary) full \n");
	vw_features_probe(&f, fix.sys_fd);
	assert_false(f.preempt_lazy);
	assert_int_equal(f.host.preempt, VW_PREEMPT_VOLUNTARY);
	fixture_close(&fix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preempt),	 cmocka_unit_test(test_may_load),
		cmocka_unit_test(test_lockdown), cmocka_unit_test(test_capability),
		cmocka_unit_test(test_memlock),	 cmocka_unit_test(test_probe_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
