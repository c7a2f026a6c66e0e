// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "attr/walk.h"
#include "util/fs.h"

struct walk {
	int proc_fd;
	int32_t pid;
	vw_walk_fn fn;
	void *ctx;
};

static int visit_thread(void *ctx, int fd, int32_t tid)
{
	struct walk *walk = ctx;
	char path[VW_WALK_PATH];

	snprintf(path, sizeof(path), "%d", tid);
	return walk->fn(walk->ctx, fd, path, walk->pid, tid);
}

static int visit_process(struct walk *walk)
{
	char path[VW_WALK_PATH];
	int fd, ret;

	snprintf(path, sizeof(path), "%d/task", walk->pid);
	ret = vw_fs_each_number(walk->proc_fd, path, visit_thread, walk);
	if (ret != -ENOENT)
		return ret;
	/* Gone, or a fixture without task/. */
	snprintf(path, sizeof(path), "%d", walk->pid);
	fd = vw_fs_opendir(walk->proc_fd, path);
	if (fd < 0)
		return -ESRCH;
	ret = walk->fn(walk->ctx, fd, ".", walk->pid, walk->pid);
	close(fd);
	return ret;
}

static int visit_entry(void *ctx, int fd, int32_t pid)
{
	struct walk *walk = ctx;
	int ret;

	(void)fd;
	walk->pid = pid;
	ret = visit_process(walk);
	/* Processes come and go, and some may be hidden from us; only our own lack is an error. */
	if (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM || ret > 0)
		return ret;
	return 0;
}

int vw_walk_all(int proc_fd, vw_walk_fn fn, void *ctx)
{
	struct walk walk = { .proc_fd = proc_fd, .fn = fn, .ctx = ctx };

	return vw_fs_each_number(proc_fd, ".", visit_entry, &walk);
}

int vw_walk_threads(int proc_fd, int32_t pid, vw_walk_fn fn, void *ctx)
{
	struct walk walk = { .proc_fd = proc_fd, .pid = pid, .fn = fn, .ctx = ctx };

	return visit_process(&walk);
}

struct wanted {
	int32_t tid, pid;
	int fd;
};

static int open_if_wanted(void *ctx, int fd, const char *path, int32_t pid, int32_t tid)
{
	struct wanted *wanted = ctx;

	if (tid != wanted->tid)
		return 0;
	wanted->fd = vw_fs_opendir(fd, path);
	wanted->pid = pid;
	return 1;
}

int vw_walk_open(int proc_fd, bool real, int32_t *pid, int32_t tid)
{
	struct wanted wanted = { .tid = tid, .fd = -ESRCH };
	char path[VW_WALK_PATH];
	int fd;

	snprintf(path, sizeof(path), "%d/task/%d", *pid > 0 ? *pid : tid, tid);
	fd = vw_fs_opendir(proc_fd, path);
	if (fd == -ENOENT && *pid > 0 && *pid != tid) {
		snprintf(path, sizeof(path), "%d/task/%d", tid, tid);
		fd = vw_fs_opendir(proc_fd, path);
	}
	if (fd >= 0 || fd != -ENOENT)
		return fd;
	if (real)
		return -ESRCH;
	/* Fixtures: without task/, or with the thread below its process only. */
	fd = vw_walk_all(proc_fd, open_if_wanted, &wanted);
	if (fd < 0)
		return fd;
	*pid = wanted.pid;
	return wanted.fd;
}
