// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "attr/qemu.h"
#include "util/str.h"

#define COMPONENT_MAX 256 /* NAME_MAX and the NUL */

bool vw_qemu_is_program(const struct vw_qemu_args *args)
{
	const char *slash, *base;

	if (!args->len)
		return false;
	slash = strrchr(args->text, '/');
	base = slash ? slash + 1 : args->text;
	return vw_str_starts(base, "qemu") || !strcmp(base, "kvm") ||
	       vw_str_starts(base, "kvm-");
}

const char *vw_qemu_next(const struct vw_qemu_args *args, const char *option, size_t *pos)
{
	const char *arg;
	size_t at = *pos;
	bool found = false;

	while (at < args->len) {
		arg = args->text + at;
		at += strlen(arg) + 1;
		if (found) {
			*pos = at;
			return arg;
		}
		if (*arg == '-')
			found = !strcmp(arg + (arg[1] == '-' ? 2 : 1), option);
	}
	*pos = args->len;
	return NULL;
}

/* Copies a value up to a single comma, `,,` being one comma of the value.  Returns its end. */
static const char *take_value(const char *p, char *ret, size_t size, bool *ret_cut)
{
	size_t n = 0;
	bool cut = false;

	for (; *p; p++) {
		if (*p == ',' && *++p != ',') {
			p--;
			break;
		}
		if (n + 1 < size)
			ret[n++] = *p;
		else
			cut = true;
	}
	ret[n] = '\0';
	*ret_cut = cut;
	return p;
}

static int get_plain(const char *value, const char *implied, const char *key, char *ret,
		     size_t size)
{
	const char *p = value, *name;
	char skipped[1];
	size_t len;
	int err = -ENOENT;
	bool cut, mine;

	while (*p) {
		name = p;
		len = strcspn(p, "=,");
		mine = len == strlen(key) && !strncmp(name, key, len);
		if (p[len] == '=') {
			p += len + 1;
		} else if (p == value && implied) {
			mine = !strcmp(implied, key);
		} else if (mine) {
			/* A flag.  The value "on" is not in the text. */
			vw_str_copy(ret, size, "on", 2);
			err = 0;
			mine = false;
		}
		/* The last one counts. */
		if (mine) {
			p = take_value(p, ret, size, &cut);
			err = cut ? -ENAMETOOLONG : 0;
		} else {
			p = take_value(p, skipped, sizeof(skipped), &cut);
		}
		p += *p == ',';
	}
	return err;
}

static int get_json(const char *value, const char *key, char *ret, size_t size)
{
	json_t *root = json_loads(value, 0, NULL);
	const json_t *item = json_object_get(root, key);
	int err = -ENOENT, len;

	if (json_is_string(item)) {
		err = vw_str_copy(ret, size, json_string_value(item), json_string_length(item)) ?
			      0 : -ENAMETOOLONG;
	} else if (json_is_integer(item)) {
		len = snprintf(ret, size, "%" JSON_INTEGER_FORMAT, json_integer_value(item));
		err = (size_t)len < size ? 0 : -ENAMETOOLONG;
	} else if (json_is_boolean(item)) {
		vw_str_copy(ret, size, json_is_true(item) ? "on" : "off", 3);
		err = 0;
	}
	json_decref(root);
	return err;
}

int vw_qemu_get(const char *value, const char *implied, const char *key, char *ret, size_t size)
{
	if (*value == '{')
		return get_json(value, key, ret, size);
	return get_plain(value, implied, key, ret, size);
}

bool vw_qemu_is_on(const char *value, const char *implied, const char *key)
{
	char word[8];

	if (vw_qemu_get(value, implied, key, word, sizeof(word)))
		return false;
	return !strcmp(word, "on") || !strcmp(word, "yes") || !strcmp(word, "true") ||
	       !strcmp(word, "y");
}

int vw_qemu_name(const struct vw_qemu_args *args, char *ret, size_t size)
{
	char name[COMPONENT_MAX];
	const char *value;
	size_t pos = 0;
	int err = -ENOENT;

	for (value = vw_qemu_next(args, "name", &pos); value;
	     value = vw_qemu_next(args, "name", &pos)) {
		/* Never JSON: a brace is part of the name. */
		if (get_plain(value, "guest", "guest", name, sizeof(name)) == -ENOENT || !*name)
			continue;
		vw_str_copy(ret, size, name, sizeof(name));
		err = 0;
	}
	return err;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Undoes systemd's \xHH in place. */
static int unescape(char *s)
{
	char *to = s;
	int high, low;

	for (; *s; s++) {
		*to++ = *s;
		if (*s != '\\')
			continue;
		if (s[1] != 'x')
			return -EINVAL;
		high = hex(s[2]);
		low = high < 0 ? -1 : hex(s[3]);
		if (low < 0 || !(high | low))
			return -EINVAL;
		to[-1] = (char)(high << 4 | low);
		s += 3;
	}
	*to = '\0';
	return 0;
}

/* True when @s ends with @suffix, which is then taken off. */
static bool strip_suffix(char *s, const char *suffix)
{
	size_t len = strlen(s), cut = strlen(suffix);

	if (len <= cut || strcmp(s + len - cut, suffix))
		return false;
	s[len - cut] = '\0';
	return true;
}

/* The NAME of `qemu-<id>-NAME`, or NULL. */
static const char *machine_of(const char *s)
{
	uint64_t id;

	if (!vw_str_starts(s, "qemu-") || vw_str_u64(s + 5, &s, &id) || *s != '-' || !s[1])
		return NULL;
	return s + 1;
}

int vw_qemu_machine_name(const char *cgroup, char *ret, size_t size)
{
	char part[COMPONENT_MAX];
	const char *p, *name;
	size_t len;

	for (p = cgroup; *p; p += len + (p[len] == '/')) {
		len = strcspn(p, "/");
		if (!vw_str_copy(part, sizeof(part), p, len))
			continue;
		name = NULL;
		if (vw_str_starts(part, "machine-qemu\\x2d") && strip_suffix(part, ".scope") &&
		    !unescape(part))
			name = machine_of(part + strlen("machine-"));
		else if (strip_suffix(part, ".libvirt-qemu"))
			name = machine_of(part);
		if (!name)
			continue;
		vw_str_copy(ret, size, name, strlen(name));
		return 0;
	}
	return -ENOENT;
}
