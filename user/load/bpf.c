// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "load/attach.h"
#include "load/bpf.h"
#include "model/looks.h"
#include "load/tif.h"
#include "util/clock.h"
#include "core.skel.h"

/* A second is more than any grace period takes on a host that is not hogged. */
#define ATTACH_WAIT_NS UINT64_C(1000000000)
/* A virtual CPU may be away for some ticks. */
#define CLOCK_WAIT_TICKS 25

/* The tracepoints in the order of attaching: the clock last, it is the one with another way. */
enum tracepoint { TP_NEWTASK, TP_RENAME, TP_EXIT, TP_SWITCH, TP_CLOCK, TP_COUNT };

struct vw_bpf {
	struct core *skel;
	struct vw_attach *attach;
	int tp_index[TP_COUNT]; /* in attach; -1: not wanted */
	struct ring_buffer *ring;
	struct bpf_link **perf_links; /* one a CPU */
	int n_perf_links;
	int n_cpus; /* possible */
	void (*fn)(void *ctx, const struct vw_rec_hdr *hdr); /* of the drain under way */
	void *ctx;
	int drained;
	/*
	 * Watched tasks a slot; two tasks may share one, so it empties only with the last of them.
	 */
	uint16_t refs[VW_ABI_WATCH_SLOTS];
};

static int log_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

static int log_all(enum libbpf_print_level level, const char *format, va_list args)
{
	return vfprintf(stderr, format, args);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct vw_bpf *bpf = ctx;
	const struct vw_rec_hdr *hdr = data;

	if (size >= sizeof(*hdr) && hdr->size <= size) {
		bpf->fn(bpf->ctx, hdr);
		bpf->drained++;
	}
	return 0;
}

/* Which programs are loaded: those of the plan and no other. */
static void choose_programs(struct core *skel, const struct vw_plan *plan,
			    const struct vw_features *f)
{
	bpf_program__set_autoload(skel->progs.vw_local_timer,
				  plan->clock == VW_PLAN_CLOCK_LOCAL_TIMER);
	/* Also the way out when tracepoints cannot be attached. */
	bpf_program__set_autoload(skel->progs.vw_cpu_clock, f->perf_cpu_clock);
	bpf_program__set_autoload(skel->progs.vw_stat_runtime,
				  plan->clock == VW_PLAN_CLOCK_STAT_RUNTIME);
	bpf_program__set_autoload(skel->progs.vw_sched_switch, plan->switches);
	bpf_program__set_autoload(skel->progs.vw_task_newtask, plan->births);
	bpf_program__set_autoload(skel->progs.vw_task_rename, plan->births);
	bpf_program__set_autoload(skel->progs.vw_process_exit, plan->exits);
}

static void set_constants(struct core *skel, const struct vw_bpf_config *config,
			  const struct vw_features *f)
{
	struct vw_tif tif = vw_tif_choose(f);

	skel->rodata->vw_threshold_ns = config->threshold_ns;
	skel->rodata->vw_emit_ns = config->emit_ns;
	skel->rodata->vw_tick_ns = f->tick_ns;
	skel->rodata->vw_pending_looks = vw_looks_for(config->threshold_ns, f->tick_ns);
	skel->rodata->vw_stint_looks = vw_looks_for(2 * config->threshold_ns, f->tick_ns);
	skel->rodata->vw_self = (uint32_t)getpid();
	skel->rodata->vw_tif_full = tif.full;
	skel->rodata->vw_tif_lazy = tif.lazy;
}

static void detach_cpu_clock(struct vw_bpf *bpf)
{
	int i;

	for (i = 0; i < bpf->n_perf_links; i++)
		bpf_link__destroy(bpf->perf_links[i]);
	free(bpf->perf_links);
	bpf->perf_links = NULL;
	bpf->n_perf_links = 0;
}

/*
 * A cpu-clock event on each CPU that is online; one that cannot be opened fails the hook as a
 * whole.
 */
static int attach_cpu_clock(struct vw_bpf *bpf, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
	};
	int cpu, fd;

	bpf->perf_links = calloc((size_t)bpf->n_cpus, sizeof(*bpf->perf_links));
	if (!bpf->perf_links)
		return -ENOMEM;
	for (cpu = 0; cpu < bpf->n_cpus; cpu++) {
		fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ENODEV)
			continue; /* offline */
		if (fd < 0)
			return -errno;
		bpf->perf_links[bpf->n_perf_links] =
			bpf_program__attach_perf_event(bpf->skel->progs.vw_cpu_clock, fd);
		if (!bpf->perf_links[bpf->n_perf_links]) {
			int err = -errno;

			close(fd);
			return err;
		}
		bpf->n_perf_links++;
	}
	return bpf->n_perf_links ? 0 : -ENODEV;
}

static struct bpf_program *tp_program(struct core *skel, enum tracepoint tp)
{
	switch (tp) {
	case TP_NEWTASK:
		return skel->progs.vw_task_newtask;
	case TP_RENAME:
		return skel->progs.vw_task_rename;
	case TP_EXIT:
		return skel->progs.vw_process_exit;
	case TP_SWITCH:
		return skel->progs.vw_sched_switch;
	default:
		return bpf_program__autoload(skel->progs.vw_local_timer) ?
			       skel->progs.vw_local_timer :
			       skel->progs.vw_stat_runtime;
	}
}

static int start_tracepoints(struct vw_bpf *bpf)
{
	int fds[TP_COUNT], tp;
	unsigned int n = 0;

	for (tp = 0; tp < TP_COUNT; tp++) {
		struct bpf_program *prog = tp_program(bpf->skel, tp);

		bpf->tp_index[tp] = -1;
		if (!bpf_program__autoload(prog))
			continue;
		bpf->tp_index[tp] = (int)n;
		fds[n++] = bpf_program__fd(prog);
	}
	return n ? vw_attach_start(fds, n, &bpf->attach) : 0;
}

static int tp_state(const struct vw_bpf *bpf, enum tracepoint tp)
{
	return bpf->attach && bpf->tp_index[tp] >= 0 ?
		       vw_attach_state(bpf->attach, (unsigned int)bpf->tp_index[tp]) :
		       -ENOENT;
}

/* Takes up links that came; a tracepoint clock replaces the event that stood in for it. */
static bool take_tracepoints(struct vw_bpf *bpf, uint64_t wait_ns)
{
	bool all = !bpf->attach || vw_attach_poll(bpf->attach, wait_ns);

	bpf->skel->bss->vw_trace = tp_state(bpf, TP_SWITCH) == 1;
	if (tp_state(bpf, TP_CLOCK) == 1)
		detach_cpu_clock(bpf);
	return all;
}

/* Strikes what was refused, and says so with -EAGAIN. */
static int strike_refused(const struct vw_bpf *bpf, const struct vw_plan *plan,
			  struct vw_features *f, int *ret_cause)
{
	bool *features[TP_COUNT] = {
		[TP_NEWTASK] = &f->tp_task_newtask,
		[TP_RENAME] = &f->tp_task_rename,
		[TP_EXIT] = &f->tp_sched_process_exit,
		[TP_SWITCH] = &f->tp_sched_switch,
		[TP_CLOCK] = plan->clock == VW_PLAN_CLOCK_LOCAL_TIMER ? &f->tp_local_timer_entry :
									&f->tp_sched_stat_runtime,
	};
	int tp, state, err = 0;

	for (tp = 0; tp < TP_COUNT; tp++) {
		state = tp_state(bpf, tp);
		if (state >= 0 || bpf->tp_index[tp] < 0)
			continue;
		*ret_cause = state;
		*features[tp] = false;
		err = -EAGAIN;
	}
	return err;
}

/*
 * Whether the clock comes.  A hook can exist and never fire: under Xen, Hyper-V or without a local
 * APIC the tick is not local_timer_entry's.  A busy CPU has its tick, so we keep ours busy for it.
 */
static bool clock_ticks(struct vw_bpf *bpf, uint64_t tick_ns)
{
	uint64_t end = vw_clock_now() + CLOCK_WAIT_TICKS * tick_ns;

	bpf->skel->bss->vw_active = 1;
	while (!vw_bpf_ticks(bpf) && vw_clock_now() < end)
		;
	return vw_bpf_ticks(bpf);
}

/* The event that every kernel has, in place of a tracepoint clock that is not there. */
static int stand_in(struct vw_bpf *bpf, const struct vw_plan *plan, struct vw_features *f,
		    int *ret_cause)
{
	int err;

	if (plan->clock != VW_PLAN_CLOCK_CPU_CLOCK)
		return -EAGAIN;
	err = attach_cpu_clock(bpf, f->tick_ns);
	if (err) {
		*ret_cause = err;
		f->perf_cpu_clock = false;
		return -EAGAIN;
	}
	return 0;
}

/*
 * Attaches the plan.  Where tracepoints keep us waiting, the plan becomes the one without them (the
 * program of the cpu-clock event is always loaded too).
 */
static int attach(struct vw_bpf *bpf, const struct vw_bpf_config *config, struct vw_plan *plan,
		  struct vw_features *f, int *ret_cause)
{
	int err = start_tracepoints(bpf);

	if (err)
		return err;
	if (!take_tracepoints(bpf, ATTACH_WAIT_NS)) {
		f->tracepoints_wait = true;
		err = vw_plan_make(f, &config->wanted, plan);
		if (err)
			return err;
	} else {
		err = strike_refused(bpf, plan, f, ret_cause);
		if (err)
			return err;
	}
	if (plan->clock == VW_PLAN_CLOCK_CPU_CLOCK)
		return stand_in(bpf, plan, f, ret_cause);
	if (clock_ticks(bpf, f->tick_ns))
		return 0;
	*ret_cause = -ETIME;
	f->silent_clocks |= 1u << plan->clock;
	vw_attach_drop(bpf->attach, (unsigned int)bpf->tp_index[TP_CLOCK]);
	bpf->tp_index[TP_CLOCK] = -1;
	err = vw_plan_make(f, &config->wanted, plan);
	return err ? err : stand_in(bpf, plan, f, ret_cause);
}

void vw_bpf_close(struct vw_bpf *bpf)
{
	if (!bpf)
		return;
	vw_attach_free(bpf->attach);
	detach_cpu_clock(bpf);
	ring_buffer__free(bpf->ring);
	core__destroy(bpf->skel);
	free(bpf);
}

/*
 * One try with one plan.  -EAGAIN when a hook was struck and another plan may work.  A load that
 * fails does not say which program did it, so the clock, the one that differs between plans, is
 * struck.
 */
static int try_plan(const struct vw_bpf_config *config, struct vw_features *f, struct vw_plan *plan,
		    struct vw_bpf **ret_bpf, int *ret_cause)
{
	struct vw_bpf *bpf = calloc(1, sizeof(*bpf));
	int err = -ENOMEM;

	if (!bpf)
		return err;
	bpf->n_cpus = libbpf_num_possible_cpus();
	bpf->skel = core__open();
	if (!bpf->skel) {
		err = -errno;
		goto out;
	}
	choose_programs(bpf->skel, plan, f);
	set_constants(bpf->skel, config, f);
	err = core__load(bpf->skel);
	if (err) {
		*ret_cause = err;
		f->tp_local_timer_entry &= plan->clock != VW_PLAN_CLOCK_LOCAL_TIMER;
		f->perf_cpu_clock &= plan->clock != VW_PLAN_CLOCK_CPU_CLOCK;
		f->tp_sched_stat_runtime &= plan->clock != VW_PLAN_CLOCK_STAT_RUNTIME;
		err = -EAGAIN;
		goto out;
	}
	err = attach(bpf, config, plan, f, ret_cause);
	if (err)
		goto out;
	bpf->ring = ring_buffer__new(bpf_map__fd(bpf->skel->maps.vw_ring), on_record, bpf, NULL);
	if (!bpf->ring) {
		err = -errno;
		goto out;
	}
	bpf->skel->bss->vw_active = 1;
	*ret_bpf = bpf;
	return 0;
out:
	vw_bpf_close(bpf);
	return err;
}

int vw_bpf_open(const struct vw_bpf_config *config, struct vw_features *features,
		struct vw_plan *ret_plan, struct vw_bpf **ret_bpf, struct vw_error *e)
{
	struct vw_plan plan;
	int err, cause = 0;

	libbpf_set_print(config->verbose ? log_all : log_quiet);
	for (;;) {
		err = vw_plan_make(features, &config->wanted, &plan);
		if (err || plan.clock == VW_PLAN_CLOCK_PROCFS)
			break;
		err = try_plan(config, features, &plan, ret_bpf, &cause);
		if (err != -EAGAIN)
			break;
	}
	if (err && err != -ENOTSUP)
		return vw_error_set(
			e, err, err == -ENOMEM ? "memory" : "bpf",
			"the BPF programs cannot be set up: %s; -v shows the kernel's own words",
			strerror(-err));
	*ret_plan = plan;
	if (!err && plan.clock != VW_PLAN_CLOCK_PROCFS)
		return 0;
	return vw_error_set(
		e, -ENOTSUP, features->btf ? "no_clock" : "no_btf",
		"no BPF clock can be attached here: %s; -v shows the kernel's own words",
		err   ? plan.hooks[0].reason :
		cause ? strerror(-cause) :
			plan.hooks[0].reason);
}

int vw_bpf_drain(struct vw_bpf *bpf, void (*fn)(void *ctx, const struct vw_rec_hdr *hdr), void *ctx)
{
	int err;

	take_tracepoints(bpf, 0);
	bpf->fn = fn;
	bpf->ctx = ctx;
	bpf->drained = 0;
	err = ring_buffer__consume(bpf->ring);
	return err < 0 ? err : bpf->drained;
}

static uint8_t *slot(struct vw_bpf *bpf, int32_t tid)
{
	return &bpf->skel->bss->vw_watch[(uint32_t)tid & (VW_ABI_WATCH_SLOTS - 1)];
}

int vw_bpf_watch(struct vw_bpf *bpf, int32_t tid, uint64_t start_ns)
{
	struct vw_abi_totals totals = { .start_ns = start_ns };
	uint32_t key = (uint32_t)tid;

	if (bpf_map__update_elem(bpf->skel->maps.vw_totals, &key, sizeof(key), &totals,
				 sizeof(totals), BPF_ANY))
		return -errno;
	if (bpf->refs[key & (VW_ABI_WATCH_SLOTS - 1)] < UINT16_MAX)
		bpf->refs[key & (VW_ABI_WATCH_SLOTS - 1)]++;
	*slot(bpf, tid) |= VW_WATCH_TASK;
	return 0;
}

void vw_bpf_unwatch(struct vw_bpf *bpf, int32_t tid)
{
	uint32_t key = (uint32_t)tid;

	if (bpf_map__delete_elem(bpf->skel->maps.vw_totals, &key, sizeof(key), 0))
		return; /* was not watched */
	if (!--bpf->refs[key & (VW_ABI_WATCH_SLOTS - 1)])
		*slot(bpf, tid) &= (uint8_t)~VW_WATCH_TASK;
}

void vw_bpf_clear_suspect(struct vw_bpf *bpf, int32_t tid)
{
	*slot(bpf, tid) &= (uint8_t)~VW_WATCH_SUSPECT;
}

int vw_bpf_oncpu(struct vw_bpf *bpf, int32_t tid, uint64_t now_ns, uint64_t *ret_ns)
{
	struct vw_abi_totals totals;
	uint32_t key = (uint32_t)tid;

	if (tp_state(bpf, TP_SWITCH) != 1)
		return -ENOENT;
	if (bpf_map__lookup_elem(bpf->skel->maps.vw_totals, &key, sizeof(key), &totals,
				 sizeof(totals), 0))
		return -ENOENT;
	*ret_ns = totals.oncpu_ns;
	if (totals.in_ts_ns && now_ns > totals.in_ts_ns)
		*ret_ns += now_ns - totals.in_ts_ns;
	return 0;
}

static uint64_t counter(struct vw_bpf *bpf, uint32_t key)
{
	size_t size = sizeof(uint64_t) * (size_t)bpf->n_cpus;
	uint64_t *values = calloc(1, size), sum = 0;
	int i;

	if (!values)
		return 0;
	if (!bpf_map__lookup_elem(bpf->skel->maps.vw_counters, &key, sizeof(key), values, size, 0))
		for (i = 0; i < bpf->n_cpus; i++)
			sum += values[i];
	free(values);
	return sum;
}

uint64_t vw_bpf_lost(struct vw_bpf *bpf)
{
	return counter(bpf, VW_COUNT_RESERVE_FAILED);
}

uint64_t vw_bpf_ticks(struct vw_bpf *bpf)
{
	return counter(bpf, VW_COUNT_TICKS);
}
