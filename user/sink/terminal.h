/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the terminal can show the full-screen view.  Apart from screen.c because <term.h> turns
 * ordinary words like "lines" and "columns" into macros.
 */
#ifndef VW_SINK_TERMINAL_H
#define VW_SINK_TERMINAL_H

#include "util/error.h"

/* 0; -ENOTTY or -ENOTSUP with *@ret_err filled (reason "terminal"). */
int vw_terminal_check(struct vw_error *ret_err);

#endif
