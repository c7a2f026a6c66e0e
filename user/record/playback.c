// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of all tables in the order of their numbers: one cursor a table, each read once from its
 * beginning to its end, so that memory does not grow with the length.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record/recording.h"
#include "util/format.h"

struct cursor {
	int64_t seq, n;
	bool ended;
};

struct playback {
	struct vw_recording *r;
	const struct vw_replay *to;
	struct vw_tasks *tasks; /* as the rows of workers need them */
	struct cursor cursors[VW_RECORD_TABLES];
	uint64_t end_ns;
	struct vw_error *e;
	struct vw_record_task task; /* the event at hand: an observation, with a flag if a task */
	struct vw_worker_row row; /* the event at hand, if it is a row */
};

/* The next row of table @id; keys only ever grow. */
static int advance(struct playback *p, unsigned int id)
{
	const struct vw_record_table *table = &vw_record_tables[id];
	sqlite3_stmt *statement = p->r->select.of[id];
	struct cursor *c = &p->cursors[id], was = *c;
	int rc = sqlite3_step(statement);

	c->ended = rc == SQLITE_DONE;
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : vw_recording_fail(p->r, rc, p->e);
	c->seq = sqlite3_column_int64(statement, 0);
	c->n = table->shape == VW_RECORD_LIST ? sqlite3_column_int64(statement, 1) : 0;
	if (c->seq > was.seq ||
	    (table->shape == VW_RECORD_LIST && c->seq == was.seq && c->n == was.n + 1))
		return 0;
	return vw_recording_damaged(p->r, p->e, "numbers of table %s are out of order",
				    table->name);
}

static int load(struct playback *p, unsigned int id, void *base)
{
	const struct vw_record_table *table = &vw_record_tables[id];
	const char *bad;

	if (!vw_record_load(p->r->select.of[id], (int)vw_record_keys(table), table, base,
			    &p->r->names, &bad))
		return 0;
	return vw_recording_damaged(p->r, p->e, "odd %s in row %" PRId64 " of %s", bad,
				    p->cursors[id].seq, table->name);
}

static int load_list(struct playback *p, unsigned int id, int64_t seq, void *base)
{
	const struct vw_record_table *list = &vw_record_tables[id];
	struct cursor *c = &p->cursors[id];
	unsigned int n = 0;
	int err = 0;

	if (!c->ended && c->seq < seq)
		return vw_recording_damaged(p->r, p->e, "%s %" PRId64 " belongs to nothing",
					    list->name, c->seq);
	while (!err && !c->ended && c->seq == seq) {
		if (n == list->max || c->n != n)
			return vw_recording_damaged(p->r, p->e, "odd list %" PRId64 " in %s", seq,
						    list->name);
		err = load(p, id, (char *)base + list->array + n * list->stride);
		if (!err)
			err = advance(p, id);
		n++;
	}
	*(unsigned int *)((char *)base + list->count) = n;
	return err;
}

static int load_event(struct playback *p, unsigned int id, int64_t seq)
{
	void *base = id == VW_RECORD_WORKER ? (void *)&p->row : (void *)&p->task;
	unsigned int i;
	int err;

	memset(&p->task, 0, sizeof(p->task));
	memset(&p->row, 0, sizeof(p->row));
	err = load(p, id, base);
	for (i = VW_RECORD_EVENTS; i < VW_RECORD_TABLES && !err; i++)
		if (vw_record_tables[i].shape == VW_RECORD_LIST && vw_record_tables[i].parent == id)
			err = load_list(p, i, seq, base);
	return err;
}

static int give_row(struct playback *p)
{
	const struct vw_task *task = vw_tasks_get(p->tasks, p->row.task.tid);

	if (!task || p->row.ts_ns == VW_UNKNOWN)
		return vw_recording_damaged(p->r, p->e, "a worker's row without its task or time");
	p->row.task = *task;
	return p->to->row(p->to->ctx, &p->row);
}

static int give_obs(struct playback *p, unsigned int id)
{
	struct vw_obs *obs = &p->task.obs;
	int err = 0;

	if (obs->ts_ns != VW_UNKNOWN && obs->ts_ns > p->end_ns)
		p->end_ns = obs->ts_ns;
	/* Logs may have no times; all others do. */
	if (obs->ts_ns == VW_UNKNOWN && id != VW_OBS_REPORT)
		return vw_recording_damaged(p->r, p->e, "a %s without a time",
					    vw_record_tables[id].name);
	if (id == VW_OBS_STINT && obs->stint.cpu < 0)
		return vw_recording_damaged(p->r, p->e, "a stint without a CPU");
	if (id == VW_RECORD_TICK)
		return p->to->tick(p->to->ctx, obs->ts_ns);
	obs->kind = id;
	if (id == VW_OBS_TASK && vw_tasks_put(p->tasks, &obs->task))
		return vw_error_set(p->e, -ENOMEM, "memory", "out of memory");
	if (id != VW_OBS_TASK || p->task.told)
		err = p->to->obs(p->to->ctx, obs);
	if (id == VW_OBS_TASK_EXIT)
		vw_tasks_remove(p->tasks, obs->tid);
	return err;
}

static int give(struct playback *p, unsigned int id, int64_t seq)
{
	int err;

	/* Findings are found again. */
	if (id == VW_RECORD_FINDING)
		return 0;
	err = load_event(p, id, seq);
	if (err)
		return err;
	return id == VW_RECORD_WORKER ? give_row(p) : give_obs(p, id);
}

static int play(struct playback *p)
{
	unsigned int id = 0, i, running;
	int64_t seq;
	int err = 0;

	for (i = 0; i < VW_RECORD_TABLES && !err; i++)
		if (i < VW_RECORD_EVENTS || vw_record_tables[i].shape == VW_RECORD_LIST)
			err = advance(p, i);
	for (seq = 1; !err; seq++) {
		running = 0;
		for (i = 0; i < VW_RECORD_EVENTS; i++) {
			running += !p->cursors[i].ended;
			/* It is often the same as before. */
			if (p->cursors[id].seq != seq || p->cursors[id].ended)
				id = i;
		}
		if (!running)
			break;
		if (p->cursors[id].seq != seq || p->cursors[id].ended)
			return vw_recording_damaged(p->r, p->e, "event %" PRId64 " is missing",
						    seq);
		err = give(p, id, seq);
		if (!err)
			err = advance(p, id);
	}
	return err;
}

static void describe(const struct vw_recording *r, struct vw_replay_result *ret)
{
	char text[VW_FORMAT_LEN];

	ret->header = r->info.header;
	ret->duration_ns = r->info.end_ns - r->info.start_ns;
	ret->lost_events = r->info.lost_events;
	ret->workers = r->info.workers;
	if (!r->info.finished)
		snprintf(ret->unfinished, sizeof(ret->unfinished),
			 "%.128s was not finished (vhostwatch was killed or could not write on): "
			 "this is its run up to %s after its start",
			 r->name, vw_format_ns(text, ret->duration_ns));
}

int vw_recording_replay(struct vw_recording *r, const struct vw_replay *to,
			struct vw_replay_result *ret, struct vw_error *e)
{
	struct playback p = { .r = r, .to = to, .e = e, .end_ns = r->info.end_ns };
	struct vw_replay_result result = { .end_ns = 0 };
	int err;

	p.tasks = vw_tasks_new();
	if (!p.tasks)
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	err = play(&p);
	vw_tasks_free(p.tasks);
	if (err)
		return err;
	describe(r, &result);
	/* Finished, the detectors were finished at its end, whatever came before. */
	result.end_ns = r->info.finished ? r->info.end_ns : p.end_ns;
	*ret = result;
	return 0;
}
