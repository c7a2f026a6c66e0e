/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of kernel logs start from: a reader of lines whose reports go to a list and to the
 * detectors, and everything that these found.
 */
#ifndef VW_TESTS_KLOG_ENV_H
#define VW_TESTS_KLOG_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "detect/detect.h"
#include "source/klog.h"

#define MS UINT64_C(1000000)
#define SEC (1000 * MS)
#define MAX_REPORTS 64
#define MAX_SEEN 128

struct env {
	struct vw_klog *klog;
	struct vw_detect *set;
	struct vw_replay out;
	unsigned int n_reports, n_losses, n;
	struct vw_obs reports[MAX_REPORTS];
	struct vw_finding seen[MAX_SEEN];
};

static inline void keep(void *ctx, const struct vw_finding *finding)
{
	struct env *env = ctx;

	assert_true(env->n < MAX_SEEN);
	env->seen[env->n++] = *finding;
}

static inline int take(void *ctx, const struct vw_obs *obs)
{
	struct env *env = ctx;

	if (obs->kind == VW_OBS_REPORT && env->n_reports < MAX_REPORTS)
		env->reports[env->n_reports++] = *obs;
	env->n_losses += obs->kind == VW_OBS_LOSS;
	return vw_detect_feed(env->set, obs);
}

static inline int setup(void **state)
{
	const struct vw_detect_config config = { .threshold_ns = 10 * MS, .stale_ns = INT64_MAX };
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	env->out = (struct vw_replay){ .obs = take, .ctx = env };
	env->set = vw_detect_create(&config, keep, env);
	env->klog = vw_klog_new(&env->out);
	assert_non_null(env->set);
	assert_non_null(env->klog);
	*state = env;
	return 0;
}

static inline int teardown(void **state)
{
	struct env *env = *state;

	vw_klog_free(env->klog);
	vw_detect_destroy(env->set);
	free(env);
	return 0;
}

/* One line; 1 when it was a line of a kernel log. */
static inline int line(struct env *env, const char *text)
{
	return vw_klog_line(env->klog, text, strlen(text), VW_UNKNOWN);
}

/* All lines of @text. */
static inline void lines(struct env *env, const char *text)
{
	const char *end;

	for (; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		assert_true(vw_klog_line(env->klog, text, (size_t)(end - text), VW_UNKNOWN) >= 0);
	}
}

/* The log ends. */
static inline void finish(struct env *env)
{
	uint64_t now_ns = vw_klog_now(env->klog);

	assert_int_equal(vw_klog_finish(env->klog), 0);
	vw_detect_finish(env->set, now_ns);
}

/* A whole log, and the one report in it. */
static inline const struct vw_obs_report *report_of(struct env *env, const char *text)
{
	env->n_reports = env->n = 0;
	lines(env, text);
	finish(env);
	assert_int_equal(env->n_reports, 1);
	return &env->reports[0].report;
}

/* A whole log, and the one finding in it. */
static inline const struct vw_finding *finding_of(struct env *env, const char *text)
{
	env->n_reports = env->n = 0;
	lines(env, text);
	finish(env);
	assert_int_equal(env->n, 1);
	return &env->seen[0];
}

/* A whole log, and nothing found in it. */
static inline void nothing_in(struct env *env, const char *text)
{
	env->n_reports = env->n = 0;
	lines(env, text);
	finish(env);
	assert_int_equal(env->n_reports, 0);
	assert_int_equal(env->n, 0);
}

/* Case D1; the second part is what is left when the log wrapped. */
#define D1_FIRST                                                                                   \
	"[  500.100000] rcu: INFO: rcu_sched self-detected stall on CPU\n"                         \
	"[  500.100900] rcu: \t2-....: (20990 ticks this GP)"                                      \
	" idle=3f2/1/0x4000000000000002 softirq=900/900 fqs=10300\n"
#define D1_REST                                                                                    \
	"[  500.102000] \t(t=21004 jiffies g=7001 q=55)\n"                                         \
	"[  500.103000] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n"                  \
	"[  563.200000] rcu: INFO: rcu_sched self-detected stall on CPU\n"                         \
	"[  563.201000] rcu: \t2-....: (36740 ticks this GP)"                                      \
	" idle=3f2/1/0x4000000000000002 softirq=900/900 fqs=18000\n"                               \
	"[  563.202000] \t(t=36780 jiffies g=7001 q=60)\n"                                         \
	"[  563.203000] CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1\n"

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
