// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are no recordings, damaged, of another version, or made to do harm. */
#include <fcntl.h>
#include <sys/stat.h>

#include "record_env.h"

/* A recording with some of everything in it. */
static void make_recording(struct record_env *env)
{
	struct vw_writer *w = begin_record(env);
	struct vw_record_task record;
	struct vw_worker_row row;
	unsigned int i, id;

	memset(&row, 0, sizeof(row));
	row.task.tid = 7;
	row.ts_ns = BEGIN;
	for (i = 0; i < 600; i++) {
		id = i % VW_RECORD_WORKER;
		memset(&record, 0, sizeof(record));
		draw_record(env, id, &record);
		record.obs.kind = id;
		record.obs.ts_ns = BEGIN + i * MS;
		if (id == VW_RECORD_TICK)
			assert_int_equal(vw_writer_tick(w, record.obs.ts_ns), 0);
		else
			assert_int_equal(vw_writer_obs(w, &record.obs), 0);
		if (!(i % 50))
			assert_int_equal(vw_writer_row(w, &row), 0);
	}
	end_record(w, SEC);
}

/* Must be refused as a whole, or when the bad place is reached; with one clear line. */
static int refused(struct record_env *env, const char *piece)
{
	struct vw_replay_result result = { .end_ns = 77 };
	struct vw_error e;
	struct seen seen;
	int err = read_record(env->path, &seen, &result, &e);

	if (err >= 0)
		fail_msg("taken, for all of '%s'", piece);
	assert_string_equal(e.reason, "no_input");
	if (!strstr(e.message, piece) || !strstr(e.message, env->path) || strchr(e.message, '\n'))
		fail_msg("'%s' has no '%s'", e.message, piece);
	assert_int_equal(result.end_ns, 77); /* untouched */
	return err;
}

static void spoil(struct record_env *env, const char *change, const char *piece)
{
	make_recording(env);
	sql(env, change);
	refused(env, piece);
	unlink(env->path);
}

static void test_values(void **state)
{
	static const char *const changes[][2] = {
		{ "UPDATE stint SET cpu = 8192", "odd cpu" },
		{ "UPDATE stint SET cpu = NULL", "without a CPU" },
		{ "UPDATE stint SET cpu = -2", "odd cpu" },
		{ "UPDATE stint SET tid = 4294967297", "odd tid" },
		{ "UPDATE stint SET tid = -1", "odd tid" },
		{ "UPDATE stint SET final = 2", "odd final" },
		{ "UPDATE stint SET final = NULL", "odd final" },
		{ "UPDATE stint SET oncpu_ns = 1e9 + 0.5", "odd oncpu_ns" },
		{ "UPDATE stint SET oncpu_ns = 'long'", "odd oncpu_ns" },
		{ "UPDATE stint SET oncpu_ns = -1", "odd oncpu_ns" },
		{ "UPDATE stint SET oncpu_ns = 2305843009213693952", "odd oncpu_ns" },
		{ "UPDATE stint SET ticks = 4294967296", "odd ticks" },
		{ "UPDATE stint SET ticks = NULL", "odd ticks" },
		{ "UPDATE stint SET resched = 'maybe'", "odd resched" },
		{ "UPDATE stint SET resched = 3", "odd resched" },
		{ "UPDATE stint SET clock = printf('%070d', 1)", "odd clock" },
		{ "UPDATE stint SET clock = 'clock' || seq", "odd clock" },
		{ "UPDATE stint SET clock = x'610062'", "odd clock" },
		{ "UPDATE stint SET ts_ns = NULL", "without a time" },
		{ "UPDATE charge SET oncpu_ns = -9223372036854775807", "odd oncpu_ns" },
		{ "UPDATE work SET work = NULL", "odd work" },
		{ "UPDATE work SET phase = NULL", "odd phase" },
		{ "UPDATE work SET phase = 'ENDED'", "odd phase" },
		{ "UPDATE work SET function = printf('%048d', 1)", "odd function" },
		{ "UPDATE task SET comm = printf('%016d', 1)", "odd comm" },
		{ "UPDATE task SET comm = x'00'", "odd comm" },
		{ "UPDATE task SET flags = -1", "odd flags" },
		{ "UPDATE task SET told = NULL", "odd told" },
		{ "UPDATE tick SET ts_ns = NULL", "without a time" },
		{ "UPDATE worker SET tid = 999999", "without its task" },
		{ "UPDATE worker SET ts_ns = NULL", "without its task or time" },
		{ "UPDATE worker SET tx_bytes = -5", "odd tx_bytes" },
		{ "UPDATE stint_waiter SET tid = -3", "odd tid" },
		{ "UPDATE stint_frame SET function = zeroblob(5)", "odd function" },
		{ "UPDATE stint_frame SET function = printf('%.*c', 70000, 'x')", "too big" },
	};
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		spoil(*state, changes[i][0], changes[i][1]);
}

static void test_order(void **state)
{
	static const char *const changes[][2] = {
		{ "DELETE FROM tick WHERE seq = (SELECT min(seq) FROM tick)", "is missing" },
		{ "DELETE FROM stint WHERE seq = (SELECT min(seq) FROM stint)", "is missing" },
		{ "UPDATE wait SET seq = seq + 1000000", "is missing" },
		{ "UPDATE wait SET seq = -seq", "out of order" },
		{ "INSERT INTO tick SELECT seq, ts_ns FROM wait", "is missing" },
		{ "INSERT INTO stint_waiter SELECT seq, 9, tid, 1, 1, 1, 0, 0 FROM stint"
		  " WHERE seq IN (SELECT seq FROM stint_waiter WHERE n = 7)",
		  "out of order" },
		{ "DELETE FROM stint_frame WHERE n = 0", "odd list" },
		{ "UPDATE stint_frame SET n = n + 100", "odd list" },
		{ "INSERT INTO stint_frame SELECT seq, 16, 'x' FROM stint", "out of order" },
		/* Full, and one more. */
		{ "DELETE FROM stint_frame;"
		  "WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c LIMIT 17)"
		  " INSERT INTO stint_frame SELECT seq, c.n, 'x' FROM stint, c",
		  "odd list" },
		{ "INSERT INTO report_cpu VALUES(1, 0, 3)", "belongs to nothing" },
	};
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		spoil(*state, changes[i][0], changes[i][1]);
}

static void test_run_row(void **state)
{
	static const char *const changes[][2] = {
		{ "DELETE FROM run", "names no run" },
		{ "UPDATE run SET threshold_ns = NULL", "odd row in run" },
		{ "UPDATE run SET threshold_ns = 0", "odd row in run" },
		{ "UPDATE run SET tick_ns = NULL", "odd row in run" },
		{ "UPDATE run SET stale_ns = NULL", "odd row in run" },
		{ "UPDATE run SET clock = NULL", "odd row in run" },
		{ "UPDATE run SET end_ns = start_ns - 1", "odd row in run" },
		{ "UPDATE run SET end_ns = NULL", "odd row in run" },
		{ "UPDATE run SET host_preempt = 'sometimes'", "odd host_preempt in run" },
		{ "DELETE FROM hook WHERE n = 0", "odd list hook" },
		{ "UPDATE hook SET state = NULL", "odd state in hook" },
		{ "WITH RECURSIVE c(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM c LIMIT 500)"
		  " INSERT INTO chosen_process SELECT n, 5 FROM c",
		  "odd list chosen_process" },
	};
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		spoil(*state, changes[i][0], changes[i][1]);
}

/* A table that is something else: endless, computed, sorted while it is read. */
static void test_tables(void **state)
{
	static const char *const changes[] = {
		"DROP TABLE tick",
		"DROP TABLE tick; CREATE VIEW tick AS WITH RECURSIVE c(seq) AS (SELECT 1 UNION ALL "
		"SELECT seq + 1 FROM c) SELECT seq, seq AS ts_ns FROM c",
		"DROP TABLE tick; CREATE TABLE tick(seq INTEGER, ts_ns INTEGER)",
		"DROP TABLE tick; CREATE TABLE tick(seq INTEGER PRIMARY KEY, ts_ns INTEGER AS "
		"(length(zeroblob(100000000))))",
		"DROP TABLE tick; CREATE VIRTUAL TABLE tick USING rtree(seq, ts_ns, x)",
		"ALTER TABLE tick ADD COLUMN more INTEGER",
	};
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		spoil(*state, changes[i], "no proper table tick");
}

/* What others may add without harm. */
static void test_additions(void **state)
{
	struct record_env *env = *state;
	struct vw_replay_result result;
	struct vw_error e;
	struct seen seen;

	make_recording(env);
	sql(env, "CREATE TABLE note(text); CREATE INDEX by_tid ON stint(tid);"
		 "CREATE TRIGGER t AFTER INSERT ON tick BEGIN DELETE FROM wait; END;"
		 "CREATE VIEW v AS SELECT * FROM stint; ANALYZE; VACUUM");
	assert_int_equal(read_record(env->path, &seen, &result, &e), 0);
	assert_true(seen.obs > 500 && seen.ticks > 30 && seen.rows == 12);
	/* With a write-ahead log, too, and nothing is written beside the file. */
	sql(env, "PRAGMA journal_mode=WAL; CREATE TABLE more(x)");
	assert_int_equal(read_record(env->path, &seen, &result, &e), 0);
	assert_int_equal(seen.rows, 12);
}

static void test_versions(void **state)
{
	struct record_env *env = *state;

	make_recording(env);
	sql(env, "PRAGMA user_version=3");
	assert_int_equal(refused(env, "version 3 of the schema, this vhostwatch knows up to 2"),
			 -EPROTONOSUPPORT);
	sql(env, "PRAGMA user_version=0");
	refused(env, "version 0");
	sql(env, "PRAGMA user_version=-7");
	refused(env, "version -7");
	sql(env, "PRAGMA user_version=2; PRAGMA application_id=5");
	refused(env, "is no recording");
}

static void write_file(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static void test_no_recordings(void **state)
{
	struct record_env *env = *state;
	char head[100] = "SQLite format 3";

	refused(env, strerror(ENOENT));
	write_file(env->path, "", 0);
	refused(env, "is empty");
	write_file(env->path, "text\n", 5);
	refused(env, "is no recording");
	write_file(env->path, head, sizeof(head));
	refused(env, "is no recording");
	/* The right words, and nothing behind them. */
	memcpy(head + 68, "vwrc", 4);
	assert_true(vw_recording_looks_like(head, VW_RECORDING_HEAD));
	assert_false(vw_recording_looks_like(head, VW_RECORDING_HEAD - 1));
	write_file(env->path, head, sizeof(head));
	refused(env, "damaged");
	unlink(env->path);
	assert_int_equal(mkdir(env->path, 0700), 0);
	refused(env, strerror(EISDIR));
	assert_int_equal(rmdir(env->path), 0);
}

static char *load_file(const char *path, size_t *ret_len)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	char *data;

	assert_int_equal(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_len = (size_t)st.st_size;
	return data;
}

/* Cut anywhere: read to a clear end, or refused; cut off at all, never taken for whole. */
static void test_truncated(void **state)
{
	struct record_env *env = *state;
	struct vw_replay_result result;
	struct vw_error e;
	struct seen seen;
	size_t len, at;
	char *data;

	make_recording(env);
	data = load_file(env->path, &len);
	for (at = 0; at < len; at += at < 200 ? 1 : 1 + draw(env, 6000)) {
		write_file(env->path, data, at);
		assert_true(read_record(env->path, &seen, &result, &e) < 0);
		assert_true(e.message[0] && e.reason[0]);
	}
	write_file(env->path, data, len);
	assert_int_equal(read_record(env->path, &seen, &result, &e), 0);
	free(data);
}

/* Bytes changed at random: whatever comes of it, it ends, with a result or an error. */
static void test_flipped(void **state)
{
	struct record_env *env = *state;
	struct vw_replay_result result;
	unsigned int good = 0, bad = 0, i, k;
	struct vw_error e;
	struct seen seen;
	size_t len;
	char *data, *copy;

	make_recording(env);
	data = load_file(env->path, &len);
	copy = malloc(len);
	for (i = 0; i < 1500; i++) {
		memcpy(copy, data, len);
		for (k = 0; k <= i % 8; k++)
			copy[i % 3 ? draw(env, len) : draw(env, 8192)] = (char)draw(env, 256);
		write_file(env->path, copy, len);
		memset(&result, 0, sizeof(result));
		if (read_record(env->path, &seen, &result, &e))
			bad++;
		else
			good++;
		assert_true(seen.obs <= 600 && seen.rows <= 12);
	}
	assert_true(good > 100 && bad > 100);
	free(data);
	free(copy);
}

/* The same file read as a stream, in odd pieces. */
struct stream {
	struct record_env *env;
	const char *data;
	size_t len, at;
	int err;
};

static ssize_t read_stream(void *ctx, void *buf, size_t size)
{
	struct stream *s = ctx;
	size_t n = 1 + draw(s->env, 9000);

	if (s->err && s->at > 5000)
		return s->err;
	n = n < size ? n : size;
	n = n < s->len - s->at ? n : s->len - s->at;
	memcpy(buf, s->data + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

static void test_stream(void **state)
{
	struct record_env *env = *state;
	struct stream s = { .env = env };
	const struct vw_replay to = { see_obs, see_tick, see_row, &(struct seen){ 0 } };
	struct vw_replay_result result;
	struct vw_recording *r = NULL;
	struct vw_error e;
	char *data;

	make_recording(env);
	data = load_file(env->path, &s.len);
	s.data = data;
	unlink(env->path);
	/* The copy is made here, and then has no name. */
	setenv("TMPDIR", env->dir, 1);
	assert_int_equal(vw_recording_open_stream(read_stream, &s, "standard input", &r, &e), 0);
	assert_int_equal(rmdir(env->dir), 0);
	assert_int_equal(vw_recording_replay(r, &to, &result, &e), 0);
	assert_int_equal(((struct seen *)to.ctx)->rows, 12);
	vw_recording_close(r);
	assert_int_equal(vw_recording_open_stream(read_stream, &s, "x", &r, &e), -ENOENT);
	assert_non_null(strstr(e.message, "TMPDIR"));
	assert_int_equal(mkdir(env->dir, 0700), 0);
	s.at = 0;
	s.err = -EIO;
	assert_int_equal(vw_recording_open_stream(read_stream, &s, "standard input", &r, &e), -EIO);
	assert_non_null(strstr(e.message, "standard input"));
	s.at = s.err = 0;
	s.len /= 2;
	assert_true(vw_recording_open_stream(read_stream, &s, "standard input", &r, &e) < 0);
	assert_non_null(strstr(e.message, "standard input"));
	unsetenv("TMPDIR");
	free(data);
}

static int stop_obs(void *ctx, const struct vw_obs *obs)
{
	return ++*(int *)ctx == 5 ? -ECANCELED : 0;
}

static int any_tick(void *ctx, uint64_t ts_ns)
{
	return 0;
}

static int any_row(void *ctx, const struct vw_worker_row *row)
{
	return 0;
}

/* What the other side returns ends it and is passed on; that is its own error, not ours. */
static void test_stopped(void **state)
{
	struct record_env *env = *state;
	int n = 0;
	const struct vw_replay to = { stop_obs, any_tick, any_row, &n };
	struct vw_error e = { "mine", "mine" };
	struct vw_replay_result result;
	struct vw_recording *r;

	make_recording(env);
	r = open_record(env->path);
	assert_int_equal(vw_recording_replay(r, &to, &result, &e), -ECANCELED);
	assert_int_equal(n, 5);
	assert_string_equal(e.reason, "mine");
	vw_recording_close(r);
	vw_recording_close(NULL);
	vw_writer_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_values),	  TEST(test_order),	TEST(test_run_row),
		TEST(test_tables),	  TEST(test_additions), TEST(test_versions),
		TEST(test_no_recordings), TEST(test_truncated), TEST(test_flipped),
		TEST(test_stream),	  TEST(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
