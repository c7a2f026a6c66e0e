/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the members of structs and the columns of tables, by the descriptions of the schema. */
#ifndef VW_RECORD_COLUMN_H
#define VW_RECORD_COLUMN_H

#include <sqlite3.h>

#include "record/schema.h"

#define VW_RECORD_MAX_NAMES 32
#define VW_RECORD_NAME_LEN 64

/* Names that members of type NAME point to, each once. */
struct vw_record_names {
	unsigned int n;
	char names[VW_RECORD_MAX_NAMES][VW_RECORD_NAME_LEN];
};

/* Binds the members of @base as parameters from @first on; they must stay until the step. */
int vw_record_bind(sqlite3_stmt *statement, int first, const struct vw_record_table *table,
		   const void *base);

/*
 * Fills the members of @base from the columns of the current row from @first on; members that are
 * not described stay as they are.  0, or -EBADMSG with *@ret_bad the column that holds what no
 * writer puts there.
 */
int vw_record_load(sqlite3_stmt *statement, int first, const struct vw_record_table *table,
		   void *base, struct vw_record_names *names, const char **ret_bad);

#endif
