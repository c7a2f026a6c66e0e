/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vhost-load plays a guest on /dev/vhost-net: it owns the rings, so that a real vhost worker
 * runs, without KVM and without a guest. Times are nanoseconds of CLOCK_MONOTONIC.
 *
 * Functions return 0 or a negative errno and have then printed one line on stderr.
 */
#ifndef VHOST_LOAD_H
#define VHOST_LOAD_H

#include <net/if.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VL_NAME_MAX	128
#define VL_WINDOWS_MAX	3600
#define VL_NSEC		1000000000ULL

enum vl_direction {
	VL_TX = 1,
	VL_RX = 2,
	VL_BOTH = VL_TX | VL_RX,
};

struct vl_options {
	char name[VL_NAME_MAX];
	char tap[IFNAMSIZ];
	enum vl_direction direction;
	unsigned int size_bytes;	/* of a frame, without the virtio-net header */
	unsigned int duration_s;
	unsigned int ring;
	unsigned int count;		/* VMs to start, each a process of its own */
	unsigned int churn;		/* owners to create and destroy one after another */
	int sndbuf_bytes;		/* -1: leave the tap's own */
	int fork_owner;			/* -1: leave the kernel's default */
	int cpu;			/* of this program, -1: any */
	int worker_cpu;			/* of the vhost worker, -1: any */
	unsigned int vcpus;		/* busy threads, named as QEMU names its vCPUs */
	int vcpu_cpu;			/* of these threads, -1: any */
	unsigned int period_us;		/* of a new burst, 0: the rings are kept full */
	unsigned int burst;		/* packets */
	bool yield;			/* the vCPU threads yield to each other */
	bool fault;			/* the worker waits in a page fault until SIGUSR2 comes */
	bool hold;
	bool idle;
};

/* One split virtqueue whose descriptors all stand for the same buffer. */
struct vl_ring {
	void *memory;
	size_t memory_bytes;
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	unsigned char *buffer;
	size_t buffer_bytes;
	unsigned int size;
	int kick_fd;
	int call_fd;
	uint16_t used_seen;
	uint64_t packets;		/* completed by the worker */
};

#define VL_VCPUS_MAX	16

struct vl_vcpus {
	unsigned int n;
	pid_t tid[VL_VCPUS_MAX];
	pthread_t thread[VL_VCPUS_MAX];
};

struct vl_task_state {
	uint64_t run_ns;
	uint64_t wait_ns;
	uint64_t slices;
	uint64_t voluntary;
	uint64_t involuntary;
	char state;
	bool valid;
};

struct vl_device {
	int vhost_fd;
	int tap_fd;
	struct vl_ring ring[2];		/* 0: RX, 1: TX, as vhost-net numbers them */
	bool used[2];
	int fault_fd;			/* userfaultfd over the TX buffer, -1 */
	struct vl_vcpus vcpus;
	pid_t worker;			/* 0 when it was not found */
	bool worker_is_thread;		/* of this process, and not a kernel thread */
};

struct vl_report {
	uint64_t packets;
	uint64_t duration_ns;
	unsigned int windows;
	uint64_t window[VL_WINDOWS_MAX];	/* packets in each whole second */
	struct vl_task_state before;
	struct vl_task_state after;
};

/* vl-dev.c */
int vl_device_open(struct vl_device *dev, const struct vl_options *opt);
void vl_device_close(struct vl_device *dev);
int vl_task_state(pid_t tid, struct vl_task_state *ret_state);
int vl_pin(pid_t tid, int cpu);

/* vl-run.c */
int vl_run(struct vl_device *dev, const struct vl_options *opt, struct vl_report *ret_report);
int vl_run_once(struct vl_device *dev);
void vl_print(const struct vl_device *dev, const struct vl_options *opt,
	      const struct vl_report *report);

/* vl-vcpu.c */
int vl_vcpus_start(struct vl_vcpus *vcpus, const struct vl_options *opt);
void vl_vcpus_stop(struct vl_vcpus *vcpus);
/* From now on whoever touches the page at @page waits until SIGUSR2 comes. */
int vl_fault_arm(struct vl_device *dev, void *page, size_t bytes);

/* vhost-load.c */
int vl_fail(int err, const char *what);
uint64_t vl_now_ns(void);

#endif
