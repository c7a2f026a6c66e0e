// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/live_internal.h"
#include "source/totals.h"
#include "util/clock.h"

/* All of /proc is looked through so often where births and exits are told by BPF, and where not. */
#define RESCAN_TOLD_NS UINT64_C(10000000000)
#define RESCAN_UNTOLD_NS UINT64_C(1000000000)
/* A new worker's device and tap come a little later than the worker. */
#define SETTLE_NS UINT64_C(10000000000)
#define SETTLE_EVERY_NS UINT64_C(500000000)

void vw_live_emit(void *ctx, const struct vw_obs *obs)
{
	struct vw_live *live = ctx;

	if (live->fn)
		live->fn(live->ctx, obs);
}

/* Tells the detectors what a task is, once and whenever it changes. */
static void tell_task(struct vw_live *live, const struct vw_task *task, uint64_t ts)
{
	struct vw_obs obs = { .kind = VW_OBS_TASK, .ts_ns = ts, .task = *task };

	if (vw_tasks_put(live->told, task))
		live->err = -ENOMEM;
	vw_live_emit(live, &obs);
}

static void tell_exit(struct vw_live *live, int32_t tid, uint64_t ts)
{
	struct vw_obs obs = { .kind = VW_OBS_TASK_EXIT, .ts_ns = ts, .tid = tid };

	vw_tasks_remove(live->told, tid);
	vw_live_emit(live, &obs);
}

static void forget(struct vw_live *live, int32_t tid, uint64_t ts)
{
	if (live->bpf)
		vw_bpf_unwatch(live->bpf, tid);
	vw_workers_remove(live->workers, tid);
	tell_exit(live, tid, ts);
}

/* @task is a vhost worker or was asked for: watched from now on. */
static void watch(struct vw_live *live, const struct vw_task *found, uint64_t ts)
{
	struct vw_task task = *found;
	const struct vw_worker *old = vw_workers_get(live->workers, task.tid);
	bool is_new, same = old && vw_task_same(&old->task, &task);
	int err;

	if (old && !same)
		forget(live, task.tid, ts);
	/* An owner that exits closes its files before its worker is gone: what was known stays. */
	if (same && !task.device[0])
		memcpy(task.device, old->task.device, sizeof(task.device));
	if (same && !task.vm[0])
		memcpy(task.vm, old->task.vm, sizeof(task.vm));
	task.watched = true;
	err = vw_workers_put(live->workers, &task, !live->first_scan, ts, &is_new);
	if (err) {
		live->err = err;
		return;
	}
	if (is_new && task.role == VW_ROLE_VHOST_WORKER)
		live->seen++;
	if (is_new && live->bpf)
		live->err = vw_bpf_watch(live->bpf, task.tid, task.start_ns, VW_WATCH_TASK) ?:
				    live->err;
	if (live->procfs)
		live->err = vw_procfs_watch(live->procfs, &task) ?: live->err;
	tell_task(live, &task, ts);
}

struct scan {
	struct vw_live *live;
	uint64_t ts;
};

static void on_scanned(void *ctx, const struct vw_task *task)
{
	struct scan *scan = ctx;

	watch(scan->live, task, scan->ts);
}

static void on_thread(void *ctx, const struct vw_task *task)
{
	struct scan *scan = ctx;

	/* The workers of the process come with the scan. */
	if (task->role != VW_ROLE_VHOST_WORKER)
		watch(scan->live, task, scan->ts);
}

/* Rids the told tasks of those that are gone and not watched; exits of others are not reported. */
static void on_told(void *ctx, const struct vw_task *task)
{
	struct scan *scan = ctx;
	struct vw_proc_counters c;

	if (!task->watched && vw_attr_counters(scan->live->attr, task, &c) == -ESRCH)
		tell_exit(scan->live, task->tid, scan->ts);
}

static int scan_all(struct vw_live *live, uint64_t ts)
{
	const struct vw_choice *c = &live->config.choice;
	struct scan scan = { live, ts };
	struct vw_task task;
	unsigned int i;
	int n;

	n = vw_attr_scan(live->attr, on_scanned, &scan);
	if (n < 0)
		return n;
	for (i = 0; i < c->n_tids; i++)
		if (!vw_attr_task(live->attr, c->tids[i], &task) &&
		    task.role != VW_ROLE_VHOST_WORKER)
			watch(live, &task, ts);
	for (i = 0; i < c->n_pids; i++)
		vw_attr_threads(live->attr, c->pids[i], on_thread, &scan);
	vw_tasks_each(live->told, on_told, &scan);
	live->scanned_ns = ts;
	return 0;
}

/* A task that a record names and nobody has been told of. */
void vw_live_know(void *ctx, const struct vw_task *hint, uint64_t ts)
{
	struct vw_live *live = ctx;
	const struct vw_task *known = vw_tasks_get(live->told, hint->tid);
	struct vw_task task;

	if (known && vw_task_same(known, hint))
		return;
	if (vw_attr_task(live->attr, hint->tid, &task) || !vw_task_same(&task, hint))
		task = *hint; /* gone already, or not in our PID namespace */
	if (task.role == VW_ROLE_VHOST_WORKER || vw_choice_names(&live->config.choice, &task))
		watch(live, &task, ts);
	else
		tell_task(live, &task, ts);
}

static void on_stint(struct vw_live *live, const struct vw_obs *obs)
{
	vw_workers_note(live->workers, obs);
	if (!obs->stint.final)
		vw_sentinel_avoid(live->sentinel, obs->stint.cpu, obs->ts_ns);
	else if (live->bpf)
		vw_bpf_mark(live->bpf, obs->stint.tid, VW_WATCH_SUSPECT, false);
	vw_live_emit(live, obs);
}

static void on_record(void *ctx, const struct vw_rec_hdr *hdr)
{
	struct vw_live *live = ctx;
	const struct vw_rec_task *rec = (const void *)hdr;
	struct vw_obs obs;
	struct vw_task task;
	struct vw_worker *w;

	switch (hdr->kind) {
	case VW_REC_STINT:
		vw_decode_stint(live->decode, (const void *)hdr, &obs, vw_live_know, live);
		on_stint(live, &obs);
		break;
	case VW_REC_TASK_NEW:
		if (vw_attr_task(live->attr, (int32_t)rec->task.tid, &task))
			/* Come and gone between two rounds. */
			live->seen += vw_attr_is_worker(rec->task.comm, rec->task.flags);
		else if (task.role == VW_ROLE_VHOST_WORKER)
			watch(live, &task, hdr->ts_ns);
		break;
	case VW_REC_TASK_EXIT:
		w = vw_workers_get(live->workers, (int32_t)rec->task.tid);
		if (w)
			forget(live, w->task.tid, hdr->ts_ns);
		break;
	default:
		break;
	}
	live->err = vw_parts_record(live->parts, hdr) ?: live->err;
}

static void on_procfs(void *ctx, const struct vw_obs *obs)
{
	struct vw_live *live = ctx;

	if (obs->kind == VW_OBS_STINT)
		on_stint(live, obs);
	else if (obs->kind == VW_OBS_TASK && !vw_workers_get(live->workers, obs->task.tid))
		tell_task(live, &obs->task, obs->ts_ns);
	else if (obs->kind == VW_OBS_TASK_EXIT)
		forget(live, obs->tid, obs->ts_ns);
}

static void poll_losses(struct vw_live *live, uint64_t now)
{
	uint64_t lost = vw_bpf_lost(live->bpf);
	struct vw_obs obs = { .kind = VW_OBS_LOSS, .ts_ns = now };

	if (lost == live->lost_told)
		return;
	obs.loss.cpu = -1;
	obs.loss.count = lost - live->lost_told;
	live->lost_told = lost;
	vw_live_emit(live, &obs);
	vw_parts_lost(live->parts);
}

/* Facts that were not there yet when a worker was: its tap, its owner's command line. */
static void settle(struct vw_live *live, uint64_t now)
{
	struct vw_task task;
	unsigned int i;

	for (i = 0; i < vw_workers_count(live->workers); i++) {
		const struct vw_worker *w = vw_workers_at(live->workers, i);

		if (now - w->seen_ns > SETTLE_NS || (w->task.device[0] && w->task.vm[0]) ||
		    w->task.role != VW_ROLE_VHOST_WORKER)
			continue;
		vw_attr_refresh(live->attr, w->task.owner_pid);
		if (!vw_attr_task(live->attr, w->task.tid, &task) && vw_task_same(&task, &w->task))
			watch(live, &task, now);
	}
	live->settled_ns = now;
}

int vw_live_poll(struct vw_live *live, vw_obs_fn fn, void *ctx)
{
	uint64_t now = vw_clock_now();
	uint64_t every = live->plan.tp[VW_TP_TASK_NEWTASK] && live->plan.tp[VW_TP_PROCESS_EXIT] ?
				 RESCAN_TOLD_NS :
				 RESCAN_UNTOLD_NS;
	int err = 0;

	vw_sentinel_beat(live->sentinel);
	live->fn = fn;
	live->ctx = ctx;
	live->err = 0;
	if (live->first_scan || now - live->scanned_ns >= every)
		err = scan_all(live, now);
	live->first_scan = false;
	if (now - live->settled_ns >= SETTLE_EVERY_NS)
		settle(live, now);
	if (!err && live->bpf) {
		err = vw_bpf_drain(live->bpf, on_record, live);
		poll_losses(live, now);
	} else if (!err) {
		err = vw_procfs_sample(live->procfs, now, on_procfs, live);
	}
	err = err < 0 ? err : vw_parts_poll(live->parts, vw_clock_now());
	vw_decode_work(live->decode);
	live->fn = NULL;
	return err ?: live->err;
}

void vw_live_rows(struct vw_live *live, uint64_t now_ns, vw_row_fn fn, void *ctx)
{
	struct vw_abi_totals totals;
	struct vw_worker_row row;
	struct vw_worker *w;
	unsigned int i = 0;
	int err;

	while (i < vw_workers_count(live->workers)) {
		w = vw_workers_at(live->workers, i);
		err = vw_workers_row(live->workers, w, now_ns, &row);
		if (err == -ESRCH) {
			forget(live, w->task.tid, now_ns);
			continue;
		}
		i++;
		if (err || !vw_choice_wants_task(&live->config.choice, &row.task))
			continue;
		if (!vw_totals_read(live->part_env.sight, &row.task, &totals))
			row.oncpu_ns = vw_totals_oncpu(&totals, now_ns);
		vw_parts_row(live->parts, &row);
		fn(ctx, &row);
	}
}

uint64_t vw_live_lost(struct vw_live *live)
{
	return live->bpf ? vw_bpf_lost(live->bpf) : 0;
}

unsigned int vw_live_workers_seen(const struct vw_live *live)
{
	return live->seen;
}
