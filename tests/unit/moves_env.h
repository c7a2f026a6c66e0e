/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of moves told by the kernel share: a /proc, a BPF side without a kernel, records.
 */
#ifndef VW_TESTS_MOVES_ENV_H
#define VW_TESTS_MOVES_ENV_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "source/part.h"
#include "util/parse.h"

#define US UINT64_C(1000)
#define MS VW_NS_PER_MS
#define SEC VW_NS_PER_SEC
#define START (100 * SEC)
#define TICK_NS (10 * MS) /* of a fixture's start time */

#define MOVED 201
#define HELD 202
#define WAITER 203
#define SAME_SLOT (MOVED + VW_ABI_WATCH_SLOTS)
#define MAX_SEEN 32

struct env {
	struct fixture f;
	struct vw_plan plan;
	struct vw_sight sight;
	struct vw_part_env part_env;
	void *part;
	uint8_t slots[VW_ABI_WATCH_SLOTS];
	unsigned int n_map;
	struct {
		uint32_t tid;
		struct vw_abi_move value;
	} map[8];
	unsigned int n;
	struct vw_obs seen[MAX_SEEN];
	unsigned int n_known;
	int32_t known[MAX_SEEN];
};

/* The part hands on what it was given for the BPF side, and never looks into it. */
static inline struct env *env_of(struct vw_bpf *bpf)
{
	return (struct env *)bpf;
}

static inline void set_mark(struct vw_bpf *bpf, int32_t tid, uint8_t flags, bool on)
{
	uint8_t *slot = &env_of(bpf)->slots[tid & (VW_ABI_WATCH_SLOTS - 1)];

	*slot = on ? *slot | flags : *slot & (uint8_t)~flags;
}

static inline int lookup(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key, void *ret_value)
{
	struct env *env = env_of(bpf);
	unsigned int i;

	assert_int_equal(map, VW_MAP_MOVES);
	for (i = 0; i < env->n_map; i++) {
		if (env->map[i].tid != *(const uint32_t *)key)
			continue;
		memcpy(ret_value, &env->map[i].value, sizeof(env->map[i].value));
		return 0;
	}
	return -ENOENT;
}

static inline int drop(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key)
{
	struct env *env = env_of(bpf);
	unsigned int i;

	assert_int_equal(map, VW_MAP_MOVES);
	for (i = 0; i < env->n_map; i++) {
		if (env->map[i].tid != *(const uint32_t *)key)
			continue;
		env->map[i] = env->map[--env->n_map];
		return 0;
	}
	return -ENOENT;
}

static inline void keep(void *ctx, const struct vw_obs *obs)
{
	struct env *env = ctx;

	assert_true(env->n < MAX_SEEN);
	assert_int_equal(obs->kind, VW_OBS_MOVE);
	env->seen[env->n++] = *obs;
}

static inline void know(void *ctx, const struct vw_task *hint, uint64_t ts_ns)
{
	struct env *env = ctx;

	assert_true(env->n_known < MAX_SEEN && ts_ns >= START);
	env->known[env->n_known++] = hint->tid;
}

static inline bool knows(const struct env *env, int32_t tid)
{
	unsigned int i;

	for (i = 0; i < env->n_known; i++)
		if (env->known[i] == tid)
			return true;
	return false;
}

static inline void put_task(struct env *env, int32_t tid, uint64_t slices)
{
	const struct fixture_task task = {
		.tid = tid,
		.comm = "work",
		.state = 'R',
		.start_ticks = (uint64_t)tid,
		.run_ns = MS,
		.slices = slices,
	};

	fixture_task(&env->f, &task);
}

static inline int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	fixture_open(&env->f);
	fixture_text(&env->f, "proc/16/comm", "migration/0\n");
	fixture_text(&env->f, "proc/20/comm", "migration/1\n");
	fixture_text(&env->f, "proc/21/comm", "migrated\n");
	put_task(env, MOVED, 5);
	put_task(env, HELD, 7);
	put_task(env, WAITER, 9);
	env->plan.tp[VW_TP_MIGRATE] = true;
	env->sight = (struct vw_sight){
		.bpf = (struct vw_bpf *)env,
		.lookup = lookup,
		.remove = drop,
		.mark = set_mark,
	};
	env->part_env = (struct vw_part_env){
		.plan = &env->plan,
		.sight = &env->sight,
		.proc_fd = env->f.proc_fd,
		.attr = vw_attr_new(env->f.proc_fd, env->f.sys_fd),
		.emit = keep,
		.know = know,
		.ctx = env,
	};
	assert_non_null(env->part_env.attr);
	assert_int_equal(vw_part_moves.open(&env->part_env, &env->part), 0);
	assert_non_null(env->part);
	*state = env;
	return 0;
}

static inline int teardown(void **state)
{
	struct env *env = *state;

	vw_part_moves.close(env->part);
	vw_attr_free(env->part_env.attr);
	fixture_close(&env->f);
	free(env);
	return 0;
}

static inline void tell(struct env *env, const void *rec)
{
	assert_int_equal(vw_part_moves.record(env->part, rec), 0);
}

static inline void second(struct env *env, uint64_t now_ns)
{
	assert_int_equal(vw_part_moves.second(env->part, now_ns), 0);
}

static inline struct vw_abi_task abi_task(uint32_t tid)
{
	return (struct vw_abi_task){
		.tid = tid, .tgid = tid, .weight = 1024, .start_ns = tid * TICK_NS, .comm = "work"
	};
}

/* MOVED is moved from CPU 0 to CPU 1, where HELD runs; it may use 0 and 1, and nothing idles. */
static inline struct vw_rec_move move(uint64_t ts_ns)
{
	struct vw_rec_move rec = {
		.hdr = { .kind = VW_REC_MOVE, .size = sizeof(rec), .ts_ns = ts_ns },
		.task = abi_task(MOVED),
		.arrivals = 5,
		.left_ts_ns = ts_ns - 20 * US,
		.relieved_ns = 3 * MS,
		.from_cpu = 0,
		.to_cpu = 1,
		.n_cpus = 4,
		.held_tid = HELD,
		.allowed = { 3 },
	};

	return rec;
}

static inline struct vw_rec_move_ran ran(const struct vw_rec_move *m, uint64_t ts_ns,
					 uint32_t flags)
{
	struct vw_rec_move_ran rec = {
		.hdr = { .kind = VW_REC_MOVE_RAN, .size = sizeof(rec), .cpu = 1, .ts_ns = ts_ns },
		.start_ns = m->task.start_ns,
		.moved_ts_ns = m->hdr.ts_ns,
		.old_idle_ns = 30 * US,
		.displaced_arrivals = 7,
		.tid = m->task.tid,
		.flags = flags,
		.displaced = abi_task(HELD),
	};

	return rec;
}

static inline struct vw_rec_move_back back(const struct vw_rec_move_ran *r, uint64_t ts_ns)
{
	struct vw_rec_move_back rec = {
		.hdr = { .kind = VW_REC_MOVE_BACK, .size = sizeof(rec), .ts_ns = ts_ns },
		.start_ns = r->displaced.start_ns,
		.ran_ts_ns = r->hdr.ts_ns,
		.tid = r->displaced.tid,
	};

	return rec;
}

#endif
