/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a recording back: what it says of its run, then all observations and ticks in the order in
 * which the detectors got them.
 *
 * The file may be anybody's: nothing in it is trusted.  It is not changed, unless it was cut off in
 * the middle of a commit and the journal beside it is needed to undo that.
 */
#ifndef VW_RECORD_READER_H
#define VW_RECORD_READER_H

#include <stddef.h>
#include <sys/types.h>

#include "model/replay.h"
#include "record/info.h"
#include "util/error.h"

#define VW_RECORDING_HEAD 72 /* so many bytes tell a recording from other files */

struct vw_recording;

/* True when a file that begins with @head is a recording, of whatever version. */
bool vw_recording_looks_like(const char *head, size_t len);

/*
 * 0, or a negative errno with @e: no_input for what is no recording, is damaged, of a newer
 * version, empty or still being written.
 */
int vw_recording_open(const char *path, struct vw_recording **ret, struct vw_error *e);

/*
 * The same of what @read gives (bytes, 0 at the end, or a negative errno), from the first byte on:
 * a recording from a pipe or unpacked.  It is copied to a nameless file in $TMPDIR or /tmp first.
 * @name is for messages and is copied.
 */
int vw_recording_open_stream(ssize_t (*read)(void *ctx, void *buf, size_t size), void *ctx,
			     const char *name, struct vw_recording **ret, struct vw_error *e);

/* Lives as long as @recording, as do the names in it.  header.source is "recording". */
const struct vw_record_info *vw_recording_info(const struct vw_recording *recording);

/*
 * Gives it all to @to, once, and fills @ret.  The detectors are then to be finished at
 * @ret->end_ns.  Names in observations (and so in findings) live as long as @recording.
 * 0; what a function of @to returned; or a negative errno with @e filled, when what comes next
 * cannot be read.
 */
int vw_recording_replay(struct vw_recording *recording, const struct vw_replay *to,
			struct vw_replay_result *ret, struct vw_error *e);

void vw_recording_close(struct vw_recording *recording);

#endif
