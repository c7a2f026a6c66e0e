/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Network interfaces as /sys/class/net shows them.
 */
#ifndef VW_ATTR_IFNAME_H
#define VW_ATTR_IFNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The interface with that index, at most 15 bytes.  -ENODEV when there is none. */
int vw_ifname_by_index(int sys_fd, uint64_t index, char *ret, size_t size);

/* True for what the kernel takes as a name, so that it can be put in a path. */
bool vw_ifname_is_valid(const char *name);

/* One counter of statistics/; VW_UNKNOWN where it cannot be read. */
uint64_t vw_ifname_counter(int sys_fd, const char *ifname, const char *counter);

#endif
