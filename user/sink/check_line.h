/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one line of `vhostwatch check`, as Nagios, Icinga and their kin read it:
 * VHOSTWATCH STATE - text|perfdata.
 */
#ifndef VW_SINK_CHECK_LINE_H
#define VW_SINK_CHECK_LINE_H

#include <stdio.h>

#include "model/finding.h"
#include "model/worker.h"

/* @worst: the gravest finding, or NULL; @workers: seen in the run.  0 or a negative errno. */
int vw_check_line(FILE *out, const struct vw_summary *summary, const struct vw_finding *worst,
		  uint32_t workers);

#endif
