// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "detect/words.h"

void vw_words_put(struct vw_words *line, const char *fmt, ...)
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

void vw_words_task(struct vw_words *line, const struct vw_task *task, bool noun)
{
	if (noun)
		vw_words_put(line, "%s ", noun_of(task));
	vw_words_put(line, "%s (tid %d", task->comm[0] ? task->comm : "?", task->tid);
	if (task->vm[0])
		vw_words_put(line, ", VM %s", task->vm);
	if (task->device[0])
		vw_words_put(line, ", %s", task->device);
	vw_words_put(line, ")");
}

void vw_words_list(struct vw_words *line, const int32_t *values, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		vw_words_put(line, "%s%d", i ? ", " : "", values[i]);
}

void vw_words_more(struct vw_words *line, const struct vw_finding *f)
{
	if (f->n_victims > 1)
		vw_words_put(line, ", as %s %u more", f->n_victims > 2 ? "have" : "has",
			     f->n_victims - 1);
}

void vw_words_softirqs(struct vw_words *line, int32_t cpu)
{
	vw_words_put(
		line,
		"move the interrupts or RPS of CPU %d elsewhere (/proc/irq/*/smp_affinity, rps_cpus)",
		cpu);
}

void vw_words_quota(struct vw_words *line, const struct vw_task *task)
{
	vw_words_put(line, "raise cpu.max of %s%s, with room beyond its vCPUs",
		     task->cgroup[0] ? "cgroup " : "its cgroup", task->cgroup);
	if (task->backend == VW_BACKEND_VHOST_TASK)
		vw_words_put(line, ", or run its vhost workers as kernel threads"
				   " (fork_from_owner_default=0), which cgroup v2 keeps out of it");
}

const struct vw_victim *vw_words_chief(const struct vw_finding *f)
{
	unsigned int i;

	for (i = 0; i < f->n_victims; i++)
		if (f->victims[i].task.watched || f->victims[i].task.vm[0])
			return &f->victims[i];
	return f->n_victims ? &f->victims[0] : NULL;
}

bool vw_words_one_cpu(const char *list)
{
	return list[0] && !strpbrk(list, ",-");
}
