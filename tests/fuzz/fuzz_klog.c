// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel logs, through the detectors. */
#include "fuzz.h"
#include "source/klog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct vw_replay_config config = { .threshold_ns = FUZZ_T };
	struct vw_replay_result result;
	struct vw_error e = { "", "" };
	struct vw_input *in = fuzz_input(data, size);
	struct fuzz_run run;
	struct vw_replay out;
	const char *head;
	size_t len;
	int err;

	if (!in)
		return 0;
	head = vw_input_head(in, &len);
	vw_klog_looks_like(head, len);
	fuzz_begin(&run, &out);
	err = vw_klog_read(in, &config, &out, &result, &e);
	fuzz_end(&run, err, &result, &e);
	vw_input_close(in);
	return 0;
}
