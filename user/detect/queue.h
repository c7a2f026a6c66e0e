/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work of one vhost worker: the item that it runs and those that are queued.
 *
 * Work of one worker runs in the order in which it was queued, so what is still here although
 * something queued later has begun was missed when it began.
 */
#ifndef VW_DETECT_QUEUE_H
#define VW_DETECT_QUEUE_H

#include "model/obs.h"

#define VW_QUEUE_MAX 256 /* items; of what is queued beyond it nothing is known */

/* What the worker had had so far; VW_UNKNOWN. */
struct vw_figures {
	uint64_t oncpu_ns, wait_ns, throttled_ns;
};

struct vw_work_item {
	uint64_t work;
	char function[VW_FUNCTION_LEN];
	uint64_t since_ns; /* queued, or begun */
	struct vw_figures then; /* at since_ns */
	uint64_t ran_ns; /* of the worker's items, up to since_ns */
	/* The one item that ran longest while this one was queued. */
	uint64_t ahead_ns;
	char ahead[VW_FUNCTION_LEN];
};

struct vw_queue {
	bool running;
	struct vw_work_item now; /* valid if running */
	uint64_t seen_ns; /* when it was last seen to run */
	uint64_t ran_ns; /* by all items that have ended */
	/* The last one that was long enough to delay others. */
	uint64_t long_since_ns, long_end_ns;
	char long_function[VW_FUNCTION_LEN];
	unsigned int n, room;
	struct vw_work_item *items; /* the oldest first */
};

/* All three take what @obs, a WORK observation, tells of the item.  0 or -ENOMEM. */
int vw_queue_add(struct vw_queue *queue, const struct vw_obs *obs);
/*
 * Takes item @work out, into *@ret; false when it is not there.  @in_order: what was queued
 * before it is forgotten.
 */
bool vw_queue_take(struct vw_queue *queue, uint64_t work, bool in_order, struct vw_work_item *ret);
/* @item, queued without a worker's name, turns out to be this worker's. */
void vw_queue_claim(const struct vw_queue *queue, struct vw_work_item *item);
void vw_queue_begin(struct vw_queue *queue, const struct vw_obs *obs);
/* The running item has ended at @ts_ns. */
void vw_queue_end(struct vw_queue *queue, uint64_t ts_ns);

/* As @item at @ts_ns, the item that runs right now taken into account. */
struct vw_work_item vw_queue_view(const struct vw_queue *queue, const struct vw_work_item *item,
				  uint64_t ts_ns);
/* How long items ran while @item was queued, up to @ts_ns. */
uint64_t vw_queue_ran(const struct vw_queue *queue, const struct vw_work_item *item,
		      uint64_t ts_ns);

/* What is queued or runs is not known any more. */
void vw_queue_clear(struct vw_queue *queue);
void vw_queue_done(struct vw_queue *queue);

#endif
