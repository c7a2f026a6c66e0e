/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of recordings start from: a folder, a recording of random events of every kind,
 * and SQL on the file behind the reader's back.
 *
 * The events are filled from the schema's own descriptions, so new columns are tested from the day
 * on which they are added.
 */
#ifndef VW_TESTS_RECORD_ENV_H
#define VW_TESTS_RECORD_ENV_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "detect/detect.h"
#include "record/reader.h"
#include "record/schema.h"
#include "record/writer.h"
#include "sink/sink.h"

#define MS UINT64_C(1000000)
#define SEC (1000 * MS)
#define BEGIN (1000 * SEC)

struct record_env {
	char dir[64], path[128], journal[144];
	uint64_t random;
};

static inline int record_setup(void **state)
{
	struct record_env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	strcpy(env->dir, "/tmp/vw-record-XXXXXX");
	assert_non_null(mkdtemp(env->dir));
	snprintf(env->path, sizeof(env->path), "%s/a.vw", env->dir);
	snprintf(env->journal, sizeof(env->journal), "%s-journal", env->path);
	env->random = 88172645463325252;
	*state = env;
	return 0;
}

static inline int record_teardown(void **state)
{
	struct record_env *env = *state;

	unlink(env->path);
	unlink(env->journal);
	assert_int_equal(rmdir(env->dir), 0); /* nothing else was left there */
	free(env);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, record_setup, record_teardown)

static inline uint64_t draw(struct record_env *env, uint64_t below)
{
	env->random ^= env->random << 13;
	env->random ^= env->random >> 7;
	env->random ^= env->random << 17;
	return env->random % below;
}

/* A number of any size, small ones and the largest included. */
static inline uint64_t draw_number(struct record_env *env, uint64_t max)
{
	switch (draw(env, 4)) {
	case 0:
		return draw(env, 3);
	case 1:
		return max - draw(env, 2);
	default:
		return draw(env, max);
	}
}

static inline void draw_text(struct record_env *env, char *dst, size_t size)
{
	static const char *const alphabet = "aZ9-_/:\"\\'\n\x01\x7f\xc3\xa4\xff\xe2\x80\xae\xf0";
	size_t len = draw(env, 3) ? draw(env, size) : (draw(env, 2) ? 0 : size - 1), i;

	for (i = 0; i < len; i++)
		dst[i] = alphabet[draw(env, strlen(alphabet))];
}

/* A random value of what column @c describes; of things not known only that. */
static inline void draw_member(struct record_env *env, const struct vw_record_column *c, void *base)
{
	static const char *const names[] = { NULL, "procfs", "tp_btf/local_timer_entry" };
	char *at = (char *)base + c->offset;
	int64_t i64 = 0;

	if (c->known && c->type != VW_RECORD_BIT && !(((char *)base)[c->known] = !!draw(env, 3)))
		return;
	switch (c->type) {
	case VW_RECORD_NS:
		i64 = draw(env, 6) ? (int64_t)draw_number(env, VW_RECORD_MAX_NS) : -1;
		break;
	case VW_RECORD_COUNT:
		i64 = draw(env, 6) ? (int64_t)draw_number(env, INT64_MAX) : -1;
		break;
	case VW_RECORD_START:
		i64 = (int64_t)draw_number(env, VW_RECORD_MAX_NS);
		break;
	case VW_RECORD_SIGNED:
		i64 = draw(env, 6) || c->known ? (int64_t)draw_number(env, VW_RECORD_MAX_NS) :
						 INT64_MIN;
		if (i64 != INT64_MIN && draw(env, 2))
			i64 = -i64;
		break;
	case VW_RECORD_SERIAL:
	case VW_RECORD_ADDRESS:
		i64 = (int64_t)(env->random * 3);
		break;
	case VW_RECORD_U32:
	case VW_RECORD_POSITIVE:
		i64 = (int64_t)draw_number(env, UINT32_MAX);
		break;
	case VW_RECORD_ID:
		i64 = (int64_t)draw_number(env, INT32_MAX);
		break;
	case VW_RECORD_CPU:
		i64 = draw(env, 4) ? (int64_t)draw_number(env, 8191) : -1;
		break;
	case VW_RECORD_BOOL:
		i64 = (int64_t)draw(env, 2);
		break;
	case VW_RECORD_BIT: /* of one member, known together: the first of them decides */
		if (c->mask == VW_TAKEN_IRQ)
			((char *)base)[c->known] = !!draw(env, 3);
		if (((char *)base)[c->known] && draw(env, 2))
			*(unsigned int *)at |= c->mask;
		return;
	case VW_RECORD_WORD:
		i64 = (int64_t)draw(env, c->n_words);
		break;
	case VW_RECORD_TEXT:
		draw_text(env, at, c->size);
		return;
	case VW_RECORD_NAME:
		memcpy(at, &names[draw(env, 3)], sizeof(names[0]));
		return;
	}
	memcpy(at, &i64, c->size); /* little end first */
}

/* A random struct as table @id describes it, its lists included; @base is zeroed. */
static inline void draw_record(struct record_env *env, unsigned int id, void *base)
{
	const struct vw_record_table *table = &vw_record_tables[id], *list;
	unsigned int i, n, k;

	for (i = 0; i < table->n_columns; i++)
		draw_member(env, &table->columns[i], base);
	if (id == VW_OBS_STINT && ((struct vw_obs *)base)->stint.cpu < 0)
		((struct vw_obs *)base)->stint.cpu = 0; /* all stints are somewhere */
	for (list = vw_record_tables; list < vw_record_tables + VW_RECORD_TABLES; list++) {
		if (!list->max || list->parent != id)
			continue;
		n = draw(env, 4) ? (unsigned int)draw(env, list->max + 1) :
				   (draw(env, 2) ? list->max : 0);
		*(unsigned int *)((char *)base + list->count) = n;
		for (k = 0; k < n; k++)
			for (i = 0; i < list->n_columns; i++)
				draw_member(env, &list->columns[i],
					    (char *)base + list->array + k * list->stride);
	}
}

static inline struct vw_record_info record_info(void)
{
	return (struct vw_record_info){
		.header = { .source = "live",
			    .clock = "monotonic",
			    .level = "trace",
			    .host = { .release = "6.1.0-57-amd64",
				      .preempt = VW_PREEMPT_NONE,
				      .hz = 250,
				      .cpus = 8 },
			    .n_hooks = 2,
			    .hooks = { { .name = "clock", .via = "tp_btf/local_timer_entry" },
				       { .name = "work",
					 .state = VW_HOOK_MISSING,
					 .lost = "work" } },
			    .n_detectors = 1,
			    .detectors = { { .kind = "starved_task" } } },
		.start_ns = BEGIN,
		.start_utc_ns = 1790000000 * SEC,
		.threshold_ns = 10 * MS,
		.tick_ns = 4 * MS,
		.stale_ns = SEC,
		.n_pids = 2,
		.pids = { 4990, 3077 },
		.n_tids = 1,
		.tids = { 3101 },
	};
}

/* A recording that has begun. */
static inline struct vw_writer *begin_record(const struct record_env *env)
{
	const struct vw_record_info info = record_info();
	struct vw_writer *w = NULL;
	struct vw_error e = { "", "" };

	if (vw_writer_open(env->path, &w, &e))
		fail_msg("%s", e.message);
	assert_int_equal(vw_writer_begin(w, &info), 0);
	return w;
}

/* Ends it @ns after its beginning. */
static inline void end_record(struct vw_writer *w, uint64_t ns)
{
	assert_int_equal(vw_writer_finish(w, BEGIN + ns, 7, 3), 0);
	vw_writer_close(w);
}

static inline struct vw_recording *open_record(const char *path)
{
	struct vw_recording *r = NULL;
	struct vw_error e = { "", "" };

	if (vw_recording_open(path, &r, &e))
		fail_msg("%s", e.message);
	return r;
}

/* What a replay gave, by number. */
struct seen {
	size_t obs, ticks, rows;
	uint64_t last_ns;
};

static inline int see_obs(void *ctx, const struct vw_obs *obs)
{
	((struct seen *)ctx)->obs++;
	((struct seen *)ctx)->last_ns = obs->ts_ns;
	return 0;
}

static inline int see_tick(void *ctx, uint64_t ts_ns)
{
	((struct seen *)ctx)->ticks++;
	((struct seen *)ctx)->last_ns = ts_ns;
	return 0;
}

static inline int see_row(void *ctx, const struct vw_worker_row *row)
{
	((struct seen *)ctx)->rows++;
	return 0;
}

/* Opens and reads all of @path.  0 or a negative errno with @e. */
static inline int read_record(const char *path, struct seen *seen, struct vw_replay_result *result,
			      struct vw_error *e)
{
	const struct vw_replay to = { see_obs, see_tick, see_row, seen };
	struct vw_recording *r = NULL;
	int err;

	memset(seen, 0, sizeof(*seen));
	memset(e, 0, sizeof(*e));
	err = vw_recording_open(path, &r, e);
	if (!err)
		err = vw_recording_replay(r, &to, result, e);
	vw_recording_close(r);
	return err;
}

static inline void sql(const struct record_env *env, const char *text)
{
	char *why = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(env->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, &why))
		fail_msg("%s: %s", text, why);
	sqlite3_close(db);
}

/* The one number that @text selects. */
static inline int64_t sql_number(const struct record_env *env, const char *text)
{
	sqlite3_stmt *statement;
	int64_t value;
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(env->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, text, -1, &statement, NULL))
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return value;
}

/* Makes the file what a vhostwatch of the first schema would have written. */
static inline void downgrade(const struct record_env *env)
{
	char create[VW_RECORD_SQL_LEN], text[2 * VW_RECORD_SQL_LEN], columns[VW_RECORD_SQL_LEN];
	unsigned int i, k;

	sql(env, "DROP VIEW event");
	for (i = 0; i < VW_RECORD_TABLES; i++) {
		const struct vw_record_table *table = &vw_record_tables[i];

		snprintf(text, sizeof(text), "ALTER TABLE %s RENAME TO later", table->name);
		sql(env, text);
		if (table->since <= 1) {
			sql(env, vw_record_sql_create(table, 1, create));
			strcpy(columns, table->shape == VW_RECORD_ROW	   ? "id" :
					table->shape == VW_RECORD_ROW_LIST ? "n" :
					table->shape == VW_RECORD_LIST	   ? "seq,n" :
									     "seq");
			for (k = 0; k < table->n_columns; k++)
				if (table->columns[k].since <= 1) {
					strcat(columns, ",");
					strcat(columns, table->columns[k].name);
				}
			snprintf(text, sizeof(text), "INSERT INTO %s SELECT %s FROM later",
				 table->name, columns);
			sql(env, text);
		}
		sql(env, "DROP TABLE later");
	}
	sql(env, "PRAGMA user_version=1; UPDATE run SET schema=1");
}

#endif
