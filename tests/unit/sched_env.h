/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the scheduler model share: events in few words, and all that came of them.
 *
 * Heads are those of a real trace: they name whom the events so far put on the CPU, or nobody while
 * that is not known.  Times are nanoseconds.  T is 10 ms.
 */
#ifndef VW_TESTS_SCHED_ENV_H
#define VW_TESTS_SCHED_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/sched.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SEC (1000 * MS)
#define T (10 * MS)
#define START SEC /* when most tests begin */
#define MAX_CPUS 4096
#define MAX_NAMES 512
#define MAX_ROWS 64

#define WORKER 3101 /* named by its owner below */
#define OWNER 3077
#define VICTIM 812
#define OTHER 777

struct env {
	struct vw_sched *s;
	struct vw_sched_config config;
	struct vw_replay out;
	size_t n, room;
	struct vw_obs *seen; /* all, in order */
	size_t n_rows;
	struct vw_worker_row rows[MAX_ROWS];
	size_t ticks;
	uint64_t last_ns; /* of what was told */
	int err; /* what the callbacks are to return */
	int32_t curr[MAX_CPUS]; /* as a head tells; -1 unknown */
	enum vw_resched flag; /* in the flags column of each event */
	unsigned int n_names;
	struct {
		int32_t tid, tgid, prio;
		char comm[VW_COMM_LEN];
	} names[MAX_NAMES];
};

static inline int keep_obs(void *ctx, const struct vw_obs *obs)
{
	struct env *env = ctx;

	if (env->n == env->room) {
		env->room = env->room ? 2 * env->room : 1024;
		env->seen = realloc(env->seen, env->room * sizeof(*env->seen));
		assert_non_null(env->seen);
	}
	assert_true(obs->ts_ns >= env->last_ns);
	env->last_ns = obs->ts_ns;
	env->seen[env->n++] = *obs;
	return env->err;
}

static inline int keep_tick(void *ctx, uint64_t ts_ns)
{
	struct env *env = ctx;

	assert_true(ts_ns >= env->last_ns);
	env->ticks++;
	return env->err;
}

static inline int keep_row(void *ctx, const struct vw_worker_row *row)
{
	struct env *env = ctx;

	if (env->n_rows < MAX_ROWS)
		env->rows[env->n_rows++] = *row;
	return env->err;
}

static inline void restart(struct env *env)
{
	unsigned int i;

	vw_sched_free(env->s);
	env->out = (struct vw_replay){ keep_obs, keep_tick, keep_row, env };
	env->n = env->n_rows = env->ticks = 0;
	env->last_ns = 0;
	env->err = 0;
	for (i = 0; i < MAX_CPUS; i++)
		env->curr[i] = -1;
	env->s = vw_sched_new(&env->config, &env->out);
	assert_non_null(env->s);
}

static inline int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	env->config.threshold_ns = T;
	restart(env);
	*state = env;
	return 0;
}

static inline int teardown(void **state)
{
	struct env *env = *state;

	vw_sched_free(env->s);
	free(env->seen);
	free(env);
	return 0;
}

/* --- tasks */

/* The place of @tid among the names; one without a name is called task-TID, nice 0. */
static inline unsigned int name_of(struct env *env, int32_t tid)
{
	unsigned int i;

	for (i = 0; i < env->n_names; i++)
		if (env->names[i].tid == tid)
			return i;
	assert_true(i < MAX_NAMES);
	env->n_names++;
	env->names[i].tid = tid;
	env->names[i].prio = 120;
	snprintf(env->names[i].comm, VW_COMM_LEN, tid ? "task-%d" : "swapper/0", tid);
	return i;
}

static inline void call(struct env *env, int32_t tid, const char *comm)
{
	snprintf(env->names[name_of(env, tid)].comm, VW_COMM_LEN, "%s", comm);
}

static inline void set_prio(struct env *env, int32_t tid, int32_t prio)
{
	env->names[name_of(env, tid)].prio = prio;
}

static inline void set_tgid(struct env *env, int32_t tid, int32_t tgid)
{
	env->names[name_of(env, tid)].tgid = tgid;
}

static inline struct vw_event_task who(struct env *env, int32_t tid)
{
	unsigned int i = name_of(env, tid);
	struct vw_event_task et = { .tid = tid, .prio = env->names[i].prio };

	memcpy(et.comm, env->names[i].comm, sizeof(et.comm));
	return et;
}

/* --- events */

static inline struct vw_event event(struct env *env, enum vw_event_kind kind, int32_t cpu,
				    uint64_t ts_ns)
{
	struct vw_event e = { .kind = kind, .cpu = cpu, .ts_ns = ts_ns, .tid = -1 };

	e.resched = env->flag;
	if (cpu < 0 || cpu >= MAX_CPUS)
		return e;
	e.tid = env->curr[cpu];
	if (e.tid > 0) {
		e.tgid = env->names[name_of(env, e.tid)].tgid;
		memcpy(e.comm, env->names[name_of(env, e.tid)].comm, sizeof(e.comm));
	}
	return e;
}

static inline void give(struct env *env, const struct vw_event *e)
{
	assert_int_equal(vw_sched_event(env->s, e), 0);
}

/* @state as in the trace: 'R' is preempted, 0 unknown. */
static inline void sw(struct env *env, uint64_t ts_ns, int32_t cpu, int32_t prev, char state,
		      int32_t next)
{
	struct vw_event e;

	env->curr[cpu] = prev;
	e = event(env, VW_EVENT_SWITCH, cpu, ts_ns);
	/* The kernel takes the request back before it records the switch. */
	if (e.resched != VW_RESCHED_UNKNOWN)
		e.resched = VW_RESCHED_NONE;
	e.sw.prev = who(env, prev);
	e.sw.next = who(env, next);
	e.sw.prev_state = state;
	e.sw.preempted = state == 'R' && prev;
	env->curr[cpu] = next;
	give(env, &e);
}

static inline void wake_by(struct env *env, enum vw_event_kind kind, uint64_t ts_ns, int32_t on,
			   int32_t tid, int32_t target)
{
	struct vw_event e = event(env, kind, on, ts_ns);

	e.wake.task = who(env, tid);
	e.wake.target_cpu = target;
	give(env, &e);
}

/* Recorded where it is put. */
static inline void wk(struct env *env, uint64_t ts_ns, int32_t tid, int32_t target)
{
	wake_by(env, VW_EVENT_WAKEUP, ts_ns, target, tid, target);
}

/* Recorded on the CPU that it goes to. */
static inline void mg(struct env *env, uint64_t ts_ns, int32_t tid, int32_t from, int32_t to)
{
	struct vw_event e = event(env, VW_EVENT_MIGRATE, from, ts_ns);

	e.migrate.task = who(env, tid);
	e.migrate.from_cpu = from;
	e.migrate.to_cpu = to;
	give(env, &e);
}

static inline void rt(struct env *env, uint64_t ts_ns, int32_t cpu, int32_t tid,
		      uint64_t runtime_ns)
{
	struct vw_event e = event(env, VW_EVENT_STAT_RUNTIME, cpu, ts_ns);

	e.runtime.task = who(env, tid);
	e.runtime.task.prio = -1; /* that event does not tell */
	e.runtime.runtime_ns = runtime_ns;
	give(env, &e);
}

/* Something of no use happens; its head tells who runs and what is asked of it. */
static inline void seen(struct env *env, uint64_t ts_ns, int32_t cpu, int32_t tid,
			enum vw_resched flag)
{
	struct vw_event e;

	env->curr[cpu] = tid;
	e = event(env, VW_EVENT_OTHER, cpu, ts_ns);
	e.resched = flag;
	give(env, &e);
}

static inline void fk(struct env *env, uint64_t ts_ns, int32_t cpu, int32_t tid)
{
	struct vw_event e = event(env, VW_EVENT_FORK, cpu, ts_ns);

	e.fork.parent = who(env, 1);
	e.fork.child = who(env, tid);
	give(env, &e);
}

static inline void ex(struct env *env, uint64_t ts_ns, int32_t cpu, int32_t tid)
{
	struct vw_event e = event(env, VW_EVENT_EXIT, cpu, ts_ns);

	e.exit = who(env, tid);
	give(env, &e);
}

static inline void irq(struct env *env, enum vw_event_kind kind, uint64_t ts_ns, int32_t cpu)
{
	struct vw_event e = event(env, kind, cpu, ts_ns);

	e.in_interrupt = true;
	give(env, &e);
}

static inline void numa(struct env *env, uint64_t ts_ns, int32_t cpu, int32_t tid, int32_t from,
			int32_t to)
{
	struct vw_event e = event(env, VW_EVENT_NUMA, cpu, ts_ns);

	e.numa.tid = tid;
	e.numa.from_cpu = from;
	e.numa.to_cpu = to;
	give(env, &e);
}

static inline void work(struct env *env, enum vw_event_kind kind, uint64_t ts_ns, int32_t cpu,
			int32_t tid, uint64_t address, const char *function)
{
	struct vw_event e = event(env, kind, cpu, ts_ns);

	e.work.work = address;
	e.work.worker = tid;
	if (kind != VW_EVENT_WORK_QUEUE)
		e.tid = tid;
	snprintf(e.work.function, sizeof(e.work.function), "%s", function);
	give(env, &e);
}

static inline void lose(struct env *env, int32_t cpu, uint64_t count)
{
	struct vw_event e = { .kind = VW_EVENT_LOST, .cpu = cpu, .ts_ns = VW_UNKNOWN, .tid = -1 };

	e.lost = count;
	give(env, &e);
}

static inline void finish(struct env *env)
{
	assert_int_equal(vw_sched_finish(env->s), 0);
}

/* --- what came of it */

static inline size_t count(const struct env *env, enum vw_obs_kind kind)
{
	size_t i, n = 0;

	for (i = 0; i < env->n; i++)
		n += env->seen[i].kind == kind;
	return n;
}

/* The @nth of @kind, from 0; it must be there. */
static inline const struct vw_obs *nth(const struct env *env, enum vw_obs_kind kind, size_t n)
{
	size_t i;

	for (i = 0; i < env->n; i++)
		if (env->seen[i].kind == kind && !n--)
			return &env->seen[i];
	fail_msg("no such observation of kind %d", kind);
	return NULL;
}

static inline const struct vw_obs *last(const struct env *env, enum vw_obs_kind kind)
{
	assert_true(count(env, kind) > 0);
	return nth(env, kind, count(env, kind) - 1);
}

/* The only one of @kind. */
static inline const struct vw_obs *only(const struct env *env, enum vw_obs_kind kind)
{
	assert_int_equal(count(env, kind), 1);
	return nth(env, kind, 0);
}

/* What was told last of a task; NULL when nothing was. */
static inline const struct vw_task *told(const struct env *env, int32_t tid)
{
	const struct vw_task *task = NULL;
	size_t i;

	for (i = 0; i < env->n; i++)
		if (env->seen[i].kind == VW_OBS_TASK && env->seen[i].task.tid == tid)
			task = &env->seen[i].task;
	return task;
}

static inline const struct vw_worker_row *row_of(const struct env *env, int32_t tid)
{
	size_t i;

	for (i = 0; i < env->n_rows; i++)
		if (env->rows[i].task.tid == tid)
			return &env->rows[i];
	return NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
