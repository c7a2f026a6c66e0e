// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "record/column.h"
#include "util/utf8.h"

#define MAX_CPU 8191 /* NR_CPUS of the largest kernels, less one */

union member {
	uint64_t u64;
	int64_t i64;
	uint32_t u32;
	int32_t i32;
	bool flag;
	const char *name;
};

static union member get(const struct vw_record_column *c, const void *base)
{
	union member m = { 0 };

	if (c->size <= sizeof(m))
		memcpy(&m, (const char *)base + c->offset, c->size);
	return m;
}

static bool is_known(const struct vw_record_column *c, const void *base)
{
	return !c->known || *(const bool *)((const char *)base + c->known);
}

static int bind_text(sqlite3_stmt *statement, int i, const char *text, size_t size)
{
	char clean[VW_UTF8_ROOM(VW_TEXT_LEN)];
	size_t len = strnlen(text, size);

	/* Text of an SQLite database is UTF-8; bytes that are not are kept as what they are. */
	if (vw_utf8_clean(clean, sizeof(clean), text, len) == len && !memcmp(clean, text, len))
		return sqlite3_bind_text(statement, i, text, (int)len, SQLITE_STATIC);
	return sqlite3_bind_blob(statement, i, text, (int)len, SQLITE_STATIC);
}

static int bind_unless(sqlite3_stmt *statement, int i, bool null, int64_t value)
{
	return null ? sqlite3_bind_null(statement, i) : sqlite3_bind_int64(statement, i, value);
}

static int64_t at_most(uint64_t value, int64_t max)
{
	return value > (uint64_t)max ? max : (int64_t)value;
}

static int bind(sqlite3_stmt *statement, int i, const struct vw_record_column *c, const void *base)
{
	const union member m = get(c, base);
	const char *text = (const char *)base + c->offset;

	if (!is_known(c, base))
		return sqlite3_bind_null(statement, i);
	switch (c->type) {
	case VW_RECORD_NS:
		return bind_unless(statement, i, m.u64 == VW_UNKNOWN,
				   at_most(m.u64, VW_RECORD_MAX_NS));
	case VW_RECORD_START:
		return bind_unless(statement, i, !m.u64, at_most(m.u64, VW_RECORD_MAX_NS));
	case VW_RECORD_COUNT:
		return bind_unless(statement, i, m.u64 == VW_UNKNOWN, at_most(m.u64, INT64_MAX));
	case VW_RECORD_SERIAL:
		return bind_unless(statement, i, m.u64 == VW_UNKNOWN, m.i64);
	case VW_RECORD_ADDRESS:
		return sqlite3_bind_int64(statement, i, m.i64);
	case VW_RECORD_SIGNED:
		return bind_unless(statement, i, !c->known && m.i64 == VW_SAMPLE_UNKNOWN,
				   m.i64 < -VW_RECORD_MAX_NS ? -VW_RECORD_MAX_NS :
				   m.i64 > VW_RECORD_MAX_NS  ? VW_RECORD_MAX_NS :
							       m.i64);
	case VW_RECORD_U32:
		return sqlite3_bind_int64(statement, i, m.u32);
	case VW_RECORD_POSITIVE:
		return bind_unless(statement, i, !m.u32, m.u32);
	case VW_RECORD_ID:
		return bind_unless(statement, i, m.i32 <= 0, m.i32);
	case VW_RECORD_CPU:
		return bind_unless(statement, i, m.i32 < 0, m.i32);
	case VW_RECORD_BOOL:
		return sqlite3_bind_int64(statement, i, m.flag);
	case VW_RECORD_BIT:
		return sqlite3_bind_int64(statement, i, !!(m.u32 & c->mask));
	case VW_RECORD_WORD:
		return sqlite3_bind_text(statement, i, c->word(m.u32), -1, SQLITE_STATIC);
	case VW_RECORD_TEXT:
		if (!text[0] && !c->known)
			return sqlite3_bind_null(statement, i);
		return bind_text(statement, i, text, c->size);
	case VW_RECORD_NAME:
		return sqlite3_bind_text(statement, i, m.name, -1, SQLITE_STATIC);
	}
	return SQLITE_MISUSE;
}

int vw_record_bind(sqlite3_stmt *statement, int first, const struct vw_record_table *table,
		   const void *base)
{
	unsigned int i;
	int rc = SQLITE_OK;

	for (i = 0; i < table->n_columns && rc == SQLITE_OK; i++)
		rc = bind(statement, first + (int)i, &table->columns[i], base);
	return rc;
}

static void put(const struct vw_record_column *c, void *base, const void *value)
{
	memcpy((char *)base + c->offset, value, c->size);
}

/* The bytes of a text, NUL-free and shorter than @size; NULL when it is none of that. */
static const char *text_at(sqlite3_stmt *statement, int i, size_t size, size_t *ret_len)
{
	int type = sqlite3_column_type(statement, i);
	const char *text = sqlite3_column_blob(statement, i);
	int len = sqlite3_column_bytes(statement, i);

	if (type != SQLITE_TEXT && type != SQLITE_BLOB)
		return NULL;
	if (len < 0 || (size_t)len >= size || (len && (!text || memchr(text, 0, (size_t)len))))
		return NULL;
	*ret_len = (size_t)len;
	return text ? text : "";
}

static int load_text(sqlite3_stmt *statement, int i, const struct vw_record_column *c, void *base)
{
	char *dst = (char *)base + c->offset;
	const char *text;
	size_t len;

	memset(dst, 0, c->size);
	if (sqlite3_column_type(statement, i) == SQLITE_NULL)
		return 0;
	text = text_at(statement, i, c->size, &len);
	if (!text)
		return -EBADMSG;
	memcpy(dst, text, len);
	return 0;
}

static int load_name(sqlite3_stmt *statement, int i, const struct vw_record_column *c, void *base,
		     struct vw_record_names *names)
{
	const char *text, *name = NULL;
	unsigned int n;
	size_t len;

	if (sqlite3_column_type(statement, i) != SQLITE_NULL) {
		text = text_at(statement, i, VW_RECORD_NAME_LEN, &len);
		if (!text)
			return -EBADMSG;
		for (n = 0; n < names->n && !name; n++)
			if (strlen(names->names[n]) == len && !memcmp(names->names[n], text, len))
				name = names->names[n];
		if (!name && names->n == VW_RECORD_MAX_NAMES)
			return -EBADMSG;
		if (!name) {
			name = memcpy(names->names[names->n], text, len);
			names->names[names->n++][len] = '\0';
		}
	}
	put(c, base, &name);
	return 0;
}

static int load_word(sqlite3_stmt *statement, int i, const struct vw_record_column *c, void *base)
{
	bool null = sqlite3_column_type(statement, i) == SQLITE_NULL;
	const char *text = NULL, *word;
	unsigned int value;
	size_t len = 0;

	if (!null)
		text = text_at(statement, i, VW_RECORD_NAME_LEN, &len);
	if (!null && !text)
		return -EBADMSG;
	for (value = 0; value < c->n_words; value++) {
		word = c->word(value);
		if (null ? !word : word && strlen(word) == len && !memcmp(word, text, len)) {
			put(c, base, &value);
			return 0;
		}
	}
	return -EBADMSG;
}

/* What a number may be, and what NULL stands for; false when it must not be NULL. */
static bool number_range(enum vw_record_type type, int64_t *ret_min, int64_t *ret_max,
			 int64_t *ret_null)
{
	*ret_min = 0;
	*ret_max = UINT32_MAX;
	*ret_null = 0;
	switch (type) {
	case VW_RECORD_NS:
	case VW_RECORD_COUNT:
		*ret_max = type == VW_RECORD_NS ? VW_RECORD_MAX_NS : INT64_MAX;
		*ret_null = (int64_t)VW_UNKNOWN;
		return true;
	case VW_RECORD_START:
		*ret_max = VW_RECORD_MAX_NS;
		return true;
	case VW_RECORD_SERIAL:
	case VW_RECORD_ADDRESS:
		*ret_min = INT64_MIN;
		*ret_max = INT64_MAX;
		*ret_null = (int64_t)VW_UNKNOWN;
		return type == VW_RECORD_SERIAL;
	case VW_RECORD_SIGNED:
		*ret_min = -VW_RECORD_MAX_NS;
		*ret_max = VW_RECORD_MAX_NS;
		*ret_null = VW_SAMPLE_UNKNOWN;
		return true;
	case VW_RECORD_ID:
		*ret_max = INT32_MAX;
		return true;
	case VW_RECORD_CPU:
		*ret_max = MAX_CPU;
		*ret_null = -1;
		return true;
	case VW_RECORD_POSITIVE:
		return true;
	case VW_RECORD_BOOL:
	case VW_RECORD_BIT:
		*ret_max = 1;
		return false;
	default:
		return false;
	}
}

static int load_number(sqlite3_stmt *statement, int i, const struct vw_record_column *c, void *base)
{
	bool null = sqlite3_column_type(statement, i) == SQLITE_NULL;
	int64_t value, min, max, when_null;
	union member m = get(c, base);
	bool may_be_null = number_range(c->type, &min, &max, &when_null);

	value = !null ? sqlite3_column_int64(statement, i) : c->known ? 0 : when_null;
	if (null ? !may_be_null && !c->known :
		   sqlite3_column_type(statement, i) != SQLITE_INTEGER || value < min ||
			    value > max)
		return -EBADMSG;
	if (c->type == VW_RECORD_BIT)
		m.u32 = value ? m.u32 | c->mask : m.u32 & ~c->mask;
	else if (c->type == VW_RECORD_BOOL)
		m.flag = value;
	else if (c->size == sizeof(m.i64))
		m.i64 = value;
	else if (c->size == sizeof(m.u32))
		m.u32 = (uint32_t)value;
	put(c, base, &m);
	return 0;
}

static int load(sqlite3_stmt *statement, int i, const struct vw_record_column *c, void *base,
		struct vw_record_names *names)
{
	bool null = sqlite3_column_type(statement, i) == SQLITE_NULL;

	if (c->known)
		*(bool *)((char *)base + c->known) = !null;
	switch (c->type) {
	case VW_RECORD_TEXT:
		return load_text(statement, i, c, base);
	case VW_RECORD_NAME:
		return load_name(statement, i, c, base, names);
	case VW_RECORD_WORD:
		return load_word(statement, i, c, base);
	default:
		return load_number(statement, i, c, base);
	}
}

int vw_record_load(sqlite3_stmt *statement, int first, const struct vw_record_table *table,
		   void *base, struct vw_record_names *names, const char **ret_bad)
{
	unsigned int i;

	for (i = 0; i < table->n_columns; i++) {
		if (!load(statement, first + (int)i, &table->columns[i], base, names))
			continue;
		*ret_bad = table->columns[i].name;
		return -EBADMSG;
	}
	return 0;
}

static bool same(const struct vw_record_column *c, const void *a, const void *b)
{
	const char *p = (const char *)a + c->offset, *q = (const char *)b + c->offset;

	if (is_known(c, a) != is_known(c, b))
		return false;
	if (!is_known(c, a))
		return true;
	if (c->type == VW_RECORD_TEXT)
		return !strncmp(p, q, c->size);
	return !memcmp(p, q, c->size);
}

bool vw_record_same(const struct vw_record_column *columns, unsigned int n, const void *a,
		    const void *b)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!same(&columns[i], a, b))
			return false;
	return true;
}
