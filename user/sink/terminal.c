// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <unistd.h>

#include "sink/terminal.h"

#include <curses.h>
#include <term.h>

int vw_terminal_check(struct vw_error *ret_err)
{
	int status, err = 0;
	const char *cup;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return vw_error_set(ret_err, -ENOTTY, "terminal",
				    "the full-screen view needs a terminal: use a pipe or --format");
	/* setupterm() reports what newterm() might exit for. */
	if (setupterm(NULL, STDOUT_FILENO, &status) != OK)
		return vw_error_set(ret_err, -ENOTSUP, "terminal",
				    "this kind of terminal is not known: set TERM to one that is");
	cup = tigetstr("cup");
	if (!cup || cup == (const char *)-1)
		err = vw_error_set(ret_err, -ENOTSUP, "terminal",
				   "this terminal cannot place its cursor: set TERM to one that can");
	del_curterm(cur_term); /* newterm() will make its own */
	return err;
}
