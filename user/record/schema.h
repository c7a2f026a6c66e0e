/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording, as data: which column keeps which member of which struct.
 *
 * Writer and reader both work from these descriptions, so that what one puts in the other takes
 * out.  docs/FORMATS tells people the same.  Everything that happened has a number, counted over
 * all tables of events from 1 on without a gap; lists that belong to an event have its number.
 */
#ifndef VW_RECORD_SCHEMA_H
#define VW_RECORD_SCHEMA_H

#include <stddef.h>

#include "model/obs.h"
#include "record/info.h"

#define VW_RECORD_APPLICATION_ID 0x76777263 /* "vwrc", in the header of the database file */
#define VW_RECORD_SCHEMA 2
#define VW_RECORD_SQL_LEN 2048

/* 73 years.  What is beyond is kept as this, and sums of two can do no harm. */
#define VW_RECORD_MAX_NS (INT64_MAX / 4)

/* What the C side holds, and what NULL means there. */
enum vw_record_type {
	VW_RECORD_NS, /* uint64_t, up to VW_RECORD_MAX_NS: VW_UNKNOWN */
	VW_RECORD_START, /* the same: 0 */
	VW_RECORD_SIGNED, /* int64_t, down to -VW_RECORD_MAX_NS: VW_SAMPLE_UNKNOWN */
	VW_RECORD_COUNT, /* uint64_t: VW_UNKNOWN */
	VW_RECORD_SERIAL, /* uint64_t that may stand for a negative number: VW_UNKNOWN */
	VW_RECORD_ADDRESS, /* uint64_t of any value, kept bit by bit */
	VW_RECORD_U32, /* uint32_t: never NULL */
	VW_RECORD_POSITIVE, /* uint32_t: 0 */
	VW_RECORD_ID, /* int32_t of a task: 0 */
	VW_RECORD_CPU, /* int32_t: -1 */
	VW_RECORD_BOOL,
	VW_RECORD_BIT, /* one bit of an unsigned int: never NULL */
	VW_RECORD_WORD, /* an enum: the value that has no word */
	VW_RECORD_TEXT, /* char[]: "" */
	VW_RECORD_NAME, /* const char *: NULL */
};

struct vw_record_column {
	const char *name;
	enum vw_record_type type;
	size_t offset, size; /* of the member */
	/* Of a bool that says whether the member is known at all, 0: none.  NULL when it is not. */
	size_t known;
	unsigned int mask; /* BIT */
	const char *(*word)(unsigned int value); /* WORD: of 0 to @n_words - 1 */
	unsigned int n_words;
	int since; /* the version of the schema that added it, 0: the first */
};

enum vw_record_shape {
	VW_RECORD_EVENT, /* key: seq */
	VW_RECORD_LIST, /* of an event; key: its seq, and n from 0 on */
	VW_RECORD_ROW, /* one row */
	VW_RECORD_ROW_LIST, /* of that row; key: n from 0 on */
};

/* Observations come first and are named as in enum vw_obs_kind. */
enum vw_record_id {
	VW_RECORD_TICK = VW_OBS_ELSEWHERE + 1,
	VW_RECORD_WORKER,
	VW_RECORD_FINDING,
	VW_RECORD_EVENTS, /* so many tables of events */
	VW_RECORD_STINT_WAITER = VW_RECORD_EVENTS,
	VW_RECORD_STINT_FRAME,
	VW_RECORD_MOVE_OVERTAKEN,
	VW_RECORD_MOVE_IDLE_CPU,
	VW_RECORD_REPORT_CPU,
	VW_RECORD_REPORT_TASK,
	VW_RECORD_REPORT_FRAME,
	VW_RECORD_FINDING_VICTIM,
	VW_RECORD_RUN,
	VW_RECORD_HOOK,
	VW_RECORD_DETECTOR,
	VW_RECORD_CHOSEN_PROCESS,
	VW_RECORD_CHOSEN_TASK,
	VW_RECORD_TABLES,
};

struct vw_record_table {
	const char *name;
	enum vw_record_shape shape;
	const struct vw_record_column *columns;
	unsigned int n_columns;
	/* Lists: the table they belong to, and of its struct the count (unsigned int) and array. */
	unsigned int parent;
	size_t count, array, stride;
	unsigned int max;
	int since; /* as of a column */
};

extern const struct vw_record_table vw_record_tables[VW_RECORD_TABLES];

/* A task, told to the detectors or only known of a worker that has a row. */
struct vw_record_task {
	struct vw_obs obs;
	bool told;
};

/* A finding and its JSON object. */
struct vw_record_finding {
	struct vw_finding finding;
	const char *json;
};

/* True when @a and @b, structs that @columns describe, are the same to a recording. */
bool vw_record_same(const struct vw_record_column *columns, unsigned int n, const void *a,
		    const void *b);

/* How many columns make the key; they come first in every statement below. */
unsigned int vw_record_keys(const struct vw_record_table *table);

/*
 * SQL for @table as version @schema has it, in @buf.  The text of CREATE TABLE is what the database
 * keeps and a reader compares, so it must stay as it is for a schema.  What that version lacks is
 * read as NULL, and a table that it lacks as an empty one.
 */
const char *vw_record_sql_create(const struct vw_record_table *table, int schema,
				 char buf[VW_RECORD_SQL_LEN]);
const char *vw_record_sql_insert(const struct vw_record_table *table, int schema,
				 char buf[VW_RECORD_SQL_LEN]);
/* All rows in order; of findings, which are not read back, only the key. */
const char *vw_record_sql_select(const struct vw_record_table *table, int schema,
				 char buf[VW_RECORD_SQL_LEN]);
/* For people: one view over the events of all tables. */
const char *vw_record_sql_view(char buf[VW_RECORD_SQL_LEN]);

#endif
