/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that is being read; shared by the parts of the reader. */
#ifndef VW_RECORD_RECORDING_H
#define VW_RECORD_RECORDING_H

#include "record/column.h"
#include "record/database.h"
#include "record/reader.h"

struct vw_recording {
	char *name; /* for messages */
	sqlite3 *db;
	int schema; /* its version */
	struct vw_record_statements select;
	struct vw_record_names names;
	struct vw_record_info info;
};

/* As vw_recording_open(); messages call it @name. */
int vw_recording_open_named(const char *path, const char *name, struct vw_recording **ret,
			    struct vw_error *e);

/* Says in @e why @rc came of reading; returns it as a negative errno. */
int vw_recording_fail(const struct vw_recording *r, int rc, struct vw_error *e);

/* -EBADMSG, and that the file is damaged. */
int vw_recording_damaged(const struct vw_recording *r, struct vw_error *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
