// SPDX-License-Identifier: GPL-2.0-or-later
/* A database is read here and there, a pipe from its beginning to its end: so it is copied. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/recording.h"

#define MAX_BYTES (UINT64_C(64) << 30)

static int write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int copy(ssize_t (*read_fn)(void *ctx, void *buf, size_t size), void *ctx, int fd,
		const char *name, struct vw_error *e)
{
	char buf[65536];
	uint64_t total = 0;
	ssize_t n;
	int err;

	while ((n = read_fn(ctx, buf, sizeof(buf))) > 0) {
		total += (uint64_t)n;
		err = total > MAX_BYTES ? -EFBIG : write_all(fd, buf, (size_t)n);
		if (err)
			return vw_error_set(e, err, "io",
					    "cannot copy %s to a temporary file: %s; TMPDIR says "
					    "where",
					    name, strerror(-err));
	}
	if (n < 0)
		return vw_error_set(e, (int)n, "no_input", "cannot read %s: %s", name,
				    strerror((int)-n));
	return 0;
}

int vw_recording_open_stream(ssize_t (*read_fn)(void *ctx, void *buf, size_t size), void *ctx,
			     const char *name, struct vw_recording **ret, struct vw_error *e)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int err, fd;

	if (!dir || dir[0] != '/')
		dir = "/tmp";
	if (snprintf(path, sizeof(path), "%s/vhostwatch.XXXXXX", dir) >= (int)sizeof(path))
		return vw_error_set(e, -ENAMETOOLONG, "io", "TMPDIR is too long");
	fd = mkstemp(path);
	if (fd < 0)
		return vw_error_set(e, -errno, "io",
				    "cannot make a temporary file in %s: %s; TMPDIR says where",
				    dir, strerror(errno));
	err = copy(read_fn, ctx, fd, name, e);
	close(fd);
	if (!err)
		err = vw_recording_open_named(path, name, ret, e);
	unlink(path);
	return err;
}
