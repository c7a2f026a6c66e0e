// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/ksyms.h"
#include "load/plan.h"
#include "util/fs.h"
#include "load/decode.h"

#define PF_KTHREAD 0x00200000u
#define SOFTIRQ_MIN_NS UINT64_C(200000000) /* /proc/stat counts in 10 ms: below it says nothing */

/* What /proc/stat had counted for a CPU when its present stint was first seen. */
struct base {
	uint32_t tid;
	uint64_t begin_ns;
	uint64_t irq_ns, softirq_ns;
};

struct vw_decode {
	int proc_fd;
	uint64_t ns_per_clk; /* of a clock tick of /proc (USER_HZ) */
	struct vw_ksyms *syms;
	unsigned int n_bases;
	struct base *bases;
};

struct vw_decode *vw_decode_new(int proc_fd)
{
	struct vw_decode *d = calloc(1, sizeof(*d));
	long cpus = sysconf(_SC_NPROCESSORS_CONF), hz = sysconf(_SC_CLK_TCK);

	if (!d)
		return NULL;
	d->proc_fd = proc_fd;
	d->ns_per_clk = UINT64_C(1000000000) / (uint64_t)(hz > 0 ? hz : 100);
	d->n_bases = cpus > 0 ? (unsigned int)cpus : 1;
	d->bases = calloc(d->n_bases, sizeof(*d->bases));
	d->syms = vw_ksyms_new(proc_fd);
	if (!d->bases || !d->syms) {
		vw_decode_free(d);
		return NULL;
	}
	return d;
}

void vw_decode_free(struct vw_decode *d)
{
	if (!d)
		return;
	vw_ksyms_free(d->syms);
	free(d->bases);
	free(d);
}

void vw_decode_work(struct vw_decode *d)
{
	vw_ksyms_work(d->syms);
}

/* Interrupt and softirq time of one CPU since boot; fields 6 and 7 of its line in /proc/stat. */
static bool cpu_irq_time(struct vw_decode *d, uint32_t cpu, uint64_t *irq_ns, uint64_t *softirq_ns)
{
	unsigned long long irq, softirq;
	FILE *file = vw_fs_fopen(d->proc_fd, "stat");
	char line[512];
	unsigned int n;
	bool found = false;

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "cpu%u %*u %*u %*u %*u %*u %llu %llu", &n, &irq, &softirq) ==
				3 &&
			n == cpu;
	fclose(file);
	if (!found)
		return false;
	*irq_ns = irq * d->ns_per_clk;
	*softirq_ns = softirq * d->ns_per_clk;
	return true;
}

static void decode_irq_time(struct vw_decode *d, const struct vw_rec_stint *rec,
			    struct vw_obs_stint *s)
{
	uint64_t begin = rec->hdr.ts_ns - rec->oncpu_ns, irq, softirq;
	struct base *b;

	s->irq_ns = s->softirq_ns = VW_UNKNOWN;
	if (rec->hdr.cpu >= d->n_bases || !cpu_irq_time(d, rec->hdr.cpu, &irq, &softirq))
		return;
	b = &d->bases[rec->hdr.cpu];
	if (b->tid != rec->task.tid || b->begin_ns != begin) {
		b->tid = rec->task.tid;
		b->begin_ns = begin;
		b->irq_ns = irq;
		b->softirq_ns = softirq;
		return;
	}
	if (rec->oncpu_ns < SOFTIRQ_MIN_NS || irq < b->irq_ns || softirq < b->softirq_ns)
		return;
	s->irq_ns = irq - b->irq_ns;
	s->softirq_ns = softirq - b->softirq_ns;
}

/* The clock's own frames: all up to the entry of its interrupt. */
static bool is_irq_entry(const char *name)
{
	return strstr(name, "apic_timer_interrupt") || !strcmp(name, "el1h_64_irq");
}

static void decode_stack(struct vw_decode *d, const struct vw_rec_stint *rec,
			 struct vw_obs_stint *s)
{
	unsigned int i, first = 0, n = rec->n_stack < VW_ABI_FRAMES ? rec->n_stack : VW_ABI_FRAMES;
	const char *names[VW_ABI_FRAMES];
	bool all = true;

	s->n_stack = 0;
	for (i = 0; i < n; i++) {
		names[i] = vw_ksyms_name(d->syms, rec->stack[i]);
		all = all && names[i];
		if (names[i] && is_irq_entry(names[i]))
			first = i + 1;
	}
	/* A stack with holes misleads; the next record will find the names there. */
	if (!all)
		return;
	for (i = first; i < n && s->n_stack < VW_MAX_FRAMES; i++)
		if (names[i][0])
			snprintf(s->stack[s->n_stack++], VW_FRAME_LEN, "%s", names[i]);
}

void vw_decode_task(const struct vw_abi_task *rec, struct vw_task *task)
{
	memset(task, 0, sizeof(*task));
	task->tid = (int32_t)rec->tid;
	task->tgid = (int32_t)rec->tgid;
	task->start_ns = rec->start_ns;
	task->flags = rec->flags;
	task->flags_known = true;
	memcpy(task->comm, rec->comm, sizeof(task->comm));
	task->comm[sizeof(task->comm) - 1] = '\0';
	if (rec->flags & PF_KTHREAD && !strncmp(task->comm, "kworker/", 8))
		task->role = VW_ROLE_KWORKER;
}

void vw_decode_waiter(const struct vw_abi_waiter *rec, struct vw_waiter *list, unsigned int *n)
{
	const struct vw_waiter w = {
		.tid = (int32_t)rec->task.tid,
		.start_ns = rec->task.start_ns,
		.wait_ns = rec->wait_ns,
		.weight = rec->task.weight,
		.throttled = rec->flags & VW_WAITER_THROTTLED,
		.lead_known = rec->flags & VW_WAITER_LEAD,
		.lead_ns = rec->lead_ns,
	};
	unsigned int i = (*n)++;

	for (; i && list[i - 1].wait_ns < w.wait_ns; i--)
		list[i] = list[i - 1];
	list[i] = w;
}

static const char *clock_name(uint8_t clock)
{
	switch (clock) {
	case VW_ABI_CLOCK_LOCAL_TIMER:
		return vw_plan_clock_via(VW_PLAN_CLOCK_LOCAL_TIMER);
	case VW_ABI_CLOCK_CPU_CLOCK:
		return vw_plan_clock_via(VW_PLAN_CLOCK_CPU_CLOCK);
	case VW_ABI_CLOCK_STAT_RUNTIME:
		return vw_plan_clock_via(VW_PLAN_CLOCK_STAT_RUNTIME);
	default:
		return NULL;
	}
}

static enum vw_resched resched_of(uint8_t resched)
{
	switch (resched) {
	case VW_ABI_RESCHED_NONE:
		return VW_RESCHED_NONE;
	case VW_ABI_RESCHED_LAZY:
		return VW_RESCHED_LAZY;
	case VW_ABI_RESCHED_FULL:
		return VW_RESCHED_FULL;
	default:
		return VW_RESCHED_UNKNOWN;
	}
}

void vw_decode_stint(struct vw_decode *d, const struct vw_rec_stint *rec, struct vw_obs *obs,
		     void (*task)(void *ctx, const struct vw_task *hint, uint64_t ts), void *ctx)
{
	struct vw_obs_stint *s = &obs->stint;
	struct vw_task hint;
	unsigned int i;

	memset(obs, 0, sizeof(*obs));
	obs->kind = VW_OBS_STINT;
	obs->ts_ns = rec->hdr.ts_ns;
	s->cpu = (int32_t)rec->hdr.cpu;
	s->tid = (int32_t)rec->task.tid;
	s->start_ns = rec->task.start_ns;
	s->final = rec->flags & VW_STINT_FINAL;
	s->rt = rec->flags & VW_STINT_RT;
	s->oncpu_ns = rec->oncpu_ns;
	s->resched = resched_of(rec->resched);
	s->pending_ns = rec->pending_ns;
	s->ticks = rec->ticks;
	s->pending_ticks = rec->pending_ticks;
	s->weight = rec->task.weight;
	s->nr_running = rec->nr_running;
	s->clock = clock_name(rec->clock);
	decode_irq_time(d, rec, s);
	decode_stack(d, rec, s);
	vw_decode_task(&rec->task, &hint);
	task(ctx, &hint, obs->ts_ns);
	for (i = 0; i < rec->n_waiters && i < VW_ABI_WAITERS && i < VW_MAX_VICTIMS; i++) {
		vw_decode_task(&rec->waiters[i].task, &hint);
		task(ctx, &hint, obs->ts_ns);
		vw_decode_waiter(&rec->waiters[i], s->waiters, &s->n_waiters);
	}
}
