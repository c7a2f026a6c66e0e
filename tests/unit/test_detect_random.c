// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Observations of all kinds with anything in them, by seed: what must hold for whatever detectors
 * make of them.
 */
#include "detect_env.h"

#define SEEDS 20
#define ROUNDS 4000
#define CPUS 4
#define TASKS 12
#define MAX_LOG 65536

/* What is compared and checked of a finding; whole ones would take too much room. */
struct note {
	enum vw_kind kind;
	enum vw_severity severity;
	enum vw_status status;
	enum vw_cause cause;
	int32_t cpu, culprit;
	uint64_t start_ns, end_ns, duration_ns, count;
	uint64_t waits_ns; /* sum over the victims */
	uint64_t text; /* hash */
};

struct log {
	size_t n;
	struct note notes[MAX_LOG];
};

struct world {
	uint64_t random, now;
};

static uint64_t draw(struct world *w, uint64_t below)
{
	/* xorshift64*; any would do. */
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return ((w->random * UINT64_C(2685821657736338717)) >> 16) % below;
}

static uint64_t hash(uint64_t seed, const char *text)
{
	for (; *text; text++)
		seed = (seed ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return seed;
}

/* docs/FORMATS: which causes a kind has. */
static bool has_cause(enum vw_kind kind, enum vw_cause cause)
{
	switch (kind) {
	case VW_NON_YIELDING_WORKER:
		return cause == VW_CAUSE_IGNORES_RESCHED || cause == VW_CAUSE_SOFTIRQ_IN_WORKER;
	case VW_STARVED_TASK:
		return cause == VW_CAUSE_UNKNOWN || cause == VW_CAUSE_IGNORES_RESCHED ||
		       cause == VW_CAUSE_SCHEDULER_NO_REQUEST ||
		       cause == VW_CAUSE_LAZY_PREEMPTION || cause == VW_CAUSE_SOFTIRQ ||
		       (cause >= VW_CAUSE_GROUP_OR_PAIR && cause <= VW_CAUSE_THROTTLED);
	case VW_BUSY_WORKER:
		return cause == VW_CAUSE_SATURATED;
	case VW_DELAYED_WORK_ITEM:
		return cause >= VW_CAUSE_HEAD_OF_LINE && cause <= VW_CAUSE_WORKER_STOPPED;
	case VW_LONG_WORK_ITEM:
		return cause == VW_CAUSE_STILL_RUNNING || cause == VW_CAUSE_LONG;
	case VW_CPU_ACCOUNTING_GAP:
		return cause == VW_CAUSE_UNKNOWN ||
		       (cause >= VW_CAUSE_NOT_CHARGED && cause <= VW_CAUSE_CPU_TOTALS);
	case VW_SPURIOUS_MIGRATION_BOOST:
		return cause == VW_CAUSE_UNKNOWN || cause == VW_CAUSE_FUTILE_KICK ||
		       cause == VW_CAUSE_PING_PONG || cause == VW_CAUSE_NUMA_BALANCING;
	case VW_WORKER_ON_VCPU_CPU:
		return cause == VW_CAUSE_PLACEMENT;
	case VW_YIELD_PING_PONG:
		return cause == VW_CAUSE_DIRECTED_YIELD;
	case VW_OWNER_BLOCKED:
		return cause == VW_CAUSE_WAITS_FOR_WORKER;
	default:
		return true;
	}
}

static void check(void *ctx, const struct vw_finding *f)
{
	struct log *log = ctx;
	struct note *note = &log->notes[log->n];
	unsigned int i;

	assert_true(log->n++ < MAX_LOG);
	assert_true(f->end_ns >= f->start_ns);
	assert_true(f->duration_ns <= f->end_ns - f->start_ns);
	assert_int_equal(f->evidence.span_ns, f->end_ns - f->start_ns);
	assert_true(f->evidence.count >= 1);
	assert_true(has_cause(f->kind, f->cause));
	assert_true(f->message[0]);
	/* Nobody is told that something unknown took 584 years. */
	assert_null(strstr(f->message, "18446744073"));

	assert_null(strstr(f->message, "5124095h"));
	assert_null(strstr(f->remedy, "-1"));
	memset(note, 0, sizeof(*note));
	*note = (struct note){
		.kind = f->kind,
		.severity = f->severity,
		.status = f->status,
		.cause = f->cause,
		.cpu = f->cpu,
		.culprit = f->has_culprit ? f->culprit.tid : 0,
		.start_ns = f->start_ns,
		.end_ns = f->end_ns,
		.duration_ns = f->duration_ns,
		.count = f->evidence.count,
		.text = hash(hash(7, f->message), f->remedy),
	};
	for (i = 0; i < f->n_victims; i++) {
		assert_true(f->victims[i].wait_total_ns >= f->victims[i].wait_ns ||
			    f->kind == VW_WORKER_ON_VCPU_CPU);
		assert_true(!i || f->victims[i].wait_ns <= f->victims[i - 1].wait_ns);
		note->waits_ns += f->victims[i].wait_total_ns;
	}
}

static int32_t tid(struct world *w)
{
	return 100 + (int32_t)draw(w, TASKS);
}

static int32_t cpu(struct world *w)
{
	return (int32_t)draw(w, CPUS);
}

/* Up to the time that it is, often short, now and then unknown. */
static uint64_t ns(struct world *w)
{
	static const uint64_t scale[] = { MS, 30 * MS, 300 * MS, 3 * SEC, 80 * SEC };
	uint64_t value = draw(w, scale[draw(w, 5)]);

	return value > w->now ? w->now : value;
}

static uint64_t maybe_ns(struct world *w)
{
	return draw(w, 4) ? ns(w) : VW_UNKNOWN;
}

static int64_t sample(struct world *w)
{
	switch (draw(w, 12)) {
	case 0:
		return VW_SAMPLE_UNKNOWN;
	case 1:
		return draw(w, 2) ? INT64_MAX : -(int64_t)ns(w);
	default:
		return (int64_t)draw(w, SEC);
	}
}

static void fill_task(struct world *w, struct vw_obs *obs)
{
	struct vw_task *t = &obs->task;

	obs->kind = VW_OBS_TASK;
	t->tid = tid(w);
	t->tgid = (int32_t)draw(w, 3) * 50;
	t->start_ns = draw(w, 3);
	t->role = (enum vw_role)draw(w, 5);
	t->backend = (enum vw_backend)draw(w, 4);
	t->watched = t->role == VW_ROLE_VHOST_WORKER || !draw(w, 3);
	snprintf(t->comm, sizeof(t->comm), "task %d", t->tid);
	snprintf(t->cpus_allowed, sizeof(t->cpus_allowed), "%s", draw(w, 2) ? "2" : "0-3");
}

static void fill_wait(struct world *w, struct vw_obs *obs)
{
	struct vw_obs_wait *o = &obs->wait;

	obs->kind = VW_OBS_WAIT;
	o->cpu = cpu(w);
	o->tid = tid(w);
	o->final = draw(w, 2);
	o->throttled = !draw(w, 6);
	o->weight = (uint32_t)draw(w, 2000);
	o->heaviest = (uint32_t)draw(w, 2000);
	o->wait_ns = ns(w);
	o->idle_ns = draw(w, 2) ? 0 : maybe_ns(w);
	o->rt_ns = draw(w, 2) ? 0 : maybe_ns(w);
	o->softirq_ns = maybe_ns(w);
	o->longest_stint_ns = draw(w, 8) ? draw(w, 25 * MS) : VW_UNKNOWN;
	o->fair_ns = draw(w, 8) ? draw(w, 60 * MS) : VW_UNKNOWN;
	o->runners = (uint32_t)draw(w, 5);
	o->top_tid = draw(w, 3) ? tid(w) : 0;
	o->top_ns = ns(w);
	o->released = !draw(w, 3);
	o->woken_cpu = cpu(w) - 1;
}

static void fill_work(struct world *w, struct vw_obs *obs)
{
	struct vw_obs_work *o = &obs->work;

	obs->kind = VW_OBS_WORK;
	o->phase = (enum vw_work_phase)draw(w, 4);
	o->cpu = cpu(w) - 1;
	o->tid = draw(w, 5) ? tid(w) : 0;
	o->start_ns = draw(w, 20) ? 0 : (1 + draw(w, 2)) * SEC;
	o->work = draw(w, 6);
	snprintf(o->function, sizeof(o->function), "%s", draw(w, 2) ? "handle_tx_kick" : "");
	o->oncpu_ns = maybe_ns(w);
	o->wait_ns = maybe_ns(w);
	o->throttled_ns = maybe_ns(w);
}

static void fill_busy(struct world *w, struct vw_obs *obs)
{
	struct vw_obs_busy *o = &obs->busy;

	obs->kind = VW_OBS_BUSY;
	o->cpu = cpu(w);
	o->tid = tid(w);
	o->final = draw(w, 2);
	o->busy_ns = ns(w);
	o->oncpu_ns = maybe_ns(w);
	o->wait_ns = maybe_ns(w);
	o->longest_wait_ns = draw(w, 2) ? draw(w, 30 * MS) : VW_UNKNOWN;
	o->items = draw(w, 2) ? draw(w, 1000000) : VW_UNKNOWN;
}

static void fill_charge(struct world *w, struct vw_obs *obs)
{
	struct vw_obs_charge *o = &obs->charge;

	obs->kind = VW_OBS_CHARGE;
	o->tid = draw(w, 4) ? tid(w) : 0;
	o->cpu = cpu(w) - 1;
	o->window_ns = draw(w, 10) ? SEC : draw(w, 2);
	o->oncpu_ns = sample(w);
	o->charged_ns = sample(w);
	o->irq_ns = sample(w);
	o->softirq_ns = sample(w);
	o->steal_ns = sample(w);
	o->taken_out_known = draw(w, 2);
	o->taken_out = (unsigned int)draw(w, 8);
	o->totals = !o->tid && draw(w, 2);
}

static void fill_move(struct world *w, struct vw_obs *obs)
{
	struct vw_obs_move *o = &obs->move;
	unsigned int i;

	obs->kind = VW_OBS_MOVE;
	o->tid = tid(w);
	o->from_cpu = cpu(w);
	o->to_cpu = cpu(w);
	o->moved_ns = w->now - ns(w) % (2 * SEC);
	o->ran = draw(w, 2);
	o->wait_ns = ns(w);
	o->old_cpu_idle_ns = maybe_ns(w);
	o->relieved_ns = draw(w, 2) ? 0 : draw(w, 20 * MS);
	o->displaced_tid = draw(w, 2) ? tid(w) : 0;
	o->displaced_wait_ns = ns(w);
	o->n_overtaken = (unsigned int)draw(w, VW_MAX_VICTIMS + 1);
	for (i = 0; i < o->n_overtaken; i++) {
		o->overtaken[i].tid = tid(w);
		o->overtaken[i].wait_ns = ns(w);
	}
	o->idle_known = draw(w, 2);
	o->allowed_known = draw(w, 2);
	snprintf(o->allowed, sizeof(o->allowed), "%s", draw(w, 2) ? "0-3" : "0,2");
	o->n_idle = draw(w, 2) ? 0 : (unsigned int)draw(w, VW_MAX_LIST + 1);
	for (i = 0; i < o->n_idle; i++)
		o->idle_cpus[i] = cpu(w);
	o->numa = !draw(w, 4);
	o->back = draw(w, 2);
}

static void fill_stint(struct world *w, struct vw_obs *obs)
{
	struct vw_obs_stint *o = &obs->stint;
	unsigned int i;

	obs->kind = VW_OBS_STINT;
	o->cpu = cpu(w);
	o->tid = tid(w);
	o->final = draw(w, 2);
	o->oncpu_ns = ns(w);
	o->resched = (enum vw_resched)draw(w, 4);
	if (o->resched == VW_RESCHED_FULL)
		o->pending_ns = draw(w, o->oncpu_ns + 1);
	o->ticks = (uint32_t)(o->oncpu_ns / TICK);
	o->pending_ticks = (uint32_t)(o->pending_ns / TICK);
	o->softirq_ns = maybe_ns(w);
	o->irq_ns = maybe_ns(w);
	o->n_waiters = (unsigned int)draw(w, 3);
	o->nr_running = 1 + o->n_waiters;
	for (i = 0; i < o->n_waiters; i++) {
		o->waiters[i].tid = tid(w);
		o->waiters[i].wait_ns = ns(w);
	}
}

static void fill_rest(struct world *w, struct vw_obs *obs)
{
	switch (draw(w, 5)) {
	case 0:
		obs->kind = VW_OBS_SHARE;
		obs->share.cpu = cpu(w);
		obs->share.vcpu_tid = tid(w);
		obs->share.worker_tid = tid(w);
		obs->share.window_ns = draw(w, 10) ? SEC : draw(w, 2);
		obs->share.interruptions = draw(w, 3) ? draw(w, 2000) : 0;
		obs->share.taken_ns = draw(w, 30 * MS);
		break;
	case 1:
		obs->kind = VW_OBS_PAIR;
		obs->pair.cpu = cpu(w);
		obs->pair.tid[0] = tid(w);
		obs->pair.tid[1] = tid(w);
		obs->pair.window_ns = draw(w, 10) ? SEC : draw(w, 2);
		obs->pair.switches = draw(w, 6000);
		obs->pair.longest_stint_ns = draw(w, 2 * MS);
		break;
	case 2:
		obs->kind = VW_OBS_BLOCKED;
		obs->blocked.tid = tid(w);
		obs->blocked.final = draw(w, 2);
		obs->blocked.state_ns = ns(w);
		obs->blocked.worker_tid = draw(w, 2) ? tid(w) : 0;
		obs->blocked.worker_busy_ns = maybe_ns(w);
		break;
	case 3:
		obs->kind = VW_OBS_TASK_EXIT;
		obs->tid = tid(w);
		break;
	default:
		obs->kind = VW_OBS_LOSS;
		obs->loss.cpu = cpu(w) - !draw(w, 8);
		break;
	}
}

static void next_obs(struct world *w, struct vw_obs *obs)
{
	static void (*const fill[])(struct world * w, struct vw_obs * obs) = {
		fill_wait, fill_work,  fill_work, fill_work, fill_busy,
		fill_move, fill_stint, fill_task, fill_rest, fill_charge,
	};

	memset(obs, 0, sizeof(*obs));
	w->now += draw(w, 3) ? draw(w, 50 * MS) : draw(w, SEC);
	obs->ts_ns = w->now;
	fill[draw(w, sizeof(fill) / sizeof(fill[0]))](w, obs);
}

static void run(uint64_t seed, struct log *log)
{
	const struct vw_detect_config config = {
		.threshold_ns = T,
		.tick_ns = TICK,
		.stale_ns = SEC,
	};
	struct vw_detect *set = vw_detect_create(&config, check, log);
	struct world w = { .random = seed, .now = 200 * SEC };
	struct vw_obs obs;
	unsigned int i;

	assert_non_null(set);
	log->n = 0;
	for (i = 0; i < ROUNDS; i++) {
		next_obs(&w, &obs);
		assert_int_equal(vw_detect_feed(set, &obs), 0);
		if (!draw(&w, 10))
			vw_detect_tick(set, w.now);
	}
	/* Now nothing is known of anything. */
	memset(&obs, 0, sizeof(obs));
	obs.kind = VW_OBS_LOSS;
	obs.ts_ns = w.now;
	obs.loss.cpu = -1;
	assert_int_equal(vw_detect_feed(set, &obs), 0);
	vw_detect_tick(set, w.now + 100 * SEC);
	vw_detect_finish(set, w.now + 200 * SEC);
	vw_detect_destroy(set);
}

static bool same_finding(const struct note *a, const struct note *b)
{
	return a->kind == b->kind && a->start_ns == b->start_ns && a->cpu == b->cpu &&
	       a->culprit == b->culprit;
}

/* What opened was closed, and nothing is told of it between its end and its next beginning. */
static void check_lives(const struct log *log)
{
	size_t i, j;

	for (i = 0; i < log->n; i++) {
		if (log->notes[i].status == VW_CLOSED)
			continue;
		for (j = i + 1; j < log->n && !same_finding(&log->notes[i], &log->notes[j]); j++)
			;
		assert_true(j < log->n);
		assert_true(log->notes[j].end_ns >= log->notes[i].end_ns);
		assert_true(log->notes[j].count >= log->notes[i].count);
	}
}

static void test_random(void **state)
{
	struct log *one = calloc(2, sizeof(*one)), *two = one + 1;
	unsigned int kinds[VW_KIND_COUNT] = { 0 };
	uint64_t seed;
	size_t i;

	(void)state;
	assert_non_null(one);
	for (seed = 1; seed <= SEEDS; seed++) {
		run(seed, one);
		run(seed, two);
		assert_int_equal(one->n, two->n);
		assert_memory_equal(one->notes, two->notes, one->n * sizeof(one->notes[0]));
		check_lives(one);
		for (i = 0; i < one->n; i++)
			kinds[one->notes[i].kind]++;
	}
	/* Reports of stalls come from logs, there are none here. */
	for (i = 0; i < VW_KIND_COUNT; i++)
		assert_true(kinds[i] || i == VW_RCU_STALL || i == VW_SOFT_LOCKUP);
	free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
