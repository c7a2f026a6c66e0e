/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF stint records into observations: names for clocks and addresses, softirq shares, sorted
 * waiters.
 */
#ifndef VW_LOAD_DECODE_H
#define VW_LOAD_DECODE_H

#include "model/obs.h"
#include "vw_abi.h"

struct vw_decode;

/* @proc_fd stays the caller's and must outlive the object. */
struct vw_decode *vw_decode_new(int proc_fd);
void vw_decode_free(struct vw_decode *decode);

/* Background work in small pieces (reading symbol names); to be called each round. */
void vw_decode_work(struct vw_decode *decode);

/* What a record says of a task. */
void vw_decode_task(const struct vw_abi_task *rec, struct vw_task *task);

/* Puts a waiter into @list, longest wait first, of *@n so far; there must be room for one more. */
void vw_decode_waiter(const struct vw_abi_waiter *rec, struct vw_waiter *list, unsigned int *n);

/* Fills @obs; calls @task for each task that the record names, before it returns. */
void vw_decode_stint(struct vw_decode *decode, const struct vw_rec_stint *rec, struct vw_obs *obs,
		     void (*task)(void *ctx, const struct vw_task *hint, uint64_t ts), void *ctx);

#endif
