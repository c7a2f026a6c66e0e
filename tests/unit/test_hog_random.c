// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random stints on four CPUs, by seed, against a second opinion: the rules of docs/FORMATS written
 * down once more, as plainly as they are there.
 *
 * Each stint has tasks of its own, so that nobody owes anybody (that is test_debt.c's).
 */
#include "hog_env.h"

#define CPUS 4
#define ROUNDS 400
#define SEEDS 40
#define MAX_EPISODES 4096

/* What the second opinion expects: one closed finding. */
struct episode {
	int32_t cpu, tid;
	enum vw_kind kind;
	uint64_t start_ns, end_ns;
};

struct cpu {
	struct vw_obs obs; /* the stint under way */
	uint64_t begin_ns, request_ns; /* request 0: none */
	bool lazy, open;
	struct episode episode;
};

struct world {
	struct env *env;
	uint64_t random;
	int32_t next_tid;
	uint64_t now;
	struct cpu cpus[CPUS];
	size_t n;
	struct episode expected[MAX_EPISODES];
};

static uint32_t draw(struct world *w, uint32_t below)
{
	/* xorshift64*; any would do. */
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (uint32_t)((w->random * UINT64_C(2685821657736338717)) >> 33) % below;
}

/* By the rules: the kind of @s, or -1; and since when. */
static int opinion(const struct vw_obs_stint *s, bool watched, uint64_t *since_ns)
{
	bool somebody = s->nr_running > 1 && !s->n_waiters;
	uint64_t fair, longest = 0;
	unsigned int i;

	for (i = 0; i < s->n_waiters; i++) {
		if (s->waiters[i].throttled)
			continue;
		somebody = true;
		fair = 20 * MS;
		if (s->waiters[i].weight < s->weight)
			fair = fair * s->weight / s->waiters[i].weight;
		if (s->waiters[i].wait_ns >= fair && s->waiters[i].wait_ns > longest)
			longest = s->waiters[i].wait_ns;
	}
	*since_ns = s->pending_ns;
	if (watched && s->pending_ns >= 10 * MS && s->pending_ticks >= 2 && somebody)
		return VW_NON_YIELDING_WORKER;
	if (!watched && s->pending_ns >= 20 * MS && s->pending_ticks >= 4 && somebody)
		return VW_STARVED_TASK;
	*since_ns = longest < s->oncpu_ns ? longest : s->oncpu_ns;
	if (longest && s->oncpu_ns > 20 * MS && s->ticks >= 4 && !s->rt &&
	    s->resched != VW_RESCHED_FULL)
		return VW_STARVED_TASK;
	*since_ns = s->oncpu_ns;
	if (watched && !somebody && s->oncpu_ns >= 5 * SEC)
		return VW_BUSY_WORKER;
	return -1;
}

static void expect(struct world *w, struct cpu *c, uint64_t end_ns)
{
	assert_true(w->n < MAX_EPISODES);
	c->episode.end_ns = end_ns;
	w->expected[w->n++] = c->episode;
	c->open = false;
}

/* Takes note of one observation; the same ends as in FORMATS: seen to last until the last look. */
static void judge(struct world *w, struct cpu *c)
{
	const struct vw_obs_stint *s = &c->obs.stint;
	uint64_t now = c->obs.ts_ns, since_ns;
	int kind = opinion(s, s->tid % 2, &since_ns);
	bool other = c->open && (int)c->episode.kind != kind;

	if (c->open && other) {
		if (kind >= 0 || s->final)
			c->episode.end_ns = now;
		expect(w, c, c->episode.end_ns);
		if (s->final)
			return;
	}
	if (kind < 0)
		return;
	if (!c->open) {
		c->open = true;
		c->episode =
			(struct episode){ s->cpu, s->tid, (enum vw_kind)kind, now - since_ns, 0 };
	}
	c->episode.end_ns = now;
	if (s->final)
		expect(w, c, now);
}

static void begin(struct world *w, int32_t cpu)
{
	struct cpu *c = &w->cpus[cpu];
	struct vw_obs_stint *s;
	unsigned int i, n = draw(w, 4) ? draw(w, 4) : draw(w, VW_MAX_VICTIMS + 1);

	w->next_tid += 100;
	c->obs = stint(cpu, w->next_tid + (int32_t)draw(w, 2), w->now, 0);
	c->begin_ns = w->now;
	c->request_ns = 0;
	s = &c->obs.stint;
	s->rt = !draw(w, 8);
	s->weight = draw(w, 3) ? 1024 : 15 + draw(w, 3000);
	s->nr_running = 1 + !draw(w, 6);
	for (i = 0; i < n; i++) {
		struct vw_waiter *one = waiter(&c->obs, w->next_tid + 10 + (int32_t)i, 0);

		one->weight = draw(w, 3) ? 1024 : 15 + draw(w, 3000);
		one->throttled = !draw(w, 5);
	}
	tell(w->env, s->tid, "task", VW_ROLE_OTHER, s->tid % 2);
}

/* One look at a CPU: the world has gone on by 1 to 3000 ms. */
static void look(struct world *w, int32_t cpu)
{
	struct cpu *c = &w->cpus[cpu];
	struct vw_obs_stint *s = &c->obs.stint;
	unsigned int i;

	c->obs.ts_ns = w->now;
	s->oncpu_ns = w->now - c->begin_ns;
	/* Some looks come late or not at all, on a virtual machine. */
	s->ticks = (uint32_t)(s->oncpu_ns / TICK) / (1 + !draw(w, 6) * 4);
	if (!c->request_ns && !draw(w, 3))
		c->request_ns = w->now - 1;
	else if (c->request_ns && !draw(w, 5))
		c->request_ns = 0;
	s->resched = draw(w, 4) ? VW_RESCHED_NONE : VW_RESCHED_LAZY;
	s->pending_ns = 0;
	s->pending_ticks = 0;
	if (c->request_ns)
		pending(&c->obs, w->now - c->request_ns);
	for (i = 0; i < s->n_waiters; i++)
		if (draw(w, 8))
			s->waiters[i].wait_ns = s->oncpu_ns * (1 + draw(w, 100)) / 100;
	s->final = !draw(w, 6);
	judge(w, c);
	feed(w->env, &c->obs);
	if (s->final)
		begin(w, cpu);
}

struct finding_log {
	bool open;
	const struct vw_finding *f;
};

/* What holds for each finding by itself. */
static void check_sense(const struct vw_finding *f)
{
	uint64_t unit = f->kind == VW_STARVED_TASK ? 2 * T : T;
	unsigned int i;

	assert_true(f->end_ns >= f->start_ns);
	assert_int_equal(f->duration_ns, f->end_ns - f->start_ns);
	assert_true(f->kind == VW_BUSY_WORKER || f->duration_ns >= unit);
	if (f->kind == VW_BUSY_WORKER)
		assert_int_equal(f->severity, VW_INFO);
	else
		assert_int_equal(f->severity,
				 f->duration_ns < 10 * unit ? VW_WARNING : VW_CRITICAL);
	for (i = 0; i < f->n_victims; i++) {
		assert_true(f->victims[i].wait_total_ns >= f->victims[i].wait_ns);
		assert_true(!i || f->victims[i].wait_ns <= f->victims[i - 1].wait_ns);
	}
	assert_true(strlen(f->message) > 0);
	assert_true(f->has_culprit);
}

/* At most one is open a CPU; what is open is told again under the same name until it closes. */
static void check_lives(const struct env *env)
{
	struct finding_log log[CPUS];
	size_t i;

	memset(log, 0, sizeof(log));
	for (i = 0; i < env->n; i++) {
		const struct vw_finding *f = &env->seen[i];
		struct finding_log *l = &log[f->cpu];

		check_sense(f);
		if (l->open) {
			assert_int_equal(f->kind, l->f->kind);
			assert_int_equal(f->start_ns, l->f->start_ns);
			assert_int_equal(f->culprit.tid, l->f->culprit.tid);
			assert_true(f->end_ns >= l->f->end_ns);
		}
		l->f = f;
		l->open = f->status == VW_OPEN;
	}
}

static void check_against_opinion(const struct world *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->env->n; i++) {
		const struct vw_finding *f = &w->env->seen[i];
		const struct episode *e = &w->expected[n];

		if (f->status == VW_OPEN)
			continue;
		assert_true(n < w->n);
		assert_int_equal(f->cpu, e->cpu);
		assert_int_equal(f->culprit.tid, e->tid);
		assert_int_equal(f->kind, e->kind);
		assert_int_equal(f->start_ns, e->start_ns);
		assert_int_equal(f->end_ns, e->end_ns);
		n++;
	}
	assert_int_equal(n, w->n);
}

/* What was not seen for a second has ended where it was last seen. */
static void tick(struct world *w)
{
	int32_t cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		if (w->cpus[cpu].open && w->now - w->cpus[cpu].episode.end_ns > SEC)
			expect(w, &w->cpus[cpu], w->cpus[cpu].episode.end_ns);
	vw_detect_tick(w->env->set, w->now);
}

static void run(struct env *env, struct world *w, uint64_t seed)
{
	int32_t cpu;
	int round;

	memset(w, 0, sizeof(*w));
	w->env = env;
	w->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	w->now = 1000 * SEC;
	for (cpu = 0; cpu < CPUS; cpu++)
		begin(w, cpu);
	for (round = 0; round < ROUNDS; round++) {
		w->now += draw(w, 4) ? MS * (1 + draw(w, 30)) : MS * (1 + draw(w, 3000));
		look(w, (int32_t)draw(w, CPUS));
		if (!draw(w, 10))
			tick(w);
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		if (w->cpus[cpu].open) {
			lose(env, cpu, w->now);
			expect(w, &w->cpus[cpu], w->cpus[cpu].episode.end_ns);
		}
}

static void test_random(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	size_t total[VW_KIND_COUNT] = { 0 };
	struct env *env;
	void *one;
	uint64_t seed;
	size_t i;

	(void)state;
	assert_non_null(w);
	for (seed = 1; seed <= SEEDS; seed++) {
		setup(&one);
		env = one;
		run(env, w, seed);
		check_lives(env);
		check_against_opinion(w);
		for (i = 0; i < w->n; i++)
			total[w->expected[i].kind]++;
		teardown(&one);
	}
	/* A generator that makes no cases would pass any detector. */
	assert_true(total[VW_NON_YIELDING_WORKER] > 300);
	assert_true(total[VW_STARVED_TASK] > 300);
	assert_true(total[VW_BUSY_WORKER] > 20);
	free(w);
}

/* The same input gives the same findings, sentences included. */
static void test_same_input_same_output(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct env *a, *b;
	void *one, *two;
	size_t i;

	(void)state;
	assert_non_null(w);
	setup(&one);
	setup(&two);
	a = one;
	b = two;
	run(a, w, 7);
	run(b, w, 7);
	assert_true(a->n > 10);
	assert_int_equal(a->n, b->n);
	for (i = 0; i < a->n; i++) {
		assert_string_equal(a->seen[i].message, b->seen[i].message);
		assert_string_equal(a->seen[i].remedy, b->seen[i].remedy);
		assert_int_equal(a->seen[i].status, b->seen[i].status);
		assert_int_equal(a->seen[i].end_ns, b->seen[i].end_ns);
	}
	teardown(&one);
	teardown(&two);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_same_input_same_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
