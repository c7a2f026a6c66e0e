// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detect/queue.h"
#include "util/parse.h"
#include "util/str.h"

/* Half of the shortest wait that is told: what ran less explains none. */
#define AHEAD_NS (25 * VW_NS_PER_MS)

/* Two CPUs that queue at the same time may leave their events in the other order. */
#define ORDER_NS VW_NS_PER_MS

static void fill(struct vw_queue *queue, struct vw_work_item *item, const struct vw_obs *obs)
{
	const struct vw_obs_work *w = &obs->work;

	memset(item, 0, sizeof(*item));
	item->work = w->work;
	vw_str_copy(item->function, sizeof(item->function), w->function, sizeof(w->function));
	item->since_ns = obs->ts_ns;
	item->then = (struct vw_figures){ w->oncpu_ns, w->wait_ns, w->throttled_ns };
	item->ran_ns = queue->ran_ns;
	if (queue->running)
		item->ran_ns += obs->ts_ns - queue->now.since_ns;
}

static void drop(struct vw_queue *queue, unsigned int from, unsigned int n)
{
	queue->n -= n;
	memmove(queue->items + from, queue->items + from + n,
		(queue->n - from) * sizeof(*queue->items));
}

static int index_of(const struct vw_queue *queue, uint64_t work)
{
	unsigned int i;

	for (i = 0; i < queue->n; i++)
		if (queue->items[i].work == work)
			return (int)i;
	return -1;
}

int vw_queue_add(struct vw_queue *queue, const struct vw_obs *obs)
{
	int at = index_of(queue, obs->work.work);

	/* Nothing is queued twice: that it began was not seen. */
	if (at >= 0)
		drop(queue, (unsigned int)at, 1);
	if (queue->n == VW_QUEUE_MAX)
		return 0;
	if (queue->n == queue->room) {
		unsigned int room = queue->room ? 2 * queue->room : 4;
		struct vw_work_item *items = realloc(queue->items, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		queue->items = items;
		queue->room = room;
	}
	fill(queue, &queue->items[queue->n++], obs);
	return 0;
}

bool vw_queue_take(struct vw_queue *queue, uint64_t work, bool in_order, struct vw_work_item *ret)
{
	int at = index_of(queue, work);
	unsigned int n = 0;

	if (at < 0)
		return false;
	*ret = queue->items[at];
	drop(queue, (unsigned int)at, 1);
	while (in_order && n < (unsigned int)at &&
	       queue->items[n].since_ns + ORDER_NS < ret->since_ns)
		n++;
	drop(queue, 0, n);
	return true;
}

void vw_queue_begin(struct vw_queue *queue, const struct vw_obs *obs)
{
	queue->running = false;
	fill(queue, &queue->now, obs);
	queue->running = true;
	queue->seen_ns = obs->ts_ns;
}

/* What ran from @since_ns to @end_ns may be what @item waits for most. */
static void look_ahead(struct vw_work_item *item, const char *function, uint64_t since_ns,
		       uint64_t end_ns)
{
	uint64_t from_ns = since_ns > item->since_ns ? since_ns : item->since_ns;

	if (end_ns < from_ns + AHEAD_NS || end_ns - from_ns <= item->ahead_ns)
		return;
	item->ahead_ns = end_ns - from_ns;
	memcpy(item->ahead, function, sizeof(item->ahead));
}

void vw_queue_end(struct vw_queue *queue, uint64_t ts_ns)
{
	const struct vw_work_item *now = &queue->now;
	unsigned int i;

	queue->running = false;
	queue->ran_ns += ts_ns - now->since_ns;
	if (ts_ns < now->since_ns + AHEAD_NS)
		return;
	queue->long_since_ns = now->since_ns;
	queue->long_end_ns = ts_ns;
	memcpy(queue->long_function, now->function, sizeof(queue->long_function));
	for (i = 0; i < queue->n; i++)
		look_ahead(&queue->items[i], now->function, now->since_ns, ts_ns);
}

void vw_queue_claim(const struct vw_queue *queue, struct vw_work_item *item)
{
	item->ran_ns = queue->ran_ns; /* of it nothing is known */
	item->ahead_ns = 0;
	look_ahead(item, queue->long_function, queue->long_since_ns, queue->long_end_ns);
}

struct vw_work_item vw_queue_view(const struct vw_queue *queue, const struct vw_work_item *item,
				  uint64_t ts_ns)
{
	struct vw_work_item view = *item;

	if (queue->running)
		look_ahead(&view, queue->now.function, queue->now.since_ns, ts_ns);
	return view;
}

uint64_t vw_queue_ran(const struct vw_queue *queue, const struct vw_work_item *item, uint64_t ts_ns)
{
	uint64_t ran_ns = queue->ran_ns + (queue->running ? ts_ns - queue->now.since_ns : 0);

	return ran_ns > item->ran_ns ? ran_ns - item->ran_ns : 0;
}

void vw_queue_clear(struct vw_queue *queue)
{
	queue->running = false;
	queue->n = 0;
}

void vw_queue_done(struct vw_queue *queue)
{
	free(queue->items);
}
