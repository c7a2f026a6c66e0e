// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/column.h"
#include "record/database.h"
#include "record/writer.h"

/* A round comes each second at the latest; one that comes a little early is not passed over. */
#define COMMIT_NS UINT64_C(900000000)

/* The first two columns of table task are of the telling, not of the task. */
#define TASK_FACTS 2

struct vw_writer {
	char *path, *name; /* the name is for messages */
	sqlite3 *db;
	struct vw_record_statements insert;
	struct vw_tasks *tasks; /* as they are in the recording */
	struct vw_record_info info;
	struct vw_record_finding finding;
	struct vw_error error;
	int err;
	bool made; /* the file was not there before */
	bool begun;
	bool in_transaction;
	int64_t seq; /* of the last event */
	uint64_t committed_ns;
};

const struct vw_error *vw_writer_error(const struct vw_writer *writer)
{
	return &writer->error;
}

static int fail(struct vw_writer *w, int rc)
{
	const char *why;
	int err;

	if (rc == SQLITE_OK || rc == SQLITE_DONE)
		return 0;
	err = vw_record_errno(w->db, rc, &why);
	if (!w->err)
		w->err = vw_error_set(&w->error, err, "io",
				      w->begun ? "cannot go on recording to %s: %s; what was "
						 "recorded before is in it" :
						 "cannot record to %s: %s",
				      w->name, why);
	return w->err;
}

static int take_file(struct vw_writer *w, struct vw_error *e)
{
	struct stat st;
	int err = 0;
	int fd;

	/* As perf's, for root only: kernel addresses and other people's names are in it. */
	fd = open(w->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	w->made = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(w->path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st))
		err = vw_error_set(e, -errno, "io", "cannot record to %s: %s", w->name,
				   strerror(errno));
	else if (!S_ISREG(st.st_mode))
		err = vw_error_set(e, -EINVAL, "usage",
				   "cannot record to %s: it is no regular file", w->name);
	else if (st.st_size)
		err = vw_error_set(e, -EEXIST, "usage",
				   "%s is there already: remove it, or name another file with -o",
				   w->name);
	/* Before SQLite opens it: closing it later would take SQLite's locks away. */
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * The rollback journal, not a write-ahead log: the file by itself then has all that was committed
 * but in the moment of a commit.  Nothing waits for the disk, which may wait for a kernel thread
 * that starves behind the very task we record; so a crash of the whole host may cost the file.
 * Nobody else can lock the file: a reader must not stop the recorder.  One second of a busy host
 * fits in the cache, so that the file is only written to by commits.
 */
static int set_up(struct vw_writer *w)
{
	char sql[VW_RECORD_SQL_LEN];
	unsigned int i;
	int rc;

	rc = sqlite3_open_v2(w->path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_extended_result_codes(w->db, 1);
	if (rc == SQLITE_OK)
		rc = vw_record_exec(w->db, "PRAGMA locking_mode=EXCLUSIVE;"
					   "PRAGMA journal_mode=DELETE;"
					   "PRAGMA synchronous=OFF;"
					   "PRAGMA cache_size=-32768;"
					   "BEGIN EXCLUSIVE");
	snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d",
		 VW_RECORD_APPLICATION_ID, VW_RECORD_SCHEMA);
	if (rc == SQLITE_OK)
		rc = vw_record_exec(w->db, sql);
	for (i = 0; i < VW_RECORD_TABLES && rc == SQLITE_OK; i++)
		rc = vw_record_exec(w->db, vw_record_sql_create(&vw_record_tables[i],
								VW_RECORD_SCHEMA, sql));
	if (rc == SQLITE_OK)
		rc = vw_record_exec(w->db, vw_record_sql_view(sql));
	if (rc == SQLITE_OK)
		rc = vw_record_prepare(w->db, vw_record_sql_insert, VW_RECORD_SCHEMA, &w->insert);
	w->in_transaction = true;
	return fail(w, rc);
}

int vw_writer_open(const char *path, struct vw_writer **ret, struct vw_error *e)
{
	struct vw_writer *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return vw_error_set(e, err, "memory", "out of memory");
	w->path = vw_record_path(path);
	w->name = vw_record_name(path);
	w->tasks = vw_tasks_new();
	if (!w->path || !w->name || !w->tasks)
		vw_error_set(e, err, "memory", "out of memory");
	else
		err = take_file(w, e);
	if (!err) {
		err = set_up(w);
		if (err && e)
			*e = w->error;
	}
	if (err) {
		vw_writer_close(w);
		return err;
	}
	*ret = w;
	return 0;
}

static int insert_row(struct vw_writer *w, unsigned int id, int64_t key, int64_t n,
		      const void *base)
{
	const struct vw_record_table *table = &vw_record_tables[id];
	sqlite3_stmt *statement = w->insert.of[id];
	int keys = (int)vw_record_keys(table);
	int rc;

	rc = sqlite3_bind_int64(statement, 1, key);
	if (rc == SQLITE_OK && keys > 1)
		rc = sqlite3_bind_int64(statement, 2, n);
	if (rc == SQLITE_OK)
		rc = vw_record_bind(statement, keys + 1, table, base);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	if (rc == SQLITE_DONE)
		rc = sqlite3_reset(statement);
	else
		sqlite3_reset(statement);
	return rc;
}

/* The row and all that belongs to it. */
static int insert(struct vw_writer *w, unsigned int id, int64_t key, const void *base)
{
	const struct vw_record_table *list = vw_record_tables;
	int rc = insert_row(w, id, key, 0, base);
	unsigned int i, k, n;

	for (k = 0; k < VW_RECORD_TABLES && rc == SQLITE_OK; k++, list++) {
		if (!list->max || list->parent != id)
			continue;
		n = *(const unsigned int *)((const char *)base + list->count);
		for (i = 0; i < n && i < list->max && rc == SQLITE_OK; i++)
			rc = insert_row(w, k, list->shape == VW_RECORD_LIST ? key : i, i,
					(const char *)base + list->array + i * list->stride);
	}
	return rc;
}

static int put_event(struct vw_writer *w, unsigned int id, const void *base)
{
	int rc = SQLITE_OK;

	if (w->err)
		return w->err;
	if (!w->in_transaction)
		rc = vw_record_exec(w->db, "BEGIN");
	w->in_transaction = true;
	if (rc == SQLITE_OK)
		rc = insert(w, id, ++w->seq, base);
	return fail(w, rc);
}

static int commit(struct vw_writer *w)
{
	int rc = SQLITE_OK;

	if (w->err)
		return w->err;
	if (!w->in_transaction)
		rc = vw_record_exec(w->db, "BEGIN");
	if (rc == SQLITE_OK)
		rc = insert_row(w, VW_RECORD_RUN, 1, 0, &w->info);
	if (rc == SQLITE_OK)
		rc = vw_record_exec(w->db, "COMMIT");
	w->in_transaction = false;
	w->committed_ns = w->info.end_ns;
	return fail(w, rc);
}

int vw_writer_begin(struct vw_writer *w, const struct vw_record_info *info)
{
	int err;

	if (w->err)
		return w->err;
	w->info = *info;
	w->info.schema = VW_RECORD_SCHEMA;
	snprintf(w->info.version, sizeof(w->info.version), "%s", VW_VERSION);
	w->info.finished = false;
	w->info.end_ns = info->start_ns;
	w->info.lost_events = 0;
	w->info.workers = 0;
	err = fail(w, insert(w, VW_RECORD_RUN, 1, &w->info));
	if (!err)
		err = commit(w);
	w->begun = !err;
	return err;
}

static int put_task(struct vw_writer *w, const struct vw_task *task, uint64_t ts_ns, bool told)
{
	struct vw_record_task record = { .obs = { .ts_ns = ts_ns, .task = *task }, .told = told };

	return put_event(w, VW_OBS_TASK, &record) ?:
		       fail(w, vw_tasks_put(w->tasks, task) ? SQLITE_NOMEM : SQLITE_OK);
}

int vw_writer_obs(struct vw_writer *w, const struct vw_obs *obs)
{
	if (obs->kind == VW_OBS_TASK)
		return put_task(w, &obs->task, obs->ts_ns, true);
	if (obs->kind == VW_OBS_TASK_EXIT)
		vw_tasks_remove(w->tasks, obs->tid);
	return put_event(w, obs->kind, obs);
}

int vw_writer_tick(struct vw_writer *w, uint64_t ts_ns)
{
	const struct vw_obs obs = { .ts_ns = ts_ns };

	return put_event(w, VW_RECORD_TICK, &obs);
}

/* True when the recording has these very facts of @task. */
static bool has_facts(const struct vw_writer *w, const struct vw_task *task)
{
	const struct vw_record_table *table = &vw_record_tables[VW_OBS_TASK];
	const struct vw_task *known = vw_tasks_get(w->tasks, task->tid);
	struct vw_record_task a = { .obs.task = *task }, b;

	if (!known)
		return false;
	b = (struct vw_record_task){ .obs.task = *known };
	/* As in vw_tasks_put(): a start that is not told again is not forgotten. */
	if (!a.obs.task.start_ns)
		a.obs.task.start_ns = known->start_ns;
	return vw_record_same(table->columns + TASK_FACTS, table->n_columns - TASK_FACTS, &a, &b);
}

int vw_writer_row(struct vw_writer *w, const struct vw_worker_row *row)
{
	int err = 0;

	if (!has_facts(w, &row->task))
		err = put_task(w, &row->task, row->ts_ns, false);
	return err ?: put_event(w, VW_RECORD_WORKER, row);
}

int vw_writer_finding(struct vw_writer *w, const struct vw_finding *finding, const char *json)
{
	w->finding.finding = *finding;
	w->finding.json = json;
	return put_event(w, VW_RECORD_FINDING, &w->finding);
}

static void note(struct vw_writer *w, uint64_t now_ns, uint64_t lost_events, uint32_t workers)
{
	w->info.end_ns = now_ns;
	w->info.lost_events = lost_events;
	w->info.workers = workers;
}

int vw_writer_round(struct vw_writer *w, uint64_t now_ns, uint64_t lost_events, uint32_t workers)
{
	if (w->err || now_ns - w->committed_ns < COMMIT_NS)
		return w->err;
	note(w, now_ns, lost_events, workers);
	return commit(w);
}

/* The journal stays while the file is locked; without the lock the last commit removes it. */
static int last_commit(struct vw_writer *w)
{
	return w->err ?: fail(w, vw_record_exec(w->db, "PRAGMA locking_mode=NORMAL")) ?: commit(w);
}

int vw_writer_finish(struct vw_writer *w, uint64_t end_ns, uint64_t lost_events, uint32_t workers)
{
	note(w, end_ns, lost_events, workers);
	w->info.finished = true;
	return last_commit(w);
}

void vw_writer_close(struct vw_writer *w)
{
	if (!w)
		return;
	if (w->begun && !w->info.finished)
		last_commit(w);
	vw_record_finalize(&w->insert);
	sqlite3_close(w->db);
	if (w->made && !w->begun)
		unlink(w->path);
	vw_tasks_free(w->tasks);
	free(w->name);
	free(w->path);
	free(w);
}
