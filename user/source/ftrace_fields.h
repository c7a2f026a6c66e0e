/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands behind the name of an event in a trace: for source/ftrace.c only. */
#ifndef VW_SOURCE_FTRACE_FIELDS_H
#define VW_SOURCE_FTRACE_FIELDS_H

#include "source/event.h"
#include "source/scan.h"

/* The kind of the event named @name; VW_EVENT_OTHER when it is of no use. */
enum vw_event_kind vw_ftrace_kind(const char *name, size_t len);

/*
 * Reads the fields of an event whose kind and head are in @event, which is zeroed otherwise.  False
 * when one that is needed is missing or no number.  The kind may change to VW_EVENT_OTHER.
 */
bool vw_ftrace_fields(struct vw_scan *s, struct vw_event *event);

#endif
