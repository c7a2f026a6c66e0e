// SPDX-License-Identifier: GPL-2.0-or-later
/* What a task is: by its name, by what it was seen doing, and by /proc where there is one. */
#include <stdlib.h>
#include <string.h>

#include "attr/proc.h"
#include "attr/qemu.h"
#include "source/sched_internal.h"
#include "util/str.h"

static bool is_machine_name(const char *comm)
{
	const struct vw_qemu_args args = { .text = comm, .len = strlen(comm) };

	return vw_qemu_is_program(&args);
}

/* Threads are named by the program: without names of their own they tell nothing. */
static bool is_emulator(const struct vw_sched *s, const struct vw_sched_task *t)
{
	const struct vw_sched_task *main;

	if (!t->tgid)
		return false;
	if (t->tgid == t->tid)
		return is_machine_name(t->comm);
	main = vw_sched_find(s, t->tgid);
	return main && is_machine_name(main->comm) && strcmp(main->comm, t->comm);
}

/*
 * By its name alone, a worker.  The number is the thread that set the owner: the process itself or
 * one of its threads.
 */
static void classify_worker(const struct vw_sched *s, struct vw_sched_task *t, int32_t number)
{
	const struct vw_sched_task *owner = vw_sched_find(s, number);
	int32_t process = owner && owner->tgid ? owner->tgid : number;

	if (t->tgid && t->tgid != t->tid) {
		/* A thread of another process than the one it claims to work for. */
		if (t->tgid != process && owner && owner->tgid)
			return;
		t->backend = VW_BACKEND_VHOST_TASK;
		t->owner_pid = t->tgid;
		t->owner_by_name = false;
	} else {
		t->backend = t->tgid ? VW_BACKEND_KTHREAD : VW_BACKEND_NONE;
		t->owner_pid = process;
		t->owner_by_name = true;
	}
	t->role = VW_ROLE_VHOST_WORKER;
}

static void classify_by_name(const struct vw_sched *s, struct vw_sched_task *t)
{
	int32_t number = vw_proc_vhost_number(t->comm);

	if (number)
		classify_worker(s, t, number);
	else if (vw_attr_is_vcpu_name(t->comm))
		t->role = VW_ROLE_VCPU;
	else if (vw_str_starts(t->comm, "kworker/"))
		t->role = VW_ROLE_KWORKER;
	else if (is_emulator(s, t))
		t->role = VW_ROLE_EMULATOR;
	if (t->role == VW_ROLE_VCPU || t->role == VW_ROLE_EMULATOR)
		t->owner_pid = t->tgid;
}

static void classify_by_work(struct vw_sched_task *t)
{
	if (t->role == VW_ROLE_KWORKER || vw_str_starts(t->comm, "kworker/"))
		t->backend = VW_BACKEND_WORKQUEUE;
	else if (t->role == VW_ROLE_VHOST_WORKER)
		return;
	t->role = VW_ROLE_VHOST_WORKER;
	if (t->tgid && t->tgid != t->tid) {
		t->backend = VW_BACKEND_VHOST_TASK;
		t->owner_pid = t->tgid;
	}
}

void vw_sched_fill_task(const struct vw_sched_task *t, struct vw_task *dst)
{
	if (t->proc)
		*dst = *t->proc;
	else
		memset(dst, 0, sizeof(*dst));
	dst->tid = t->tid;
	if (t->tgid)
		dst->tgid = t->tgid;
	if (*t->comm)
		memcpy(dst->comm, t->comm, sizeof(dst->comm));
	dst->role = t->role;
	dst->backend = t->backend;
	dst->owner_pid = t->owner_pid;
	dst->owner_by_name = t->owner_by_name;
	dst->watched = t->watched;
}

static bool is_chosen(const struct vw_sched *s, const struct vw_sched_task *t)
{
	struct vw_task task;

	if (vw_choice_is_empty(&s->config.choice))
		return false;
	vw_sched_fill_task(t, &task);
	return vw_choice_names(&s->config.choice, &task);
}

static void list_worker(struct vw_sched *s, struct vw_sched_task *t, bool is_worker)
{
	if (is_worker == t->listed)
		return;
	t->listed = is_worker;
	if (!is_worker) {
		DL_DELETE2(s->worker_list, t, worker_prev, worker_next);
		return;
	}
	DL_APPEND2(s->worker_list, t, worker_prev, worker_next);
	s->workers += !t->counted;
	t->counted = true;
}

void vw_sched_classify(struct vw_sched *s, struct vw_sched_task *t)
{
	bool watched;

	t->role = VW_ROLE_OTHER;
	t->backend = VW_BACKEND_NONE;
	t->owner_pid = 0;
	t->owner_by_name = false;
	t->stopper = vw_str_starts(t->comm, "migration/");
	if (t->proc) {
		t->role = t->proc->role;
		t->backend = t->proc->backend;
		t->owner_pid = t->proc->owner_pid;
		t->owner_by_name = t->proc->owner_by_name;
	} else {
		classify_by_name(s, t);
	}
	if (t->works)
		classify_by_work(t);
	list_worker(s, t, t->role == VW_ROLE_VHOST_WORKER);
	watched = t->role == VW_ROLE_VHOST_WORKER || is_chosen(s, t);
	if (watched != t->watched)
		vw_sched_set_watched(s, t, watched);
	t->told = false;
}

void vw_sched_unlist(struct vw_sched *s, struct vw_sched_task *t)
{
	list_worker(s, t, false);
}

/* /proc adds to the names of kworkers, traces may do so too. */
static bool same_name(const char *a, const char *b)
{
	size_t len = strlen(a);

	if (!strcmp(a, b))
		return true;
	if (!vw_str_starts(a, "kworker/"))
		return false;
	if (strlen(b) < len)
		len = strlen(b);
	return !strncmp(a, b, len) && (!a[len] || strchr("+-", a[len])) &&
	       (!b[len] || strchr("+-", b[len]));
}

/* A task of that number with another name is another task: the trace is older than /proc. */
void vw_sched_ask(struct vw_sched *s, struct vw_sched_task *t)
{
	struct vw_task task;

	if (t->asked || !s->config.attr)
		return;
	t->asked = true;
	if (vw_attr_task(s->config.attr, t->tid, &task) ||
	    (*t->comm && !same_name(task.comm, t->comm)))
		return;
	t->proc = malloc(sizeof(*t->proc));
	if (!t->proc) {
		vw_sched_oom(s);
		return;
	}
	*t->proc = task;
	vw_sched_classify(s, t);
}

void vw_sched_works(struct vw_sched *s, struct vw_sched_task *t)
{
	if (t->works)
		return;
	t->works = true;
	vw_sched_classify(s, t);
}
