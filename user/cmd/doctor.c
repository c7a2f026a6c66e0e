// SPDX-License-Identifier: GPL-2.0-or-later
/* vhostwatch doctor: what this host lets vhostwatch see, and why not more. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/run.h"
#include "sink/doctor.h"
#include "source/live.h"

int vw_cmd_doctor(const struct vw_options *options)
{
	struct vw_summary summary = { .verdict = VW_VERDICT_OK };
	struct vw_error e = { "", "" };
	struct vw_live_config config;
	struct vw_header header;
	struct vw_sink *sink;
	unsigned int workers;
	int err;

	vw_run_config(options, &config);
	err = vw_live_survey(&config, &header, &workers, &e);
	if (err)
		summary.verdict = VW_VERDICT_UNKNOWN;
	summary.workers = workers;
	if (options->format == VW_FORMAT_JSON) {
		sink = vw_sink_json_new(stdout);
		if (!sink)
			return VW_EXIT_UNKNOWN;
		sink->ops->begin(sink, &header);
		sink->ops->end(sink, &summary);
		sink->ops->free(sink);
	} else {
		vw_doctor_text(stdout, &header);
		printf("\nvhost workers now: %u\n", workers);
	}
	return err ? vw_run_fail(options, &e) : VW_EXIT_OK;
}
