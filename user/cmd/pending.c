// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands whose parts are under way; this file goes when they come. */
#include "cmd/cmd.h"

static int not_yet(const struct vw_options *options)
{
	struct vw_error e;

	vw_error_set(&e, -1, "usage", "this build has no '%s' yet",
		     vw_command_name(options->command));
	return vw_cmd_fail(options->format, &e);
}

int vw_cmd_record(const struct vw_options *options)
{
	return not_yet(options);
}
