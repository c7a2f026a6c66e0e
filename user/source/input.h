/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An input of analyze: a file or standard input, unpacked when it is gzip, known by its content.
 * Files are streams here: nothing is read twice, memory does not grow with the length.  A mark of
 * UTF-8 at the beginning is left out.
 */
#ifndef VW_SOURCE_INPUT_H
#define VW_SOURCE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

#define VW_INPUT_HEAD 65536 /* so much can be looked at before it is read */
#define VW_LINE_MAX 65536 /* longer lines are skipped as a whole, and counted */

struct vw_input;

/* "-" is standard input.  0, or a negative errno with @e (no_input). */
int vw_input_open(const char *path, struct vw_input **ret, struct vw_error *e);
void vw_input_close(struct vw_input *in);

/* The name for messages: the path, or "standard input".  Lives as long as @in. */
const char *vw_input_name(const struct vw_input *in);

/* True for a plain file that can be opened again by its name: no pipe, no gzip. */
bool vw_input_is_file(const struct vw_input *in);

/* The first bytes, unpacked, at most VW_INPUT_HEAD; does not consume them. */
const char *vw_input_head(struct vw_input *in, size_t *ret_len);

/*
 * The next line without its line feed (and carriage return); valid until the next call.  1; 0 at
 * the end; -ENOBUFS for a line longer than VW_LINE_MAX, which has been skipped; or a negative
 * errno: after -EINTR the next call goes on where this one stopped, after others comes the end.
 */
int vw_input_line(struct vw_input *in, const char **ret_line, size_t *ret_len);

/* Of the line given last, from 1. */
uint64_t vw_input_line_number(const struct vw_input *in);

/* The next bytes as they are: how many, 0 at the end, or a negative errno. */
ssize_t vw_input_read(struct vw_input *in, void *buf, size_t size);

/* True when a gzip stream ended before its end, or is damaged: what came before was given. */
bool vw_input_truncated(const struct vw_input *in);

#endif
