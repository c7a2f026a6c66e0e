// SPDX-License-Identifier: GPL-2.0-or-later
/* Which device a worker serves, where that is certain, and what its interface counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attr/attr.h"
#include "attr/owner.h"
#include "attr/proc.h"
#include "fixture.h"

#define PID 2920
#define TUN "/dev/net/tun"
#define NET "/dev/vhost-net"

struct env {
	struct fixture f;
	struct vw_attr *attr;
	struct vw_task task;
};

static int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	fixture_open(&env->f);
	env->attr = vw_attr_new(env->f.proc_fd, env->f.sys_fd);
	assert_non_null(env->attr);
	*state = env;
	return 0;
}

static int teardown(void **state)
{
	struct env *env = *state;

	vw_attr_free(env->attr);
	fixture_close(&env->f);
	free(env);
	return 0;
}

static void add_worker(struct env *env, int32_t pid, int32_t tid)
{
	char comm[16];
	struct fixture_task task = { .pid = pid, .tid = tid, .comm = comm,
				     .flags = VW_PF_USER_WORKER };

	snprintf(comm, sizeof(comm), "vhost-%d", pid);
	fixture_task(&env->f, &task);
}

/* A QEMU with one worker; @args may be NULL for none of its own. */
static void add_qemu(struct env *env, int32_t pid, const char *const *args)
{
	const struct fixture_task task = { .tid = pid, .comm = "qemu-system-x86" };
	const char *all[24] = { "/usr/bin/qemu-system-x86_64", "-name", "guest=web01" };
	size_t n = 3;

	for (; args && *args; args++)
		all[n++] = *args;
	all[n] = NULL;
	fixture_task(&env->f, &task);
	fixture_cmdline(&env->f, pid, all);
	add_worker(env, pid, pid + 21);
}

static void last(void *ctx, const struct vw_task *task)
{
	struct env *env = ctx;

	env->task = *task;
}

/* The device of the worker with the highest tid. */
static const char *device(struct env *env)
{
	memset(&env->task, 0, sizeof(env->task));
	assert_true(vw_attr_scan(env->attr, last, env) >= 1);
	return env->task.device;
}

static const char *device_again(struct env *env)
{
	vw_attr_refresh(env->attr, 0);
	return device(env);
}

/* As a plain QEMU shows it: one tap, one vhost descriptor. */
static void test_one_tap(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "-netdev", "tap,id=n0,ifname=vnet7,script=no,vhost=on", NULL };

	add_qemu(env, PID, args);
	assert_string_equal(device(env), "");
	fixture_fd(&env->f, PID, 3, TUN, "vnet7");
	fixture_fd(&env->f, PID, 4, "/dev/null", NULL);
	fixture_fd(&env->f, PID, 5, "socket:[4711]", NULL);
	fixture_fd(&env->f, PID, 6, TUN, "");
	fixture_fd(&env->f, PID, 8, NET, NULL);
	assert_string_equal(device_again(env), "vhost-net:vnet7");
	assert_string_equal(env->task.vm, "web01");
}

static void test_queues_of_one_tap(void **state)
{
	struct env *env = *state;
	int i;

	add_qemu(env, PID, NULL);
	for (i = 0; i < 4; i++) {
		fixture_fd(&env->f, PID, 10 + i, TUN, "vnet7");
		fixture_fd(&env->f, PID, 20 + i, NET, NULL);
		add_worker(env, PID, 2950 + i);
	}
	assert_string_equal(device(env), "vhost-net:vnet7");
}

/* Two machines' worth of taps in one: nothing says which worker serves which. */
static void test_two_taps(void **state)
{
	struct env *env = *state;

	add_qemu(env, PID, NULL);
	fixture_fd(&env->f, PID, 3, TUN, "vnet7");
	fixture_fd(&env->f, PID, 4, TUN, "vnet8");
	fixture_fd(&env->f, PID, 8, NET, NULL);
	fixture_fd(&env->f, PID, 9, NET, NULL);
	add_worker(env, PID, 2950);
	assert_string_equal(device(env), "");
	assert_string_equal(env->task.vm, "web01");
}

/* Of two netdevs only one uses vhost: then it is certain. */
static void test_tap_without_vhost(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "-netdev", "tap,id=a,ifname=vnet7,vhost=on", "-netdev",
				     "tap,id=b,ifname=vnet8", NULL };

	add_qemu(env, PID, args);
	fixture_fd(&env->f, PID, 3, TUN, "vnet7");
	fixture_fd(&env->f, PID, 4, TUN, "vnet8");
	fixture_fd(&env->f, PID, 8, NET, NULL);
	assert_string_equal(device(env), "vhost-net:vnet7");
}

/* libvirt passes descriptors, and the command line pairs them. */
static void test_libvirt(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "-netdev", "tap,fd=34,id=hostnet0,vhost=on,vhostfd=35",
				     "-netdev", "tap,fd=36,id=hostnet1", NULL };

	add_qemu(env, PID, args);
	fixture_fd(&env->f, PID, 34, TUN, "vnet1");
	fixture_fd(&env->f, PID, 35, NET, NULL);
	fixture_fd(&env->f, PID, 36, TUN, "vnet2");
	assert_string_equal(device(env), "vhost-net:vnet1");
	/* One more vhost descriptor, and no tap that it could have. */
	fixture_fd(&env->f, PID, 41, NET, NULL);
	assert_string_equal(device_again(env), "");
	/* A second one, plugged later: its tap is the only one left, but now there are two. */
	fixture_fd(&env->f, PID, 40, TUN, "vnet3");
	assert_string_equal(device_again(env), "");
	/* The first is unplugged: the numbers on the command line mean nothing any more. */
	fixture_remove(&env->f, "proc/2920/fd/34");
	fixture_remove(&env->f, "proc/2920/fd/35");
	assert_string_equal(device_again(env), "vhost-net:vnet3");
}

static void test_libvirt_queues(void **state)
{
	struct env *env = *state;
	const char *const args[] = {
		"-netdev", "{\"type\":\"tap\",\"fds\":\"34:35\",\"vhost\":true,"
			   "\"vhostfds\":\"36:37\",\"id\":\"hostnet0\"}",
		"-netdev", "{\"type\":\"tap\",\"fd\":\"38\",\"id\":\"hostnet1\"}", NULL };

	add_qemu(env, PID, args);
	fixture_fd(&env->f, PID, 34, TUN, "vnet1");
	fixture_fd(&env->f, PID, 35, TUN, "vnet1");
	fixture_fd(&env->f, PID, 36, NET, NULL);
	fixture_fd(&env->f, PID, 37, NET, NULL);
	fixture_fd(&env->f, PID, 38, TUN, "vnet2");
	assert_string_equal(device(env), "vhost-net:vnet1");
	assert_int_equal(env->task.owner_pid, PID);
}

/* vhostfd alone turns vhost on; vhost=off wins over it. */
static void test_libvirt_switch(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "-netdev", "tap,fd=34,id=a,vhostfd=35", "-netdev",
				     "tap,fd=36,id=b,vhost=off,vhostfd=37", NULL };

	add_qemu(env, PID, args);
	fixture_fd(&env->f, PID, 34, TUN, "vnet1");
	fixture_fd(&env->f, PID, 35, NET, NULL);
	fixture_fd(&env->f, PID, 36, TUN, "vnet2");
	assert_string_equal(device(env), "vhost-net:vnet1");
}

static void test_macvtap(void **state)
{
	struct env *env = *state;
	struct vw_worker_row row = { 0 };

	add_qemu(env, PID, NULL);
	fixture_interface(&env->f, "eth0", 2, 1, 2, 3, 4);
	fixture_interface(&env->f, "macvtap0", 17, 10, 1000, 20, 2000);
	fixture_fd(&env->f, PID, 3, "/dev/tap17", NULL);
	fixture_fd(&env->f, PID, 8, NET, NULL);
	assert_string_equal(device(env), "vhost-net:macvtap0");
	/* A macvtap sends out what the guest sends. */
	row.task = env->task;
	vw_attr_traffic(env->attr, &row);
	assert_int_equal(row.tx_packets, 20);
	assert_int_equal(row.tx_bytes, 2000);
	assert_int_equal(row.rx_packets, 10);
	assert_int_equal(row.rx_bytes, 1000);
	/* No interface of that index here. */
	fixture_fd(&env->f, PID, 3, "/dev/tap18", NULL);
	assert_string_equal(device_again(env), "vhost-net");
}

static void test_vsock(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "-device", "vhost-vsock-pci,id=v0,guest-cid=3", NULL };

	add_qemu(env, PID, args);
	fixture_fd(&env->f, PID, 8, "/dev/vhost-vsock", NULL);
	assert_string_equal(device(env), "vhost-vsock:3");
	/* A second one that the command line does not know. */
	fixture_fd(&env->f, PID, 9, "/dev/vhost-vsock", NULL);
	assert_string_equal(device_again(env), "");
}

static void test_vsock_json_and_unknown(void **state)
{
	struct env *env = *state;
	const char *const args[] = {
		"-device", "{\"driver\":\"vhost-vsock-pci\",\"guest-cid\":42,\"vhostfd\":\"33\"}",
		NULL };

	add_qemu(env, PID, args);
	fixture_fd(&env->f, PID, 33, "/dev/vhost-vsock", NULL);
	assert_string_equal(device(env), "vhost-vsock:42");
	add_qemu(env, 3920, NULL);
	fixture_fd(&env->f, 3920, 8, "/dev/vhost-vsock", NULL);
	assert_string_equal(device(env), "vhost-vsock");
}

static void test_scsi(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "-device", "virtio-net-pci,netdev=n0", "-device",
				     "vhost-scsi-pci,wwpn=naa.5001405324af0985,id=s0", NULL };

	add_qemu(env, PID, args);
	fixture_fd(&env->f, PID, 8, "/dev/vhost-scsi", NULL);
	add_worker(env, PID, 2950);
	assert_string_equal(device(env), "vhost-scsi:naa.5001405324af0985");
}

static void test_mixed(void **state)
{
	struct env *env = *state;
	const char *const args[] = { "-device", "vhost-vsock-pci,guest-cid=3", NULL };

	add_qemu(env, PID, args);
	fixture_fd(&env->f, PID, 3, TUN, "vnet7");
	fixture_fd(&env->f, PID, 8, NET, NULL);
	fixture_fd(&env->f, PID, 9, "/dev/vhost-vsock", NULL);
	assert_string_equal(device(env), "");
}

/* vhost-vdpa has no worker: beside another device it cannot be meant. */
static void test_vdpa(void **state)
{
	struct env *env = *state;

	add_qemu(env, PID, NULL);
	fixture_fd(&env->f, PID, 8, "/dev/vhost-vdpa-0", NULL);
	assert_string_equal(device(env), "vhost-vdpa:0");
	fixture_fd(&env->f, PID, 9, "/dev/vhost-vdpa-1", NULL);
	assert_string_equal(device_again(env), "");
	fixture_fd(&env->f, PID, 10, "/dev/vhost-vsock", NULL);
	assert_string_equal(device_again(env), "vhost-vsock");
}

static void test_odd_links(void **state)
{
	struct env *env = *state;

	add_qemu(env, PID, NULL);
	fixture_fd(&env->f, PID, 3, "/srv/x/dev/vhost-net", NULL);
	fixture_fd(&env->f, PID, 4, "/dev/vhost-network", NULL);
	fixture_fd(&env->f, PID, 5, "/dev/vhost-net-a-name-that-is-much-longer-than-any-that-is-"
		   "looked-for-here-and-more", NULL);
	fixture_fd(&env->f, PID, 6, "vhost-net", NULL);
	assert_string_equal(device(env), "");
	/* An interface name that leads out of the folder gives no traffic. */
	fixture_interface(&env->f, "eth0", 2, 1, 2, 3, 4);
	fixture_text(&env->f, "sys/class/x/statistics/rx_packets", "7\n");
	fixture_fd(&env->f, PID, 7, TUN, "../x");
	fixture_fd(&env->f, PID, 8, NET, NULL);
	assert_string_equal(device_again(env), "vhost-net:../x");
	{
		struct vw_worker_row row = { .task = env->task };

		vw_attr_traffic(env->attr, &row);
		assert_true(row.tx_packets == VW_UNKNOWN);
	}
}

/* A worker more is a device more: seen at the next scan.  Else what was read is kept for a while.
 * */
static void test_hot_plug(void **state)
{
	struct env *env = *state;
	unsigned int i;

	add_qemu(env, PID, NULL);
	fixture_fd(&env->f, PID, 3, TUN, "vnet7");
	fixture_fd(&env->f, PID, 8, NET, NULL);
	assert_string_equal(device(env), "vhost-net:vnet7");
	fixture_fd(&env->f, PID, 4, TUN, "vnet8");
	fixture_fd(&env->f, PID, 9, NET, NULL);
	assert_string_equal(device(env), "vhost-net:vnet7");
	add_worker(env, PID, 2950);
	assert_string_equal(device(env), "");
	/* A tap that is exchanged under the same worker is seen some scans later. */
	fixture_remove(&env->f, "proc/2920/fd/4");
	for (i = 0; i < 2 * VW_OWNERS_REFRESH && !*device(env); i++)
		;
	assert_string_equal(env->task.device, "vhost-net:vnet7");
	assert_true(i > 2 && i < 2 * VW_OWNERS_REFRESH);
}

/* A process that is ending has lost its command line and files, not its name. */
static void test_ending_owner(void **state)
{
	struct env *env = *state;

	add_qemu(env, PID, NULL);
	fixture_fd(&env->f, PID, 3, TUN, "vnet7");
	fixture_fd(&env->f, PID, 8, NET, NULL);
	assert_string_equal(device(env), "vhost-net:vnet7");
	fixture_text(&env->f, "proc/2920/cmdline", "");
	fixture_remove(&env->f, "proc/2920/fd");
	assert_string_equal(device_again(env), "vhost-net:vnet7");
	assert_string_equal(env->task.vm, "web01");
}

static void test_traffic(void **state)
{
	struct env *env = *state;
	struct vw_worker_row row = { 0 };

	add_qemu(env, PID, NULL);
	fixture_fd(&env->f, PID, 3, TUN, "vnet7");
	fixture_fd(&env->f, PID, 8, NET, NULL);
	fixture_interface(&env->f, "vnet7", 9, 11, 1100, 22, 2200);
	assert_string_equal(device(env), "vhost-net:vnet7");
	row.task = env->task;
	vw_attr_traffic(env->attr, &row);
	/* What the guest sends, the tap receives. */
	assert_int_equal(row.tx_packets, 11);
	assert_int_equal(row.tx_bytes, 1100);
	assert_int_equal(row.rx_packets, 22);
	assert_int_equal(row.rx_bytes, 2200);
	/* In another namespace a name means another interface. */
	fixture_link(&env->f, "proc/self/ns/net", "net:[4026531840]");
	fixture_link(&env->f, "proc/2920/ns/net", "net:[4026532300]");
	assert_string_equal(device_again(env), "vhost-net:vnet7");
	vw_attr_traffic(env->attr, &row);
	assert_true(row.tx_packets == VW_UNKNOWN);
	fixture_link(&env->f, "proc/2920/ns/net", "net:[4026531840]");
	vw_attr_refresh(env->attr, 0);
	vw_attr_traffic(env->attr, &row);
	assert_int_equal(row.tx_packets, 11);
	fixture_remove(&env->f, "sys/class/net/vnet7");
	vw_attr_traffic(env->attr, &row);
	assert_true(row.rx_bytes == VW_UNKNOWN);
	strcpy(row.task.device, "vhost-vsock:3");
	vw_attr_traffic(env->attr, &row);
	assert_true(row.rx_bytes == VW_UNKNOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one_tap),
		TEST(test_queues_of_one_tap),
		TEST(test_two_taps),
		TEST(test_tap_without_vhost),
		TEST(test_libvirt),
		TEST(test_libvirt_queues),
		TEST(test_libvirt_switch),
		TEST(test_macvtap),
		TEST(test_vsock),
		TEST(test_vsock_json_and_unknown),
		TEST(test_scsi),
		TEST(test_mixed),
		TEST(test_vdpa),
		TEST(test_odd_links),
		TEST(test_hot_plug),
		TEST(test_ending_owner),
		TEST(test_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
