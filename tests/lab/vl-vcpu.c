// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that look like vCPUs, and a page fault that keeps a worker asleep. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vhost-load.h"

/* What a vCPU does between two yields: far less than a slice of the scheduler. */
#define VL_SPIN_ROUNDS	20000

struct vcpu {
	const struct vl_options *opt;
	unsigned int index;
	_Atomic pid_t tid;
	int err;
};

static atomic_bool ended;

static int pin_vcpu(const struct vl_options *opt)
{
	cpu_set_t all;
	int cpu;

	if (opt->vcpu_cpu >= 0)
		return vl_pin(0, opt->vcpu_cpu);
	/* Not what the program itself was pinned to. */
	CPU_ZERO(&all);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		CPU_SET(cpu, &all);
	if (sched_setaffinity(0, sizeof(all), &all))
		return vl_fail(errno, "sched_setaffinity of a vCPU");
	return 0;
}

static void *vcpu_main(void *data)
{
	struct vcpu *vcpu = data;
	const struct vl_options *opt = vcpu->opt;
	volatile unsigned int round;
	char name[16];

	snprintf(name, sizeof(name), "CPU %u/KVM", vcpu->index);
	prctl(PR_SET_NAME, name);
	vcpu->err = pin_vcpu(opt);
	/* From here on nothing of @vcpu is there any more. */
	atomic_store(&vcpu->tid, gettid());
	while (!atomic_load(&ended)) {
		for (round = 0; round < VL_SPIN_ROUNDS; round++)
			;
		if (opt->yield)
			sched_yield();
	}
	return NULL;
}

int vl_vcpus_start(struct vl_vcpus *vcpus, const struct vl_options *opt)
{
	int err;

	for (vcpus->n = 0; vcpus->n < opt->vcpus; vcpus->n++) {
		struct vcpu vcpu = { .opt = opt, .index = vcpus->n };
		pid_t tid;

		err = pthread_create(&vcpus->thread[vcpus->n], NULL, vcpu_main, &vcpu);
		if (err)
			return vl_fail(err, "the thread of a vCPU");
		do
			tid = atomic_load(&vcpu.tid);
		while (!tid && !sched_yield());
		vcpus->tid[vcpus->n] = tid;
		if (vcpu.err) {
			vcpus->n++;
			return vcpu.err;
		}
	}
	return 0;
}

void vl_vcpus_stop(struct vl_vcpus *vcpus)
{
	unsigned int i;

	atomic_store(&ended, true);
	for (i = 0; i < vcpus->n; i++)
		pthread_join(vcpus->thread[i], NULL);
}

/* Gives the page back, so that the fault is tried again and goes through. */
static void *fault_main(void *data)
{
	struct vl_device *dev = data;
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwait(&set, &signal);
	close(dev->fault_fd);
	return NULL;
}

int vl_fault_arm(struct vl_device *dev, void *page, size_t bytes)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)page, .len = bytes },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	pthread_t thread;
	int err;

	dev->fault_fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (dev->fault_fd < 0)
		return vl_fail(errno, "userfaultfd");
	if (ioctl(dev->fault_fd, UFFDIO_API, &api) ||
	    ioctl(dev->fault_fd, UFFDIO_REGISTER, &range))
		return vl_fail(errno, "UFFDIO_REGISTER");
	if (madvise(page, bytes, MADV_DONTNEED))
		return vl_fail(errno, "MADV_DONTNEED");
	err = pthread_create(&thread, NULL, fault_main, dev);
	return err ? vl_fail(err, "the thread that ends the fault") : 0;
}
