/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `vhostwatch doctor` prints for people.
 */
#ifndef VW_SINK_DOCTOR_H
#define VW_SINK_DOCTOR_H

#include <stdio.h>

#include "model/host.h"

/* Host, every hook, every detector, at most 100 columns wide.  0 or a negative errno. */
int vw_doctor_text(FILE *out, const struct vw_header *header);

#endif
