// SPDX-License-Identifier: GPL-2.0-or-later
/* Text that /proc and QEMU give: parsed right, whatever the names hold. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attr/attr.h"
#include "attr/proc.h"
#include "attr/qemu.h"
#include "model/finding.h"
#include "model/task.h"

#define TAIL "1 77 77 0 -1 4194304 9 0 0 0 3 4 0 0 20 0 1 0 250 8192 3 18446744073709551615"	\
	     " 0 0 0 0 0 0 0 0 0 0 0 0 17 2 0 1 0 0 0 0 0 0 0 0 0 0 0\n"

static void test_stat_names(void **state)
{
	static const struct {
		const char *text, *name;
		char state;
	} cases[] = {
		{ "77 (CPU 0/KVM) S " TAIL, "CPU 0/KVM", 'S' },
		{ "78 (a) R 1 (b) S " TAIL, "a) R 1 (b", 'S' },
		{ "79 (x\ny) R " TAIL, "x\ny", 'R' },
		{ "80 () D " TAIL, "", 'D' },
		{ "81 ()) D " TAIL, ")", 'D' },
		{ "82 (a\"b\\c\xff\xfe) S " TAIL, "a\"b\\c\xff\xfe", 'S' },
		{ "83 (123456789012345) S " TAIL, "123456789012345", 'S' },
	};
	struct vw_proc_stat stat;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(vw_proc_parse_stat(cases[i].text, &stat), 0);
		assert_string_equal(stat.name, cases[i].name);
		assert_int_equal(stat.state, cases[i].state);
		assert_int_equal(stat.ppid, 1);
		assert_int_equal(stat.flags, 4194304);
		assert_int_equal(stat.cpu_ticks, 7);
		/* USER_HZ is 100 wherever this runs. */
		assert_int_equal(stat.start_ns, 2500000000ull);
		assert_int_equal(stat.cpu, 2);
		assert_true(stat.rt);
	}
}

static void test_stat_bad(void **state)
{
	static const char *const cases[] = {
		"", "77", "77 (a", "77 a) S 1", "77 (a)", "77 (a) ", "77 (a) S", "77 (a) S 1 2",
		"77 (a) S x", "77 (a) S 1 1 1 1 1 1 99999999999999999999999 1", ")(",
	};
	struct vw_proc_stat stat = { .cpu = 42 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(vw_proc_parse_stat(cases[i], &stat) < 0);
	assert_int_equal(stat.cpu, 42);
}

static void test_vhost_number(void **state)
{
	(void)state;
	assert_int_equal(vw_proc_vhost_number("vhost-2920"), 2920);
	assert_int_equal(vw_proc_vhost_number("vhost-4194303"), 4194303);
	assert_int_equal(vw_proc_vhost_number("vhost-41943030"), 0);
	/* As a 15 byte name shows 20 digits. */
	assert_int_equal(vw_proc_vhost_number("vhost-123456789"), 0);
	assert_int_equal(vw_proc_vhost_number("vhost-12345678901234567890"), 0);
	assert_int_equal(vw_proc_vhost_number("vhost-"), 0);
	assert_int_equal(vw_proc_vhost_number("vhost"), 0);
	assert_int_equal(vw_proc_vhost_number("vhost-events"), 0);
	assert_int_equal(vw_proc_vhost_number("vhost-12x"), 0);
	assert_int_equal(vw_proc_vhost_number("vhost-12 "), 0);
	assert_int_equal(vw_proc_vhost_number("vhost--12"), 0);
	assert_int_equal(vw_proc_vhost_number("kvm-nx-lpage-re"), 0);
	assert_int_equal(vw_proc_vhost_number("kvm-pit/2920"), 0);
	assert_int_equal(vw_proc_vhost_number("xvhost-2920"), 0);
}

static void test_status(void **state)
{
	struct vw_proc_status status;

	(void)state;
	vw_proc_parse_status("Name:\tx\\nTgid:\t1\nState:\tS\nTgid:\t2920\nPid:\t2941\nPPid:\t2\n"
			     "Cpus_allowed_list:\t0-3,8\nvoluntary_ctxt_switches:\t12\n"
			     "nonvoluntary_ctxt_switches:\t34", &status);
	assert_int_equal(status.tgid, 2920);
	assert_int_equal(status.ppid, 2);
	assert_int_equal(status.voluntary, 12);
	assert_int_equal(status.involuntary, 34);
	assert_int_equal(status.cpus_allowed_len, 5);
	assert_memory_equal(status.cpus_allowed, "0-3,8", 5);
	vw_proc_parse_status("", &status);
	assert_int_equal(status.tgid, 0);
	assert_true(status.voluntary == VW_UNKNOWN);
	assert_true(status.involuntary == VW_UNKNOWN);
	assert_null(status.cpus_allowed);
}

static void test_schedstat(void **state)
{
	struct vw_proc_schedstat got = { 0 };

	(void)state;
	assert_int_equal(vw_proc_parse_schedstat("13037506933 4161333 815\n", &got), 0);
	assert_int_equal(got.run_ns, 13037506933ull);
	assert_int_equal(got.delay_ns, 4161333);
	assert_int_equal(got.slices, 815);
	assert_true(vw_proc_parse_schedstat("", &got) < 0);
	assert_true(vw_proc_parse_schedstat("1 2", &got) < 0);
	assert_true(vw_proc_parse_schedstat("1\n2 3", &got) < 0);
}

static void test_cgroup(void **state)
{
	char path[32] = "kept";

	(void)state;
	assert_int_equal(vw_proc_parse_cgroup("0::/machine.slice/x\n", path, sizeof(path)), 0);
	assert_string_equal(path, "/machine.slice/x");
	/* Hybrid: the limits are where the cpu controller is. */
	assert_int_equal(vw_proc_parse_cgroup("4:cpuset:/a\n3:cpu,cpuacct:/b:c\n2:cpuacct:/d\n"
					      "0::/e\n", path, sizeof(path)), 0);
	assert_string_equal(path, "/b:c");
	assert_int_equal(vw_proc_parse_cgroup("2:cpuset:/a\n1:name=systemd:/b\n0::/\n", path,
					      sizeof(path)), 0);
	assert_string_equal(path, "/");
	strcpy(path, "kept");
	assert_int_equal(vw_proc_parse_cgroup("2:cpuset:/a\n", path, sizeof(path)), -ENOENT);
	assert_int_equal(vw_proc_parse_cgroup("", path, sizeof(path)), -ENOENT);
	assert_int_equal(vw_proc_parse_cgroup("junk\n:\n::", path, sizeof(path)), -ENOENT);
	assert_string_equal(path, "kept");
	assert_int_equal(vw_proc_parse_cgroup("0::/12345678901234567890123456789012345\n", path,
					      sizeof(path)), -ENAMETOOLONG);
}

/* The name given by a command line whose arguments are divided by '|'. */
static const char *name_of(const char *line)
{
	static char name[VW_VM_LEN];
	char text[512];
	struct vw_qemu_args args = { .text = text, .len = strlen(line) + 1 };
	size_t i;

	assert_true(args.len <= sizeof(text));
	for (i = 0; i < args.len; i++)
		text[i] = line[i] == '|' ? '\0' : line[i];
	return vw_qemu_name(&args, name, sizeof(name)) ? NULL : name;
}

static void test_vm_name(void **state)
{
	static const struct {
		const char *line, *name;
	} cases[] = {
		{ "qemu|-name|guest=web01,debug-threads=on|-m|64", "web01" },
		{ "qemu|-name|web01|-m|64", "web01" },
		{ "qemu|--name|web01", "web01" },
		{ "qemu|-name|web01,process=x,debug-threads=on", "web01" },
		{ "qemu|-name|debug-threads=on,guest=web01", "web01" },
		{ "qemu|-name|guest=a,,b,,,debug-threads=on", "a,b," },
		{ "qemu|-name|a,,b,debug-threads=on", "a,b" },
		{ "qemu|-name|guest=a=b", "a=b" },
		{ "qemu|-name|guest=we\"ird\\name", "we\"ird\\name" },
		{ "qemu|-name|guest=my big vm\xff\xfe\n", "my big vm\xff\xfe\n" },
		{ "qemu|-name|{x}", "{x}" },
		{ "qemu|-name|one|-name|guest=two", "two" },
		{ "qemu|-name|guest=web01|-name|debug-threads=on", "web01" },
		{ "qemu|-m|64", NULL },
		{ "qemu|-name", NULL },
		{ "qemu|-name|", NULL },
		{ "qemu|-name|guest=", NULL },
		{ "qemu|-name|debug-threads=on", NULL },
		{ "qemu|-name=web01", NULL },
		{ "qemu|-rename|web01", NULL },
		{ "qemu|---name|web01", NULL },
		{ "", NULL },
	};
	char line[128] = "qemu|-name|";
	const char *name;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		name = name_of(cases[i].line);
		if (!cases[i].name)
			assert_null(name);
		else
			assert_string_equal(name ? name : "(none)", cases[i].name);
	}
	memset(line + strlen(line), 'n', 100);
	name = name_of(line);
	assert_non_null(name);
	assert_int_equal(strlen(name), VW_VM_LEN - 1);
}

static void test_option_values(void **state)
{
	static const char comma[] = "tap,id=n0,ifname=vnet7,script=no,vhost=on,fd=3,fd=34";
	static const char json[] = "{\"type\":\"tap\",\"fd\":\"34\",\"vhost\":true,\"id\":\"n0\","
				   "\"queues\":4,\"off\":false,\"l\":[1]}";
	char got[16];

	(void)state;
	assert_int_equal(vw_qemu_get(comma, "type", "type", got, sizeof(got)), 0);
	assert_string_equal(got, "tap");
	assert_int_equal(vw_qemu_get(comma, "type", "ifname", got, sizeof(got)), 0);
	assert_string_equal(got, "vnet7");
	assert_int_equal(vw_qemu_get(comma, "type", "fd", got, sizeof(got)), 0);
	assert_string_equal(got, "34");
	assert_int_equal(vw_qemu_get(comma, "type", "if", got, sizeof(got)), -ENOENT);
	assert_int_equal(vw_qemu_get(comma, "type", "ifname", got, 4), -ENAMETOOLONG);
	assert_string_equal(got, "vne");
	assert_true(vw_qemu_is_on(comma, "type", "vhost"));
	assert_false(vw_qemu_is_on(comma, "type", "script"));
	assert_true(vw_qemu_is_on("tap,vhost", "type", "vhost"));
	assert_int_equal(vw_qemu_get(json, "type", "type", got, sizeof(got)), 0);
	assert_string_equal(got, "tap");
	assert_int_equal(vw_qemu_get(json, "type", "fd", got, sizeof(got)), 0);
	assert_string_equal(got, "34");
	assert_int_equal(vw_qemu_get(json, "type", "queues", got, sizeof(got)), 0);
	assert_string_equal(got, "4");
	assert_true(vw_qemu_is_on(json, "type", "vhost"));
	assert_int_equal(vw_qemu_get(json, "type", "off", got, sizeof(got)), 0);
	assert_string_equal(got, "off");
	assert_int_equal(vw_qemu_get(json, "type", "l", got, sizeof(got)), -ENOENT);
	assert_int_equal(vw_qemu_get("{\"type\":", "type", "type", got, sizeof(got)), -ENOENT);
}

static void test_machine_name(void **state)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "/machine.slice/machine-qemu\\x2d1\\x2dweb01.scope", "web01" },
		{ "/machine.slice/machine-qemu\\x2d12\\x2dmy\\x2dvm\\x2e2.scope/libvirt/vcpu0",
		  "my-vm.2" },
		{ "/machine/qemu-3-db.libvirt-qemu/emulator", "db" },
		{ "/machine/abcd-3-db.libvirt-qemu/emulator", NULL },
		{ "/machine.slice/machine-lxc\\x2d1\\x2dweb01.scope", NULL },
		{ "/machine.slice/machine-qemu\\x2dweb01.scope", NULL },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dweb\\x0001.scope", NULL },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dweb\\x2.scope", NULL },
		{ "/machine.slice/machine-qemu\\x2d1\\x2d.scope", NULL },
		{ "/user.slice/qemu.service", NULL },
		{ "/", NULL },
		{ "", NULL },
	};
	char name[VW_VM_LEN];
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err = vw_qemu_machine_name(cases[i].path, name, sizeof(name));
		assert_int_equal(err, cases[i].name ? 0 : -ENOENT);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
	}
}

static void test_is_program(void **state)
{
	static const struct {
		const char *argv0;
		bool is;
	} cases[] = {
		{ "/usr/bin/qemu-system-x86_64", true }, { "qemu-kvm", true },
		{ "/usr/libexec/qemu-kvm", true },	 { "/usr/bin/kvm", true },
		{ "/usr/bin/find", false },		 { "/opt/qemu/bin/sh", false },
		{ "kvmtop", false },			 { "", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vw_qemu_args args = { cases[i].argv0, strlen(cases[i].argv0) + 1 };

		assert_int_equal(vw_qemu_is_program(&args), cases[i].is);
	}
}

/* By name and flags alone, for workers that were gone before /proc was asked. */
static void test_is_worker(void **state)
{
	(void)state;
	assert_true(vw_attr_is_worker("vhost-2920", 0x00200040)); /* kernel thread */
	assert_true(vw_attr_is_worker("vhost-2920", 0x00404040)); /* thread of its owner */
	assert_false(vw_attr_is_worker("vhost-2920", 0x00400040)); /* a program took the name */
	assert_false(vw_attr_is_worker("vhost-2920", 0x00004010)); /* io_uring's */
	assert_false(vw_attr_is_worker("vhost-2920", 0x04208060 | 0x20)); /* a kworker */
	assert_false(vw_attr_is_worker("vhost-events", 0x00200040));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat_names),
		cmocka_unit_test(test_stat_bad),
		cmocka_unit_test(test_vhost_number),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_schedstat),
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_vm_name),
		cmocka_unit_test(test_option_values),
		cmocka_unit_test(test_machine_name),
		cmocka_unit_test(test_is_program),
		cmocka_unit_test(test_is_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
