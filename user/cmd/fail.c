// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "cmd/cmd.h"
#include "sink/sink.h"

int vw_cmd_fail(enum vw_format format, const struct vw_error *e)
{
	fprintf(stderr, "vhostwatch: %s\n", e->message);
	if (format == VW_FORMAT_JSON)
		vw_sink_json_error(stdout, e);
	return VW_EXIT_UNKNOWN;
}
