// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/str.h"

ssize_t vw_fs_read(int dirfd, const char *path, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t ret;
	int fd;

	if (!size)
		return -EINVAL;
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	/* seq files hand out a page at a time, so one read is not the whole file. */
	while (used < size - 1) {
		ret = read(fd, buf + used, size - 1 - used);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0) {
			ret = -errno;
			goto out;
		}
		if (!ret)
			break;
		used += (size_t)ret;
	}
	buf[used] = '\0';
	ret = (ssize_t)used;
out:
	close(fd);
	return ret;
}

ssize_t vw_fs_readlink(int dirfd, const char *path, char *buf, size_t size)
{
	ssize_t ret;

	if (!size)
		return -EINVAL;
	ret = readlinkat(dirfd, path, buf, size);
	if (ret < 0)
		return -errno;
	if ((size_t)ret >= size)
		return -ENAMETOOLONG;
	buf[ret] = '\0';
	return ret;
}

int vw_fs_read_u64(int dirfd, const char *path, uint64_t *ret_value)
{
	char buf[32];
	const char *end;
	uint64_t value;
	ssize_t len;
	int err;

	len = vw_fs_read(dirfd, path, buf, sizeof(buf));
	if (len < 0)
		return (int)len;
	err = vw_str_u64(buf, &end, &value);
	if (err)
		return err;
	if (strspn(end, " \t\n") != strlen(end))
		return -EINVAL;
	*ret_value = value;
	return 0;
}

FILE *vw_fs_fopen(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

int vw_fs_opendir(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int vw_fs_entries(int dirfd, const char *path, DIR **ret_dir, int *ret_fd)
{
	int fd = vw_fs_opendir(dirfd, path), err;
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	*ret_dir = dir;
	*ret_fd = fd;
	return 0;
}

int vw_fs_each_number(int dirfd, const char *path, int (*fn)(void *ctx, int fd, int32_t number),
		      void *ctx)
{
	struct dirent *entry;
	uint64_t number;
	DIR *dir;
	int fd, err = vw_fs_entries(dirfd, path, &dir, &fd);

	if (err)
		return err;
	while (!err) {
		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			err = -errno;
			break;
		}
		if (vw_str_u64(entry->d_name, NULL, &number) || number > INT32_MAX)
			continue;
		err = fn(ctx, fd, (int32_t)number);
	}
	closedir(dir);
	return err;
}
