/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of attr/ share among themselves.
 */
#ifndef VW_ATTR_INTERNAL_H
#define VW_ATTR_INTERNAL_H

#include "attr/attr.h"
#include "attr/owner.h"
#include "attr/proc.h"

struct vw_attr {
	int proc_fd, sys_fd;
	bool real; /* the kernel's own /proc, not fixtures */
	struct vw_owners *owners;
};

/* A task before its owner was asked. */
struct vw_attr_raw {
	struct vw_task task;
	int32_t ppid;
	int32_t number; /* in its name, when that is a vhost worker's; else 0 */
	char machine[VW_VM_LEN]; /* from its own cgroup */
};

/* VW_BACKEND_NONE for all that is not a vhost worker. */
enum vw_backend vw_attr_backend(const struct vw_proc_stat *stat);

/* Reads the folder @fd of thread @tid; @pid is its process as far as known, 0 otherwise. */
int vw_attr_read(int fd, int32_t pid, int32_t tid, struct vw_attr_raw *ret);

/* Finds the owner of a worker; then what the owner tells of it. */
void vw_attr_own(struct vw_attr *attr, struct vw_attr_raw *raw);
void vw_attr_describe_worker(struct vw_attr *attr, struct vw_attr_raw *raw, uint64_t workers);

#endif
