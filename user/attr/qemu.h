/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's command line, and the name that libvirt gives to a machine's cgroup.
 *
 * Pure text, nothing is read here.  A command line is what /proc/PID/cmdline holds: arguments, each
 * ended by a NUL.  Names may hold any byte but NUL.
 */
#ifndef VW_ATTR_QEMU_H
#define VW_ATTR_QEMU_H

#include <stdbool.h>
#include <stddef.h>

struct vw_qemu_args {
	const char *text; /* terminated by a NUL of its own after @len bytes */
	size_t len;
};

/* True when the program is called like QEMU: qemu-system-..., qemu-kvm, kvm. */
bool vw_qemu_is_program(const struct vw_qemu_args *args);

/*
 * The value of the next `-OPTION VALUE` (or `--OPTION VALUE`) at or after *@pos, which starts at 0;
 * NULL when there is none.
 */
const char *vw_qemu_next(const struct vw_qemu_args *args, const char *option, size_t *pos);

/*
 * Key @key of an option's value, either `first,key=value,...` with `,,` for a comma, where @implied
 * is the key of a first element without '=', or a JSON object.  Flags and JSON booleans come as
 * "on" and "off".  -ENOENT when absent, -ENAMETOOLONG when @ret holds only the beginning.
 */
int vw_qemu_get(const char *value, const char *implied, const char *key, char *ret, size_t size);

/* True when @key is given and is on. */
bool vw_qemu_is_on(const char *value, const char *implied, const char *key);

/* The machine's name as -name says it, cut to @size.  -ENOENT when it has none. */
int vw_qemu_name(const struct vw_qemu_args *args, char *ret, size_t size);

/*
 * The machine's name from a cgroup path with a component that libvirt made:
 * `machine-qemu\x2d1\x2dNAME.scope` (systemd) or `qemu-1-NAME.libvirt-qemu`.  -ENOENT otherwise.
 */
int vw_qemu_machine_name(const char *cgroup, char *ret, size_t size);

#endif
