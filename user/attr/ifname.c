// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attr/ifname.h"
#include "model/finding.h"
#include "util/fs.h"
#include "util/str.h"

#define NET_DIR "class/net"

int vw_ifname_by_index(int sys_fd, uint64_t index, char *ret, size_t size)
{
	char path[IFNAMSIZ + sizeof("/ifindex")];
	struct dirent *entry;
	uint64_t value;
	DIR *dir;
	int fd, err = vw_fs_entries(sys_fd, NET_DIR, &dir, &fd);

	if (err)
		return err;
	err = -ENODEV;
	while (err && (entry = readdir(dir))) {
		if (!vw_ifname_is_valid(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%.15s/ifindex", entry->d_name);
		if (vw_fs_read_u64(fd, path, &value) || value != index)
			continue;
		err = vw_str_copy(ret, size, entry->d_name, strlen(entry->d_name)) ?
			      0 : -ENAMETOOLONG;
	}
	closedir(dir);
	return err;
}

bool vw_ifname_is_valid(const char *name)
{
	size_t len = strnlen(name, IFNAMSIZ), i;

	if (!len || len == IFNAMSIZ || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (i = 0; i < len; i++)
		if (name[i] == '/' || name[i] == ':' || isspace((unsigned char)name[i]))
			return false;
	return true;
}

uint64_t vw_ifname_counter(int sys_fd, const char *ifname, const char *counter)
{
	char path[96];
	uint64_t value;

	if (!vw_ifname_is_valid(ifname))
		return VW_UNKNOWN;
	snprintf(path, sizeof(path), NET_DIR "/%.15s/statistics/%.32s", ifname, counter);
	return vw_fs_read_u64(sys_fd, path, &value) ? VW_UNKNOWN : value;
}
