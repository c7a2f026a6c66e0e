// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/finding.h"
#include "sink/object.h"
#include "util/utf8.h"

void vw_object_init(struct vw_object *o)
{
	memset(o, 0, sizeof(*o));
	o->json = json_object();
	o->failed = !o->json;
}

void vw_object_put(struct vw_object *o, const char *key, json_t *value)
{
	if (json_object_set_new(o->json, key, value))
		o->failed = true;
}

json_t *vw_object_text(struct vw_object *o, const char *text)
{
	char clean[VW_UTF8_ROOM(VW_TEXT_LEN)];
	size_t len, pos, step;
	uint32_t code;

	len = vw_utf8_clean(clean, sizeof(clean), text, VW_TEXT_LEN);
	for (pos = 0; pos < len; pos += step) {
		step = vw_utf8_decode(clean + pos, len - pos, &code);
		if (code >= 0x7f && vw_utf8_is_control(code))
			o->ascii = true;
	}
	return json_stringn(clean, len);
}

void vw_object_put_text(struct vw_object *o, const char *key, const char *text)
{
	vw_object_put(o, key, text && *text ? vw_object_text(o, text) : json_null());
}

static json_t *integer_value(uint64_t value)
{
	if (value == VW_UNKNOWN)
		return json_null();
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

void vw_object_put_u64(struct vw_object *o, const char *key, uint64_t value)
{
	vw_object_put(o, key, integer_value(value));
}

void vw_object_put_positive(struct vw_object *o, const char *key, int64_t value)
{
	vw_object_put(o, key, value > 0 ? json_integer(value) : json_null());
}

void vw_object_put_cpu(struct vw_object *o, const char *key, int32_t cpu)
{
	vw_object_put(o, key, cpu >= 0 ? json_integer(cpu) : json_null());
}

void vw_object_put_list(struct vw_object *o, const char *key, const int32_t *values, unsigned int n)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < n; i++)
		if (json_array_append_new(array, json_integer(values[i])))
			o->failed = true;
	vw_object_put(o, key, array);
}

void vw_object_put_object(struct vw_object *parent, const char *key, struct vw_object *child)
{
	parent->failed |= child->failed;
	parent->ascii |= child->ascii;
	vw_object_put(parent, key, child->json);
}

void vw_object_append(struct vw_object *parent, json_t *array, struct vw_object *child)
{
	parent->failed |= child->failed;
	parent->ascii |= child->ascii;
	if (json_array_append_new(array, child->json))
		parent->failed = true;
}

char *vw_object_line(struct vw_object *o)
{
	size_t flags = JSON_COMPACT | (o->ascii ? JSON_ENSURE_ASCII : 0);
	char *line = NULL;

	if (!o->failed)
		line = json_dumps(o->json, flags);
	json_decref(o->json);
	return line;
}

int vw_object_write(FILE *out, struct vw_object *o)
{
	char *line = vw_object_line(o);
	int err = 0;

	if (!line)
		return -ENOMEM;
	errno = 0;
	if (fprintf(out, "%s\n", line) < 0 || fflush(out))
		err = errno ? -errno : -EIO;
	free(line);
	return err;
}
