// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU quotas of cgroups, from cpu.stat of either version. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "attr/internal.h"
#include "util/fs.h"
#include "util/str.h"

#define STAT_MAX 1024
#define USEC 1000ull

/* Where the hierarchy with the cpu controller is mounted, the one path of v2 first. */
static const char *const mounts[] = { "", "cpu,cpuacct/", "cpu/", "unified/" };

/* The number behind @key at the start of a line; false without one. */
static bool number_of(const char *text, const char *key, uint64_t *ret)
{
	size_t len = strlen(key);
	const char *line, *end;

	for (line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, key, len) && line[len] == ' ')
			return !vw_str_u64(line + len + 1, &end, ret);
	return false;
}

/* Adds what @text says to @sum. */
static bool add(const char *text, struct vw_quota *sum)
{
	struct vw_quota quota;

	if (!number_of(text, "nr_periods", &quota.periods) ||
	    !number_of(text, "nr_throttled", &quota.throttled))
		return false;
	if (number_of(text, "throttled_usec", &quota.throttled_ns))
		quota.throttled_ns *= USEC;
	else if (!number_of(text, "throttled_time", &quota.throttled_ns)) /* v1: nanoseconds */
		return false;
	sum->periods += quota.periods;
	sum->throttled += quota.throttled;
	sum->throttled_ns += quota.throttled_ns;
	return true;
}

static bool add_group(struct vw_attr *attr, const char *path, int len, struct vw_quota *sum)
{
	char file[VW_CGROUP_LEN + 64], text[STAT_MAX];
	size_t i;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		snprintf(file, sizeof(file), "fs/cgroup/%s%.*s/cpu.stat", mounts[i], len, path);
		if (vw_fs_read(attr->sys_fd, file, text, sizeof(text)) >= 0)
			return add(text, sum);
	}
	return false;
}

int vw_attr_quota(struct vw_attr *attr, const char *path, struct vw_quota *ret)
{
	struct vw_quota sum = { 0 };
	bool any = false;
	size_t len;

	/* "/.." is a group outside our cgroup namespace. */
	if (path[0] != '/' || strstr(path, "/.."))
		return -ENOENT;
	/* The quota of a VM is often that of the group above; the root has none. */
	for (path++, len = strlen(path); len; len--)
		if (!path[len] || path[len] == '/')
			any |= add_group(attr, path, (int)len, &sum);
	if (!any)
		return -ENOENT;
	*ret = sum;
	return 0;
}
