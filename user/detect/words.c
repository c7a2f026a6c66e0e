// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "detect/words.h"

void vw_line_put(struct vw_line *line, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (line->used >= line->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(line->buf + line->used, line->size - line->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		line->used += (size_t)n;
}

static const char *noun_of(const struct vw_task *task)
{
	switch (task->role) {
	case VW_ROLE_VHOST_WORKER:
		return "vhost worker";
	case VW_ROLE_VCPU:
		return "vCPU";
	case VW_ROLE_EMULATOR:
		return "emulator thread";
	case VW_ROLE_KWORKER:
		return "kworker";
	default:
		return "task";
	}
}

void vw_line_task(struct vw_line *line, const struct vw_task *task, bool noun)
{
	if (noun)
		vw_line_put(line, "%s ", noun_of(task));
	vw_line_put(line, "%s (tid %d", task->comm[0] ? task->comm : "?", task->tid);
	if (task->vm[0])
		vw_line_put(line, ", VM %s", task->vm);
	if (task->device[0])
		vw_line_put(line, ", %s", task->device);
	vw_line_put(line, ")");
}

void vw_line_list(struct vw_line *line, const int32_t *values, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		vw_line_put(line, "%s%d", i ? ", " : "", values[i]);
}
