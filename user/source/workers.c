// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/workers.h"

/* Sorted by tid: rows come out in order, and a host has thousands at most. */
struct vw_workers {
	struct vw_attr *attr;
	unsigned int n, room;
	struct vw_worker *list;
};

struct vw_workers *vw_workers_new(struct vw_attr *attr)
{
	struct vw_workers *set = calloc(1, sizeof(*set));

	if (set)
		set->attr = attr;
	return set;
}

void vw_workers_free(struct vw_workers *set)
{
	if (!set)
		return;
	free(set->list);
	free(set);
}

/* Where @tid is or would be. */
static unsigned int find(const struct vw_workers *set, int32_t tid)
{
	unsigned int lo = 0, hi = set->n;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (set->list[mid].task.tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct vw_worker *vw_workers_get(struct vw_workers *set, int32_t tid)
{
	unsigned int i = find(set, tid);

	return i < set->n && set->list[i].task.tid == tid ? &set->list[i] : NULL;
}

void vw_workers_remove(struct vw_workers *set, int32_t tid)
{
	unsigned int i = find(set, tid);

	if (i == set->n || set->list[i].task.tid != tid)
		return;
	memmove(&set->list[i], &set->list[i + 1], (set->n - i - 1) * sizeof(*set->list));
	set->n--;
}

unsigned int vw_workers_count(const struct vw_workers *set)
{
	return set->n;
}

struct vw_worker *vw_workers_at(struct vw_workers *set, unsigned int i)
{
	return &set->list[i];
}

/* The kernel's counters as they stand. */
static int counters(struct vw_workers *set, const struct vw_task *task, struct vw_worker_row *row,
		    struct vw_proc_counters *c)
{
	int err = vw_attr_counters(set->attr, task, c);

	if (err)
		return err;
	row->task = *task;
	row->cpu = c->cpu;
	row->charged_ns = c->run_ns;
	row->wait_ns = c->delay_ns;
	row->voluntary = c->voluntary;
	row->involuntary = c->involuntary;
	row->migrations = c->migrations;
	vw_attr_traffic(set->attr, row);
	return 0;
}

int vw_workers_put(struct vw_workers *set, const struct vw_task *task, bool born, uint64_t now_ns,
		   bool *ret_new)
{
	unsigned int i = find(set, task->tid);
	struct vw_proc_counters c;
	struct vw_worker *w;

	if (i < set->n && vw_task_same(&set->list[i].task, task)) {
		set->list[i].task = *task;
		*ret_new = false;
		return 0;
	}
	if (i == set->n || set->list[i].task.tid != task->tid) {
		if (set->n == set->room) {
			unsigned int room = set->room ? set->room * 2 : 64;
			struct vw_worker *grown = realloc(set->list, room * sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			set->list = grown;
			set->room = room;
		}
		memmove(&set->list[i + 1], &set->list[i], (set->n - i) * sizeof(*set->list));
		set->n++;
	}
	w = &set->list[i];
	memset(w, 0, sizeof(*w));
	w->task = *task;
	w->born = born;
	w->seen_ns = now_ns;
	if (!born)
		counters(set, task, &w->base, &c);
	else /* the tap is older than its worker */
		vw_attr_traffic(set->attr, (w->base.task = *task, &w->base));
	*ret_new = true;
	return 0;
}

void vw_workers_note(struct vw_workers *set, const struct vw_obs *obs)
{
	const struct vw_obs_stint *s = &obs->stint;
	struct vw_proc_counters c;
	struct vw_worker *w;
	unsigned int i;

	if (obs->kind != VW_OBS_STINT)
		return;
	w = vw_workers_get(set, s->tid);
	if (w && s->pending_ns > w->longest_pending_ns)
		w->longest_pending_ns = s->pending_ns;
	for (i = 0; i < s->n_waiters; i++) {
		w = vw_workers_get(set, s->waiters[i].tid);
		if (!w || !s->waiters[i].wait_ns || s->waiters[i].wait_ns > obs->ts_ns)
			continue;
		/*
		 * The CPU is free: one of them has it now, and the kernel adds that wait up itself.
		 */
		w->waiting_since_ns = 0;
		if (s->final)
			continue;
		if (vw_attr_counters(set->attr, &w->task, &c))
			continue;
		w->waiting_since_ns = obs->ts_ns - s->waiters[i].wait_ns;
		w->waiting_slices = c.slices;
	}
}

static uint64_t since(uint64_t now, uint64_t base)
{
	if (now == VW_UNKNOWN || base == VW_UNKNOWN)
		return VW_UNKNOWN;
	return now > base ? now - base : 0;
}

/* The device may become known later than its worker; its traffic counts from then. */
static uint64_t since_known(uint64_t now, uint64_t *base)
{
	if (*base == VW_UNKNOWN)
		*base = now;
	return since(now, *base);
}

int vw_workers_row(struct vw_workers *set, struct vw_worker *w, uint64_t now_ns,
		   struct vw_worker_row *ret_row)
{
	struct vw_worker_row row, *b = &w->base;
	struct vw_proc_counters c;
	int err;

	memset(&row, 0, sizeof(row));
	err = counters(set, &w->task, &row, &c);
	if (err)
		return err;
	row.ts_ns = now_ns;
	row.oncpu_ns = VW_UNKNOWN;
	row.work_items = VW_UNKNOWN;
	row.longest_pending_ns = w->longest_pending_ns;
	row.charged_ns = since(row.charged_ns, b->charged_ns);
	row.wait_ns = since(row.wait_ns, b->wait_ns);
	row.voluntary = since(row.voluntary, b->voluntary);
	row.involuntary = since(row.involuntary, b->involuntary);
	row.migrations = since(row.migrations, b->migrations);
	row.tx_packets = since_known(row.tx_packets, &b->tx_packets);
	row.tx_bytes = since_known(row.tx_bytes, &b->tx_bytes);
	row.rx_packets = since_known(row.rx_packets, &b->rx_packets);
	row.rx_bytes = since_known(row.rx_bytes, &b->rx_bytes);
	/* Another slice means that the wait is over and in the kernel's own sum. */
	if (w->waiting_since_ns && (c.state != 'R' || c.slices != w->waiting_slices))
		w->waiting_since_ns = 0;
	if (w->waiting_since_ns && row.wait_ns != VW_UNKNOWN && now_ns > w->waiting_since_ns) {
		/* What lies before the run does not belong to it. */
		uint64_t from = w->waiting_since_ns > w->seen_ns ? w->waiting_since_ns : w->seen_ns;

		row.wait_ns += now_ns > from ? now_ns - from : 0;
	}
	*ret_row = row;
	return 0;
}
