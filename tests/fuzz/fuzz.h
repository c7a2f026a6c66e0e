/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the targets share: bytes as an input of analyze, and the whole way from there to findings.
 *
 * What must hold for any input is checked on the way; a failure ends the program, as a sanitizer
 * does.
 */
#ifndef VW_TESTS_FUZZ_H
#define VW_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "detect/detect.h"
#include "source/input.h"
#include "source/replay.h"

#define FUZZ_T UINT64_C(10000000)

#define FUZZ_MUST(what)                                                                            \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The name that libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_run {
	struct vw_detect *detect;
	uint64_t last_ns;
};

/* An input of these bytes; NULL when it was refused. */
static inline struct vw_input *fuzz_input(const uint8_t *data, size_t size)
{
	struct vw_input *in = NULL;
	struct vw_error e;
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_MUST(fd >= 0);
	FUZZ_MUST(write(fd, data, size) == (ssize_t)size);
	FUZZ_MUST(lseek(fd, 0, SEEK_SET) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (vw_input_open(path, &in, &e))
		in = NULL;
	close(fd);
	return in;
}

static inline void fuzz_on_finding(void *ctx, const struct vw_finding *f)
{
	unsigned int i;

	FUZZ_MUST(f->kind < VW_KIND_COUNT && f->cause < VW_CAUSE_COUNT);
	FUZZ_MUST(f->n_victims <= VW_MAX_VICTIMS);
	FUZZ_MUST(f->message[0] && memchr(f->message, '\0', sizeof(f->message)));
	FUZZ_MUST(memchr(f->remedy, '\0', sizeof(f->remedy)));
	for (i = 1; i < f->n_victims; i++)
		FUZZ_MUST(f->victims[i - 1].wait_ns >= f->victims[i].wait_ns);
}

static inline int fuzz_on_obs(void *ctx, const struct vw_obs *obs)
{
	struct fuzz_run *run = ctx;

	/* A report has the time of its first line, in the clock of the log. */
	if (obs->kind != VW_OBS_REPORT) {
		FUZZ_MUST(obs->ts_ns >= run->last_ns);
		run->last_ns = obs->ts_ns;
	}
	return vw_detect_feed(run->detect, obs);
}

static inline int fuzz_on_tick(void *ctx, uint64_t ts_ns)
{
	struct fuzz_run *run = ctx;

	vw_detect_tick(run->detect, ts_ns);
	return 0;
}

static inline int fuzz_on_row(void *ctx, const struct vw_worker_row *row)
{
	FUZZ_MUST(row->task.tid > 0);
	return 0;
}

static inline void fuzz_begin(struct fuzz_run *run, struct vw_replay *ret_out)
{
	const struct vw_detect_config config = { .threshold_ns = FUZZ_T, .stale_ns = INT64_MAX };

	run->last_ns = 0;
	run->detect = vw_detect_create(&config, fuzz_on_finding, run);
	FUZZ_MUST(run->detect);
	*ret_out = (struct vw_replay){ fuzz_on_obs, fuzz_on_tick, fuzz_on_row, run };
}

/* @err is of the reader, which has filled @e or @result. */
static inline void fuzz_end(struct fuzz_run *run, int err, const struct vw_replay_result *result,
			    const struct vw_error *e)
{
	if (err) {
		FUZZ_MUST(e->reason[0] && e->message[0]);
	} else {
		FUZZ_MUST(!result->skipped_lines == !result->complaint[0]);
		FUZZ_MUST(result->header.n_hooks <= VW_MAX_HOOKS);
		vw_detect_finish(run->detect, result->end_ns);
	}
	vw_detect_destroy(run->detect);
}

#endif
