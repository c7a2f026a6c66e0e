// SPDX-License-Identifier: GPL-2.0-or-later
/* The load itself: keep the rings full, count what the worker completed, report it. */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_ring.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "vhost-load.h"

/* Well below the time a worker needs for a full ring, so that the ring never runs empty. */
#define VL_POLL_NS	(2 * 1000 * 1000)
#define VL_BATCH	64
#define VL_FRAME_MAX	65536
#define VL_ONCE_NS	(10 * VL_NSEC)

struct sender {
	pthread_t thread;
	int fd;
	unsigned int size_bytes;
	atomic_bool stop;
};

/*
 * Count what came back since the last look and offer @packets again. No more than one
 * ring can complete between two looks, so the 16-bit index never wraps unseen.
 */
static void ring_refill(struct vl_ring *ring, unsigned int packets)
{
	uint16_t used = __atomic_load_n(&ring->used->idx, __ATOMIC_ACQUIRE);
	uint64_t one = 1;

	ring->packets += (uint16_t)(used - ring->used_seen);
	ring->used_seen = used;
	__atomic_store_n(&ring->avail->idx, (uint16_t)(used + packets), __ATOMIC_RELEASE);
	/* The worker must see the new index before we read whether it wants a kick. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&ring->used->flags, __ATOMIC_RELAXED) & VRING_USED_F_NO_NOTIFY)
		return;
	if (write(ring->kick_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		vl_fail(errno, "a kick");
}

static void refill(struct vl_device *dev, const struct vl_options *opt)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (dev->used[i])
			ring_refill(&dev->ring[i],
				    opt->period_us ? opt->burst : dev->ring[i].size);
}

static uint64_t packets_of(const struct vl_device *dev)
{
	return dev->ring[0].packets + dev->ring[1].packets;
}

static void *sender_main(void *data)
{
	static unsigned char frame[VL_FRAME_MAX] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5,
	};
	struct sender *sender = data;
	struct iovec iov = { .iov_base = frame, .iov_len = sender->size_bytes };
	struct timespec pause = { .tv_nsec = VL_POLL_NS / 4 };
	struct mmsghdr batch[VL_BATCH] = { 0 };
	unsigned int i;

	for (i = 0; i < VL_BATCH; i++) {
		batch[i].msg_hdr.msg_iov = &iov;
		batch[i].msg_hdr.msg_iovlen = 1;
	}
	/* A full tap queue answers ENOBUFS: the worker is behind, which is what we want. */
	while (!atomic_load(&sender->stop))
		if (sendmmsg(sender->fd, batch, VL_BATCH, 0) <= 0)
			nanosleep(&pause, NULL);
	return NULL;
}

/* Frames sent out of the tap interface are what the guest receives through handle_rx. */
static int sender_start(struct sender *sender, const struct vl_options *opt)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET, .sll_protocol = 0 };
	int bypass = 1;
	int err;

	sender->size_bytes = opt->size_bytes;
	addr.sll_ifindex = if_nametoindex(opt->tap);
	sender->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (sender->fd < 0)
		return vl_fail(errno, "a packet socket");
	if (bind(sender->fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(sender->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof(bypass))) {
		err = vl_fail(errno, "the packet socket on the tap");
		close(sender->fd);
		return err;
	}
	err = pthread_create(&sender->thread, NULL, sender_main, sender);
	if (err) {
		close(sender->fd);
		return vl_fail(err, "the sending thread");
	}
	return 0;
}

static void sender_stop(struct sender *sender)
{
	atomic_store(&sender->stop, true);
	pthread_join(sender->thread, NULL);
	close(sender->fd);
}

/* Closes every whole second that has passed; a late look puts the rest into one window. */
static void windows_update(struct vl_report *report, uint64_t elapsed_ns, uint64_t packets,
			   uint64_t *at_window)
{
	while (report->windows < VL_WINDOWS_MAX &&
	       elapsed_ns >= (report->windows + 1) * VL_NSEC) {
		report->window[report->windows++] = packets - *at_window;
		*at_window = packets;
	}
}

int vl_run(struct vl_device *dev, const struct vl_options *opt, struct vl_report *ret_report)
{
	uint64_t pause_ns = opt->period_us ? opt->period_us * 1000ULL : VL_POLL_NS;
	const struct timespec pause = {
		.tv_sec = pause_ns / VL_NSEC,
		.tv_nsec = pause_ns % VL_NSEC,
	};
	sigset_t stop;
	bool stopped = false;
	struct sender sender = { .fd = -1 };
	bool sending = !opt->idle && (opt->direction & VL_RX);
	uint64_t at_window = 0;
	uint64_t start;
	int err = 0;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	vl_task_state(dev->worker, &ret_report->before);
	if (sending)
		err = sender_start(&sender, opt);
	if (err)
		return err;
	start = vl_now_ns();
	do {
		if (!opt->idle)
			refill(dev, opt);
		ret_report->packets = packets_of(dev);
		ret_report->duration_ns = vl_now_ns() - start;
		windows_update(ret_report, ret_report->duration_ns, ret_report->packets,
			       &at_window);
		/* Blocked since the start, so this is a pause that the signal ends. */
		stopped = sigtimedwait(&stop, NULL, &pause) == SIGTERM;
	} while (!stopped && ret_report->duration_ns < opt->duration_s * VL_NSEC);
	/* Before anything is torn down: a worker that is a thread of ours ends with us. */
	vl_task_state(dev->worker, &ret_report->after);
	if (sending)
		sender_stop(&sender);
	return 0;
}

/* Offer each ring once and wait until the worker has run at all; for owners that come and go. */
int vl_run_once(struct vl_device *dev)
{
	const struct timespec pause = { .tv_nsec = VL_POLL_NS };
	uint64_t start = vl_now_ns();
	struct vl_ring *ring = &dev->ring[dev->used[1] ? 1 : 0];

	if (!dev->used[1])
		return 0;
	ring_refill(ring, ring->size);
	while (__atomic_load_n(&ring->used->idx, __ATOMIC_ACQUIRE) == 0) {
		if (vl_now_ns() - start > VL_ONCE_NS)
			return vl_fail(ETIMEDOUT, "the worker's first packet");
		nanosleep(&pause, NULL);
	}
	return 0;
}

static void print_string(const char *text)
{
	const unsigned char *c;

	putchar('"');
	for (c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			printf("\\%c", *c);
		else if (*c < 0x20)
			printf("\\u%04x", *c);
		else
			putchar(*c);
	}
	putchar('"');
}

static void print_state(const char *key, const struct vl_task_state *state)
{
	if (!state->valid) {
		printf(",\"%s\":null", key);
		return;
	}
	printf(",\"%s\":{\"run_ns\":%llu,\"wait_ns\":%llu,\"slices\":%llu,\"voluntary\":%llu,"
	       "\"involuntary\":%llu,\"state\":\"%c\"}", key,
	       (unsigned long long)state->run_ns, (unsigned long long)state->wait_ns,
	       (unsigned long long)state->slices, (unsigned long long)state->voluntary,
	       (unsigned long long)state->involuntary, state->state);
}

/* One object on one line; stdout is fully buffered, so that lines of several VMs do not mix. */
void vl_print(const struct vl_device *dev, const struct vl_options *opt,
	      const struct vl_report *report)
{
	static const char *const direction[] = { "", "tx", "rx", "both" };
	unsigned int i;

	printf("{\"name\":");
	print_string(opt->name);
	printf(",\"tap\":");
	print_string(opt->tap);
	printf(",\"pid\":%d,\"direction\":\"%s\",\"size\":%u,\"idle\":%s,\"packets\":%llu,"
	       "\"bytes\":%llu,\"tx_packets\":%llu,\"rx_packets\":%llu,\"duration_ns\":%llu,"
	       "\"windows\":[", getpid(), direction[opt->direction], opt->size_bytes,
	       opt->idle ? "true" : "false", (unsigned long long)report->packets,
	       (unsigned long long)report->packets * opt->size_bytes,
	       (unsigned long long)dev->ring[1].packets,
	       (unsigned long long)dev->ring[0].packets,
	       (unsigned long long)report->duration_ns);
	for (i = 0; i < report->windows; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)report->window[i]);
	printf("],\"worker\":{\"tid\":%d,\"kind\":\"%s\"", dev->worker,
	       dev->worker_is_thread ? "task" : "kthread");
	print_state("before", &report->before);
	print_state("after", &report->after);
	printf("},\"vcpus\":[");
	for (i = 0; i < dev->vcpus.n; i++)
		printf("%s%d", i ? "," : "", dev->vcpus.tid[i]);
	printf("]}\n");
	fflush(stdout);
}
