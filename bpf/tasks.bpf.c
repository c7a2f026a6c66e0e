// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Workers that come and go.  A worker gets its name after it is made, so the rename is the first
 * moment at which it can be told; both hooks are rare.
 */
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

SEC("?tp_btf/task_rename")
int BPF_PROG(vw_task_rename, struct task_struct *task, const char *comm)
{
	static const char prefix[] = "vhost-";
	char name[8] = {};
	int i;

	if (!vw_active)
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	for (i = 0; i < (int)sizeof(prefix) - 1; i++)
		if (name[i] != prefix[i])
			return 0;
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
