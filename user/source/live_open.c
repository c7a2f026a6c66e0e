// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/live_internal.h"

#define EMIT_NS UINT64_C(100000000)

static void fill_header(const struct vw_live *live, struct vw_header *h)
{
	const struct vw_plan *p = &live->plan;

	memset(h, 0, sizeof(*h));
	h->source = "live";
	h->clock = "monotonic";
	h->level = live->bpf && p->tp[VW_TP_SWITCH] ? "trace" : "guard";
	h->host = live->features.host;
	h->n_hooks = p->n_hooks;
	memcpy(h->hooks, p->hooks, sizeof(h->hooks));
	h->n_detectors = p->n_detectors;
	memcpy(h->detectors, p->detectors, sizeof(h->detectors));
}

static int open_roots(struct vw_live *live, struct vw_error *e)
{
	const struct vw_live_config *c = &live->config;

	live->proc_fd = open(c->procfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	live->sys_fd = open(c->sysfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (live->proc_fd < 0 || live->sys_fd < 0)
		return vw_error_set(e, -ENOENT, "no_input",
				    "cannot open %s: %s; --procfs and --sysfs name them",
				    live->proc_fd < 0 ? c->procfs : c->sysfs, strerror(errno));
	live->attr = vw_attr_new(live->proc_fd, live->sys_fd);
	live->workers = live->attr ? vw_workers_new(live->attr) : NULL;
	live->told = vw_tasks_new();
	live->decode = vw_decode_new(live->proc_fd);
	if (!live->workers || !live->told || !live->decode)
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	return 0;
}

/* BPF as planned, or /proc where the kernel (not the rights) is in the way. */
static int open_sight(struct vw_live *live, struct vw_error *e)
{
	struct vw_bpf_config config = {
		.wanted = live->config.wanted,
		.threshold_ns = live->config.threshold_ns,
		.emit_ns = EMIT_NS,
		.verbose = live->config.verbose,
	};
	struct vw_error why = { "", "" };
	int err = -ENOTSUP;

	/* From here on: setting up takes a second on a hogged host, time enough to get stuck. */
	live->sentinel = vw_sentinel_start(live->config.poll_ns);
	if (config.wanted.clock == VW_PLAN_CLOCK_PROCFS) {
		vw_plan_make(&live->features, &config.wanted, &live->plan);
	} else {
		/* Without BTF there is no BPF to load, so rights do not matter. */
		err = live->features.btf ? vw_features_may_load(&live->features, e) : 0;
		if (err) {
			live->features.refused = true;
			vw_plan_make(&live->features, &config.wanted, &live->plan);
			return err;
		}
		err = vw_bpf_open(&config, &live->features, &live->plan, &live->bpf, &why);
		vw_sentinel_beat(live->sentinel);
		if (err && (err != -ENOTSUP || live->plan.clock != VW_PLAN_CLOCK_PROCFS)) {
			if (e)
				*e = why;
			return err;
		}
	}
	if (live->bpf)
		return 0;
	live->procfs = vw_procfs_new(live->attr, NULL);
	return live->procfs ? 0 : vw_error_set(e, -ENOMEM, "memory", "out of memory");
}

static int open_parts(struct vw_live *live, struct vw_error *e)
{
	live->sight = vw_sight_of(live->bpf);
	/* What was reported before this run is not of this run. */
	live->log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (live->log_fd >= 0)
		lseek(live->log_fd, 0, SEEK_END);
	live->part_env = (struct vw_part_env){
		.features = &live->features,
		.plan = &live->plan,
		.sight = live->bpf ? &live->sight : NULL,
		.choice = &live->config.choice,
		.threshold_ns = live->config.threshold_ns,
		.proc_fd = live->proc_fd,
		.sys_fd = live->sys_fd,
		.log_fd = live->log_fd,
		.attr = live->attr,
		.workers = live->workers,
		.emit = vw_live_emit,
		.know = vw_live_know,
		.ctx = live,
	};
	if (vw_parts_open(&live->part_env, &live->parts))
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	return 0;
}

static struct vw_live *new_live(const struct vw_live_config *config)
{
	struct vw_live *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->config = *config;
	live->proc_fd = live->sys_fd = live->log_fd = -1;
	live->first_scan = true;
	return live;
}

int vw_live_open(const struct vw_live_config *config, struct vw_header *ret_header,
		 struct vw_live **ret_live, struct vw_error *e)
{
	struct vw_live *live = new_live(config);
	int err;

	if (!live)
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	err = open_roots(live, e);
	if (!err)
		err = vw_choice_check(&live->config.choice, live->attr, e);
	if (err)
		goto out;
	vw_features_probe(&live->features, live->sys_fd);
	err = open_sight(live, e);
	if (!err)
		err = open_parts(live, e);
	if (err)
		goto out;
	fill_header(live, ret_header);
	*ret_live = live;
	return 0;
out:
	vw_live_close(live);
	return err;
}

static void count(void *ctx, const struct vw_task *task)
{
	(*(unsigned int *)ctx)++;
}

int vw_live_survey(const struct vw_live_config *config, struct vw_header *ret_header,
		   unsigned int *ret_workers, struct vw_error *e)
{
	struct vw_live *live = new_live(config);
	int err;

	*ret_workers = 0;
	if (!live)
		return vw_error_set(e, -ENOMEM, "memory", "out of memory");
	err = open_roots(live, e);
	if (!err) {
		vw_attr_scan(live->attr, count, ret_workers);
		vw_features_probe(&live->features, live->sys_fd);
		err = open_sight(live, e);
	}
	fill_header(live, ret_header);
	vw_live_close(live);
	return err;
}

void vw_live_close(struct vw_live *live)
{
	if (!live)
		return;
	vw_sentinel_stop(live->sentinel);
	vw_parts_close(live->parts);
	vw_bpf_close(live->bpf);
	vw_procfs_free(live->procfs);
	vw_decode_free(live->decode);
	vw_tasks_free(live->told);
	vw_workers_free(live->workers);
	vw_attr_free(live->attr);
	if (live->proc_fd >= 0)
		close(live->proc_fd);
	if (live->sys_fd >= 0)
		close(live->sys_fd);
	if (live->log_fd >= 0)
		close(live->log_fd);
	free(live);
}
