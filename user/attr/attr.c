// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "attr/internal.h"
#include "attr/proc.h"
#include "attr/qemu.h"
#include "attr/walk.h"
#include "util/fs.h"
#include "util/str.h"

#define STATUS_MAX 8192 /* Cpus_allowed of a large host alone can have some kB */
#define CGROUP_MAX 4096
#define START_SLACK_NS 10000000ull

struct vw_attr *vw_attr_new(int proc_fd, int sys_fd)
{
	struct vw_attr *attr = calloc(1, sizeof(*attr));
	struct statfs fs;

	if (!attr)
		return NULL;
	attr->proc_fd = proc_fd;
	attr->sys_fd = sys_fd;
	attr->real = !fstatfs(proc_fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
	attr->owners = vw_owners_new(proc_fd, sys_fd);
	if (!attr->owners) {
		free(attr);
		return NULL;
	}
	return attr;
}

void vw_attr_free(struct vw_attr *attr)
{
	if (!attr)
		return;
	vw_owners_free(attr->owners);
	free(attr);
}

void vw_attr_refresh(struct vw_attr *attr, int32_t pid)
{
	vw_owners_refresh(attr->owners, pid);
}

static enum vw_backend backend_of(const char *name, uint32_t flags)
{
	if (!vw_proc_vhost_number(name))
		return VW_BACKEND_NONE;
	/* A rescuer is named after its workqueue, an io_uring worker could be renamed. */
	if (flags & (VW_PF_WQ_WORKER | VW_PF_IO_WORKER))
		return VW_BACKEND_NONE;
	if (flags & VW_PF_KTHREAD)
		return VW_BACKEND_KTHREAD;
	if (flags & VW_PF_USER_WORKER)
		return VW_BACKEND_VHOST_TASK;
	return VW_BACKEND_NONE;
}

bool vw_attr_is_worker(const char *comm, uint32_t flags)
{
	return backend_of(comm, flags) != VW_BACKEND_NONE;
}

enum vw_worker_kind vw_attr_worker_kind(const struct vw_task *task)
{
	if (task->role != VW_ROLE_VHOST_WORKER)
		return VW_WORKER_NOT;
	if (task->backend == VW_BACKEND_KTHREAD)
		return VW_WORKER_KTHREAD;
	if (task->backend != VW_BACKEND_VHOST_TASK)
		return VW_WORKER_NOT;
	return task->tgid == task->tid ? VW_WORKER_PROCESS : VW_WORKER_THREAD;
}

const char *vw_attr_worker_kind_name(enum vw_worker_kind kind)
{
	switch (kind) {
	case VW_WORKER_KTHREAD:
		return "kthread";
	case VW_WORKER_PROCESS:
		return "process";
	case VW_WORKER_THREAD:
		return "thread";
	case VW_WORKER_NOT:
		break;
	}
	return NULL;
}

enum vw_backend vw_attr_backend(const struct vw_proc_stat *stat)
{
	return backend_of(stat->name, stat->flags);
}

bool vw_attr_is_vcpu_name(const char *comm)
{
	const char *end;
	uint64_t number;

	if (!strcmp(comm, "ALL CPUs/TCG"))
		return true;
	if (!vw_str_starts(comm, "CPU ") || vw_str_u64(comm + 4, &end, &number))
		return false;
	return !strcmp(end, "/KVM") || !strcmp(end, "/TCG");
}

/* /proc adds what a kworker does to its name, traces do not. */
static void take_comm(const struct vw_proc_stat *stat, struct vw_task *task)
{
	const char *colon = strchr(stat->name, ':');
	size_t len = strlen(stat->name);

	if (stat->flags & VW_PF_WQ_WORKER && vw_str_starts(stat->name, "kworker/") && colon)
		len = (size_t)(colon - stat->name) + strcspn(colon, "+-");
	vw_str_copy(task->comm, sizeof(task->comm), stat->name, len);
}

static void take_status(int fd, struct vw_task *task, int32_t *ret_ppid)
{
	struct vw_proc_status status;
	char buf[STATUS_MAX];

	if (vw_proc_read_status(fd, buf, sizeof(buf), &status))
		return;
	if (status.tgid)
		task->tgid = status.tgid;
	if (status.ppid)
		*ret_ppid = status.ppid;
	if (status.cpus_allowed && !vw_str_copy(task->cpus_allowed, sizeof(task->cpus_allowed),
						status.cpus_allowed, status.cpus_allowed_len))
		task->cpus_allowed[0] = '\0';
}

/* Also gives the machine's name, which the cut copy in @task may no longer hold. */
static void take_cgroup(int fd, struct vw_task *task, char *ret_machine, size_t size)
{
	char text[CGROUP_MAX], path[CGROUP_MAX];

	if (vw_fs_read(fd, "cgroup", text, sizeof(text)) < 0 ||
	    vw_proc_parse_cgroup(text, path, sizeof(path)))
		return;
	vw_str_copy(task->cgroup, sizeof(task->cgroup), path, strlen(path));
	vw_qemu_machine_name(path, ret_machine, size);
}

int vw_attr_read(int fd, int32_t pid, int32_t tid, struct vw_attr_raw *ret)
{
	struct vw_attr_raw raw = { 0 };
	struct vw_task *task = &raw.task;
	struct vw_proc_stat stat;
	int err;

	err = vw_proc_read_stat(fd, &stat);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	task->tid = tid;
	task->tgid = pid;
	task->start_ns = stat.start_ns;
	task->flags = stat.flags;
	task->flags_known = true;
	take_comm(&stat, task);
	raw.ppid = stat.ppid;
	raw.number = vw_proc_vhost_number(stat.name);
	task->backend = vw_attr_backend(&stat);
	take_status(fd, task, &raw.ppid);
	take_cgroup(fd, task, raw.machine, sizeof(raw.machine));
	if (task->backend != VW_BACKEND_NONE) {
		task->role = VW_ROLE_VHOST_WORKER;
		task->watched = true;
	} else if (stat.flags & VW_PF_WQ_WORKER ||
		   (stat.flags & VW_PF_KTHREAD && vw_str_starts(stat.name, "kworker/"))) {
		task->role = VW_ROLE_KWORKER;
	} else if (!(stat.flags & VW_PF_KTHREAD) && vw_attr_is_vcpu_name(task->comm)) {
		task->role = VW_ROLE_VCPU;
	}
	*ret = raw;
	return 0;
}

/* The number in a worker's name is the thread that set the owner, in the first pid namespace. */
static void own_by_name(struct vw_attr *attr, struct vw_attr_raw *raw)
{
	struct vw_task *task = &raw->task;
	uint64_t start_ns;
	int32_t pid;

	if (raw->number <= 2)
		return;
	pid = vw_owners_process_of(attr->owners, raw->number, &start_ns);
	/* One that is younger than its worker has taken the number of an owner that is gone. */
	if (!pid || start_ns >= task->start_ns + START_SLACK_NS)
		return;
	task->owner_pid = pid;
	task->owner_by_name = true;
}

void vw_attr_own(struct vw_attr *attr, struct vw_attr_raw *raw)
{
	struct vw_task *task = &raw->task;

	switch (vw_attr_worker_kind(task)) {
	case VW_WORKER_THREAD:
		task->owner_pid = task->tgid;
		break;
	case VW_WORKER_PROCESS:
		/* Its owner may be gone, then it is a child of init. */
		if (raw->ppid > 2 || (raw->ppid == 1 && raw->number == 1))
			task->owner_pid = raw->ppid;
		else
			own_by_name(attr, raw);
		break;
	case VW_WORKER_KTHREAD:
		own_by_name(attr, raw);
		break;
	case VW_WORKER_NOT:
		break;
	}
}

/* What the owner tells about one of its workers. */
void vw_attr_describe_worker(struct vw_attr *attr, struct vw_attr_raw *raw, uint64_t workers)
{
	struct vw_task *task = &raw->task;
	const struct vw_owner *owner = NULL;

	if (task->owner_pid)
		owner = vw_owners_get(attr->owners, task->owner_pid, workers);
	if (owner) {
		memcpy(task->vm, owner->vm, sizeof(task->vm));
		memcpy(task->device, owner->device, sizeof(task->device));
	}
	if (!*task->vm)
		memcpy(task->vm, raw->machine, sizeof(task->vm));
}

/* A thread of a process, worker or not: a vCPU, the emulator, or neither. */
static void describe_thread(struct vw_attr *attr, struct vw_attr_raw *raw)
{
	struct vw_task *task = &raw->task;
	const struct vw_owner *owner;

	if (task->flags & VW_PF_KTHREAD || task->tgid <= 0)
		return;
	owner = vw_owners_get(attr->owners, task->tgid, VW_WORKERS_NONE);
	if (!owner)
		return;
	if (!owner->vmm && !*owner->vm && task->role != VW_ROLE_VCPU)
		return;
	task->owner_pid = task->tgid;
	memcpy(task->vm, owner->vm, sizeof(task->vm));
	/* Workers of KVM and io_uring run in the machine's process but are not the emulator. */
	if (task->role == VW_ROLE_VCPU || !owner->named ||
	    task->flags & (VW_PF_USER_WORKER | VW_PF_IO_WORKER))
		return;
	/* Without debug-threads all threads have one name, vCPUs too: it tells nothing. */
	if (task->tid == task->tgid || strcmp(task->comm, owner->comm))
		task->role = VW_ROLE_EMULATOR;
}

static void describe(struct vw_attr *attr, struct vw_attr_raw *raw)
{
	if (raw->task.role == VW_ROLE_VHOST_WORKER) {
		vw_attr_own(attr, raw);
		vw_attr_describe_worker(attr, raw, VW_WORKERS_SOME);
	} else {
		describe_thread(attr, raw);
	}
}

int vw_attr_task(struct vw_attr *attr, int32_t tid, struct vw_task *ret_task)
{
	struct vw_attr_raw raw;
	int32_t pid = 0;
	int fd, err;

	if (tid <= 0)
		return -ESRCH;
	fd = vw_walk_open(attr->proc_fd, attr->real, &pid, tid);
	if (fd < 0)
		return fd;
	err = vw_attr_read(fd, pid, tid, &raw);
	close(fd);
	if (err)
		return err;
	describe(attr, &raw);
	*ret_task = raw.task;
	return 0;
}

struct threads {
	struct vw_attr *attr;
	void (*fn)(void *ctx, const struct vw_task *task);
	void *ctx;
};

static int visit(void *ctx, int fd, const char *path, int32_t pid, int32_t tid)
{
	struct threads *threads = ctx;
	struct vw_attr_raw raw;
	int task_fd, err;

	task_fd = vw_fs_opendir(fd, path);
	if (task_fd < 0)
		return 0;
	err = vw_attr_read(task_fd, pid, tid, &raw);
	close(task_fd);
	if (err)
		return 0;
	describe(threads->attr, &raw);
	threads->fn(threads->ctx, &raw.task);
	return 0;
}

int vw_attr_threads(struct vw_attr *attr, int32_t pid,
		    void (*fn)(void *ctx, const struct vw_task *task), void *ctx)
{
	struct threads threads = { .attr = attr, .fn = fn, .ctx = ctx };

	return pid > 0 ? vw_walk_threads(attr->proc_fd, pid, visit, &threads) : -ESRCH;
}

static int visit_vcpu(void *ctx, int fd, const char *path, int32_t pid, int32_t tid)
{
	char file[VW_WALK_PATH + 8], name[VW_COMM_LEN + 1];
	ssize_t len;

	snprintf(file, sizeof(file), "%.31s/comm", path);
	len = vw_fs_read(fd, file, name, sizeof(name));
	if (len > 0 && name[len - 1] == '\n')
		name[len - 1] = '\0';
	return len > 0 && vw_attr_is_vcpu_name(name) ? visit(ctx, fd, path, pid, tid) : 0;
}

int vw_attr_vcpus(struct vw_attr *attr, int32_t pid,
		  void (*fn)(void *ctx, const struct vw_task *task), void *ctx)
{
	struct threads threads = { .attr = attr, .fn = fn, .ctx = ctx };

	return pid > 0 ? vw_walk_threads(attr->proc_fd, pid, visit_vcpu, &threads) : -ESRCH;
}
