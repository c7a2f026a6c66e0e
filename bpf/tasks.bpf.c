// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Workers that come and go; all three hooks are rare. */
#include "vw_core.bpf.h"
#include <bpf/bpf_tracing.h>

static __always_inline void send(struct task_struct *task, u16 kind, const char *comm)
{
	struct vw_rec_task *rec = vw_reserve(sizeof(*rec), kind, bpf_ktime_get_ns());

	if (!rec)
		return;
	vw_task_fill(&rec->task, task);
	if (comm)
		bpf_probe_read_kernel_str(rec->task.comm, sizeof(rec->task.comm), comm);
	vw_submit(rec);
}

static __always_inline bool named_like_worker(const char *comm)
{
	static const char prefix[] = "vhost-";
	char name[8] = {};
	int i;

	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	for (i = 0; i < (int)sizeof(prefix) - 1; i++)
		if (name[i] != prefix[i])
			return false;
	return true;
}

/* From 6.4 on a worker is born with its name (cf587db2ee02). */
SEC("?tp_btf/task_newtask")
int BPF_PROG(vw_task_newtask, struct task_struct *task)
{
	if (task->flags & (VW_PF_KTHREAD | VW_PF_USER_WORKER) && vw_active &&
	    named_like_worker(task->comm))
		send(task, VW_REC_TASK_NEW, NULL);
	return 0;
}

/* Before, it got it from the one who made it. */
SEC("?tp_btf/task_rename")
int BPF_PROG(vw_task_rename, struct task_struct *task, const char *comm)
{
	if (vw_active && named_like_worker(comm))
		send(task, VW_REC_TASK_NEW, comm);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(vw_process_exit, struct task_struct *task)
{
	if (*vw_watch_slot(task->pid) & VW_WATCH_TASK && vw_active)
		send(task, VW_REC_TASK_EXIT, NULL);
	return 0;
}
