// SPDX-License-Identifier: GPL-2.0-or-later
/* vhostwatch doctor: what this host lets vhostwatch see, and why not more. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/run.h"
#include "sink/doctor.h"
#include "source/live.h"

static int show(const struct vw_options *options, const struct vw_header *header,
		const struct vw_summary *summary)
{
	struct vw_sink *sink;
	int err;

	if (options->format == VW_FORMAT_TEXT) {
		err = vw_doctor_text(stdout, header);
		if (!err &&
		    (printf("\nvhost workers now: %u\n", summary->workers) < 0 || fflush(stdout)))
			err = -errno;
		return err;
	}
	sink = vw_sink_json_new(stdout);
	if (!sink)
		return -ENOMEM;
	sink->ops->begin(sink, header);
	sink->ops->end(sink, summary);
	err = sink->ops->flush(sink);
	sink->ops->free(sink);
	return err;
}

int vw_cmd_doctor(const struct vw_options *options)
{
	struct vw_summary summary = { .verdict = VW_VERDICT_OK };
	struct vw_error e = { "", "" };
	struct vw_live_config config;
	struct vw_header header;
	unsigned int workers;
	int err, shown;

	vw_run_config(options, &config);
	err = vw_live_survey(&config, &header, &workers, &e);
	if (err)
		summary.verdict = VW_VERDICT_UNKNOWN;
	summary.workers = workers;
	shown = show(options, &header, &summary);
	if (!err && shown && shown != -EPIPE)
		err = vw_error_set(&e, shown, "io", "cannot write the report: %s",
				   strerror(-shown));
	return err ? vw_cmd_fail(options->format, &e) : VW_EXIT_OK;
}
