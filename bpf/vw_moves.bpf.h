/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Running tasks that are taken off their CPU and moved: what the hooks of switches and of moves
 * share.
 */
#ifndef VW_MOVES_BPF_H
#define VW_MOVES_BPF_H

#include "vw_walk.bpf.h"

/* Whom a CPU's stopper took off it; tid 0: the stopper does not run, or nobody who could go on. */
struct vw_off {
	u64 start_ns;
	u64 left_ts;
	u64 left_clock;
	u32 tid;
	u32 pad;
};

/* By CPU: one stopper may move the tasks of two CPUs (migrate_swap_stop()). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VW_ABI_MOVE_CPUS);
	__type(key, u32);
	__type(value, struct vw_off);
} vw_offs __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, struct vw_abi_move);
} vw_moves __weak SEC(".maps");

static __always_inline struct vw_abi_move *vw_move_get(struct task_struct *task)
{
	u32 tid = BPF_CORE_READ(task, pid);
	struct vw_abi_move *m = bpf_map_lookup_elem(&vw_moves, &tid);

	return m && m->start_ns == BPF_CORE_READ(task, start_boottime) ? m : NULL;
}

/*
 * NULL when the map is full.  The entry comes before the flag, so that who clears flags can see
 * whether one is in use again.
 */
static __always_inline struct vw_abi_move *vw_move_make(struct task_struct *task)
{
	struct vw_abi_move *m = vw_move_get(task), zero = {};
	u32 tid = BPF_CORE_READ(task, pid);

	if (!m) {
		zero.start_ns = BPF_CORE_READ(task, start_boottime);
		bpf_map_update_elem(&vw_moves, &tid, &zero, BPF_ANY);
		m = bpf_map_lookup_elem(&vw_moves, &tid);
	}
	if (m)
		*vw_watch_slot(tid) |= VW_WATCH_MOVED;
	else
		vw_count(VW_COUNT_RESERVE_FAILED);
	return m;
}

static __always_inline void vw_move_forget(struct task_struct *task, struct vw_abi_move *m)
{
	u32 tid = BPF_CORE_READ(task, pid);

	/* The flag goes later, by user space: the slot may be another one's, too. */
	if (!m->moved_ts_ns && !m->displaced_ts_ns && !m->held_ts_ns)
		bpf_map_delete_elem(&vw_moves, &tid);
}

#endif
