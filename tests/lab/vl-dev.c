// SPDX-License-Identifier: GPL-2.0-or-later
/* The device side of vhost-load: tap, rings, vhost-net, and the worker that comes with it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/vhost.h>
#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vhost-load.h"

/* Newer than the headers this may be built with. */
#ifndef VHOST_SET_FORK_FROM_OWNER
#define VHOST_SET_FORK_FROM_OWNER _IOW(VHOST_VIRTIO, 0x84, __u8)
#endif

#define VL_HEADER_BYTES sizeof(struct virtio_net_hdr_mrg_rxbuf)
#define VL_RX_BUFFER_BYTES 65536
#define VL_TX_QUEUE_LEN 10000

static size_t align_up(size_t value, size_t to)
{
	return (value + to - 1) / to * to;
}

/*
 * The header is all zeros: no offload. The ether type is the one for local experiments, so the
 * host's stack drops the frame early and the worker's own cost stays in front.
 */
static void fill_frame(unsigned char *buffer)
{
	static const unsigned char ethernet[14] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5,
	};

	memcpy(buffer + VL_HEADER_BYTES, ethernet, sizeof(ethernet));
}

static int ring_alloc(struct vl_ring *ring, unsigned int size, size_t buffer_bytes, bool writable)
{
	size_t desc_bytes = align_up(size * sizeof(struct vring_desc), 4096);
	size_t avail_bytes = align_up(sizeof(uint16_t) * (3 + size), 4096);
	size_t used_bytes = align_up(6 + size * sizeof(struct vring_used_elem), 4096);
	unsigned char *base;
	unsigned int i;

	ring->memory_bytes = desc_bytes + avail_bytes + used_bytes + align_up(buffer_bytes, 4096);
	base = mmap(NULL, ring->memory_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (base == MAP_FAILED)
		return vl_fail(errno, "memory for a ring");
	ring->memory = base;
	ring->desc = (void *)base;
	ring->avail = (void *)(base + desc_bytes);
	ring->used = (void *)(base + desc_bytes + avail_bytes);
	ring->buffer = base + desc_bytes + avail_bytes + used_bytes;
	ring->buffer_bytes = buffer_bytes;
	ring->size = size;
	for (i = 0; i < size; i++) {
		ring->desc[i].addr = (uintptr_t)ring->buffer;
		ring->desc[i].len = buffer_bytes;
		ring->desc[i].flags = writable ? VRING_DESC_F_WRITE : 0;
		ring->avail->ring[i] = i;
	}
	ring->avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
	if (!writable)
		fill_frame(ring->buffer);
	return 0;
}

static int tap_configure(const char *name)
{
	struct ifreq req = { 0 };
	int err = 0;
	int fd;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return vl_fail(errno, "a socket to configure the tap");
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	/* A long queue, so that received frames pile up in front of the worker. */
	req.ifr_qlen = VL_TX_QUEUE_LEN;
	if (ioctl(fd, SIOCSIFTXQLEN, &req))
		err = vl_fail(errno, "SIOCSIFTXQLEN");
	memset(&req.ifr_ifru, 0, sizeof(req.ifr_ifru));
	if (!err && ioctl(fd, SIOCGIFFLAGS, &req))
		err = vl_fail(errno, "SIOCGIFFLAGS");
	req.ifr_flags |= IFF_UP;
	if (!err && ioctl(fd, SIOCSIFFLAGS, &req))
		err = vl_fail(errno, "SIOCSIFFLAGS");
	close(fd);
	return err;
}

static int tap_open(struct vl_device *dev, const struct vl_options *opt)
{
	int header_bytes = VL_HEADER_BYTES;
	struct ifreq req = { 0 };

	dev->tap_fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (dev->tap_fd < 0)
		return vl_fail(errno, "/dev/net/tun");
	req.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", opt->tap);
	if (ioctl(dev->tap_fd, TUNSETIFF, &req))
		return vl_fail(errno, "TUNSETIFF");
	if (ioctl(dev->tap_fd, TUNSETVNETHDRSZ, &header_bytes))
		return vl_fail(errno, "TUNSETVNETHDRSZ");
	if (opt->sndbuf_bytes >= 0 && ioctl(dev->tap_fd, TUNSETSNDBUF, &opt->sndbuf_bytes))
		return vl_fail(errno, "TUNSETSNDBUF");
	return tap_configure(opt->tap);
}

/* Guest addresses equal this program's, so that the table needs no arithmetic anywhere. */
static int set_memory(struct vl_device *dev)
{
	struct {
		struct vhost_memory head;
		struct vhost_memory_region region[2];
	} table = { 0 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct vl_ring *ring = &dev->ring[i];
		struct vhost_memory_region *region = &table.region[table.head.nregions];

		if (!dev->used[i])
			continue;
		region->guest_phys_addr = (uintptr_t)ring->memory;
		region->userspace_addr = (uintptr_t)ring->memory;
		region->memory_size = ring->memory_bytes;
		table.head.nregions++;
	}
	if (ioctl(dev->vhost_fd, VHOST_SET_MEM_TABLE, &table))
		return vl_fail(errno, "VHOST_SET_MEM_TABLE");
	return 0;
}

static int ring_connect(struct vl_device *dev, unsigned int index)
{
	struct vl_ring *ring = &dev->ring[index];
	struct vhost_vring_state num = { .index = index, .num = ring->size };
	struct vhost_vring_state base = { .index = index, .num = 0 };
	struct vhost_vring_addr addr = {
		.index = index,
		.desc_user_addr = (uintptr_t)ring->desc,
		.avail_user_addr = (uintptr_t)ring->avail,
		.used_user_addr = (uintptr_t)ring->used,
	};
	struct vhost_vring_file file = { .index = index };

	ring->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ring->call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ring->kick_fd < 0 || ring->call_fd < 0)
		return vl_fail(errno, "eventfd");
	if (ioctl(dev->vhost_fd, VHOST_SET_VRING_NUM, &num) ||
	    ioctl(dev->vhost_fd, VHOST_SET_VRING_BASE, &base) ||
	    ioctl(dev->vhost_fd, VHOST_SET_VRING_ADDR, &addr))
		return vl_fail(errno, "VHOST_SET_VRING_*");
	file.fd = ring->kick_fd;
	if (ioctl(dev->vhost_fd, VHOST_SET_VRING_KICK, &file))
		return vl_fail(errno, "VHOST_SET_VRING_KICK");
	file.fd = ring->call_fd;
	if (ioctl(dev->vhost_fd, VHOST_SET_VRING_CALL, &file))
		return vl_fail(errno, "VHOST_SET_VRING_CALL");
	file.fd = dev->tap_fd;
	if (ioctl(dev->vhost_fd, VHOST_NET_SET_BACKEND, &file))
		return vl_fail(errno, "VHOST_NET_SET_BACKEND");
	return 0;
}

static int vhost_open(struct vl_device *dev, const struct vl_options *opt)
{
	uint64_t features = 1ULL << VIRTIO_F_VERSION_1;
	__u8 fork_owner = opt->fork_owner;
	unsigned int i;
	int err;

	dev->vhost_fd = open("/dev/vhost-net", O_RDWR | O_CLOEXEC);
	if (dev->vhost_fd < 0)
		return vl_fail(errno, "/dev/vhost-net");
	if (opt->fork_owner >= 0 && ioctl(dev->vhost_fd, VHOST_SET_FORK_FROM_OWNER, &fork_owner))
		return vl_fail(errno, "VHOST_SET_FORK_FROM_OWNER (does this kernel have it?)");
	if (ioctl(dev->vhost_fd, VHOST_SET_OWNER, NULL))
		return vl_fail(errno, "VHOST_SET_OWNER");
	if (ioctl(dev->vhost_fd, VHOST_SET_FEATURES, &features))
		return vl_fail(errno, "VHOST_SET_FEATURES");
	err = set_memory(dev);
	for (i = 0; !err && i < 2; i++)
		err = dev->used[i] ? ring_connect(dev, i) : 0;
	return err;
}

/* The first task below a /proc directory whose comm is that of our worker, or 0. */
static pid_t find_comm(const char *directory, const char *comm)
{
	struct dirent *entry;
	pid_t found = 0;
	DIR *dir;

	dir = opendir(directory);
	if (!dir)
		return 0;
	while (!found && (entry = readdir(dir))) {
		char path[300];
		char text[32] = "";
		FILE *file;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "%s/%s/comm", directory, entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(text, sizeof(text), file)) {
			text[strcspn(text, "\n")] = '\0';
			if (!strcmp(text, comm))
				found = atoi(entry->d_name);
		}
		fclose(file);
	}
	closedir(dir);
	return found;
}

static void find_worker(struct vl_device *dev)
{
	char comm[32];

	snprintf(comm, sizeof(comm), "vhost-%d", getpid());
	dev->worker = find_comm("/proc/self/task", comm);
	dev->worker_is_thread = dev->worker != 0;
	if (!dev->worker)
		dev->worker = find_comm("/proc", comm);
}

int vl_pin(pid_t tid, int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		return vl_fail(errno, "sched_setaffinity");
	return 0;
}

int vl_device_open(struct vl_device *dev, const struct vl_options *opt)
{
	size_t tx_bytes = VL_HEADER_BYTES + opt->size_bytes;
	int err;

	*dev = (struct vl_device){ .vhost_fd = -1, .tap_fd = -1, .fault_fd = -1 };
	dev->used[0] = opt->direction & VL_RX;
	dev->used[1] = opt->direction & VL_TX;
	err = tap_open(dev, opt);
	if (!err && dev->used[0])
		err = ring_alloc(&dev->ring[0], opt->ring, VL_RX_BUFFER_BYTES, true);
	if (!err && dev->used[1])
		err = ring_alloc(&dev->ring[1], opt->ring, tx_bytes, false);
	if (!err)
		err = vhost_open(dev, opt);
	if (err)
		return err;
	find_worker(dev);
	if (!dev->worker)
		return vl_fail(ESRCH, "a vhost worker of this process");
	if (opt->fault) {
		err = vl_fault_arm(dev, dev->ring[1].buffer, align_up(tx_bytes, 4096));
		if (err)
			return err;
	}
	return vl_pin(dev->worker, opt->worker_cpu);
}

void vl_device_close(struct vl_device *dev)
{
	unsigned int i;

	if (dev->vhost_fd >= 0)
		close(dev->vhost_fd);
	if (dev->tap_fd >= 0)
		close(dev->tap_fd);
	for (i = 0; i < 2; i++) {
		if (!dev->ring[i].memory)
			continue;
		close(dev->ring[i].kick_fd);
		close(dev->ring[i].call_fd);
		munmap(dev->ring[i].memory, dev->ring[i].memory_bytes);
	}
}

int vl_task_state(pid_t tid, struct vl_task_state *ret_state)
{
	struct vl_task_state state = { 0 };
	unsigned long long a = 0, b = 0, c = 0;
	char path[64];
	char row[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	state.valid = fscanf(file, "%llu %llu %llu", &a, &b, &c) == 3;
	fclose(file);
	state.run_ns = a;
	state.wait_ns = b;
	state.slices = c;
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(row, sizeof(row), file)) {
		sscanf(row, "State: %c", &state.state);
		if (sscanf(row, "voluntary_ctxt_switches: %llu", &a) == 1)
			state.voluntary = a;
		if (sscanf(row, "nonvoluntary_ctxt_switches: %llu", &a) == 1)
			state.involuntary = a;
	}
	fclose(file);
	*ret_state = state;
	return 0;
}
