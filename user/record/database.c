// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/database.h"
#include "util/utf8.h"

int vw_record_errno(sqlite3 *db, int rc, const char **ret_why)
{
	int err = db ? sqlite3_system_errno(db) : 0;

	if (db && !err)
		sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &err);
	*ret_why = db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		*ret_why = strerror(ENOSPC);
		return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_MISMATCH:
		return -EBADMSG;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		if (!err)
			return -EIO;
		*ret_why = strerror(err);
		return -err;
	default:
		return -EIO;
	}
}

int vw_record_exec(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int vw_record_prepare(sqlite3 *db, vw_record_sql_fn sql, int schema,
		      struct vw_record_statements *statements)
{
	char buf[VW_RECORD_SQL_LEN];
	unsigned int i;
	int rc = SQLITE_OK;

	for (i = 0; i < VW_RECORD_TABLES && rc == SQLITE_OK; i++)
		rc = sqlite3_prepare_v3(db, sql(&vw_record_tables[i], schema, buf), -1,
					SQLITE_PREPARE_PERSISTENT, &statements->of[i], NULL);
	return rc;
}

void vw_record_finalize(struct vw_record_statements *statements)
{
	unsigned int i;

	for (i = 0; i < VW_RECORD_TABLES; i++) {
		sqlite3_finalize(statements->of[i]);
		statements->of[i] = NULL;
	}
}

char *vw_record_name(const char *name)
{
	size_t len = strlen(name);
	char *clean = malloc(len + 1);

	if (clean)
		vw_utf8_printable(clean, len + 1, name, len);
	return clean;
}

char *vw_record_path(const char *path)
{
	size_t len = strlen(path);
	char *full = malloc(len + 3);

	if (!full)
		return NULL;
	/* ":memory:" and "" are no files to SQLite, and "file:..." may be a URI. */
	strcpy(full, path[0] == '/' ? "" : "./");
	return strcat(full, path);
}
