// SPDX-License-Identifier: GPL-2.0-or-later
/* vhostwatch check: one verdict, one line, an exit code that monitoring systems know. */
#include <errno.h>

#include "cmd/cmd.h"
#include "cmd/run.h"
#include "sink/check_line.h"

int vw_cmd_check(const struct vw_options *options)
{
	bool json = options->format == VW_FORMAT_JSON;
	struct vw_error e = { "memory", "out of memory" };
	struct vw_sink *sink = json ? vw_sink_json_new(stdout) : vw_sink_null_new();
	struct vw_run_result result;
	int err = -ENOMEM;

	if (sink) {
		err = vw_run_live(options, sink, json, NULL, &result, &e);
		sink->ops->free(sink);
	}
	if (!err && !json &&
	    vw_check_line(stdout, &result.summary, result.has_worst ? &result.worst : NULL,
			  result.workers))
		err = vw_error_set(&e, -EIO, "io", "cannot write the verdict to stdout");
	return err ? vw_cmd_fail(options->format, &e) : (int)vw_cmd_exit(result.summary.verdict);
}
