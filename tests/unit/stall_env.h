/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of the kernel, and what the detectors make of them. */
#ifndef VW_TESTS_STALL_ENV_H
#define VW_TESTS_STALL_ENV_H

#include "detect_env.h"

#define AT (1000 * SEC)

/* As of a log that is read from a file. */
static inline int offline(void **state)
{
	return setup_clock(state, 0);
}

#define TEST_OFFLINE(name) cmocka_unit_test_setup_teardown(name, offline, teardown)

static inline struct vw_obs rcu(uint64_t ts_ns, uint64_t gp, uint64_t jiffies)
{
	struct vw_obs obs = { .kind = VW_OBS_REPORT, .ts_ns = ts_ns };
	struct vw_obs_report *r = &obs.report;

	r->kind = VW_REPORT_RCU_STALL;
	strcpy(r->flavor, "rcu_sched");
	r->detector_cpu = -1;
	r->n_cpus = 1;
	r->cpus[0] = 2;
	r->culprit_cpu = -1;
	r->gp = gp;
	r->jiffies = jiffies;
	r->stuck_ns = VW_UNKNOWN;
	return obs;
}

static inline struct vw_obs lockup(uint64_t ts_ns, uint64_t stuck_ns)
{
	struct vw_obs obs = rcu(ts_ns, VW_UNKNOWN, VW_UNKNOWN);
	struct vw_obs_report *r = &obs.report;

	r->kind = VW_REPORT_SOFT_LOCKUP;
	r->flavor[0] = '\0';
	r->stuck_ns = stuck_ns;
	return obs;
}

static inline void ran(struct vw_obs *obs, int32_t tid, const char *comm, enum vw_role role)
{
	obs->report.culprit.tid = tid;
	strcpy(obs->report.culprit.comm, comm);
	obs->report.culprit.role = role;
	obs->report.culprit_cpu = 2;
}

static inline void ran_worker(struct vw_obs *obs)
{
	ran(obs, WORKER, "vhost-3077", VW_ROLE_VHOST_WORKER);
}

/* The run ends: so many findings. */
static inline void ends_with(struct env *env, size_t n)
{
	env->n = 0;
	vw_detect_finish(env->set, 9999 * SEC);
	assert_int_equal(env->n, n);
}

static inline const struct vw_finding *found(struct env *env, const struct vw_obs *obs)
{
	feed(env, obs);
	ends_with(env, 1);
	return &env->seen[0];
}

#endif
