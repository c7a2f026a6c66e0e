// SPDX-License-Identifier: GPL-2.0-or-later
/* Vhost work items: queued, run by a worker, over. */
#include <stdlib.h>
#include <string.h>

#include "source/sched_internal.h"
#include "util/str.h"

struct vw_sched_item {
	uint64_t work;
	bool queued, running;
	uint64_t due_ns;
	struct vw_sched_task *worker; /* NULL unknown */
	struct vw_sched_item *prev, *next; /* of that worker */
	UT_hash_handle hh;
	char function[VW_FUNCTION_LEN];
};

/* Kernel workers run the work of everybody. */
static bool is_vhost_function(const char *function)
{
	static const char *const names[] = {
		"handle_tx", "handle_tx_kick", "handle_tx_net", "handle_tx_copy",
		"handle_rx", "handle_rx_kick", "handle_rx_net", "handle_tx_zerocopy",
	};
	size_t i;

	if (vw_str_starts(function, "vhost_"))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(function, names[i]))
			return true;
	return false;
}

static struct vw_sched_item *find(const struct vw_sched *s, uint64_t work)
{
	struct vw_sched_item *item;

	HASH_FIND(hh, s->items, &work, sizeof(work), item);
	return item;
}

static void give_to(struct vw_sched_item *item, struct vw_sched_task *worker)
{
	if (item->worker == worker)
		return;
	if (item->worker) {
		DL_DELETE(item->worker->items_list, item);
		if (item->worker->running == item)
			item->worker->running = NULL;
	}
	item->worker = worker;
	if (worker)
		DL_APPEND(worker->items_list, item);
}

static void forget(struct vw_sched *s, struct vw_sched_item *item)
{
	give_to(item, NULL);
	HASH_DEL(s->items, item);
	free(item);
}

static struct vw_sched_item *take(struct vw_sched *s, uint64_t work)
{
	struct vw_sched_item *item = find(s, work);

	if (item)
		return item;
	if (HASH_COUNT(s->items) >= VW_SCHED_ITEMS)
		forget(s, s->items); /* the oldest */
	item = calloc(1, sizeof(*item));
	if (!item)
		goto oom;
	item->work = work;
	HASH_ADD(hh, s->items, work, sizeof(item->work), item);
	if (VW_HASH_ADDED(item))
		return item;
	free(item);
oom:
	vw_sched_oom(s);
	return NULL;
}

static void tell(struct vw_sched *s, struct vw_sched_item *item, enum vw_work_phase phase)
{
	struct vw_sched_task *t = item->worker;
	struct vw_obs_work *work;

	if (t)
		vw_sched_tell_task(s, t);
	work = &vw_sched_obs(s, VW_OBS_WORK, s->now_ns)->work;
	work->phase = phase;
	work->cpu = t && t->cpu ? t->cpu->id : -1;
	work->work = item->work;
	memcpy(work->function, item->function, sizeof(work->function));
	work->oncpu_ns = work->wait_ns = work->throttled_ns = VW_UNKNOWN;
	if (t) {
		work->tid = t->tid;
		work->start_ns = vw_sched_start_of(t);
	}
	if (t && s->seen.switches) {
		work->oncpu_ns = vw_sched_oncpu(t, s->now_ns);
		work->wait_ns = vw_sched_waited(t, s->now_ns);
	}
	vw_sched_tell(s);
	if (t && phase != VW_WORK_QUEUED && work->cpu >= 0)
		t->work_cpu = work->cpu;
	if (phase != VW_WORK_ENDED)
		item->due_ns = s->now_ns + VW_SCHED_REPEAT_NS;
}

static void on_queue(struct vw_sched *s, const struct vw_event *e)
{
	struct vw_sched_task *worker = vw_sched_take_tid(s, e->work.worker);
	struct vw_sched_item *item = take(s, e->work.work);

	if (!item)
		return;
	if (worker)
		vw_sched_works(s, worker);
	/* While it runs it stays with who runs it. */
	if (worker && !item->running)
		give_to(item, worker);
	if (item->queued)
		return;
	item->queued = true;
	if (*e->work.function)
		memcpy(item->function, e->work.function, sizeof(item->function));
	tell(s, item, VW_WORK_QUEUED);
}

static void on_start(struct vw_sched *s, const struct vw_event *e)
{
	struct vw_sched_task *t = vw_sched_take_tid(s, e->tid);
	struct vw_sched_item *item;

	if (!t)
		return;
	vw_sched_works(s, t);
	/* A worker runs one at a time: the end of the one before was not seen. */
	if (t->running && t->running->work != e->work.work)
		forget(s, t->running);
	item = take(s, e->work.work);
	if (!item)
		return;
	give_to(item, t);
	item->queued = false;
	item->running = true;
	t->running = item;
	if (*e->work.function)
		memcpy(item->function, e->work.function, sizeof(item->function));
	tell(s, item, VW_WORK_STARTED);
}

static void on_end(struct vw_sched *s, const struct vw_event *e)
{
	struct vw_sched_item *item = find(s, e->work.work);
	struct vw_sched_task *t = vw_sched_find(s, e->tid);

	/* The end of what began before the trace counts, too. */
	if (t && (item || !e->work.workqueue || is_vhost_function(e->work.function)))
		t->items++;
	if (!item || !item->running)
		return;
	tell(s, item, VW_WORK_ENDED);
	item->running = false;
	if (item->worker)
		item->worker->running = NULL;
	if (!item->queued)
		forget(s, item);
}

void vw_sched_work(struct vw_sched *s, const struct vw_event *e)
{
	if (e->work.workqueue && e->kind != VW_EVENT_WORK_END &&
	    !is_vhost_function(e->work.function))
		return;
	switch (e->kind) {
	case VW_EVENT_WORK_QUEUE:
		s->seen.works++;
		on_queue(s, e);
		break;
	case VW_EVENT_WORK_START:
		s->seen.works++;
		on_start(s, e);
		break;
	default:
		on_end(s, e);
		break;
	}
}

void vw_sched_items_drop(struct vw_sched *s, struct vw_sched_task *t)
{
	while (t->items_list)
		forget(s, t->items_list);
}

/*
 * What a worker on @cpu did in the meantime is not known, nor who runs what nobody was seen to.
 * Who listens goes by the CPU that was told: if that was another one, it is lost as well.
 */
void vw_sched_items_lost(struct vw_sched *s, const struct vw_sched_cpu *cpu)
{
	struct vw_sched_item *item, *next;

	HASH_ITER(hh, s->items, item, next)
	{
		const struct vw_sched_task *t = item->worker;

		if (t && t->cpu && t->cpu != cpu && t->work_cpu >= 0 && t->work_cpu != cpu->id)
			continue;
		if (t && t->work_cpu >= 0 && t->work_cpu != cpu->id)
			vw_sched_tell_loss(s, t->work_cpu, 0);
		forget(s, item);
	}
}

void vw_sched_items_second(struct vw_sched *s, bool all)
{
	struct vw_sched_item *item;

	for (item = s->items; item; item = item->hh.next)
		if (all || s->now_ns >= item->due_ns)
			tell(s, item, VW_WORK_LASTS);
}

void vw_sched_item_lasts(struct vw_sched *s, struct vw_sched_task *t)
{
	if (t->running && s->now_ns >= t->running->due_ns)
		tell(s, t->running, VW_WORK_LASTS);
}

void vw_sched_items_free(struct vw_sched *s)
{
	while (s->items)
		forget(s, s->items);
}
