/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps and settings that all objects of the core skeleton share.
 *
 * Maps are weak: each object carries the definition and `bpftool gen object` makes them one.
 */
#ifndef VW_MAPS_BPF_H
#define VW_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "vw_abi.h"

/* What the clock remembers of the task that holds this CPU. */
struct vw_stint {
	u64 pcount; /* arrivals of the task so far: a new one is a new stint */
	u64 start_ts; /* the stint began; estimated from the run queue's clock at the first look */
	u64 look_ts; /* last look */
	u64 pending_ts; /* first look that saw the full request; 0 none */
	u64 emit_ts;
	u32 tid;
	u32 ticks;
	u32 pending_ticks;
	u32 nr_running;
	u8 resched;
	u8 reported; /* VW_REPORTED_* */
	u8 clock;
	u8 rt;
	u32 pad;
	struct vw_abi_task task; /* filled when first reported */
};

#define VW_REPORTED_PENDING 1
#define VW_REPORTED_WAITER 2
#define VW_REPORTED_BUSY 4

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct vw_stint);
} vw_stints __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, VW_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} vw_counters __weak SEC(".maps");

/* 1 MiB holds 1500 stint records; a hog makes ten a second. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} vw_ring __weak SEC(".maps");

/* Filled by user space only, so memory follows the number of watched tasks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct vw_abi_totals);
} vw_totals __weak SEC(".maps");

/* A walk along a run queue; kernel addresses as numbers. */
struct vw_walk {
	u64 head, node;
	u64 clock; /* of the queue */
	u64 oldest; /* the longest wait, throttled tasks and our own left out */
	u64 own; /* the longest of our own */
	u64 runner; /* the running task, left out of the walk */
	u32 n;
	u32 fill; /* keep the waiters too */
	struct vw_abi_waiter waiters[VW_ABI_WAITERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct vw_walk);
} vw_walks __weak SEC(".maps");

/* Settings; the loader writes them before load. */
extern const volatile __u64 vw_threshold_ns; /* T */
extern const volatile __u64 vw_emit_ns; /* between two records of one stint */
extern const volatile __u64 vw_tick_ns; /* period of the clock */
extern const volatile __u64 vw_busy_ns; /* a stint of a watched task with nobody waiting */
extern const volatile __u32 vw_pending_looks; /* looks with the request pending that T takes */
extern const volatile __u32 vw_stint_looks; /* looks that 2 T take */
extern const volatile __u32 vw_self; /* our own process: never a victim */
extern const volatile __u64 vw_tif_full; /* mask of TIF_NEED_RESCHED; 0: not known here */
extern const volatile __u64 vw_tif_lazy; /* mask of TIF_NEED_RESCHED_LAZY; 0: none */
extern const volatile __u8 vw_switch_state; /* sched_switch has the state as an argument */

extern const volatile __u32 vw_n_cpus; /* possible CPUs: one more than the highest number */
extern const volatile __u32 vw_mask_bytes; /* of their mask, whole words, as far as it is read */

/* Set once everything is attached: half-attached programs say nothing. */
extern __u32 vw_active;
/* The switch hook is attached, so stints of watched tasks can be added up. */
extern __u32 vw_trace;
extern __u8 vw_watch[VW_ABI_WATCH_SLOTS];

static __always_inline __u8 *vw_watch_slot(u32 tid)
{
	return &vw_watch[tid & (VW_ABI_WATCH_SLOTS - 1)];
}

static __always_inline void vw_count(u32 counter)
{
	u64 *value = bpf_map_lookup_elem(&vw_counters, &counter);

	if (value)
		(*value)++;
}

/* Reserves a record and fills its header; a full ring is counted. */
static __always_inline void *vw_reserve(u32 size, u16 kind, u64 ts)
{
	struct vw_rec_hdr *hdr = bpf_ringbuf_reserve(&vw_ring, size, 0);

	if (!hdr) {
		vw_count(VW_COUNT_RESERVE_FAILED);
		return NULL;
	}
	hdr->kind = kind;
	hdr->size = size;
	hdr->cpu = bpf_get_smp_processor_id();
	hdr->ts_ns = ts;
	return hdr;
}

/*
 * Never wakes the reader: a wake-up from a hogged CPU may queue the reader behind the hog.  The
 * reader looks on a timer of its own.
 */
static __always_inline void vw_submit(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

#endif
