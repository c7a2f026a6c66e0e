// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "record/schema.h"

struct text {
	char *buf;
	size_t used;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* All of it is made of the tables in schema.c: what does not fit fails the unit test. */
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->used, VW_RECORD_SQL_LEN - t->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->used += (size_t)n;
	if (t->used >= VW_RECORD_SQL_LEN)
		t->used = VW_RECORD_SQL_LEN - 1;
}

static bool has_seq(const struct vw_record_table *table)
{
	return table->shape == VW_RECORD_EVENT || table->shape == VW_RECORD_LIST;
}

static bool has_n(const struct vw_record_table *table)
{
	return table->shape == VW_RECORD_LIST || table->shape == VW_RECORD_ROW_LIST;
}

static bool is_text(const struct vw_record_column *c)
{
	return c->type == VW_RECORD_TEXT || c->type == VW_RECORD_WORD || c->type == VW_RECORD_NAME;
}

unsigned int vw_record_keys(const struct vw_record_table *table)
{
	return table->shape == VW_RECORD_LIST ? 2 : 1;
}

const char *vw_record_sql_create(const struct vw_record_table *table, int schema,
				 char buf[VW_RECORD_SQL_LEN])
{
	static const char *const keys[] = {
		[VW_RECORD_EVENT] = "seq INTEGER PRIMARY KEY",
		[VW_RECORD_LIST] = "seq INTEGER, n INTEGER",
		[VW_RECORD_ROW] = "id INTEGER PRIMARY KEY",
		[VW_RECORD_ROW_LIST] = "n INTEGER PRIMARY KEY",
	};
	struct text t = { buf, 0 };
	unsigned int i;

	add(&t, "CREATE TABLE %s(%s", table->name, keys[table->shape]);
	for (i = 0; i < table->n_columns; i++)
		if (table->columns[i].since <= schema)
			add(&t, ", %s %s", table->columns[i].name,
			    is_text(&table->columns[i]) ? "TEXT" : "INTEGER");
	add(&t, table->shape == VW_RECORD_LIST ? ", PRIMARY KEY(seq, n)) WITHOUT ROWID" : ")");
	return buf;
}

const char *vw_record_sql_insert(const struct vw_record_table *table, int schema,
				 char buf[VW_RECORD_SQL_LEN])
{
	struct text t = { buf, 0 };
	unsigned int i;

	/* The one row is written again as the run goes on. */
	add(&t, "%s INTO %s VALUES(?", table->shape == VW_RECORD_ROW ? "REPLACE" : "INSERT",
	    table->name);
	for (i = 1; i < vw_record_keys(table); i++)
		add(&t, ",?");
	for (i = 0; i < table->n_columns; i++)
		if (table->columns[i].since <= schema)
			add(&t, ",?");
	add(&t, ")");
	return buf;
}

const char *vw_record_sql_select(const struct vw_record_table *table, int schema,
				 char buf[VW_RECORD_SQL_LEN])
{
	const char *key = has_seq(table) ? "seq" : table->shape == VW_RECORD_ROW ? "id" : "n";
	bool key_only = table == &vw_record_tables[VW_RECORD_FINDING];
	bool exists = table->since <= schema;
	struct text t = { buf, 0 };
	unsigned int i;

	add(&t, "SELECT %s%s", exists ? key : "NULL",
	    !has_seq(table) || !has_n(table) ? "" :
	    exists			     ? ",n" :
					       ",NULL");
	for (i = 0; i < table->n_columns && !key_only; i++)
		add(&t, ",%s",
		    exists && table->columns[i].since <= schema ? table->columns[i].name : "NULL");
	if (exists)
		add(&t, " FROM %s ORDER BY %s%s", table->name, key,
		    has_seq(table) && has_n(table) ? ",n" : "");
	else
		add(&t, " WHERE 0");
	return buf;
}

const char *vw_record_sql_view(char buf[VW_RECORD_SQL_LEN])
{
	struct text t = { buf, 0 };
	unsigned int i;

	add(&t, "CREATE VIEW event AS ");
	for (i = 0; i < VW_RECORD_EVENTS; i++) {
		const char *name = vw_record_tables[i].name;

		add(&t, "%sSELECT seq, %s, '%s' AS kind FROM %s", i ? " UNION ALL " : "",
		    i == VW_RECORD_FINDING ? "end_ns AS ts_ns" : "ts_ns", name, name);
	}
	return buf;
}
