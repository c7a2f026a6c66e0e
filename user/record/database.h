/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What writer and reader both ask of SQLite. */
#ifndef VW_RECORD_DATABASE_H
#define VW_RECORD_DATABASE_H

#include <sqlite3.h>

#include "record/schema.h"
#include "util/error.h"

/* Prepared statements, one a table; NULL where there is none. */
struct vw_record_statements {
	sqlite3_stmt *of[VW_RECORD_TABLES];
};

/*
 * The SQLite error @rc as a negative errno; what went wrong (with a full disk, that it is full) in
 * @ret_why, which is of @db or static.
 */
int vw_record_errno(sqlite3 *db, int rc, const char **ret_why);

/* Runs statements that return nothing. An SQLite code. */
int vw_record_exec(sqlite3 *db, const char *sql);

typedef const char *(*vw_record_sql_fn)(const struct vw_record_table *table, int schema,
					char buf[VW_RECORD_SQL_LEN]);

/*
 * A statement for each table of version @schema, by @sql.  An SQLite code; what was prepared is to
 * be finalized.
 */
int vw_record_prepare(sqlite3 *db, vw_record_sql_fn sql, int schema,
		      struct vw_record_statements *statements);
void vw_record_finalize(struct vw_record_statements *statements);

/* @name fit for a line on a terminal; freed by the caller. */
char *vw_record_name(const char *name);

/* @path as SQLite must be given it: never one of its special names.  Freed by the caller. */
char *vw_record_path(const char *path);

#endif
