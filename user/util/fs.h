/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small reads relative to a directory descriptor, each with a limit.
 *
 * Relative on purpose: a descriptor of /proc/PID/task/TID stays bound to that very task, so files
 * read through it never mix two tasks that had the same number one after the other.
 */
#ifndef VW_UTIL_FS_H
#define VW_UTIL_FS_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Reads @path into @buf, at most @size - 1 bytes, and terminates it.  What is beyond is left out;
 * the result may hold NULs.  The number of bytes, or a negative errno (-ESRCH when the task behind
 * the file is gone).
 */
ssize_t vw_fs_read(int dirfd, const char *path, char *buf, size_t size);

/* The target of a symbolic link, terminated.  Its length; -ENAMETOOLONG when it does not fit. */
ssize_t vw_fs_readlink(int dirfd, const char *path, char *buf, size_t size);

/* A file that holds one decimal number and nothing else but blanks after it. */
int vw_fs_read_u64(int dirfd, const char *path, uint64_t *ret_value);

/* Opens a file for reading as a stream; the caller closes it.  NULL with errno set. */
FILE *vw_fs_fopen(int dirfd, const char *path);

/* Opens a directory for use as a @dirfd.  The descriptor, or a negative errno. */
int vw_fs_opendir(int dirfd, const char *path);

/*
 * Opens a directory for reading its entries; the caller closes it.  @ret_fd (dirfd() of it) serves
 * for paths below it.  0 or a negative errno.
 */
int vw_fs_entries(int dirfd, const char *path, DIR **ret_dir, int *ret_fd);

/*
 * Calls @fn for each entry of @path whose name is a process or descriptor number (digits only, at
 * most INT32_MAX), until it returns non-zero.  @fd is the opened directory.  The last value of @fn,
 * or a negative errno.
 */
int vw_fs_each_number(int dirfd, const char *path, int (*fn)(void *ctx, int fd, int32_t number),
		      void *ctx);

#endif
