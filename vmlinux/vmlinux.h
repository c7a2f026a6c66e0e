/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types that vhostwatch reads, and of each only the fields in use.
 *
 * Kept by hand: offsets come from the running kernel (CO-RE), so order and padding mean nothing
 * here and one header serves every line and architecture.  tests/btf.py checks each field against
 * real BTF.  A field that not every kernel has lives in a flavour (name___what) and must be guarded
 * with bpf_core_field_exists().
 */
#ifndef VW_VMLINUX_H
#define VW_VMLINUX_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next, *prev;
};

struct thread_info {
	unsigned long flags;
};

struct load_weight {
	unsigned long weight;
};

struct rq {
	unsigned int nr_running;
	int cpu;
	int online;
	struct task_struct *curr;
	struct task_struct *idle;
	struct task_struct *stop;
	u64 nr_switches;
	u64 clock;
	u64 idle_stamp;
	struct list_head cfs_tasks;
};

struct cfs_rq {
	struct rq *rq;
	int throttle_count;
};

/* How long it has been throttled, by the clock of PELT; older kernels have another clock. */
struct cfs_rq___pelt {
	u64 throttled_clock_pelt_time;
};

struct sched_entity {
	struct load_weight load;
	struct list_head group_node;
	u64 sum_exec_runtime;
	u64 vruntime;
	u64 nr_migrations;
	int depth;
	struct sched_entity *parent;
	struct cfs_rq *cfs_rq;
};

struct task_group {
	struct cfs_rq **cfs_rq;
};

struct sched_info {
	unsigned long pcount;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	int prio;
	unsigned int policy;
	struct sched_entity se;
	struct task_group *sched_task_group;
	const void *cpus_ptr; /* a cpumask */
	struct sched_info sched_info;
	int pid;
	int tgid;
	int nr_cpus_allowed;
	unsigned long nvcsw;
	unsigned long nivcsw;
	u64 start_boottime;
	char comm[16];
};

/* From 5.14 on, and before (2f064a59a11f). */
struct task_struct___new_state {
	unsigned int __state;
};

struct task_struct___old_state {
	long state;
};

/* 6.12 and later: a sleeper may stay queued until its lag is paid (152e11f6df29). */
struct sched_entity___delayed {
	unsigned char sched_delayed;
};

#pragma clang attribute pop

#endif
