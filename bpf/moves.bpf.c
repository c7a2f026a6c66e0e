// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Running tasks that are taken off their CPU and moved: the moves themselves.
 *
 * sched_migrate_task comes at every wake-up on another CPU, too; who is not moved by a stopper and
 * was not moved just before costs two bytes.
 */
#include "vw_core.bpf.h"
#include <bpf/bpf_tracing.h>
#include "vw_moves.bpf.h"

#define NUMA_NS 100000000 /* it is asked for before the stopper comes */
#define MAX_IDLE 16 /* so many idle CPUs are enough to know */

/* NUMA balancing asked for these tasks to be moved, and when. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} vw_numa SEC(".maps");

/* A record in the making, and what the look at the CPUs needs; kernel addresses as numbers. */
struct look {
	struct vw_rec_move rec;
	u64 queues; /* the cfs_rq pointers of a task group, one a CPU: the way to any run queue */
	u64 to_curr; /* who runs on to_cpu */
	u64 to_clock; /* of its queue */
	u32 n_idle;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct look);
} vw_looks SEC(".maps");

/* Looks at one CPU.  A global function, which the verifier looks at once and not for each CPU. */
__noinline int vw_moves_look(u32 cpu)
{
	u32 zero = 0, word = (cpu / 64) & (VW_ABI_MOVE_CPUS / 64 - 1);
	struct look *look = bpf_map_lookup_elem(&vw_looks, &zero);
	struct cfs_rq *queue = NULL;
	struct task_struct *curr;
	u64 bit = 1ULL << (cpu % 64);
	struct rq *rq;
	bool is_to;

	if (!look)
		return 0;
	is_to = cpu == look->rec.to_cpu;
	if (!is_to && (!(look->rec.allowed[word] & bit) || look->n_idle >= MAX_IDLE))
		return 0;
	bpf_probe_read_kernel(&queue, sizeof(queue), (void *)(look->queues + 8 * (u64)cpu));
	rq = BPF_CORE_READ(queue, rq);
	if (!rq)
		return 0;
	curr = BPF_CORE_READ(rq, curr);
	if (is_to) {
		look->to_curr = (u64)curr;
		look->to_clock = BPF_CORE_READ(rq, clock);
	}
	/* An idle task that runs while others wait there is no free CPU: it may not run them. */
	if (curr != BPF_CORE_READ(rq, idle) || BPF_CORE_READ(rq, nr_running) ||
	    !BPF_CORE_READ(rq, online))
		return 0;
	look->rec.idle[word] |= bit;
	look->n_idle++;
	if (is_to)
		look->rec.flags |= VW_MOVE_TO_IDLE;
	return 0;
}

static __always_inline bool asked_by_numa(u32 tid, u64 now)
{
	u64 *asked = bpf_map_lookup_elem(&vw_numa, &tid);
	bool soon = asked && now - *asked <= NUMA_NS;

	/* Good for one move. */
	if (asked)
		bpf_map_delete_elem(&vw_numa, &tid);
	return soon;
}

static __always_inline struct look *fill(struct task_struct *p, u32 from, u32 to,
					 const struct vw_off *off, u64 now)
{
	u32 zero = 0, cpu, n = vw_n_cpus <= VW_ABI_MOVE_CPUS ? vw_n_cpus : 0;
	struct look *look = bpf_map_lookup_elem(&vw_looks, &zero);
	struct vw_walk *walk = vw_walk_queue(p, false);

	if (!look)
		return NULL;
	__builtin_memset(look, 0, sizeof(*look));
	look->rec.hdr.kind = VW_REC_MOVE;
	look->rec.hdr.size = sizeof(look->rec);
	look->rec.hdr.cpu = bpf_get_smp_processor_id();
	look->rec.hdr.ts_ns = now;
	vw_task_fill(&look->rec.task, p);
	look->rec.arrivals = vw_task_arrivals(p);
	look->rec.left_ts_ns = off->left_ts;
	/* Whoever it was that waited: the CPU was wanted. */
	if (walk)
		look->rec.relieved_ns = walk->own > walk->oldest ? walk->own : walk->oldest;
	look->rec.from_cpu = from;
	look->rec.to_cpu = to;
	look->rec.flags = asked_by_numa(p->pid, now) ? VW_MOVE_NUMA : 0;
	look->rec.n_cpus = n;
	look->queues = (u64)BPF_CORE_READ(p, sched_task_group, cfs_rq);
	bpf_probe_read_kernel(look->rec.allowed, vw_mask_bytes, BPF_CORE_READ(p, cpus_ptr));
	for (cpu = 0; cpu < VW_ABI_MOVE_CPUS && cpu < n; cpu++)
		vw_moves_look(cpu);
	return look;
}

static __noinline int forced_move(struct task_struct *p, u32 from, u32 to, const struct vw_off *off)
{
	u64 now = bpf_ktime_get_ns();
	struct look *look = fill(p, from, to, off, now);
	struct task_struct *held;
	struct vw_abi_move *m;

	if (!look)
		return 0;
	if (!(look->rec.flags & VW_MOVE_TO_IDLE)) {
		m = vw_move_make(p);
		if (!m)
			return 0;
		m->moved_ts_ns = now;
		m->left_clock = off->left_clock;
		m->to_clock = look->to_clock;
		m->from_cpu = from;
		m->free = 0;
		held = (void *)look->to_curr;
		m = held && BPF_CORE_READ(held, pid) ? vw_move_make(held) : NULL;
		if (m) {
			look->rec.held_tid = BPF_CORE_READ(held, pid);
			m->held_ts_ns = now;
			m->held_for = p->pid;
		}
	}
	if (bpf_ringbuf_output(&vw_ring, &look->rec, sizeof(look->rec), BPF_RB_NO_WAKEUP))
		vw_count(VW_COUNT_RESERVE_FAILED);
	return 0;
}

/* It was moved, has not run, and is moved once more. */
static __always_inline void moved_on(struct task_struct *p, struct vw_abi_move *m)
{
	struct vw_rec_move_ran *rec;

	rec = vw_reserve(sizeof(*rec), VW_REC_MOVE_RAN, bpf_ktime_get_ns());
	if (rec) {
		rec->tid = p->pid;
		rec->start_ns = m->start_ns;
		rec->moved_ts_ns = m->moved_ts_ns;
		rec->flags = VW_RAN_MOVED_ON | m->free;
		rec->n_waiters = 0;
		vw_submit(rec);
	}
	m->moved_ts_ns = 0;
	vw_move_forget(p, m);
}

static __noinline int watched_move(struct task_struct *p, int to)
{
	struct vw_abi_move *m = vw_move_get(p);
	u32 from = BPF_CORE_READ(vw_task_rq(p), cpu);
	struct vw_off *off = bpf_map_lookup_elem(&vw_offs, &from);

	if (m && m->moved_ts_ns)
		moved_on(p, m);
	if (off && off->tid == (u32)p->pid && off->start_ns == p->start_boottime)
		return forced_move(p, from, to, off);
	return 0;
}

SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(vw_migrate, struct task_struct *p, int to)
{
	u32 current = (u32)bpf_get_current_pid_tgid();

	if (!((*vw_watch_slot(current) & VW_WATCH_STOPPER) |
	      (*vw_watch_slot(p->pid) & VW_WATCH_MOVED)))
		return 0;
	if (!vw_active)
		return 0;
	return watched_move(p, to);
}

static __always_inline int asked(struct task_struct *p)
{
	u64 now = bpf_ktime_get_ns();
	u32 tid = p->pid;

	if (vw_active)
		bpf_map_update_elem(&vw_numa, &tid, &now, BPF_ANY);
	return 0;
}

SEC("?tp_btf/sched_move_numa")
int BPF_PROG(vw_move_numa, struct task_struct *p)
{
	return asked(p);
}

SEC("?tp_btf/sched_swap_numa")
int BPF_PROG(vw_swap_numa, struct task_struct *p, int cpu, struct task_struct *other)
{
	asked(p);
	/* The verifier wants to know (trusted_ptr_or_null, 6.18). */
	return other ? asked(other) : 0;
}
