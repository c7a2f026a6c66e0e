// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps a CPU in the kernel without ever offering it to others: what a vhost worker without a yield
 * does, and needs no vhost.  bpf_loop() has no cond_resched(), so a kernel that does not preempt
 * kernel code lets it go on.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define ROUNDS (1 << 20) /* squared: hours; the clock ends it */

struct hog_args {
	__u64 end_ns;
};

static long look(__u32 i, struct hog_args *args)
{
	return bpf_ktime_get_ns() >= args->end_ns;
}

static long round(__u32 i, struct hog_args *args)
{
	bpf_loop(ROUNDS, look, args, 0);
	return bpf_ktime_get_ns() >= args->end_ns;
}

SEC("syscall")
int test_hog(struct hog_args *given)
{
	struct hog_args args = { .end_ns = given->end_ns };

	bpf_loop(ROUNDS, round, &args, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
