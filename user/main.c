// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/options.h"
#include "cmd/cmd.h"

static int (*const commands[VW_COMMAND_COUNT])(const struct vw_options *options) = {
	[VW_COMMAND_WATCH] = vw_cmd_watch,
	[VW_COMMAND_CHECK] = vw_cmd_check,
	[VW_COMMAND_RECORD] = vw_cmd_record,
	[VW_COMMAND_ANALYZE] = vw_cmd_analyze,
	[VW_COMMAND_DOCTOR] = vw_cmd_doctor,
};

static void set_locale(void)
{
	/* Names are UTF-8 whatever LANG says; under sudo and cron it often says "C". */
	if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
		setlocale(LC_CTYPE, "C.UTF-8");
}

/* A help text that went to a full disk was not given; a reader that left had read enough. */
static int printed(void)
{
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE)
		return VW_EXIT_OK;
	perror("vhostwatch: cannot write to standard output");
	return VW_EXIT_UNKNOWN;
}

int main(int argc, char **argv)
{
	enum vw_format format = vw_options_format(argc, argv);
	struct vw_options options;
	struct vw_error error;

	set_locale();
	/* A reader that leaves shows as a write error, and our hooks are put away in order. */
	signal(SIGPIPE, SIG_IGN);
	if (vw_options_parse(argc, argv, &options, &error))
		return vw_cmd_fail(format, &error);
	if (options.help) {
		vw_options_help(stdout, &options);
		return printed();
	}
	if (options.version) {
		puts("vhostwatch " VW_VERSION);
		return printed();
	}
	return commands[options.command](&options);
}
