/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Going through the threads that a /proc shows.
 *
 * The real /proc lists processes at its top and threads below task/.  Fixtures may leave task/ out;
 * such a process is then its own only thread.
 */
#ifndef VW_ATTR_WALK_H
#define VW_ATTR_WALK_H

#include <stdbool.h>
#include <stdint.h>

#define VW_WALK_PATH 32

/*
 * @fd and @path lead to the folder of thread @tid of process @pid.  Anything but 0 ends the walk.
 */
typedef int (*vw_walk_fn)(void *ctx, int fd, const char *path, int32_t pid, int32_t tid);

/* Each thread of each process.  The last value of @fn, or a negative errno. */
int vw_walk_all(int proc_fd, vw_walk_fn fn, void *ctx);

/* Each thread of process @pid; -ESRCH when there is no such process. */
int vw_walk_threads(int proc_fd, int32_t pid, vw_walk_fn fn, void *ctx);

/*
 * Opens the folder of thread @tid.  *@pid is its process where that is known and helps, else 0; a
 * fixture's answer is put there.  @real says that @proc_fd is the kernel's own, which finds every
 * tid at its top.  The descriptor, or -ESRCH, or another negative errno.
 */
int vw_walk_open(int proc_fd, bool real, int32_t *pid, int32_t tid);

#endif
