// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "util/error.h"

int vw_error_set(struct vw_error *e, int err, const char *reason, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return err;
	snprintf(e->reason, sizeof(e->reason), "%s", reason);
	va_start(ap, fmt);
	vsnprintf(e->message, sizeof(e->message), fmt, ap);
	va_end(ap);
	return err;
}
