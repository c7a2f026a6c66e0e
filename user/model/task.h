/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A task as vhostwatch knows it: identity, what it is, and whom it works for.
 *
 * Identity is (tid, start time); comm is a hint that may be anything.  Every string is bounded and
 * NUL-terminated, "" means unknown; bytes are kept as found, sinks escape them.
 */
#ifndef VW_MODEL_TASK_H
#define VW_MODEL_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VW_COMM_LEN 16 /* TASK_COMM_LEN of the kernel, the NUL included */
#define VW_VM_LEN 64
#define VW_DEVICE_LEN 48
#define VW_CGROUP_LEN 256 /* Kubernetes paths take 200 */
#define VW_CPULIST_LEN 128

enum vw_role {
	VW_ROLE_OTHER,
	VW_ROLE_VHOST_WORKER,
	VW_ROLE_VCPU,
	VW_ROLE_EMULATOR,
	VW_ROLE_KWORKER,
};

enum vw_backend {
	VW_BACKEND_NONE, /* not a worker, or unknown */
	VW_BACKEND_KTHREAD,
	VW_BACKEND_VHOST_TASK,
	VW_BACKEND_WORKQUEUE,
};

struct vw_task {
	int32_t tid;
	int32_t tgid; /* 0: unknown */
	uint64_t start_ns; /* CLOCK_BOOTTIME, exact or cut to a clock tick; 0: unknown */
	uint32_t flags; /* PF_* as in /proc/PID/stat; only valid if flags_known */
	bool flags_known;
	bool watched; /* a vhost worker, or named with -p or -t */
	char comm[VW_COMM_LEN];
	enum vw_role role;
	enum vw_backend backend;
	int32_t owner_pid; /* 0: unknown */
	bool owner_by_name; /* the owner is known from the comm only (kernel threads) */
	char vm[VW_VM_LEN];
	char device[VW_DEVICE_LEN]; /* "vhost-net:vnet7", "vhost-vsock:3", ...; docs/FORMATS */
	char queue[16];
	char cgroup[VW_CGROUP_LEN];
	char cpus_allowed[VW_CPULIST_LEN]; /* list format, "0-3,8" */
};

/* True when both name one task: same tid and, as far as both know it, the same start (in 10 ms). */
bool vw_task_same(const struct vw_task *a, const struct vw_task *b);
/* The same of two starts alone. */
bool vw_task_same_start(uint64_t a_ns, uint64_t b_ns);

const char *vw_role_name(enum vw_role role);
/* NULL for VW_BACKEND_NONE. */
const char *vw_backend_name(enum vw_backend backend);

/* A set of tasks keyed by tid.  A task that comes with another start time replaces the old one. */
struct vw_tasks;

struct vw_tasks *vw_tasks_new(void);
void vw_tasks_free(struct vw_tasks *set);
/* Copies @task in.  0, or -ENOMEM. */
int vw_tasks_put(struct vw_tasks *set, const struct vw_task *task);
/* NULL when absent; valid until the next put or remove. */
const struct vw_task *vw_tasks_get(const struct vw_tasks *set, int32_t tid);
/* Forgets @tid; nothing happens when it is absent. */
void vw_tasks_remove(struct vw_tasks *set, int32_t tid);
size_t vw_tasks_count(const struct vw_tasks *set);
/* Calls @fn for each task in order of tid.  @fn may remove that task, but no other. */
void vw_tasks_each(const struct vw_tasks *set, void (*fn)(void *ctx, const struct vw_task *task),
		   void *ctx);

#endif
