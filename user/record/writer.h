/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording: an SQLite database (docs/FORMATS, "Recordings").
 *
 * What was committed stays, whatever becomes of the process; that is done about once a second.  No
 * clock is read here.  The functions return 0 or a negative errno; the first failure is kept, is
 * what every later call returns, and vw_writer_error() says it.
 */
#ifndef VW_RECORD_WRITER_H
#define VW_RECORD_WRITER_H

#include "model/obs.h"
#include "model/worker.h"
#include "record/info.h"
#include "util/error.h"

struct vw_writer;

/*
 * Takes possession of @path, which must not be there yet or be an empty file.  0, or a negative
 * errno with @e (usage, io).
 */
int vw_writer_open(const char *path, struct vw_writer **ret, struct vw_error *e);

/* Once, before all that follows.  @info is copied; what it says of the end is not used yet. */
int vw_writer_begin(struct vw_writer *writer, const struct vw_record_info *info);

/* In the order in which the detectors get them. */
int vw_writer_obs(struct vw_writer *writer, const struct vw_obs *obs);
int vw_writer_tick(struct vw_writer *writer, uint64_t ts_ns);
int vw_writer_row(struct vw_writer *writer, const struct vw_worker_row *row);
/* As it was emitted; @json is its JSON object. */
int vw_writer_finding(struct vw_writer *writer, const struct vw_finding *finding, const char *json);

/* To be called at least each second: time has come to @now_ns.  Commits when it is time. */
int vw_writer_round(struct vw_writer *writer, uint64_t now_ns, uint64_t lost_events,
		    uint32_t workers);

/* The run has ended; commits. */
int vw_writer_finish(struct vw_writer *writer, uint64_t end_ns, uint64_t lost_events,
		     uint32_t workers);

/* What has failed; an empty reason when nothing has. */
const struct vw_error *vw_writer_error(const struct vw_writer *writer);

/* Commits what is left and closes.  When nothing was begun, a file that was made is removed. */
void vw_writer_close(struct vw_writer *writer);

#endif
