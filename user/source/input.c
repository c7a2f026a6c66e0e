// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "source/input.h"

#define PACKED_BYTES 65536
#define ROOM (8 * VW_INPUT_HEAD) /* must hold the head, and a line of VW_LINE_MAX with its end */
#define GZIP_WINDOW (15 + 16) /* the largest there is; with gzip's header */

struct vw_input {
	int fd;
	bool close_fd, regular;
	const char *name;
	char *path; /* what @name points to, NULL for standard input */
	bool packed, member_open; /* gzip; within one of its members */
	bool eof, truncated;
	bool skipping; /* within a line that is too long */
	int err; /* of a read, told once what came before has been given */
	uint64_t line_number;
	z_stream z;
	size_t start, end; /* of what is unread in @room */
	unsigned char *raw; /* packed bytes */
	char room[ROOM];
};

/* A read that a signal interrupted can be done again: it is no state of the input. */
static ssize_t read_fd(struct vw_input *in, void *buf, size_t size)
{
	ssize_t n = read(in->fd, buf, size);

	return n < 0 ? -errno : n;
}

/* More packed bytes.  1, 0 at the end of the file, or a negative errno. */
static int refill_raw(struct vw_input *in)
{
	ssize_t n = read_fd(in, in->raw, PACKED_BYTES);

	if (n <= 0)
		return (int)n;
	in->z.next_in = in->raw;
	in->z.avail_in = (unsigned int)n;
	return 1;
}

/* Between two members: goes to the next.  Zeros may fill a block of a tape, as gzip has it. */
static void next_member(struct vw_input *in)
{
	while (in->z.avail_in && !*in->z.next_in) {
		in->z.next_in++;
		in->z.avail_in--;
	}
	if (!in->z.avail_in)
		return;
	in->member_open = true;
	if (*in->z.next_in != 0x1f || inflateReset(&in->z) != Z_OK)
		in->eof = in->truncated = true;
}

/* As read(2), unpacked.  What is damaged ends the input. */
static ssize_t read_packed(struct vw_input *in, void *buf, size_t size)
{
	in->z.next_out = buf;
	in->z.avail_out = (unsigned int)size;
	while (in->z.avail_out == size && !in->eof) {
		int n = in->z.avail_in ? 1 : refill_raw(in);

		if (n < 0)
			return n;
		if (!n) {
			in->eof = true;
			in->truncated |= in->member_open;
			break;
		}
		if (!in->member_open) {
			next_member(in);
			continue;
		}
		switch (inflate(&in->z, Z_NO_FLUSH)) {
		case Z_STREAM_END:
			in->member_open = false;
			break;
		case Z_OK:
		case Z_BUF_ERROR: /* wants more packed bytes */
			break;
		default:
			in->eof = in->truncated = true;
		}
	}
	return (ssize_t)(size - in->z.avail_out);
}

/* Appends to what is in the room, as much as comes at once.  Only when there is room left. */
static void fill(struct vw_input *in)
{
	char *at = in->room + in->end;
	size_t left = sizeof(in->room) - in->end;
	ssize_t n = in->packed ? read_packed(in, at, left) : read_fd(in, at, left);

	if (n > 0)
		in->end += (size_t)n;
	else if (n == 0)
		in->eof = true;
	else
		in->err = (int)n;
}

/* Makes room behind what is unread. */
static void compact(struct vw_input *in)
{
	memmove(in->room, in->room + in->start, in->end - in->start);
	in->end -= in->start;
	in->start = 0;
}

/* The error of a read, once. */
static int take_error(struct vw_input *in)
{
	int err = in->err;

	in->err = 0;
	/* What a signal interrupted can go on, all else is the end. */
	if (err != -EINTR)
		in->eof = true;
	return err;
}

/* Turns what was read so far into packed bytes when it begins as gzip does. */
static int unpack(struct vw_input *in)
{
	if (in->end < 2 || memcmp(in->room, "\x1f\x8b", 2))
		return 0;
	in->raw = malloc(PACKED_BYTES);
	if (!in->raw)
		return -ENOMEM;
	if (inflateInit2(&in->z, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	in->packed = in->member_open = true;
	memcpy(in->raw, in->room, in->end);
	in->z.next_in = in->raw;
	in->z.avail_in = (unsigned int)in->end;
	in->end = 0;
	in->eof = false;
	return 0;
}

/* The first bytes tell whether it can be read, and whether it is packed. */
static int begin(struct vw_input *in)
{
	ssize_t n;
	int err;

	while (in->end < 2) {
		do
			n = read_fd(in, in->room + in->end, PACKED_BYTES - in->end);
		while (n == -EINTR);
		if (n < 0)
			return (int)n;
		if (!n) {
			in->eof = true;
			break;
		}
		in->end += (size_t)n;
	}
	err = unpack(in);
	if (err)
		return err;
	while (in->end < 3 && !in->eof && !in->err)
		fill(in);
	/* Editors put a byte order mark in front of what they take for text. */
	if (in->end >= 3 && !memcmp(in->room, "\xef\xbb\xbf", 3))
		in->start = 3;
	return 0;
}

/* Devices have no end, and reading one may have effects. */
static int check_type(struct vw_input *in, struct vw_error *e)
{
	struct stat st;

	if (fstat(in->fd, &st))
		return vw_error_set(e, -errno, "no_input", "%s: %s", in->name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return vw_error_set(e, -EISDIR, "no_input",
				    "%s is a directory; name the files in it", in->name);
	if (in->path && (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(in->fd))))
		return vw_error_set(e, -EINVAL, "no_input",
				    "%s is a device; name a file or use - for standard input",
				    in->name);
	in->regular = S_ISREG(st.st_mode);
	return 0;
}

int vw_input_open(const char *path, struct vw_input **ret, struct vw_error *e)
{
	struct vw_input *in = malloc(sizeof(*in));
	int err = -ENOMEM;

	if (!in)
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	memset(in, 0, offsetof(struct vw_input, room));
	in->fd = -1;
	if (!strcmp(path, "-")) {
		in->fd = STDIN_FILENO;
		in->name = "standard input";
	} else {
		in->path = strdup(path);
		if (!in->path)
			goto out;
		in->name = in->path;
		in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (in->fd < 0) {
			err = -errno;
			goto out;
		}
		in->close_fd = true;
	}
	err = check_type(in, e);
	if (err)
		goto out_told;
	err = begin(in);
	if (err)
		goto out;
	*ret = in;
	return 0;
out:
	if (err == -ENOMEM)
		vw_error_set(e, err, "memory", "out of memory");
	else
		vw_error_set(e, err, "no_input", "%s: %s", in->name, strerror(-err));
out_told:
	vw_input_close(in);
	return err;
}

void vw_input_close(struct vw_input *in)
{
	if (!in)
		return;
	if (in->packed)
		inflateEnd(&in->z);
	if (in->close_fd)
		close(in->fd);
	free(in->raw);
	free(in->path);
	free(in);
}

const char *vw_input_name(const struct vw_input *in)
{
	return in->name;
}

bool vw_input_is_file(const struct vw_input *in)
{
	return in->path && in->regular && !in->packed;
}

const char *vw_input_head(struct vw_input *in, size_t *ret_len)
{
	size_t len;

	if (sizeof(in->room) - in->start < VW_INPUT_HEAD)
		compact(in);
	while (in->end - in->start < VW_INPUT_HEAD && !in->eof && (!in->err || in->err == -EINTR)) {
		in->err = 0;
		fill(in);
	}
	len = in->end - in->start;
	*ret_len = len < VW_INPUT_HEAD ? len : VW_INPUT_HEAD;
	return in->room + in->start;
}

static void give(struct vw_input *in, size_t len, const char **ret_line, size_t *ret_len)
{
	const char *line = in->room + in->start;

	if (len && line[len - 1] == '\r')
		len--;
	*ret_line = line;
	*ret_len = len;
}

int vw_input_line(struct vw_input *in, const char **ret_line, size_t *ret_len)
{
	size_t seen = 0; /* of this line, without a line feed so far */

	for (;;) {
		const char *from = in->room + in->start + seen;
		const char *feed = memchr(from, '\n', in->end - in->start - seen);
		size_t len = feed ? (size_t)(feed - (in->room + in->start)) : in->end - in->start;

		if (len > VW_LINE_MAX)
			in->skipping = true;
		if (feed || (in->eof && (len || in->skipping))) {
			bool skipped = in->skipping;

			in->skipping = false;
			in->line_number++;
			if (!skipped)
				give(in, len, ret_line, ret_len);
			in->start += len + (feed != NULL);
			return skipped ? -ENOBUFS : 1;
		}
		if (in->err)
			return take_error(in);
		if (in->eof)
			return 0;
		if (in->skipping)
			in->start = in->end;
		if (in->start == in->end)
			in->start = in->end = 0;
		else if (sizeof(in->room) - in->end < VW_LINE_MAX)
			compact(in);
		seen = in->end - in->start;
		fill(in);
	}
}

uint64_t vw_input_line_number(const struct vw_input *in)
{
	return in->line_number;
}

ssize_t vw_input_read(struct vw_input *in, void *buf, size_t size)
{
	size_t len;

	if (in->start == in->end) {
		in->start = in->end = 0;
		if (!in->eof && !in->err)
			fill(in);
		if (in->start == in->end && in->err)
			return take_error(in);
	}
	len = in->end - in->start < size ? in->end - in->start : size;
	memcpy(buf, in->room + in->start, len);
	in->start += len;
	return (ssize_t)len;
}

bool vw_input_truncated(const struct vw_input *in)
{
	return in->truncated;
}
