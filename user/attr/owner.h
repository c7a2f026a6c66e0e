/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a process that owns vhost workers, kept between scans.
 *
 * Reading it means a command line, a cgroup and a link for each descriptor, so it is read again
 * only when the process is another one (start time), its workers have changed (a device was
 * plugged), a number of scans has passed, or the caller asks.  At most VW_OWNERS_MAX processes are
 * kept.
 */
#ifndef VW_ATTR_OWNER_H
#define VW_ATTR_OWNER_H

#include "model/task.h"
#include "util/hash.h"

#define VW_OWNERS_MAX 4096
/* Scans after which an owner is read again; spread over twice as many. */
#define VW_OWNERS_REFRESH 16

/* What the caller knows of the workers of a process: nothing, that there are some, or a digest. */
#define VW_WORKERS_NONE 0ull
#define VW_WORKERS_SOME 1ull

struct vw_owner {
	int32_t pid;
	uint64_t start_ns;
	char comm[VW_COMM_LEN];     /* of the main thread */
	bool vmm;                   /* QEMU, or owns vhost workers, or holds /dev/kvm */
	bool named;                 /* its command line has QEMU's -name */
	bool other_net;             /* lives in another network namespace than we do */
	bool macvtap;
	char vm[VW_VM_LEN];
	char device[VW_DEVICE_LEN]; /* of each of its workers; "" when not certain */
	/* Private to owner.c. */
	uint64_t workers;
	uint32_t read_at, used_at;
	UT_hash_handle hh;
};

struct vw_owners;

struct vw_owners *vw_owners_new(int proc_fd, int sys_fd);
void vw_owners_free(struct vw_owners *owners);
/* A scan begins: within it a process is not checked twice.  It ends. */
void vw_owners_begin(struct vw_owners *owners);
void vw_owners_end(struct vw_owners *owners);
/* What is kept of @pid, with 0 of all, is out of date. */
void vw_owners_refresh(struct vw_owners *owners, int32_t pid);

/*
 * The process @pid; NULL when there is none, when it is a kernel thread, or without memory.  Valid
 * until the next call.
 */
const struct vw_owner *vw_owners_get(struct vw_owners *owners, int32_t pid, uint64_t workers);

/*
 * The process that has a thread @tid, and when it began; 0 when there is none or it is a kernel
 * thread.
 */
int32_t vw_owners_process_of(struct vw_owners *owners, int32_t tid, uint64_t *ret_start_ns);

#endif
