// SPDX-License-Identifier: GPL-2.0-or-later
/* vhostwatch watch: the table of workers and the findings, as they happen. */
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/run.h"

static struct vw_sink *open_sink(const struct vw_options *options)
{
	struct vw_error ignored;
	struct vw_sink *sink = NULL;

	if (options->format == VW_FORMAT_JSON)
		return vw_sink_json_new(stdout);
	/* A terminal that cannot do a full screen still gets the text. */
	if (isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
		sink = vw_sink_screen_new(&ignored);
	return sink ? sink : vw_sink_text_new(stdout);
}

int vw_cmd_watch(const struct vw_options *options)
{
	struct vw_error e = { "memory", "out of memory" };
	struct vw_sink *sink = open_sink(options);
	struct vw_run_result result;
	int err = -1;

	if (sink) {
		err = vw_run_live(options, sink, true, NULL, &result, &e);
		sink->ops->free(sink);
	}
	return err ? vw_cmd_fail(options->format, &e) : VW_EXIT_OK;
}
