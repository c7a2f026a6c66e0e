/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching tracepoints without waiting for a hog.
 *
 * Registering a tracepoint may wait for an RCU grace period (kernel/tracepoint.c,
 * tp_rcu_cond_sync(), after any tracepoint lost its last user).  On a hogged CPU softirqs end up in
 * ksoftirqd, which starves with the rest, so the CPU reports no quiescent state and no grace period
 * ends before the hog does.  The waiting task cannot be killed.  So a child process attaches and
 * hands each link over; the caller waits as long as it likes and goes on without, and a link that
 * comes later is taken up then.
 */
#ifndef VW_LOAD_ATTACH_H
#define VW_LOAD_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#define VW_ATTACH_MAX 16

struct vw_attach;

/*
 * Starts attaching the @n loaded tp_btf programs, in this order.  0 or a negative errno.
 */
int vw_attach_start(const int *prog_fds, unsigned int n, struct vw_attach **ret);

/*
 * Takes up what has come, waiting at most @wait_ns for the rest.  True when nothing is left to
 * come.
 */
bool vw_attach_poll(struct vw_attach *a, uint64_t wait_ns);

/* 1 attached, 0 still to come, negative errno refused. */
int vw_attach_state(const struct vw_attach *a, unsigned int i);

/* Detaches one hook. */
void vw_attach_drop(struct vw_attach *a, unsigned int i);

/* Detaches all, and gives up on what has not come. */
void vw_attach_free(struct vw_attach *a);

#endif
