// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "attr/ifname.h"
#include "attr/internal.h"
#include "attr/walk.h"
#include "util/fs.h"
#include "util/str.h"

#define STATUS_MAX 8192
#define NET_PREFIX "vhost-net:"

static void read_switches(int fd, struct vw_proc_counters *counters)
{
	struct vw_proc_status status;
	char buf[STATUS_MAX];

	if (vw_proc_read_status(fd, buf, sizeof(buf), &status))
		return;
	counters->voluntary = status.voluntary;
	counters->involuntary = status.involuntary;
}

static void read_schedstat(int fd, const struct vw_proc_stat *stat,
			   struct vw_proc_counters *counters)
{
	struct vw_proc_schedstat schedstat;

	if (vw_proc_read_schedstat(fd, &schedstat))
		return;
	/* A kernel that does not count writes three zeros, even for one that has run. */
	if (!schedstat.run_ns && !schedstat.delay_ns && !schedstat.slices &&
	    (stat->cpu_ticks || (counters->voluntary && counters->voluntary != VW_UNKNOWN) ||
	     (counters->involuntary && counters->involuntary != VW_UNKNOWN)))
		return;
	counters->run_ns = schedstat.run_ns;
	counters->delay_ns = schedstat.delay_ns;
	counters->slices = schedstat.slices;
}

static int read_counters(int fd, const struct vw_task *task, bool all,
			 struct vw_proc_counters *ret)
{
	struct vw_proc_counters counters = {
		.run_ns = VW_UNKNOWN, .delay_ns = VW_UNKNOWN, .slices = VW_UNKNOWN,
		.voluntary = VW_UNKNOWN, .involuntary = VW_UNKNOWN, .migrations = VW_UNKNOWN,
	};
	struct vw_task seen = { .tid = task->tid };
	struct vw_proc_stat stat;
	int err;

	err = vw_proc_read_stat(fd, &stat);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	seen.start_ns = stat.start_ns;
	if (!vw_task_same(&seen, task))
		return -ESRCH;
	counters.state = stat.state;
	counters.cpu = stat.cpu;
	counters.rt = stat.rt;
	if (all || stat.state == 'R') {
		read_switches(fd, &counters);
		read_schedstat(fd, &stat, &counters);
	}
	if (all)
		counters.migrations = vw_proc_read_migrations(fd);
	*ret = counters;
	return 0;
}

static int open_and_read(struct vw_attr *attr, const struct vw_task *task, bool all,
			 struct vw_proc_counters *ret)
{
	int32_t pid = task->tgid;
	int fd, err;

	if (task->tid <= 0)
		return -ESRCH;
	fd = vw_walk_open(attr->proc_fd, attr->real, &pid, task->tid);
	if (fd < 0)
		return fd;
	err = read_counters(fd, task, all, ret);
	close(fd);
	return err;
}

int vw_attr_counters(struct vw_attr *attr, const struct vw_task *task,
		     struct vw_proc_counters *ret)
{
	return open_and_read(attr, task, true, ret);
}

int vw_attr_sample(struct vw_attr *attr, const struct vw_task *task, struct vw_proc_counters *ret)
{
	return open_and_read(attr, task, false, ret);
}

struct runnable {
	int (*fn)(void *ctx, const struct vw_task *task, int32_t cpu);
	void *ctx;
};

static int offer(void *ctx, int fd, const char *path, int32_t pid, int32_t tid)
{
	struct runnable *runnable = ctx;
	struct vw_task task = { .tid = tid, .tgid = pid };
	struct vw_proc_stat stat;
	int task_fd, err;

	task_fd = vw_fs_opendir(fd, path);
	if (task_fd < 0)
		return 0;
	err = vw_proc_read_stat(task_fd, &stat);
	close(task_fd);
	if (err || stat.state != 'R')
		return 0;
	task.start_ns = stat.start_ns;
	vw_str_copy(task.comm, sizeof(task.comm), stat.name, sizeof(stat.name));
	return runnable->fn(runnable->ctx, &task, stat.cpu);
}

int vw_attr_runnable(struct vw_attr *attr,
		     int (*fn)(void *ctx, const struct vw_task *task, int32_t cpu), void *ctx)
{
	struct runnable runnable = { .fn = fn, .ctx = ctx };
	int ret = vw_walk_all(attr->proc_fd, offer, &runnable);

	return ret < 0 ? ret : 0;
}

struct blocked {
	void (*fn)(void *ctx, const struct vw_task *task, uint64_t sleeps);
	void *ctx;
};

static int offer_blocked(void *ctx, int fd, const char *path, int32_t pid, int32_t tid)
{
	struct vw_proc_counters counters = { .voluntary = VW_UNKNOWN };
	struct vw_task task = { .tid = tid, .tgid = pid };
	struct blocked *blocked = ctx;
	struct vw_proc_stat stat;
	int task_fd, err;

	task_fd = vw_fs_opendir(fd, path);
	if (task_fd < 0)
		return 0;
	err = vw_proc_read_stat(task_fd, &stat);
	if (!err && stat.state == 'D')
		read_switches(task_fd, &counters);
	close(task_fd);
	if (err || stat.state != 'D')
		return 0;
	task.start_ns = stat.start_ns;
	vw_str_copy(task.comm, sizeof(task.comm), stat.name, sizeof(stat.name));
	blocked->fn(blocked->ctx, &task, counters.voluntary);
	return 0;
}

int vw_attr_blocked(struct vw_attr *attr, int32_t pid,
		    void (*fn)(void *ctx, const struct vw_task *task, uint64_t sleeps), void *ctx)
{
	struct blocked blocked = { .fn = fn, .ctx = ctx };

	return pid > 0 ? vw_walk_threads(attr->proc_fd, pid, offer_blocked, &blocked) : -ESRCH;
}

void vw_attr_traffic(struct vw_attr *attr, struct vw_worker_row *row)
{
	const struct vw_owner *owner = NULL;
	const char *ifname;
	bool swapped;

	row->tx_packets = row->tx_bytes = VW_UNKNOWN;
	row->rx_packets = row->rx_bytes = VW_UNKNOWN;
	if (!vw_str_starts(row->task.device, NET_PREFIX))
		return;
	ifname = row->task.device + strlen(NET_PREFIX);
	if (row->task.owner_pid > 0)
		owner = vw_owners_get(attr->owners, row->task.owner_pid, VW_WORKERS_SOME);
	if (owner && owner->other_net)
		return;
	/* The host receives on a tap what the guest sends; a macvtap sends it out itself. */
	swapped = !(owner && owner->macvtap && !strcmp(owner->device, row->task.device));
	row->tx_packets = vw_ifname_counter(attr->sys_fd, ifname,
					    swapped ? "rx_packets" : "tx_packets");
	row->tx_bytes = vw_ifname_counter(attr->sys_fd, ifname, swapped ? "rx_bytes" : "tx_bytes");
	row->rx_packets = vw_ifname_counter(attr->sys_fd, ifname,
					    swapped ? "tx_packets" : "rx_packets");
	row->rx_bytes = vw_ifname_counter(attr->sys_fd, ifname, swapped ? "tx_bytes" : "rx_bytes");
}
