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

enum vw_exit vw_cmd_exit(enum vw_verdict verdict)
{
	switch (verdict) {
	case VW_VERDICT_OK:
		return VW_EXIT_OK;
	case VW_VERDICT_WARNING:
		return VW_EXIT_WARNING;
	case VW_VERDICT_CRITICAL:
		return VW_EXIT_CRITICAL;
	default:
		return VW_EXIT_UNKNOWN;
	}
}

struct vw_choice vw_cmd_choice(const struct vw_options *options)
{
	return (struct vw_choice){
		.pids = options->pids.ids,
		.n_pids = options->pids.n,
		.tids = options->tids.ids,
		.n_tids = options->tids.n,
	};
}
