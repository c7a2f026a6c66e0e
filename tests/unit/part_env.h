/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of placement, quota and rest start from: a /proc with two VMs, a BPF side that is
 * two short lists, and all that a part has told.
 */
#ifndef VW_TESTS_PART_ENV_H
#define VW_TESTS_PART_ENV_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attr/proc.h"
#include "fixture.h"
#include "source/part.h"
#include "util/parse.h"

#define MS VW_NS_PER_MS
#define SEC VW_NS_PER_SEC
#define T (10 * MS)
#define MAX_OBS 64
#define MAX_ENTRIES 8

#define OWNER 3077
#define WORKER 3101
#define VCPU 3080
#define VCPU2 3081
#define OWNER2 4077
#define WORKER2 4101

struct env {
	struct fixture f;
	struct vw_attr *attr;
	struct vw_workers *workers;
	struct vw_plan plan;
	struct vw_sight sight;
	struct vw_part_env part_env;
	const struct vw_part_ops *ops;
	void *part;
	uint64_t now;
	/* The BPF side. */
	bool attached;
	int32_t totals_tid[MAX_ENTRIES];
	struct vw_abi_totals totals[MAX_ENTRIES];
	size_t n_totals;
	struct vw_abi_pair_key pair_keys[MAX_ENTRIES];
	struct vw_abi_pair pairs[MAX_ENTRIES];
	size_t n_pairs;
	uint8_t flags[8192]; /* of each tid: what it is watched for */
	/* What came of it. */
	struct vw_obs obs[MAX_OBS];
	size_t n;
	bool known[8192];
};

static inline struct env *env_of(const struct vw_bpf *bpf)
{
	return (struct env *)(uintptr_t)bpf;
}

static inline bool is_attached(const struct vw_bpf *bpf, enum vw_tp tp)
{
	return tp == VW_TP_SWITCH && env_of(bpf)->attached;
}

static inline int lookup(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key, void *ret_value)
{
	struct env *env = env_of(bpf);
	size_t i;

	assert_int_equal(map, VW_MAP_TOTALS);
	for (i = 0; i < env->n_totals; i++) {
		if (env->totals_tid[i] != *(const int32_t *)key)
			continue;
		memcpy(ret_value, &env->totals[i], sizeof(env->totals[i]));
		return 0;
	}
	return -ENOENT;
}

static inline int drop_pair(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key)
{
	struct env *env = env_of(bpf);
	size_t i;

	assert_int_equal(map, VW_MAP_PAIRS);
	for (i = 0; i < env->n_pairs; i++) {
		if (memcmp(&env->pair_keys[i], key, sizeof(env->pair_keys[i])))
			continue;
		env->n_pairs--;
		env->pair_keys[i] = env->pair_keys[env->n_pairs];
		env->pairs[i] = env->pairs[env->n_pairs];
		return 0;
	}
	return -ENOENT;
}

static inline int each(struct vw_bpf *bpf, enum vw_bpf_map map,
		       int (*fn)(void *ctx, const void *key, const void *value), void *ctx)
{
	struct env *env = env_of(bpf);
	size_t i = env->n_pairs;
	int err = 0;

	assert_int_equal(map, VW_MAP_PAIRS);
	/* From the end, as the one that is visited may be removed. */
	while (i-- && !err)
		err = fn(ctx, &env->pair_keys[i], &env->pairs[i]);
	return err;
}

static inline int watch(struct vw_bpf *bpf, int32_t tid, uint64_t start_ns, uint8_t flag)
{
	(void)start_ns;
	env_of(bpf)->flags[tid] |= flag;
	return 0;
}

static inline void unwatch(struct vw_bpf *bpf, int32_t tid)
{
	env_of(bpf)->flags[tid] = 0;
}

static inline void mark(struct vw_bpf *bpf, int32_t tid, uint8_t flags, bool on)
{
	if (on)
		env_of(bpf)->flags[tid] |= flags;
	else
		env_of(bpf)->flags[tid] &= (uint8_t)~flags;
}

static inline void emit(void *ctx, const struct vw_obs *obs)
{
	struct env *env = ctx;

	assert_true(env->n < MAX_OBS);
	if (env->n)
		assert_true(obs->ts_ns >= env->obs[env->n - 1].ts_ns);
	env->obs[env->n++] = *obs;
}

static inline void know(void *ctx, const struct vw_task *hint, uint64_t ts_ns)
{
	(void)ts_ns;
	((struct env *)ctx)->known[hint->tid] = true;
}

/* A worker of @owner that is watched from now on. */
static inline void add_worker(struct env *env, int32_t owner, int32_t tid)
{
	const struct fixture_task task = {
		.pid = owner,
		.tid = tid,
		.comm = owner == OWNER ? "vhost-3077" : "vhost-4077",
		.flags = VW_PF_USER_WORKER,
		.cgroup = "0::/vms/vm1\n",
	};
	struct vw_task found;
	bool is_new;

	fixture_task(&env->f, &task);
	assert_int_equal(vw_attr_task(env->attr, tid, &found), 0);
	assert_int_equal(found.role, VW_ROLE_VHOST_WORKER);
	assert_int_equal(found.owner_pid, owner);
	assert_int_equal(vw_workers_put(env->workers, &found, true, env->now, &is_new), 0);
}

static inline void add_thread(struct env *env, int32_t pid, int32_t tid, const char *comm,
			      const char *cpus)
{
	const struct fixture_task task = {
		.pid = pid,
		.tid = tid,
		.comm = comm,
		.cpus_allowed = cpus,
	};

	fixture_task(&env->f, &task);
}

static inline struct vw_abi_totals *add_totals(struct env *env, int32_t tid)
{
	struct vw_abi_totals *t = &env->totals[env->n_totals];

	assert_true(env->n_totals < MAX_ENTRIES);
	env->totals_tid[env->n_totals++] = tid;
	t->start_ns = 10 * SEC; /* 1000 ticks, as fixtures have it */
	return t;
}

static inline void open_part(struct env *env, const struct vw_part_ops *ops)
{
	env->ops = ops;
	assert_int_equal(ops->open(&env->part_env, &env->part), 0);
}

/* A second passes. */
static inline void second(struct env *env)
{
	env->n = 0;
	env->now += SEC;
	assert_int_equal(env->ops->second(env->part, env->now), 0);
}

static inline int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	fixture_open(&env->f);
	env->attr = vw_attr_new(env->f.proc_fd, env->f.sys_fd);
	env->workers = vw_workers_new(env->attr);
	assert_non_null(env->workers);
	env->now = 1000 * SEC;
	env->attached = true;
	env->plan.tp[VW_TP_SWITCH] = true;
	env->sight = (struct vw_sight){
		.bpf = (struct vw_bpf *)env,
		.attached = is_attached,
		.lookup = lookup,
		.remove = drop_pair,
		.each = each,
		.watch = watch,
		.unwatch = unwatch,
		.mark = mark,
	};
	env->part_env = (struct vw_part_env){
		.plan = &env->plan,
		.sight = &env->sight,
		.threshold_ns = T,
		.proc_fd = env->f.proc_fd,
		.sys_fd = env->f.sys_fd,
		.attr = env->attr,
		.workers = env->workers,
		.emit = emit,
		.know = know,
		.ctx = env,
	};
	add_thread(env, OWNER, OWNER, "qemu-system-x86", NULL);
	add_worker(env, OWNER, WORKER);
	*state = env;
	return 0;
}

static inline int teardown(void **state)
{
	struct env *env = *state;

	if (env->part)
		env->ops->close(env->part);
	vw_workers_free(env->workers);
	vw_attr_free(env->attr);
	fixture_close(&env->f);
	free(env);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
