// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attr/devices.h"
#include "attr/owner.h"
#include "attr/proc.h"
#include "attr/qemu.h"
#include "util/fs.h"
#include "util/str.h"

#define CMDLINE_MAX (128 * 1024)
#define CGROUP_MAX 4096
#define STATUS_MAX 4096
#define PATH_LEN 32

struct vw_owners {
	int proc_fd, sys_fd;
	uint32_t scan;
	bool scanning;
	struct vw_owner *head;
	char cmdline[CMDLINE_MAX];
};

struct vw_owners *vw_owners_new(int proc_fd, int sys_fd)
{
	struct vw_owners *owners = calloc(1, sizeof(*owners));

	if (!owners)
		return NULL;
	owners->proc_fd = proc_fd;
	owners->sys_fd = sys_fd;
	return owners;
}

static void drop(struct vw_owners *owners, struct vw_owner *owner)
{
	HASH_DEL(owners->head, owner);
	free(owner);
}

void vw_owners_free(struct vw_owners *owners)
{
	struct vw_owner *owner, *next;

	if (!owners)
		return;
	HASH_ITER(hh, owners->head, owner, next)
	drop(owners, owner);
	free(owners);
}

void vw_owners_begin(struct vw_owners *owners)
{
	struct vw_owner *owner, *next;

	owners->scanning = true;
	owners->scan++;
	if (owners->scan % VW_OWNERS_REFRESH)
		return;
	HASH_ITER(hh, owners->head, owner, next)
	if (owners->scan - owner->used_at > VW_OWNERS_REFRESH)
		drop(owners, owner);
}

void vw_owners_end(struct vw_owners *owners)
{
	owners->scanning = false;
}

void vw_owners_refresh(struct vw_owners *owners, int32_t pid)
{
	struct vw_owner *owner = owners->head;

	if (pid)
		HASH_FIND(hh, owners->head, &pid, sizeof(pid), owner);
	for (; owner; owner = pid ? NULL : owner->hh.next)
		owner->read_at = owners->scan - 2 * VW_OWNERS_REFRESH;
}

static bool is_fresh(const struct vw_owners *owners, const struct vw_owner *owner, uint64_t workers)
{
	/* Owners read in one scan must not all be due in one scan again. */
	uint32_t limit = VW_OWNERS_REFRESH + (uint32_t)owner->pid % VW_OWNERS_REFRESH;

	if (owners->scan - owner->read_at >= limit)
		return false;
	if (workers == VW_WORKERS_SOME)
		return owner->workers != VW_WORKERS_NONE;
	return workers == VW_WORKERS_NONE || workers == owner->workers;
}

static bool in_other_net(const struct vw_owners *owners, int pid_fd)
{
	char ours[64], theirs[64];

	if (vw_fs_readlink(owners->proc_fd, "self/ns/net", ours, sizeof(ours)) < 0 ||
	    vw_fs_readlink(pid_fd, "ns/net", theirs, sizeof(theirs)) < 0)
		return false;
	return strcmp(ours, theirs);
}

static void read_vm(int pid_fd, const struct vw_qemu_args *args, struct vw_owner *owner)
{
	char text[CGROUP_MAX], path[CGROUP_MAX];

	if (owner->vmm && !vw_qemu_name(args, owner->vm, sizeof(owner->vm))) {
		owner->named = true;
		return;
	}
	/* Libvirt's folder is proof enough, whatever the program is called. */
	if (vw_fs_read(pid_fd, "cgroup", text, sizeof(text)) >= 0 &&
	    !vw_proc_parse_cgroup(text, path, sizeof(path)))
		vw_qemu_machine_name(path, owner->vm, sizeof(owner->vm));
}

/* All but identity and bookkeeping.  -ENODATA when the process has let go of its memory. */
static int read_owner(struct vw_owners *owners, int pid_fd, struct vw_owner *owner)
{
	struct vw_qemu_args args = { .text = owners->cmdline };
	struct vw_devices devices = { 0 };
	size_t pos = 0;
	ssize_t len;

	len = vw_fs_read(pid_fd, "cmdline", owners->cmdline, sizeof(owners->cmdline));
	args.len = len > 0 ? (size_t)len : 0;
	if (!args.len)
		owners->cmdline[0] = '\0';
	owner->other_net = in_other_net(owners, pid_fd);
	owner->vmm = owner->workers != VW_WORKERS_NONE || vw_qemu_is_program(&args);
	/* A victim can be any process: look at the descriptors only of what may be a machine. */
	if (owner->vmm || vw_qemu_next(&args, "name", &pos)) {
		vw_devices_read(pid_fd, owner->other_net ? -1 : owners->sys_fd, &args, &devices);
		owner->vmm = owner->vmm || devices.vmm;
		owner->macvtap = devices.macvtap;
		memcpy(owner->device, devices.device, sizeof(owner->device));
	}
	read_vm(pid_fd, &args, owner);
	return args.len ? 0 : -ENODATA;
}

static struct vw_owner *add(struct vw_owners *owners, const struct vw_owner *fresh)
{
	struct vw_owner *owner;

	/* The head of a uthash list is the one that was added first. */
	while (HASH_COUNT(owners->head) >= VW_OWNERS_MAX)
		drop(owners, owners->head);
	owner = malloc(sizeof(*owner));
	if (!owner)
		return NULL;
	*owner = *fresh;
	HASH_ADD(hh, owners->head, pid, sizeof(owner->pid), owner);
	if (!VW_HASH_ADDED(owner)) {
		free(owner);
		return NULL;
	}
	return owner;
}

/* Fixtures may say nothing of the process but its command line. */
static int read_identity(int pid_fd, struct vw_proc_stat *ret)
{
	int err = vw_proc_read_stat(pid_fd, ret);

	if (err != -ENOENT)
		return err;
	memset(ret, 0, sizeof(*ret));
	return 0;
}

/* Reads process @pid again; @old is what is kept of that number, or NULL. */
static struct vw_owner *load(struct vw_owners *owners, int32_t pid, uint64_t workers,
			     struct vw_owner *old)
{
	struct vw_owner fresh = { .pid = pid };
	struct vw_proc_stat stat;
	char path[PATH_LEN];
	bool same;
	int fd, err;

	snprintf(path, sizeof(path), "%d", pid);
	fd = vw_fs_opendir(owners->proc_fd, path);
	if (fd < 0)
		return NULL;
	err = read_identity(fd, &stat);
	if (err || stat.flags & VW_PF_KTHREAD)
		goto out;
	fresh.start_ns = stat.start_ns;
	vw_str_copy(fresh.comm, sizeof(fresh.comm), stat.name, sizeof(stat.name));
	same = old && old->start_ns == fresh.start_ns;
	fresh.workers = workers;
	if (same && workers <= VW_WORKERS_SOME && old->workers > workers)
		fresh.workers = old->workers;
	err = read_owner(owners, fd, &fresh);
	/* A process that is ending has no command line any more; what was read before is true. */
	if (err == -ENODATA && same && old->vmm) {
		memcpy(fresh.vm, old->vm, sizeof(fresh.vm));
		memcpy(fresh.device, old->device, sizeof(fresh.device));
		fresh.named = old->named;
		fresh.macvtap = old->macvtap;
		fresh.vmm = true;
	}
	fresh.read_at = owners->scan;
	close(fd);
	if (old)
		drop(owners, old);
	return add(owners, &fresh);
out:
	close(fd);
	return NULL;
}

/* Flags and start of process @pid, or -ESRCH. */
static int identify(struct vw_owners *owners, int32_t pid, struct vw_proc_stat *ret)
{
	char path[PATH_LEN];
	int fd, err;

	snprintf(path, sizeof(path), "%d", pid);
	fd = vw_fs_opendir(owners->proc_fd, path);
	if (fd < 0)
		return -ESRCH;
	err = read_identity(fd, ret);
	close(fd);
	return err;
}

static struct vw_owner *find(struct vw_owners *owners, int32_t pid)
{
	struct vw_owner *owner;

	HASH_FIND(hh, owners->head, &pid, sizeof(pid), owner);
	return owner;
}

const struct vw_owner *vw_owners_get(struct vw_owners *owners, int32_t pid, uint64_t workers)
{
	struct vw_owner *owner = find(owners, pid);
	struct vw_proc_stat stat;
	bool fresh = owner && is_fresh(owners, owner, workers);

	if (fresh && owners->scanning && owner->used_at == owners->scan)
		return owner;
	if (fresh && identify(owners, pid, &stat))
		return NULL;
	if (!fresh || stat.start_ns != owner->start_ns)
		owner = load(owners, pid, workers, owner);
	if (owner)
		owner->used_at = owners->scan;
	return owner;
}

int32_t vw_owners_process_of(struct vw_owners *owners, int32_t tid, uint64_t *ret_start_ns)
{
	char path[PATH_LEN], buf[STATUS_MAX];
	struct vw_owner *owner = find(owners, tid);
	struct vw_proc_status status = { .tgid = tid };
	struct vw_proc_stat stat;
	int fd;

	/* One that is kept is a process; the same start says that it still is that one. */
	if (owner && !identify(owners, tid, &stat) && stat.start_ns == owner->start_ns) {
		*ret_start_ns = stat.start_ns;
		return tid;
	}
	snprintf(path, sizeof(path), "%d", tid);
	fd = vw_fs_opendir(owners->proc_fd, path);
	if (fd < 0)
		return 0;
	if (vw_proc_read_status(fd, buf, sizeof(buf), &status) || !status.tgid)
		status.tgid = tid;
	close(fd);
	if (identify(owners, status.tgid, &stat) || stat.flags & VW_PF_KTHREAD)
		return 0;
	*ret_start_ns = stat.start_ns;
	return status.tgid;
}
