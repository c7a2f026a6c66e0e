/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attribution: which tasks are vhost workers, and whose.
 *
 * Reads /proc and /sys through directory descriptors, so that a folder of fixtures can stand in for
 * them.  A vhost worker is a kernel thread, or a user worker (PF_USER_WORKER without PF_IO_WORKER),
 * named vhost-<digits> in full.  KVM helpers, DPDK threads and programs that took the name are not.
 * What cannot be known stays unknown ("" or 0), it is never guessed.
 *
 * The owner of a kernel thread is known from its name only (owner_by_name), and only while a
 * process of that number lives that is no younger than the worker.  The device is told by the
 * owner's open files and holds for all workers of that owner, or it is "": nothing in /proc says
 * which of several workers serves which of several devices.  A list of allowed CPUs that does not
 * fit is "" too, as a part of it would be another list.
 */
#ifndef VW_ATTR_ATTR_H
#define VW_ATTR_ATTR_H

#include "model/task.h"
#include "model/worker.h"

struct vw_attr;

/* The three ways in which kernels have shown a vhost worker. */
enum vw_worker_kind {
	VW_WORKER_NOT,
	VW_WORKER_KTHREAD, /* a kernel thread; until 6.3, and again as an option */
	VW_WORKER_PROCESS, /* a process of its own, child of its owner; 6.4 release candidates */
	VW_WORKER_THREAD, /* a thread of its owner; since 6.4 */
};

/* True for the name and the PF_* flags of a vhost worker, for tasks that /proc shows no more. */
bool vw_attr_is_worker(const char *comm, uint32_t flags);

/* `CPU <n>/KVM`, or TCG: as QEMU names them with debug-threads=on. */
bool vw_attr_is_vcpu_name(const char *comm);

enum vw_worker_kind vw_attr_worker_kind(const struct vw_task *task);
/* "kthread", "process", "thread"; NULL for VW_WORKER_NOT. */
const char *vw_attr_worker_kind_name(enum vw_worker_kind kind);

/* Dups nothing: @proc_fd and @sys_fd stay the caller's and must outlive the object. */
struct vw_attr *vw_attr_new(int proc_fd, int sys_fd);
void vw_attr_free(struct vw_attr *attr);

/*
 * Owners are kept between calls for a number of scans; this makes the next call read process @pid
 * again, with 0 all of them.
 */
void vw_attr_refresh(struct vw_attr *attr, int32_t pid);

/* More workers than this are not reported; a host has at most some thousand. */
#define VW_ATTR_MAX_WORKERS 32768

/* Calls @fn for every vhost worker of the host, each once and in order of tid, whichever way it
 * shows in /proc.  Returns the number, or a negative errno when /proc itself cannot be read. */
int vw_attr_scan(struct vw_attr *attr, void (*fn)(void *ctx, const struct vw_task *task),
		 void *ctx);

/* All that /proc and /sys tell about @tid, worker or not.  -ESRCH when there is no such task. */
int vw_attr_task(struct vw_attr *attr, int32_t tid, struct vw_task *ret_task);

/* Calls @fn for each thread of process @pid.  -ESRCH when there is no such process. */
int vw_attr_threads(struct vw_attr *attr, int32_t pid,
		    void (*fn)(void *ctx, const struct vw_task *task), void *ctx);

/*
 * The same for the threads that are named as QEMU names its vCPUs; one small file is read of each
 * other thread.
 */
int vw_attr_vcpus(struct vw_attr *attr, int32_t pid,
		  void (*fn)(void *ctx, const struct vw_task *task), void *ctx);

/*
 * Calls @fn for each thread of process @pid in state D, with the number of times it went to sleep
 * so far (VW_UNKNOWN); a thread that is seen again with the same number has not woken up meanwhile.
 * Only identity and name are filled in.  -ESRCH when there is no such process.
 */
int vw_attr_blocked(struct vw_attr *attr, int32_t pid,
		    void (*fn)(void *ctx, const struct vw_task *task, uint64_t sleeps), void *ctx);

/* What the kernel counts of a cgroup and those above it, of the CPU quotas that they have. */
struct vw_quota {
	uint64_t periods; /* in which it ran */
	uint64_t throttled; /* of these, it used up its quota */
	uint64_t throttled_ns; /* summed up over CPUs */
};

/* Of the cgroup @path as struct vw_task has it.  -ENOENT when /sys does not show it. */
int vw_attr_quota(struct vw_attr *attr, const char *path, struct vw_quota *ret);

/* What /proc counts for a task. Fields not known are VW_UNKNOWN. */
struct vw_proc_counters {
	char state; /* R, S, D, ... */
	int32_t cpu; /* last CPU */
	uint64_t run_ns; /* schedstat: on CPU, without the running tick */
	uint64_t delay_ns; /* schedstat: waited; added up only when the task gets the CPU */
	uint64_t slices; /* schedstat: times it got the CPU */
	uint64_t voluntary, involuntary; /* context switches */
	uint64_t migrations;
	bool rt; /* of a real-time class */
};
/* -ESRCH when the task is gone or its start time is not @task's. */
int vw_attr_counters(struct vw_attr *attr, const struct vw_task *task,
		     struct vw_proc_counters *ret);
/* The same, cheaper: never the migrations, and only state, cpu and rt of a task that sleeps. */
int vw_attr_sample(struct vw_attr *attr, const struct vw_task *task, struct vw_proc_counters *ret);

/* Calls @fn for each task of the host that is runnable or running (state R) with its last CPU,
 * until @fn returns non-zero.  Only identity and name are filled in.  0 or a negative errno. */
int vw_attr_runnable(struct vw_attr *attr,
		     int (*fn)(void *ctx, const struct vw_task *task, int32_t cpu), void *ctx);

/* Fills the packet and byte fields of @row from the statistics of its tap, as the guest sees them;
 * VW_UNKNOWN where the device has none, or where its owner lives in another network namespace
 * (there the name means another interface).  The counters are the interface's: workers of one
 * device have the same ones, so they must not be added up. */
void vw_attr_traffic(struct vw_attr *attr, struct vw_worker_row *row);

#endif
