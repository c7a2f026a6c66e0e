/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this host offers, found by looking (BTF, /proc, /sys, trying), never by the kernel's
 * version; the bits of the reschedule flags are the one exception (load/tif.h).
 */
#ifndef VW_LOAD_FEATURES_H
#define VW_LOAD_FEATURES_H

#include "load/tp.h"
#include "model/host.h"
#include "util/error.h"

/* Both that print RCU stalls call it: the way in where there is no rcu_stall_warning. */
#define VW_STALL_FUNCTION "rcu_check_gp_kthread_starvation"

enum vw_lockdown { VW_LOCKDOWN_NONE, VW_LOCKDOWN_INTEGRITY, VW_LOCKDOWN_CONFIDENTIALITY };

struct vw_features {
	struct vw_host host;
	uint32_t version; /* KERNEL_VERSION(), 0 unknown */
	uint64_t tick_ns; /* period of the scheduler's tick */
	/* Rights. */
	bool cap_bpf, cap_perfmon; /* or CAP_SYS_ADMIN, which covers both */
	bool cap_resource;
	uint64_t memlock_bytes;
	enum vw_lockdown lockdown;
	/* The kernel. */
	bool btf;
	bool refused; /* BPF would work, but we may not load it (vw_features_may_load()) */
	bool tp[VW_TP_COUNT];
	bool throttled_clock; /* how long a group was throttled is counted, by PELT's clock */
	bool switch_state; /* sched_switch tells the state in which the task left (5.18) */
	bool tp_need_resched; /* sched_set_need_resched_tp, 6.18 and later */
	bool perf_cpu_clock;
	bool needs_prealloc; /* the event's program may not use maps that grow (before 6.1) */
	bool sched_info;
	/* Attaching a tracepoint waits for a grace period that does not come (load/attach.h). */
	bool tracepoints_wait;
	uint32_t silent_clocks; /* bit (enum vw_plan_clock): attached, and never came */
	bool kernel_log; /* /dev/kmsg can be read */
	bool stall_function; /* VW_STALL_FUNCTION is a function of this kernel */
	bool vhost_loaded;
	bool preempt_lazy;
};

/*
 * Fills @f from the running kernel; @sys_fd stands for /sys (a fixture in tests). Never fails: what
 * cannot be looked at is absent.
 */
void vw_features_probe(struct vw_features *f, int sys_fd);

/*
 * The preemption model in force, from debugfs' list ("none (voluntary) full") or uname's version.
 */
enum vw_preempt vw_features_preempt(const char *debugfs_text, const char *uname_version);

/* 0 when BPF may be loaded here, else -EPERM and in @e whose fault it is and what to do. */
int vw_features_may_load(const struct vw_features *f, struct vw_error *e);

#endif
