// SPDX-License-Identifier: GPL-2.0-or-later
/* What goes into a recording comes out of it: every member, in order, and the findings with it. */
#include "record_env.h"

#define EVENTS 6000

/* One thing that happened. */
struct event {
	unsigned int id; /* a kind of observation, VW_RECORD_TICK or VW_RECORD_WORKER */
	struct vw_obs obs;
	struct vw_worker_row row;
};

struct events {
	size_t n;
	struct event *of;
};

static struct events new_events(void)
{
	struct events events = { .of = calloc(EVENTS, sizeof(struct event)) };

	assert_non_null(events.of);
	return events;
}

/* The next event, of any kind, with nothing in it that makes sense. */
static void add_random(struct record_env *env, struct events *events, const struct vw_task *task)
{
	struct event *event = &events->of[events->n++];
	struct vw_record_task record;

	memset(&record, 0, sizeof(record));
	event->id = (unsigned int)draw(env, VW_RECORD_FINDING);
	if (event->id == VW_RECORD_WORKER) {
		draw_record(env, event->id, &event->row);
		event->row.task = *task;
		event->row.ts_ns = BEGIN + events->n;
		return;
	}
	draw_record(env, event->id, &record);
	event->obs = record.obs;
	event->obs.kind = event->id;
	if (event->id != VW_OBS_REPORT || draw(env, 2))
		event->obs.ts_ns = BEGIN + events->n;
}

static void write_event(struct vw_writer *w, const struct event *event)
{
	if (event->id == VW_RECORD_WORKER)
		assert_int_equal(vw_writer_row(w, &event->row), 0);
	else if (event->id == VW_RECORD_TICK)
		assert_int_equal(vw_writer_tick(w, event->obs.ts_ns), 0);
	else
		assert_int_equal(vw_writer_obs(w, &event->obs), 0);
}

/* Reads along with what was written. */
struct reading {
	const struct events *events;
	size_t i;
};

static const struct event *next(struct reading *r)
{
	assert_true(r->i < r->events->n);
	return &r->events->of[r->i++];
}

/* Names are compared as text. */
static int check_obs(void *ctx, const struct vw_obs *obs)
{
	const struct event *event = next(ctx);
	struct vw_obs a = event->obs, b = *obs;

	assert_int_equal(obs->kind, event->id);
	if (obs->kind == VW_OBS_STINT) {
		assert_int_equal(!a.stint.clock, !b.stint.clock);
		if (a.stint.clock)
			assert_string_equal(a.stint.clock, b.stint.clock);
		a.stint.clock = b.stint.clock = NULL;
	}
	assert_memory_equal(&a, &b, sizeof(a));
	return 0;
}

static int check_tick(void *ctx, uint64_t ts_ns)
{
	const struct event *event = next(ctx);

	assert_int_equal(event->id, VW_RECORD_TICK);
	assert_int_equal(event->obs.ts_ns, ts_ns);
	return 0;
}

static int check_row(void *ctx, const struct vw_worker_row *row)
{
	const struct event *event = next(ctx);

	assert_int_equal(event->id, VW_RECORD_WORKER);
	assert_memory_equal(row, &event->row, sizeof(*row));
	return 0;
}

static void test_every_member(void **state)
{
	struct record_env *env = *state;
	struct events events = new_events();
	struct reading reading = { &events, 0 };
	const struct vw_replay to = { check_obs, check_tick, check_row, &reading };
	struct vw_writer *w = begin_record(env);
	struct vw_replay_result result;
	size_t seen[VW_RECORD_FINDING] = { 0 };
	struct vw_recording *r;
	struct vw_error e;
	struct vw_record_task task;
	size_t i;

	while (events.n < EVENTS) {
		/* Workers whose facts were not told, or are others by now. */
		memset(&task, 0, sizeof(task));
		draw_record(env, VW_OBS_TASK, &task);
		task.obs.task.tid = 1 + (int32_t)draw(env, 5);
		task.obs.task.start_ns = 1 + draw(env, 3); /* what was known would stay otherwise */
		add_random(env, &events, &task.obs.task);
	}
	for (i = 0; i < events.n; i++) {
		seen[events.of[i].id]++;
		write_event(w, &events.of[i]);
		if (!draw(env, 100))
			assert_int_equal(vw_writer_round(w, BEGIN + i * SEC, i, 1), 0);
	}
	end_record(w, EVENTS * SEC);
	for (i = 0; i < VW_RECORD_FINDING; i++)
		assert_true(seen[i] > 200);
	r = open_record(env->path);
	assert_int_equal(vw_recording_replay(r, &to, &result, &e), 0);
	assert_int_equal(reading.i, events.n);
	vw_recording_close(r);
	free(events.of);
}

/* Takes out of the event what the first version of the schema has no column for. */
static bool as_first(struct event *event)
{
	const struct vw_record_table *table = &vw_record_tables[event->id];
	char *base = event->id == VW_RECORD_WORKER ? (char *)&event->row : (char *)&event->obs;
	unsigned int i;

	for (i = 0; i < table->n_columns; i++)
		if (table->columns[i].since > 1) {
			assert_int_equal(table->columns[i].type, VW_RECORD_START); /* NULL is 0 */
			memset(base + table->columns[i].offset, 0, table->columns[i].size);
		}
	return table->since <= 1;
}

static void test_first_schema(void **state)
{
	struct record_env *env = *state;
	struct events events = new_events();
	struct reading reading = { &events, 0 };
	const struct vw_replay to = { check_obs, check_tick, check_row, &reading };
	struct vw_task task = { .tid = 7, .start_ns = 1, .comm = "vhost-5" };
	struct vw_writer *w = begin_record(env);
	size_t seen[VW_RECORD_FINDING] = { 0 };
	struct vw_replay_result result;
	struct vw_recording *r;
	struct vw_error e;
	size_t i;

	while (events.n < EVENTS / 4) {
		add_random(env, &events, &task);
		if (!as_first(&events.of[events.n - 1]))
			memset(&events.of[--events.n], 0, sizeof(struct event));
	}
	for (i = 0; i < events.n; i++) {
		seen[events.of[i].id]++;
		write_event(w, &events.of[i]);
	}
	end_record(w, EVENTS * SEC);
	assert_true(seen[VW_OBS_WORK] > 20);
	assert_int_equal(seen[VW_OBS_ELSEWHERE], 0);
	downgrade(env);
	r = open_record(env->path);
	assert_int_equal(vw_recording_info(r)->schema, 1);
	assert_int_equal(vw_recording_replay(r, &to, &result, &e), 0);
	assert_int_equal(reading.i, events.n);
	vw_recording_close(r);
	free(events.of);
}

static void test_run_row(void **state)
{
	struct record_env *env = *state;
	const struct vw_record_info info = record_info();
	const struct vw_record_info *got;
	struct vw_replay_result result;
	struct vw_recording *r;
	struct vw_error e;
	struct seen seen;

	end_record(begin_record(env), 30 * SEC);
	r = open_record(env->path);
	got = vw_recording_info(r);
	assert_int_equal(got->schema, VW_RECORD_SCHEMA);
	assert_string_equal(got->version, VW_VERSION);
	assert_string_equal(got->header.source, "recording");
	assert_string_equal(got->header.clock, "monotonic");
	assert_string_equal(got->header.level, "trace");
	assert_memory_equal(&got->header.host, &info.header.host, sizeof(info.header.host));
	assert_int_equal(got->header.n_hooks, 2);
	assert_memory_equal(got->header.hooks, info.header.hooks, sizeof(info.header.hooks));
	assert_int_equal(got->header.n_detectors, 1);
	assert_string_equal(got->header.detectors[0].kind, "starved_task");
	assert_int_equal(got->start_ns, BEGIN);
	assert_int_equal(got->start_utc_ns, info.start_utc_ns);
	assert_int_equal(got->threshold_ns, 10 * MS);
	assert_int_equal(got->tick_ns, 4 * MS);
	assert_int_equal(got->stale_ns, SEC);
	assert_int_equal(got->n_pids, 2);
	assert_memory_equal(got->pids, info.pids, sizeof(info.pids));
	assert_int_equal(got->n_tids, 1);
	assert_int_equal(got->tids[0], 3101);
	assert_true(got->finished);
	vw_recording_close(r);

	assert_int_equal(read_record(env->path, &seen, &result, &e), 0);
	assert_int_equal(seen.obs + seen.ticks + seen.rows, 0);
	assert_int_equal(result.end_ns, BEGIN + 30 * SEC);
	assert_int_equal(result.duration_ns, 30 * SEC);
	assert_int_equal(result.lost_events, 7);
	assert_int_equal(result.workers, 3);
	assert_string_equal(result.unfinished, "");
	assert_string_equal(result.complaint, "");
}

/* The facts of a worker are written when they change, not with each of its rows. */
static void test_facts_once(void **state)
{
	struct record_env *env = *state;
	struct vw_worker_row row = { .ts_ns = BEGIN, .task = { .tid = 7, .comm = "vhost-5" } };
	struct vw_writer *w = begin_record(env);
	struct vw_obs obs = { .kind = VW_OBS_TASK, .ts_ns = BEGIN };
	struct vw_replay_result result;
	struct vw_error e;
	struct seen seen;
	int i;

	for (i = 0; i < 5; i++)
		assert_int_equal(vw_writer_row(w, &row), 0); /* not told */
	obs.task = row.task;
	obs.task.start_ns = 99;
	assert_int_equal(vw_writer_obs(w, &obs), 0);
	for (i = 0; i < 5; i++)
		assert_int_equal(vw_writer_row(w, &row), 0); /* told, the start left out */
	strcpy(row.task.vm, "web01");
	for (i = 0; i < 5; i++)
		assert_int_equal(vw_writer_row(w, &row), 0);
	obs = (struct vw_obs){ .kind = VW_OBS_TASK_EXIT, .ts_ns = BEGIN, .tid = 7 };
	assert_int_equal(vw_writer_obs(w, &obs), 0);
	assert_int_equal(vw_writer_row(w, &row), 0); /* another one, or late */
	end_record(w, SEC);
	assert_int_equal(sql_number(env, "SELECT count(*) FROM task"), 4);
	assert_int_equal(sql_number(env, "SELECT sum(told) FROM task"), 1);
	assert_int_equal(sql_number(env, "SELECT count(*) FROM worker"), 16);
	assert_int_equal(read_record(env->path, &seen, &result, &e), 0);
	assert_int_equal(seen.obs, 2); /* what was not told is not told now */
	assert_int_equal(seen.rows, 16);
}

/* Findings of a run, one JSON object a line. */
struct findings {
	char *text;
	size_t size, n;
	FILE *out;
	struct vw_writer *w; /* also recorded */
	unsigned int kinds;
};

static void on_finding(void *ctx, const struct vw_finding *finding)
{
	struct findings *f = ctx;
	char *json = vw_sink_json_finding(finding);

	assert_non_null(json);
	fprintf(f->out, "%s\n", json);
	if (f->w)
		assert_int_equal(vw_writer_finding(f->w, finding, json), 0);
	free(json);
	f->kinds |= 1U << finding->kind;
	f->n++;
}

static struct vw_detect *new_detect(struct findings *f, const struct vw_record_info *info)
{
	const struct vw_detect_config config = { .threshold_ns = info->threshold_ns,
						 .tick_ns = info->tick_ns,
						 .stale_ns = info->stale_ns,
						 .host = info->header.host };
	struct vw_detect *detect;

	f->out = open_memstream(&f->text, &f->size);
	assert_non_null(f->out);
	detect = vw_detect_create(&config, on_finding, f);
	assert_non_null(detect);
	return detect;
}

static int feed_obs(void *ctx, const struct vw_obs *obs)
{
	return vw_detect_feed(ctx, obs);
}

static int feed_tick(void *ctx, uint64_t ts_ns)
{
	vw_detect_tick(ctx, ts_ns);
	return 0;
}

static int feed_row(void *ctx, const struct vw_worker_row *row)
{
	return 0;
}

/* Numbers that may mean something: a handful of tasks on some CPUs, times up to 20 s. */
static void make_plausible(struct record_env *env, const struct vw_record_table *table, void *base)
{
	unsigned int i;

	for (i = 0; i < table->n_columns; i++) {
		const struct vw_record_column *c = &table->columns[i];
		char *at = (char *)base + c->offset;
		uint64_t ns = MS * draw(env, draw(env, 2) ? 60 : 20000);
		int32_t id = 100 + (int32_t)draw(env, 12);

		if ((c->type == VW_RECORD_NS || c->type == VW_RECORD_SIGNED) && draw(env, 12))
			memcpy(at, &ns, c->size);
		else if (c->type == VW_RECORD_START)
			memset(at, 0, c->size);
		else if (c->type == VW_RECORD_ID && c->size == sizeof(id))
			memcpy(at, &id, c->size);
		else if (c->type == VW_RECORD_CPU && c->size == sizeof(id))
			*(int32_t *)at = (int32_t)draw(env, 4);
		else if (c->type == VW_RECORD_COUNT)
			*(uint64_t *)at = draw(env, 1000);
		else if (c->type == VW_RECORD_ADDRESS)
			*(uint64_t *)at = UINT64_C(0xffff888000000000) + draw(env, 4);
	}
}

static struct vw_obs plausible_obs(struct record_env *env, uint64_t now)
{
	struct vw_record_task record;
	const struct vw_record_table *list;
	unsigned int kind = (unsigned int)draw(env, VW_OBS_ELSEWHERE + 1), i, n;

	/* Most of what happens are stints; losses and exits end everything. */
	if (kind <= VW_OBS_LOSS && draw(env, 8))
		kind = VW_OBS_STINT;
	memset(&record, 0, sizeof(record));
	draw_record(env, kind, &record);
	make_plausible(env, &vw_record_tables[kind], &record);
	for (list = vw_record_tables; list < vw_record_tables + VW_RECORD_TABLES; list++) {
		if (list->shape != VW_RECORD_LIST || list->parent != kind)
			continue;
		n = *(unsigned int *)((char *)&record + list->count);
		for (i = 0; i < n; i++)
			make_plausible(env, list, (char *)&record + list->array + i * list->stride);
	}
	record.obs.kind = kind;
	record.obs.ts_ns = now;
	return record.obs;
}

/* The proof that a recording is as good as having been there. */
static void compare_findings(struct record_env *env, unsigned int *kinds, size_t *n)
{
	const struct vw_record_info info = record_info();
	struct findings live = { .n = 0 }, again = { .n = 0 };
	struct vw_detect *detect = new_detect(&live, &info);
	const struct vw_replay to = { feed_obs, feed_tick, feed_row, NULL };
	struct vw_replay replay = to;
	struct vw_replay_result result;
	uint64_t now = BEGIN, i;
	struct vw_recording *r;
	struct vw_error e;

	live.w = begin_record(env);
	for (i = 0; i < 3000; i++) {
		const struct vw_obs obs = plausible_obs(env, now);

		assert_int_equal(vw_writer_obs(live.w, &obs), 0);
		assert_int_equal(vw_detect_feed(detect, &obs), 0);
		now += MS * draw(env, 200);
		if (!draw(env, 8)) {
			assert_int_equal(vw_writer_tick(live.w, now), 0);
			vw_detect_tick(detect, now);
		}
		assert_int_equal(vw_writer_round(live.w, now, 0, 0), 0);
	}
	vw_detect_finish(detect, now);
	vw_detect_destroy(detect);
	end_record(live.w, now - BEGIN);
	assert_int_equal(sql_number(env, "SELECT count(*) FROM finding"), live.n);

	r = open_record(env->path);
	detect = new_detect(&again, vw_recording_info(r));
	replay.ctx = detect;
	assert_int_equal(vw_recording_replay(r, &replay, &result, &e), 0);
	vw_detect_finish(detect, result.end_ns);
	fclose(live.out);
	fclose(again.out);
	assert_int_equal(again.n, live.n);
	assert_string_equal(again.text, live.text);
	vw_detect_destroy(detect);
	vw_recording_close(r);
	free(live.text);
	free(again.text);
	unlink(env->path);
	*kinds |= live.kinds;
	*n += live.n;
}

static void test_same_findings(void **state)
{
	struct record_env *env = *state;
	unsigned int kinds = 0;
	size_t n = 0;
	int seed;

	for (seed = 1; seed <= 5; seed++) {
		env->random = (uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15);
		compare_findings(env, &kinds, &n);
	}
	/* A stream of which nothing comes would prove nothing. */
	assert_true(n > 500);
	assert_true(kinds & 1U << VW_NON_YIELDING_WORKER);
	assert_true(kinds & 1U << VW_STARVED_TASK);
	assert_true(kinds & 1U << VW_BUSY_WORKER);
	assert_true(kinds & 1U << VW_DELAYED_WORK_ITEM);
	assert_true(kinds & 1U << VW_LONG_WORK_ITEM);
}

static void make_few(struct record_env *env, unsigned int id, void *base)
{
	const struct vw_record_table *table = &vw_record_tables[id];
	unsigned int i;

	for (i = 0; i < table->n_columns; i++) {
		const struct vw_record_column *c = &table->columns[i];
		int32_t few = 1 + (int32_t)draw(env, 6);

		if ((c->type == VW_RECORD_ID || c->type == VW_RECORD_CPU) && !c->known)
			memcpy((char *)base + c->offset, &few, sizeof(few));
		else if (c->type == VW_RECORD_START)
			memset((char *)base + c->offset, 0, c->size);
	}
}

/* Whatever a file holds goes to the detectors: it may be nonsense, but must do no harm. */
static void test_nonsense(void **state)
{
	struct record_env *env = *state;
	const struct vw_record_info info = record_info();
	struct findings found = { .n = 0 };
	struct vw_detect *detect = new_detect(&found, &info);
	struct vw_record_task record;
	unsigned int kind, i;

	for (i = 0; i < 20000; i++) {
		kind = (unsigned int)draw(env, VW_RECORD_TICK + 1);
		memset(&record, 0, sizeof(record));
		draw_record(env, kind, &record);
		record.obs.kind = kind;
		/* Few tasks and CPUs, or nothing would meet anything. */
		if (draw(env, 3))
			make_few(env, kind, &record);
		if (kind == VW_RECORD_TICK)
			vw_detect_tick(detect, record.obs.ts_ns);
		else
			assert_int_equal(vw_detect_feed(detect, &record.obs), 0);
	}
	vw_detect_finish(detect, VW_RECORD_MAX_NS);
	vw_detect_destroy(detect);
	fclose(found.out);
	assert_true(found.n > 100);
	free(found.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_member), TEST(test_first_schema),  TEST(test_run_row),
		TEST(test_facts_once),	 TEST(test_same_findings), TEST(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
