// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "attr/internal.h"
#include "attr/walk.h"
#include "util/fs.h"
#include "util/str.h"

struct found {
	struct vw_attr_raw *items;
	size_t n, room;
};

static int append(struct found *found, const struct vw_attr_raw *raw)
{
	struct vw_attr_raw *items;
	size_t room;

	if (found->n == found->room) {
		room = found->room ? 2 * found->room : 64;
		items = reallocarray(found->items, room, sizeof(*items));
		if (!items)
			return -ENOMEM;
		found->items = items;
		found->room = room;
	}
	found->items[found->n++] = *raw;
	return 0;
}

/* Our own lack must end the scan: a part of the workers would look like all of them. */
static bool is_fatal(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

/* 1 or 0, or a negative errno.  Nearly every thread of a host ends here, after one small file. */
static int may_be_worker(int fd, const char *path)
{
	/* No more than is compared, so that one read fills it. */
	char file[VW_WALK_PATH + 8], name[sizeof("vhost-")];
	ssize_t len;

	snprintf(file, sizeof(file), "%.31s/comm", path);
	len = vw_fs_read(fd, file, name, sizeof(name));
	/* A fixture may have the stat file only. */
	if (len < 0)
		return is_fatal((int)len) ? (int)len : len == -ENOENT;
	return vw_str_starts(name, "vhost-");
}

static int collect(void *ctx, int fd, const char *path, int32_t pid, int32_t tid)
{
	struct found *found = ctx;
	struct vw_attr_raw raw;
	int task_fd, err;

	err = may_be_worker(fd, path);
	if (err <= 0)
		return err;
	task_fd = vw_fs_opendir(fd, path);
	if (task_fd < 0)
		return is_fatal(task_fd) ? task_fd : 0;
	err = vw_attr_read(task_fd, pid, tid, &raw);
	close(task_fd);
	if (is_fatal(err))
		return err;
	if (err || raw.task.role != VW_ROLE_VHOST_WORKER)
		return 0;
	if (found->n >= VW_ATTR_MAX_WORKERS)
		return 1;
	return append(found, &raw);
}

/* By tid; of two views of one task first the one that shows it as a thread of its owner. */
static int by_tid(const void *a, const void *b)
{
	const struct vw_task *x = &((const struct vw_attr_raw *)a)->task;
	const struct vw_task *y = &((const struct vw_attr_raw *)b)->task;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->tgid == x->tid) - (y->tgid == y->tid);
}

static void drop_doubles(struct found *found)
{
	size_t i, n = 0;

	qsort(found->items, found->n, sizeof(*found->items), by_tid);
	for (i = 0; i < found->n; i++)
		if (!n || found->items[i].task.tid != found->items[n - 1].task.tid)
			found->items[n++] = found->items[i];
	found->n = n;
}

/* The workers of one owner, as one number that changes when one comes or goes. */
struct digest {
	int32_t owner_pid;
	uint64_t workers;
	UT_hash_handle hh;
};

static int digest_add(struct digest **head, struct digest *spare, const struct vw_task *task)
{
	struct digest *digest;

	HASH_FIND(hh, *head, &task->owner_pid, sizeof(task->owner_pid), digest);
	if (!digest) {
		digest = spare;
		digest->owner_pid = task->owner_pid;
		digest->workers = VW_WORKERS_SOME + 1;
		HASH_ADD(hh, *head, owner_pid, sizeof(digest->owner_pid), digest);
		if (!VW_HASH_ADDED(digest))
			return -ENOMEM;
	}
	digest->workers = digest->workers * 1000003 + (uint64_t)task->tid + task->start_ns;
	if (digest->workers <= VW_WORKERS_SOME)
		digest->workers += VW_WORKERS_SOME + 1;
	return 0;
}

static int describe_all(struct vw_attr *attr, struct found *found)
{
	struct digest *head = NULL, *digests, *digest;
	size_t i;
	int err = 0;

	digests = calloc(found->n, sizeof(*digests));
	if (!digests)
		return -ENOMEM;
	for (i = 0; i < found->n && !err; i++) {
		vw_attr_own(attr, &found->items[i]);
		err = digest_add(&head, &digests[i], &found->items[i].task);
	}
	for (i = 0; i < found->n && !err; i++) {
		HASH_FIND(hh, head, &found->items[i].task.owner_pid, sizeof(int32_t), digest);
		vw_attr_describe_worker(attr, &found->items[i], digest->workers);
	}
	HASH_CLEAR(hh, head);
	free(digests);
	return err;
}

int vw_attr_scan(struct vw_attr *attr, void (*fn)(void *ctx, const struct vw_task *task),
		 void *ctx)
{
	struct found found = { 0 };
	size_t i;
	int ret;

	vw_owners_begin(attr->owners);
	ret = vw_walk_all(attr->proc_fd, collect, &found);
	if (ret < 0)
		goto out;
	ret = 0;
	if (!found.n)
		goto out;
	drop_doubles(&found);
	ret = describe_all(attr, &found);
	if (ret)
		goto out;
	for (i = 0; i < found.n; i++)
		fn(ctx, &found.items[i].task);
	ret = (int)found.n;
out:
	vw_owners_end(attr->owners);
	free(found.items);
	return ret;
}
