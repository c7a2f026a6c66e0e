/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace of one form, through the scheduler model and all detectors. */
#ifndef VW_TESTS_FUZZ_TRACE_H
#define VW_TESTS_FUZZ_TRACE_H

#include "fuzz.h"
#include "source/trace.h"

static inline int fuzz_trace(const uint8_t *data, size_t size, enum vw_trace_form form)
{
	/* Tasks that the corpus has, so that those of -p and -t are there, too. */
	static const int32_t pids[] = { 3077 }, tids[] = { 950 };
	const struct vw_replay_config config = {
		.threshold_ns = FUZZ_T,
		.choice = { pids, tids, 1, size & 1 },
	};
	struct vw_replay_result result;
	struct vw_error e = { "", "" };
	struct vw_input *in = fuzz_input(data, size);
	struct fuzz_run run;
	struct vw_replay out;
	size_t len;
	int err;

	if (!in)
		return 0;
	vw_trace_looks_like(vw_input_head(in, &len), len);
	fuzz_begin(&run, &out);
	err = vw_trace_read(in, form, &config, &out, &result, &e);
	fuzz_end(&run, err, &result, &e);
	vw_input_close(in);
	return 0;
}

#endif
