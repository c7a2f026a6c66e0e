// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A small scheduler at random: what the model adds up and tells must be what was played, and with
 * events lost never more than that.
 */
#include "sched_env.h"

#define CPUS 4
#define TASKS 24
#define FIRST_TID 1000
#define STEPS 20000
#define MAX_ENDS 65536

struct played {
	bool runs, waits, moved;
	int32_t cpu; /* where it runs or waits */
	uint64_t since_ns;
	uint64_t oncpu_ns, wait_ns, charged_ns, voluntary, involuntary, migrations;
};

/* A stint or a wait that is over. */
struct ended {
	int32_t tid, cpu;
	uint64_t ts_ns, ns;
	bool moved;
};

struct game {
	struct env *env;
	uint64_t seed, ts_ns;
	struct played tasks[TASKS];
	int32_t curr[CPUS]; /* index of a task, -1 idle */
	uint64_t since_ns[CPUS];
	unsigned int losing[CPUS]; /* events of that CPU are not recorded, for so many */
	unsigned int lost[CPUS];
	bool lossy;
	size_t n_stints, n_waits;
	struct ended stints[MAX_ENDS], waits[MAX_ENDS];
};

static uint64_t draw(struct game *g, uint64_t n)
{
	g->seed ^= g->seed << 13;
	g->seed ^= g->seed >> 7;
	g->seed ^= g->seed << 17;
	return g->seed % n;
}

static int32_t tid_of(int32_t task)
{
	return task < 0 ? 0 : FIRST_TID + task;
}

/* Whether the next event of @cpu is recorded. */
static bool records(struct game *g, int32_t cpu)
{
	if (g->lossy && !g->losing[cpu] && !draw(g, 500))
		g->losing[cpu] = 1 + (unsigned int)draw(g, 30);
	if (g->losing[cpu]) {
		g->losing[cpu]--;
		g->lost[cpu]++;
		return false;
	}
	if (g->lost[cpu]) {
		lose(g->env, cpu, g->lost[cpu]);
		g->env->curr[cpu] = -1;
	}
	g->lost[cpu] = 0;
	return true;
}

static void note(struct ended *list, size_t *n, int32_t tid, int32_t cpu, uint64_t ts_ns,
		 uint64_t ns, bool moved)
{
	assert_true(*n < MAX_ENDS);
	list[(*n)++] = (struct ended){ tid, cpu, ts_ns, ns, moved };
}

static void play_switch(struct game *g, int32_t cpu)
{
	int32_t prev = g->curr[cpu], next = -1, i, waiting[TASKS], n = 0;
	char state = draw(g, 2) ? 'R' : draw(g, 2) ? 'S' : 'D';

	for (i = 0; i < TASKS; i++)
		if (g->tasks[i].waits && g->tasks[i].cpu == cpu)
			waiting[n++] = i;
	if (n)
		next = waiting[draw(g, (uint64_t)n)];
	if (next == prev)
		return;
	if (prev >= 0) {
		struct played *p = &g->tasks[prev];

		p->oncpu_ns += g->ts_ns - p->since_ns;
		note(g->stints, &g->n_stints, tid_of(prev), cpu, g->ts_ns, g->ts_ns - p->since_ns,
		     false);
		p->runs = false;
		p->since_ns = g->ts_ns;
		p->moved = false;
		p->waits = state == 'R';
		p->involuntary += state == 'R';
		p->voluntary += state != 'R';
	}
	if (next >= 0) {
		struct played *p = &g->tasks[next];

		p->wait_ns += g->ts_ns - p->since_ns;
		note(g->waits, &g->n_waits, tid_of(next), cpu, g->ts_ns, g->ts_ns - p->since_ns,
		     p->moved);
		p->waits = false;
		p->runs = true;
		p->since_ns = g->ts_ns;
	}
	g->curr[cpu] = next;
	if (records(g, cpu))
		sw(g->env, g->ts_ns, cpu, tid_of(prev), prev < 0 ? 'R' : state, tid_of(next));
}

static void play_wakeup(struct game *g, int32_t task, int32_t cpu)
{
	struct played *p = &g->tasks[task];

	if (!p->waits && !p->runs) {
		p->waits = true;
		p->moved = false;
		p->cpu = cpu;
		p->since_ns = g->ts_ns;
	}
	if (records(g, cpu))
		wake_by(g->env, VW_EVENT_WAKEUP, g->ts_ns, cpu, tid_of(task), p->cpu);
}

static void play_move(struct game *g, int32_t task, int32_t to)
{
	struct played *p = &g->tasks[task];
	int32_t from = p->cpu;

	if (!p->waits || from == to)
		return;
	p->cpu = to;
	p->moved = true;
	p->migrations++;
	if (records(g, to)) {
		struct vw_event e = event(g->env, VW_EVENT_MIGRATE, to, g->ts_ns);

		e.migrate.task = who(g->env, tid_of(task));
		e.migrate.from_cpu = from;
		e.migrate.to_cpu = to;
		give(g->env, &e);
	}
}

static void play_tick(struct game *g, int32_t cpu)
{
	uint64_t ns = draw(g, MS);

	if (g->curr[cpu] < 0)
		return;
	g->tasks[g->curr[cpu]].charged_ns += ns;
	if (records(g, cpu))
		rt(g->env, g->ts_ns, cpu, tid_of(g->curr[cpu]), ns);
}

static void play(struct game *g)
{
	int32_t i;

	for (i = 0; i < TASKS; i++) {
		char comm[VW_COMM_LEN];

		snprintf(comm, sizeof(comm), "vhost-%u", 100U + (unsigned int)i % TASKS);
		call(g->env, tid_of(i), comm);
		g->tasks[i].cpu = i % CPUS;
	}
	/* All begins at rest, and seen. */
	for (i = 0; i < CPUS; i++) {
		g->curr[i] = -1;
		seen(g->env, g->ts_ns, i, 0, VW_RESCHED_NONE);
	}
	for (i = 0; i < STEPS; i++) {
		int32_t cpu = (int32_t)draw(g, CPUS), task = (int32_t)draw(g, TASKS);

		g->ts_ns += draw(g, 4) ? draw(g, 300 * US) : draw(g, 20 * MS);
		switch (draw(g, 8)) {
		case 0:
		case 1:
			play_wakeup(g, task, cpu);
			break;
		case 2:
			play_move(g, task, cpu);
			break;
		case 3:
			play_tick(g, cpu);
			break;
		default:
			play_switch(g, cpu);
			break;
		}
	}
}

/* The one that ended there and then; NULL when there was none. */
static const struct ended *match(const struct ended *list, size_t n, int32_t tid, uint64_t ts_ns)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].tid == tid && list[i].ts_ns == ts_ns)
			return &list[i];
	return NULL;
}

static size_t at_least(const struct ended *list, size_t n, uint64_t ns)
{
	size_t i, found = 0;

	for (i = 0; i < n; i++)
		found += list[i].ns >= ns;
	return found;
}

static void check_told(const struct game *g)
{
	size_t i, stints = 0, waits = 0, over = 0;

	for (i = 0; i < g->env->n; i++) {
		const struct vw_obs *obs = &g->env->seen[i];
		const struct ended *truth;

		if (obs->kind == VW_OBS_STINT && obs->stint.final) {
			truth = match(g->stints, g->n_stints, obs->stint.tid, obs->ts_ns);
			assert_non_null(truth);
			assert_int_equal(obs->stint.cpu, truth->cpu);
			assert_true(obs->stint.oncpu_ns <= truth->ns);
			assert_true(g->lossy || obs->stint.oncpu_ns == truth->ns);
			stints++;
		} else if (obs->kind == VW_OBS_WAIT && obs->wait.final) {
			truth = match(g->waits, g->n_waits, obs->wait.tid, obs->ts_ns);
			assert_non_null(truth);
			assert_int_equal(obs->wait.cpu, truth->cpu);
			over += !truth->moved && obs->wait.wait_ns > truth->ns;
			assert_true(g->lossy || obs->wait.wait_ns == truth->ns);
			waits++;
		}
	}
	if (g->lossy) {
		assert_true(stints > 1000 && waits > 1000);
		/* The gap of another CPU may hide that it ran there and came back. */
		assert_true(over <= waits / 1000);
		return;
	}
	assert_int_equal(stints, at_least(g->stints, g->n_stints, T));
	assert_int_equal(waits, at_least(g->waits, g->n_waits, 2 * T));
}

static void check_rows(struct game *g)
{
	int32_t i;

	for (i = 0; i < TASKS; i++) {
		const struct vw_worker_row *row = row_of(g->env, tid_of(i));
		struct played *p = &g->tasks[i];

		/* One that never was in an event has no row. */
		if (!row) {
			assert_int_equal(p->oncpu_ns, 0);
			continue;
		}
		if (p->runs)
			p->oncpu_ns += row->ts_ns - p->since_ns;
		if (p->waits)
			p->wait_ns += row->ts_ns - p->since_ns;
		if (g->lossy) {
			assert_true(row->oncpu_ns <= p->oncpu_ns);
			continue;
		}
		assert_int_equal(row->oncpu_ns, p->oncpu_ns);
		assert_int_equal(row->wait_ns, p->wait_ns);
		assert_int_equal(row->charged_ns, p->charged_ns);
		assert_int_equal(row->voluntary, p->voluntary);
		assert_int_equal(row->involuntary, p->involuntary);
		assert_int_equal(row->migrations, p->migrations);
	}
}

static void run(struct env *env, uint64_t seed, bool lossy)
{
	struct game *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	print_message("seed %llu%s\n", (unsigned long long)seed, lossy ? ", lossy" : "");
	restart(env);
	g->env = env;
	g->seed = seed * UINT64_C(0x9e3779b97f4a7c15);
	g->ts_ns = START;
	g->lossy = lossy;
	play(g);
	finish(env);
	check_told(g);
	check_rows(g);
	free(g);
}

static void test_complete(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 16; seed++)
		run(*state, seed, false);
}

static void test_lossy(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 16; seed++)
		run(*state, seed, true);
}

/* The same events give the same observations, byte for byte. */
static void test_repeatable(void **state)
{
	struct env *env = *state;
	struct vw_obs *first;
	size_t n;

	run(env, 7, true);
	n = env->n;
	first = malloc(n * sizeof(*first));
	assert_non_null(first);
	memcpy(first, env->seen, n * sizeof(*first));
	run(env, 7, true);
	assert_int_equal(env->n, n);
	assert_memory_equal(first, env->seen, n * sizeof(*first));
	free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_complete),
		TEST(test_lossy),
		TEST(test_repeatable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
