// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "model/task.h"
#include "util/hash.h"

/* /proc gives start times cut to USER_HZ, BPF gives them exactly. */
#define START_SLACK_NS 10000000ull

struct entry {
	struct vw_task task;
	UT_hash_handle hh;
};

struct vw_tasks {
	struct entry *head;
	int32_t last_tid; /* the highest so far while @sorted */
	bool sorted;
};

bool vw_task_same_start(uint64_t a_ns, uint64_t b_ns)
{
	if (!a_ns || !b_ns)
		return true;
	return (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) < START_SLACK_NS;
}

bool vw_task_same(const struct vw_task *a, const struct vw_task *b)
{
	return a->tid == b->tid && vw_task_same_start(a->start_ns, b->start_ns);
}

const char *vw_role_name(enum vw_role role)
{
	switch (role) {
	case VW_ROLE_VHOST_WORKER:
		return "vhost_worker";
	case VW_ROLE_VCPU:
		return "vcpu";
	case VW_ROLE_EMULATOR:
		return "emulator";
	case VW_ROLE_KWORKER:
		return "kworker";
	case VW_ROLE_OTHER:
		break;
	}
	return "other";
}

const char *vw_backend_name(enum vw_backend backend)
{
	switch (backend) {
	case VW_BACKEND_KTHREAD:
		return "kthread";
	case VW_BACKEND_VHOST_TASK:
		return "vhost_task";
	case VW_BACKEND_WORKQUEUE:
		return "workqueue";
	case VW_BACKEND_NONE:
		break;
	}
	return NULL;
}

struct vw_tasks *vw_tasks_new(void)
{
	struct vw_tasks *set = calloc(1, sizeof(*set));

	if (set)
		set->sorted = true;
	return set;
}

void vw_tasks_free(struct vw_tasks *set)
{
	struct entry *entry, *next;

	if (!set)
		return;
	HASH_ITER(hh, set->head, entry, next)
	{
		HASH_DEL(set->head, entry);
		free(entry);
	}
	free(set);
}

static struct entry *find(const struct vw_tasks *set, int32_t tid)
{
	struct entry *entry;

	HASH_FIND(hh, set->head, &tid, sizeof(tid), entry);
	return entry;
}

int vw_tasks_put(struct vw_tasks *set, const struct vw_task *task)
{
	struct entry *entry = find(set, task->tid);
	uint64_t start_ns = task->start_ns;

	if (entry) {
		/* One who does not know the start must not make the identity weaker. */
		if (!start_ns)
			start_ns = entry->task.start_ns;
		entry->task = *task;
		entry->task.start_ns = start_ns;
		return 0;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->task = *task;
	HASH_ADD(hh, set->head, task.tid, sizeof(entry->task.tid), entry);
	if (!VW_HASH_ADDED(entry)) {
		free(entry);
		return -ENOMEM;
	}
	if (task->tid < set->last_tid)
		set->sorted = false;
	else
		set->last_tid = task->tid;
	return 0;
}

const struct vw_task *vw_tasks_get(const struct vw_tasks *set, int32_t tid)
{
	const struct entry *entry = find(set, tid);

	return entry ? &entry->task : NULL;
}

void vw_tasks_remove(struct vw_tasks *set, int32_t tid)
{
	struct entry *entry = find(set, tid);

	if (!entry)
		return;
	HASH_DEL(set->head, entry);
	free(entry);
}

size_t vw_tasks_count(const struct vw_tasks *set)
{
	return HASH_COUNT(set->head);
}

static int by_tid(const struct entry *a, const struct entry *b)
{
	return (a->task.tid > b->task.tid) - (a->task.tid < b->task.tid);
}

void vw_tasks_each(const struct vw_tasks *set, void (*fn)(void *ctx, const struct vw_task *task),
		   void *ctx)
{
	/* Sorting changes the order of the list, not the set; no caller can tell. */
	struct vw_tasks *self = (struct vw_tasks *)set;
	struct entry *entry, *next;

	if (!self->sorted)
		HASH_SRT(hh, self->head, by_tid);
	self->sorted = true;
	for (entry = self->head; entry; entry = next) {
		/* @fn may remove the task it is given. */
		next = entry->hh.next;
		fn(ctx, &entry->task);
	}
}
