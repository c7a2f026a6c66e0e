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
#include "load/bpf_internal.h"
#include "model/looks.h"
#include "load/tif.h"
#include "util/clock.h"

/* A second is more than any grace period takes on a host that is not hogged. */
#define ATTACH_WAIT_NS UINT64_C(1000000000)
/* A virtual CPU may be away for some ticks. */
#define CLOCK_WAIT_TICKS 25

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

static struct bpf_program *tp_program(struct core *skel, enum vw_tp tp)
{
	struct bpf_program *const programs[VW_TP_COUNT] = {
		[VW_TP_TASK_NEWTASK] = skel->progs.vw_task_newtask,
		[VW_TP_TASK_RENAME] = skel->progs.vw_task_rename,
		[VW_TP_PROCESS_EXIT] = skel->progs.vw_process_exit,
		[VW_TP_SWITCH] = skel->progs.vw_sched_switch,
		[VW_TP_MIGRATE] = skel->progs.vw_migrate,
		[VW_TP_MOVE_NUMA] = skel->progs.vw_move_numa,
		[VW_TP_SWAP_NUMA] = skel->progs.vw_swap_numa,
		[VW_TP_RCU_STALL] = skel->progs.vw_rcu_stall,
		[VW_TP_LOCAL_TIMER] = skel->progs.vw_local_timer,
		[VW_TP_STAT_RUNTIME] = skel->progs.vw_stat_runtime,
	};

	return programs[tp];
}

/* Which programs are loaded: those of the plan and no other. */
static void choose_programs(struct core *skel, const struct vw_plan *plan,
			    const struct vw_features *f)
{
	enum vw_tp tp;

	/* Also the way out when tracepoints cannot be attached. */
	bpf_program__set_autoload(skel->progs.vw_cpu_clock, f->perf_cpu_clock);
	bpf_program__set_autoload(skel->progs.vw_rcu_stall_printed, plan->stall_kprobe);
	for (tp = 0; tp < VW_TP_COUNT; tp++)
		if (tp_program(skel, tp))
			bpf_program__set_autoload(tp_program(skel, tp), plan->tp[tp]);
}

/* Costs the memory of full maps, a few MiB, on kernels that want it so. */
static void fill_maps_in_advance(struct core *skel)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, skel->obj)
		bpf_map__set_map_flags(map, bpf_map__map_flags(map) & ~BPF_F_NO_PREALLOC);
}

static void set_constants(struct core *skel, const struct vw_bpf_config *config,
			  const struct vw_features *f)
{
	uint32_t mask_cpus, n_cpus = (uint32_t)libbpf_num_possible_cpus();
	struct vw_tif tif = vw_tif_choose(f);

	mask_cpus = n_cpus < VW_ABI_MOVE_CPUS ? n_cpus : VW_ABI_MOVE_CPUS;
	skel->rodata->vw_n_cpus = n_cpus;
	skel->rodata->vw_mask_bytes = (mask_cpus + 63) / 64 * 8;
	skel->rodata->vw_threshold_ns = config->threshold_ns;
	skel->rodata->vw_emit_ns = config->emit_ns;
	skel->rodata->vw_tick_ns = f->tick_ns;
	skel->rodata->vw_pending_looks = vw_looks_for(config->threshold_ns, f->tick_ns);
	skel->rodata->vw_stint_looks = vw_looks_for(2 * config->threshold_ns, f->tick_ns);
	skel->rodata->vw_self = (uint32_t)getpid();
	skel->rodata->vw_tif_full = tif.full;
	skel->rodata->vw_tif_lazy = tif.lazy;
	skel->rodata->vw_switch_state = f->switch_state;
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

static int start_tracepoints(struct vw_bpf *bpf, const struct vw_plan *plan)
{
	int fds[VW_TP_COUNT];
	unsigned int n = 0;
	enum vw_tp tp;

	for (tp = 0; tp < VW_TP_COUNT; tp++) {
		bpf->tp_index[tp] = -1;
		if (!plan->tp[tp])
			continue;
		bpf->tp_index[tp] = (int)n;
		fds[n++] = bpf_program__fd(tp_program(bpf->skel, tp));
	}
	return n ? vw_attach_start(fds, n, &bpf->attach) : 0;
}

static int tp_state(const struct vw_bpf *bpf, enum vw_tp tp)
{
	return bpf->attach && bpf->tp_index[tp] >= 0 ?
		       vw_attach_state(bpf->attach, (unsigned int)bpf->tp_index[tp]) :
		       -ENOENT;
}

bool vw_bpf_attached(const struct vw_bpf *bpf, enum vw_tp tp)
{
	return tp_state(bpf, tp) == 1;
}

/* Takes up links that came; a tracepoint clock replaces the event that stood in for it. */
static bool take_tracepoints(struct vw_bpf *bpf, uint64_t wait_ns)
{
	bool all = !bpf->attach || vw_attach_poll(bpf->attach, wait_ns);

	bpf->skel->bss->vw_trace = vw_bpf_attached(bpf, VW_TP_SWITCH);
	if (vw_bpf_attached(bpf, VW_TP_LOCAL_TIMER) || vw_bpf_attached(bpf, VW_TP_STAT_RUNTIME))
		detach_cpu_clock(bpf);
	return all;
}

/* Strikes what was refused, and says so with -EAGAIN. */
static int strike_refused(const struct vw_bpf *bpf, struct vw_features *f, int *ret_cause)
{
	enum vw_tp tp;
	int state, err = 0;

	for (tp = 0; tp < VW_TP_COUNT; tp++) {
		state = tp_state(bpf, tp);
		if (state >= 0 || bpf->tp_index[tp] < 0)
			continue;
		*ret_cause = state;
		f->tp[tp] = false;
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
	enum vw_tp clock = plan->tp[VW_TP_LOCAL_TIMER] ? VW_TP_LOCAL_TIMER : VW_TP_STAT_RUNTIME;
	int err = start_tracepoints(bpf, plan);

	if (err)
		return err;
	if (!take_tracepoints(bpf, ATTACH_WAIT_NS)) {
		f->tracepoints_wait = true;
		err = vw_plan_make(f, &config->wanted, plan);
		if (err)
			return err;
	} else {
		err = strike_refused(bpf, f, ret_cause);
		if (err)
			return err;
	}
	if (plan->clock == VW_PLAN_CLOCK_CPU_CLOCK)
		return stand_in(bpf, plan, f, ret_cause);
	if (clock_ticks(bpf, f->tick_ns))
		return 0;
	*ret_cause = -ETIME;
	f->silent_clocks |= 1u << plan->clock;
	vw_attach_drop(bpf->attach, (unsigned int)bpf->tp_index[clock]);
	bpf->tp_index[clock] = -1;
	err = vw_plan_make(f, &config->wanted, plan);
	return err ? err : stand_in(bpf, plan, f, ret_cause);
}

/* Of no hook that the plan could not do without, so a kernel that refuses is asked no more. */
static int attach_stall_kprobe(struct vw_bpf *bpf, const struct vw_plan *plan,
			       struct vw_features *f)
{
	if (!plan->stall_kprobe)
		return 0;
	bpf->stall_link = bpf_program__attach_kprobe(bpf->skel->progs.vw_rcu_stall_printed, false,
						     VW_STALL_FUNCTION);
	if (bpf->stall_link)
		return 0;
	f->stall_function = false;
	return -EAGAIN;
}

void vw_bpf_close(struct vw_bpf *bpf)
{
	if (!bpf)
		return;
	vw_attach_free(bpf->attach);
	bpf_link__destroy(bpf->stall_link);
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
	if (f->needs_prealloc)
		fill_maps_in_advance(bpf->skel);
	set_constants(bpf->skel, config, f);
	err = core__load(bpf->skel);
	if (err) {
		*ret_cause = err;
		f->tp[VW_TP_LOCAL_TIMER] &= plan->clock != VW_PLAN_CLOCK_LOCAL_TIMER;
		f->perf_cpu_clock &= plan->clock != VW_PLAN_CLOCK_CPU_CLOCK;
		f->tp[VW_TP_STAT_RUNTIME] &= plan->clock != VW_PLAN_CLOCK_STAT_RUNTIME;
		err = -EAGAIN;
		goto out;
	}
	err = attach(bpf, config, plan, f, ret_cause) ?: attach_stall_kprobe(bpf, plan, f);
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
