// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/recording.h"
#include "util/parse.h"

#define MAGIC "SQLite format 3"
#define READ_VERSION_AT 19 /* 2: with a write-ahead log */
#define APPLICATION_ID_AT 68
#define MAX_VALUE_BYTES 65536 /* of any text in it; the JSON of a finding is the longest */

bool vw_recording_looks_like(const char *head, size_t len)
{
	const unsigned char id[] = { VW_RECORD_APPLICATION_ID >> 24,
				     VW_RECORD_APPLICATION_ID >> 16 & 0xff,
				     VW_RECORD_APPLICATION_ID >> 8 & 0xff,
				     VW_RECORD_APPLICATION_ID & 0xff };

	return len >= VW_RECORDING_HEAD && !memcmp(head, MAGIC, sizeof(MAGIC)) &&
	       !memcmp(head + APPLICATION_ID_AT, id, sizeof(id));
}

int vw_recording_damaged(const struct vw_recording *r, struct vw_error *e, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return vw_error_set(e, -EBADMSG, "no_input", "the recording %s is damaged: %s", r->name,
			    what);
}

int vw_recording_fail(const struct vw_recording *r, int rc, struct vw_error *e)
{
	const char *why;
	int err = vw_record_errno(r->db, rc, &why);

	if (err == -EBADMSG)
		return vw_recording_damaged(r, e, "%s", why);
	if (err == -EBUSY)
		return vw_error_set(e, err, "no_input",
				    "%s is still being recorded: wait for the end of it, or "
				    "analyze a copy",
				    r->name);
	if ((rc & 0xff) == SQLITE_READONLY)
		return vw_error_set(e, -EROFS, "no_input",
				    "%s was cut off in the middle of a write: copy it and "
				    "%s-journal to where both can be written, and analyze that",
				    r->name, r->name);
	return vw_error_set(e, err, err == -ENOMEM ? "memory" : "no_input", "cannot read %s: %s",
			    r->name, why);
}

/*
 * What SQLite would say of other files is not for people.  @ret_log: somebody has made it a
 * database with a write-ahead log.
 */
static int check_head(const struct vw_recording *r, const char *path, bool *ret_log,
		      struct vw_error *e)
{
	char head[VW_RECORDING_HEAD];
	ssize_t n = -1;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0)
		n = pread(fd, head, sizeof(head), 0);
	if (n < 0)
		n = vw_error_set(e, -errno, "no_input", "cannot read %s: %s", r->name,
				 strerror(errno));
	else if (!vw_recording_looks_like(head, (size_t)n))
		n = vw_error_set(e, -EINVAL, "no_input", n ? "%s is no recording" : "%s is empty",
				 r->name);
	else
		*ret_log = head[READ_VERSION_AT] == 2;
	if (fd >= 0)
		close(fd);
	return n < 0 ? (int)n : 0;
}

/* "file:" and the path with all that means something in a URI escaped; NULL: out of memory. */
static char *uri_of(const char *path)
{
	char *uri = malloc(3 * strlen(path) + 32), *out = uri;

	if (!uri)
		return NULL;
	out += sprintf(out, "file:");
	for (; *path; path++)
		out += sprintf(out, strchr("%?#", *path) ? "%%%02x" : "%c", *path);
	strcpy(out, "?immutable=1");
	return uri;
}

enum access { READ, RECOVER, FROZEN };

static int open_as(struct vw_recording *r, const char *path, enum access access)
{
	int flags = SQLITE_OPEN_NOMUTEX |
		    (access == RECOVER ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
	char *full = vw_record_path(path), *uri = NULL;
	int rc = SQLITE_NOMEM;

	if (full && access == FROZEN)
		uri = uri_of(full);
	if (uri)
		rc = sqlite3_open_v2(uri, &r->db, flags | SQLITE_OPEN_URI, NULL);
	else if (full && access != FROZEN)
		rc = sqlite3_open_v2(full, &r->db, flags, NULL);
	free(uri);
	free(full);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_extended_result_codes(r->db, 1);
	/* Views, triggers and functions that somebody put into the file are not to run. */
	sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(r->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(r->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
	sqlite3_limit(r->db, SQLITE_LIMIT_ATTACHED, 0);
	rc = vw_record_exec(r->db, "PRAGMA query_only=1; PRAGMA cell_size_check=1;"
				   "PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY");
	/* The first look at the file itself. */
	return rc != SQLITE_OK ? rc : vw_record_exec(r->db, "SELECT 1 FROM sqlite_schema");
}

static int open_database(struct vw_recording *r, const char *path, bool log, struct vw_error *e)
{
	/* A log, or even its absence, would be noted in files beside it. */
	int rc = open_as(r, path, log ? FROZEN : READ);

	/* A journal must be played back first. */
	if ((rc & 0xff) == SQLITE_READONLY) {
		sqlite3_close(r->db);
		r->db = NULL;
		rc = open_as(r, path, RECOVER);
	}
	return rc == SQLITE_OK ? 0 : vw_recording_fail(r, rc, e);
}

static int check_version(struct vw_recording *r, struct vw_error *e)
{
	sqlite3_stmt *statement = NULL;
	int rc, version = 0;

	rc = sqlite3_prepare_v2(r->db, "PRAGMA user_version", -1, &statement, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW)
		version = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	if (rc != SQLITE_ROW)
		return vw_recording_fail(r, rc, e);
	if (version > VW_RECORD_SCHEMA)
		return vw_error_set(e, -EPROTONOSUPPORT, "no_input",
				    "%s has version %d of the schema, this vhostwatch knows up to "
				    "%d: use a newer vhostwatch",
				    r->name, version, VW_RECORD_SCHEMA);
	if (version < 1)
		return vw_recording_damaged(r, e, "version %d of the schema", version);
	r->schema = version;
	return 0;
}

/*
 * Each table must be the very table that this tool makes: not a view, not a virtual table, no
 * computed columns, and with the key that lets it be read in order without sorting it.
 */
static int check_tables(struct vw_recording *r, struct vw_error *e)
{
	static const char query[] =
		"SELECT sql FROM sqlite_schema WHERE type='table' AND name=? AND rootpage>0";
	char sql[VW_RECORD_SQL_LEN];
	sqlite3_stmt *statement = NULL;
	unsigned int i;
	int err = 0;
	int rc;

	rc = sqlite3_prepare_v2(r->db, query, -1, &statement, NULL);
	for (i = 0; i < VW_RECORD_TABLES && rc == SQLITE_OK && !err; i++) {
		const struct vw_record_table *table = &vw_record_tables[i];
		const char *made;

		if (table->since > r->schema)
			continue;
		sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
		rc = sqlite3_step(statement);
		made = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
		if (rc == SQLITE_DONE ||
		    (rc == SQLITE_ROW &&
		     (!made || strcmp(made, vw_record_sql_create(table, r->schema, sql)))))
			err = vw_recording_damaged(r, e, "it has no proper table %s", table->name);
		if (rc == SQLITE_ROW || rc == SQLITE_DONE)
			rc = sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	return err ?: rc == SQLITE_OK ? 0 : vw_recording_fail(r, rc, e);
}

static int load_list(struct vw_recording *r, unsigned int id, struct vw_error *e)
{
	const struct vw_record_table *list = &vw_record_tables[id];
	sqlite3_stmt *statement = r->select.of[id];
	unsigned int n;
	const char *bad;
	int rc;

	for (n = 0; (rc = sqlite3_step(statement)) == SQLITE_ROW; n++) {
		if (n == list->max || sqlite3_column_int64(statement, 0) != n)
			return vw_recording_damaged(r, e, "odd list %s", list->name);
		if (vw_record_load(statement, 1, list,
				   (char *)&r->info + list->array + n * list->stride, &r->names,
				   &bad))
			return vw_recording_damaged(r, e, "odd %s in %s", bad, list->name);
	}
	*(unsigned int *)((char *)&r->info + list->count) = n;
	return rc == SQLITE_DONE ? 0 : vw_recording_fail(r, rc, e);
}

static bool is_sane(const struct vw_record_info *info)
{
	return info->header.clock && info->header.level && info->threshold_ns &&
	       info->threshold_ns <= VW_DURATION_MAX_NS && info->tick_ns <= VW_DURATION_MAX_NS &&
	       info->stale_ns <= VW_DURATION_MAX_NS && info->start_ns <= info->end_ns &&
	       info->end_ns != VW_UNKNOWN && info->lost_events != VW_UNKNOWN;
}

static int load_info(struct vw_recording *r, struct vw_error *e)
{
	const struct vw_record_table *run = &vw_record_tables[VW_RECORD_RUN];
	sqlite3_stmt *statement = r->select.of[VW_RECORD_RUN];
	const char *bad;
	unsigned int i;
	int rc = sqlite3_step(statement);
	int err = 0;

	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? vw_recording_damaged(r, e, "it names no run") :
					   vw_recording_fail(r, rc, e);
	if (vw_record_load(statement, 1, run, &r->info, &r->names, &bad))
		return vw_recording_damaged(r, e, "odd %s in run", bad);
	for (i = 0; i < VW_RECORD_TABLES && !err; i++)
		if (vw_record_tables[i].shape == VW_RECORD_ROW_LIST)
			err = load_list(r, i, e);
	if (!err && !is_sane(&r->info))
		err = vw_recording_damaged(r, e, "odd row in run");
	r->info.header.source = "recording";
	return err;
}

int vw_recording_open_named(const char *path, const char *name, struct vw_recording **ret,
			    struct vw_error *e)
{
	struct vw_recording *r = calloc(1, sizeof(*r));
	bool log = false;
	int err, rc;

	if (!r)
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	r->name = vw_record_name(name);
	err = r->name ? 0 : vw_error_set(e, -ENOMEM, "memory", "out of memory");
	err = err ?: check_head(r, path, &log, e);
	err = err ?: open_database(r, path, log, e);
	err = err ?: check_version(r, e);
	err = err ?: check_tables(r, e);
	if (!err) {
		rc = vw_record_prepare(r->db, vw_record_sql_select, r->schema, &r->select);
		err = rc == SQLITE_OK ? load_info(r, e) : vw_recording_fail(r, rc, e);
	}
	if (err) {
		vw_recording_close(r);
		return err;
	}
	*ret = r;
	return 0;
}

int vw_recording_open(const char *path, struct vw_recording **ret, struct vw_error *e)
{
	return vw_recording_open_named(path, path, ret, e);
}

const struct vw_record_info *vw_recording_info(const struct vw_recording *r)
{
	return &r->info;
}

void vw_recording_close(struct vw_recording *r)
{
	if (!r)
		return;
	vw_record_finalize(&r->select);
	sqlite3_close(r->db);
	free(r->name);
	free(r);
}
