/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON object under construction, with this project's rules (docs/FORMATS): what is not known is
 * null, names may hold any byte.  Keys keep the order in which they are put.
 *
 * A failure (out of memory) is kept in the object and told by vw_object_line() and
 * vw_object_write().
 */
#ifndef VW_SINK_OBJECT_H
#define VW_SINK_OBJECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct vw_object {
	json_t *json;
	bool failed;
	/*
	 * A C1 control or a bidirectional override is valid in a JSON string, yet somebody may look
	 * at the line on a terminal: write such lines in ASCII with \u escapes.
	 */
	bool ascii;
};

void vw_object_init(struct vw_object *o);
/* Takes over @value, NULL included. */
void vw_object_put(struct vw_object *o, const char *key, json_t *value);
/* A string; of @o it notes only whether the line must be ASCII. */
json_t *vw_object_text(struct vw_object *o, const char *text);
/* null when there is nothing to tell. */
void vw_object_put_text(struct vw_object *o, const char *key, const char *text);
/* null for VW_UNKNOWN. */
void vw_object_put_u64(struct vw_object *o, const char *key, uint64_t value);
/* An id, a rate: null when it is 0 or less, which no real one is. */
void vw_object_put_positive(struct vw_object *o, const char *key, int64_t value);
/* null when it is negative. */
void vw_object_put_cpu(struct vw_object *o, const char *key, int32_t cpu);
void vw_object_put_list(struct vw_object *o, const char *key, const int32_t *values,
			unsigned int n);
/* These take over @child, the latter as a member of @array, which is or will be part of @parent. */
void vw_object_put_object(struct vw_object *parent, const char *key, struct vw_object *child);
void vw_object_append(struct vw_object *parent, json_t *array, struct vw_object *child);
/* The text without a line feed; frees @o.  NULL when out of memory. */
char *vw_object_line(struct vw_object *o);
/* Writes one line and frees @o.  0 or a negative errno. */
int vw_object_write(FILE *out, struct vw_object *o);

#endif
