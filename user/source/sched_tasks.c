// SPDX-License-Identifier: GPL-2.0-or-later
/* The tasks of the model: who is meant, since when it is known, when it is gone. */
#include <stdlib.h>
#include <string.h>

#include "source/sched_internal.h"

#define EVICT_LOOK 64

struct vw_sched_task *vw_sched_find(const struct vw_sched *s, int32_t tid)
{
	struct vw_sched_task *t;

	HASH_FIND(hh, s->tasks, &tid, sizeof(tid), t);
	return t;
}

void vw_sched_task_free(struct vw_sched_task *t)
{
	free(t->proc);
	free(t->wait.runs);
	free(t->move);
	free(t->displaced);
	free(t);
}

/* Watched tasks are kept as long as there are others. */
static void evict(struct vw_sched *s)
{
	struct vw_sched_task *t = s->sleepers;
	unsigned int i;

	for (i = 0; t && t->watched && i < EVICT_LOOK; i++)
		t = t->next;
	if (!t || t->watched)
		t = s->sleepers;
	if (t)
		vw_sched_drop(s, t);
}

static struct vw_sched_task *create(struct vw_sched *s, int32_t tid, const char *comm)
{
	struct vw_sched_task *t;

	if (HASH_COUNT(s->tasks) >= VW_SCHED_TASKS)
		evict(s);
	if (HASH_COUNT(s->tasks) >= VW_SCHED_TASKS_MAX)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		goto oom;
	t->tid = tid;
	t->prio = -1;
	t->last_from = t->last_to = t->work_cpu = -1;
	memcpy(t->comm, comm, strnlen(comm, sizeof(t->comm) - 1));
	HASH_ADD(hh, s->tasks, tid, sizeof(t->tid), t);
	if (!VW_HASH_ADDED(t)) {
		free(t);
		goto oom;
	}
	DL_APPEND(s->sleepers, t);
	vw_sched_classify(s, t);
	if (t->role != VW_ROLE_OTHER || !vw_choice_is_empty(&s->config.choice))
		vw_sched_ask(s, t);
	return t;
oom:
	vw_sched_oom(s);
	return NULL;
}

struct vw_sched_task *vw_sched_take_tid(struct vw_sched *s, int32_t tid)
{
	struct vw_sched_task *t;

	if (tid <= 0)
		return NULL;
	t = vw_sched_find(s, tid);
	return t ? t : create(s, tid, "");
}

void vw_sched_name(struct vw_sched *s, struct vw_sched_task *t, const char *comm)
{
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm, strnlen(comm, sizeof(t->comm) - 1));
	vw_sched_classify(s, t);
}

/*
 * A task gives itself another name (exec, prctl) while it runs.  One that comes back with another
 * name than it left with has its number from one that is gone; its end was not seen.
 */
struct vw_sched_task *vw_sched_take(struct vw_sched *s, const struct vw_event_task *et,
				    bool off_cpu)
{
	struct vw_sched_task *t;

	if (et->tid <= 0)
		return NULL;
	t = vw_sched_find(s, et->tid);
	if (t && *et->comm && strcmp(t->comm, et->comm)) {
		if (off_cpu && *t->comm && t->state < VW_SCHED_WAITS) {
			vw_sched_drop(s, t);
			t = NULL;
		} else {
			vw_sched_name(s, t, et->comm);
		}
	}
	if (!t)
		t = create(s, et->tid, et->comm);
	if (t && et->prio >= 0)
		t->prio = et->prio;
	return t;
}

void vw_sched_head_facts(struct vw_sched *s, struct vw_sched_task *t, const struct vw_event *e)
{
	bool named = !*t->comm && *e->comm;

	if (named)
		memcpy(t->comm, e->comm, strnlen(e->comm, sizeof(t->comm) - 1));
	if (e->tgid > 0 && t->tgid != e->tgid)
		t->tgid = e->tgid;
	else if (!named)
		return;
	vw_sched_classify(s, t);
}

uint64_t vw_sched_start_of(const struct vw_sched_task *t)
{
	return t->proc ? t->proc->start_ns : 0;
}

uint64_t vw_sched_oncpu(const struct vw_sched_task *t, uint64_t ts_ns)
{
	return t->oncpu_ns + (t->state == VW_SCHED_RUNS ? ts_ns - t->cpu->since_ns : 0);
}

uint64_t vw_sched_waited(const struct vw_sched_task *t, uint64_t ts_ns)
{
	return t->wait_ns + (t->state == VW_SCHED_WAITS ? ts_ns - t->wait.start_ns : 0);
}

void vw_sched_tell_task(struct vw_sched *s, struct vw_sched_task *t)
{
	if (t->gone)
		return;
	vw_sched_ask(s, t);
	if (t->told)
		return;
	vw_sched_fill_task(t, &vw_sched_obs(s, VW_OBS_TASK, s->now_ns)->task);
	vw_sched_tell(s);
	t->told = t->ever_told = true;
}

/* What no event of the trace could have told is unknown, and not 0. */
static uint64_t if_seen(uint64_t events, uint64_t value)
{
	return events ? value : VW_UNKNOWN;
}

/* Where events are missing, what is open counts up to when its CPU was last heard of. */
static uint64_t open_until(const struct vw_sched *s, const struct vw_sched_task *t)
{
	if ((!s->lost && !s->breaks) || !t->cpu)
		return s->now_ns;
	if (t->state == VW_SCHED_WAITS)
		return vw_sched_max(t->cpu->heard_ns, t->wait.start_ns);
	return t->cpu->heard_ns;
}

void vw_sched_row(struct vw_sched *s, const struct vw_sched_task *t)
{
	const struct vw_sched_seen *seen = &s->seen;
	uint64_t until_ns = open_until(s, t);
	struct vw_worker_row row = { .ts_ns = s->now_ns, .cpu = t->cpu ? t->cpu->id : -1 };

	vw_sched_fill_task(t, &row.task);
	row.oncpu_ns = if_seen(seen->switches, vw_sched_oncpu(t, until_ns));
	row.charged_ns = if_seen(seen->charges, t->charged_ns);
	row.wait_ns = if_seen(seen->switches, vw_sched_waited(t, until_ns));
	row.longest_pending_ns = if_seen(seen->flags, t->longest_pending_ns);
	row.voluntary = if_seen(seen->switches, t->voluntary);
	row.involuntary = if_seen(seen->switches, t->involuntary);
	row.migrations = if_seen(seen->migrations, t->migrations);
	row.work_items = if_seen(seen->works, t->items);
	row.tx_packets = row.tx_bytes = row.rx_packets = row.rx_bytes = VW_UNKNOWN;
	if (!s->err)
		s->err = s->out->row(s->out->ctx, &row);
}

/* Last words: its row, and that it is gone. */
static void farewell(struct vw_sched *s, struct vw_sched_task *t)
{
	if (t->gone)
		return;
	if (t->watched)
		vw_sched_row(s, t);
	if (t->ever_told) {
		vw_sched_obs(s, VW_OBS_TASK_EXIT, s->now_ns)->tid = t->tid;
		vw_sched_tell(s);
	}
	t->gone = true;
}

void vw_sched_drop(struct vw_sched *s, struct vw_sched_task *t)
{
	if (t->state == VW_SCHED_RUNS)
		vw_sched_contradict(s, t->cpu);
	else if (t->state == VW_SCHED_WAITS)
		vw_sched_wait_drop(s, t);
	vw_sched_items_drop(s, t);
	vw_sched_blocked_end(s, t, false);
	vw_sched_asleep(s, t, false);
	vw_sched_move_over(s, t);
	farewell(s, t);
	vw_sched_unlist(s, t);
	DL_DELETE(s->sleepers, t);
	HASH_DEL(s->tasks, t);
	vw_sched_task_free(t);
}

void vw_sched_exit(struct vw_sched *s, struct vw_sched_task *t)
{
	if (t->gone)
		return;
	/* The little that is left of its stint is told of nobody. */
	if (t->state == VW_SCHED_RUNS)
		vw_sched_tell_stint(s, t->cpu, true);
	vw_sched_items_drop(s, t);
	vw_sched_tell_busy(s, t, true);
	farewell(s, t);
	if (t->state < VW_SCHED_WAITS)
		vw_sched_drop(s, t);
}
