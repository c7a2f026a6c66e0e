/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folders given with --procfs and --sysfs, for what is read from a file. */
#ifndef VW_SOURCE_ROOTS_H
#define VW_SOURCE_ROOTS_H

#include "source/replay.h"

struct vw_roots {
	int proc_fd, sys_fd; /* -1 not given */
	struct vw_attr *attr; /* NULL when none was given: this host may be another one */
};

#define VW_ROOTS_NONE ((struct vw_roots){ -1, -1, NULL })

/* @roots is VW_ROOTS_NONE before.  0, or a negative errno with @e; it is to be closed then, too. */
int vw_roots_open(struct vw_roots *roots, const struct vw_replay_config *config,
		  struct vw_error *e);
void vw_roots_close(struct vw_roots *roots);

#endif
