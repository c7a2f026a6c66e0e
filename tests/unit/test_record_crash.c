// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings that end before their time: killed, disk full; and who may write where. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "record_env.h"
#include "util/format.h"

static struct vw_obs loss_at(uint64_t ts_ns)
{
	return (struct vw_obs){ .kind = VW_OBS_LOSS, .ts_ns = ts_ns, .loss = { -1, 5 } };
}

/* Second @s of a run: ten observations, a tick, and the round that may commit them. */
static int write_second(struct vw_writer *w, uint64_t s)
{
	struct vw_obs obs;
	int i, err = 0;

	for (i = 0; i < 10 && !err; i++) {
		obs = loss_at(BEGIN + s * SEC + (uint64_t)i * 100 * MS);
		err = vw_writer_obs(w, &obs);
	}
	err = err ?: vw_writer_tick(w, BEGIN + (s + 1) * SEC);
	return err ?: vw_writer_round(w, BEGIN + (s + 1) * SEC, 11, 2);
}

/* A child that writes @seconds and a half, and then is killed. */
static void write_and_be_killed(struct record_env *env, uint64_t seconds)
{
	struct vw_obs obs = loss_at(BEGIN + seconds * SEC);
	int ready[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct vw_writer *w = begin_record(env);
		uint64_t s;

		for (s = 0; s < seconds; s++)
			write_second(w, s);
		vw_writer_obs(w, &obs);
		vw_writer_round(w, obs.ts_ns + 500 * MS, 11, 2);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ready[0]);
	close(ready[1]);
}

static void check_unfinished(const struct record_env *env, uint64_t seconds)
{
	struct vw_replay_result result;
	struct vw_error e;
	struct seen seen;
	char text[VW_FORMAT_LEN];

	if (read_record(env->path, &seen, &result, &e))
		fail_msg("%s", e.message);
	assert_int_equal(seen.obs, 10 * seconds);
	assert_int_equal(seen.ticks, seconds);
	assert_int_equal(result.end_ns, BEGIN + seconds * SEC);
	assert_int_equal(result.duration_ns, seconds * SEC);
	assert_int_equal(result.lost_events, 11);
	assert_int_equal(result.workers, 2);
	assert_non_null(strstr(result.unfinished, "not finished"));
	assert_non_null(strstr(result.unfinished, vw_format_ns(text, seconds * SEC)));
	assert_int_equal(sql_number(env, "SELECT count(*) FROM pragma_integrity_check "
					 "WHERE integrity_check = 'ok'"),
			 1);
}

static void test_killed(void **state)
{
	struct record_env *env = *state;

	write_and_be_killed(env, 5);
	check_unfinished(env, 5);
}

/* What operators send is the one file. */
static void test_killed_and_sent_alone(void **state)
{
	struct record_env *env = *state;

	write_and_be_killed(env, 3);
	unlink(env->journal);
	check_unfinished(env, 3);
}

/* Killed before the first second was over: an empty run, and it says so. */
static void test_killed_at_once(void **state)
{
	struct record_env *env = *state;
	struct vw_replay_result result;
	struct vw_error e;
	struct seen seen;

	write_and_be_killed(env, 0);
	assert_int_equal(read_record(env->path, &seen, &result, &e), 0);
	assert_int_equal(seen.obs, 0);
	assert_int_equal(result.end_ns, BEGIN);
	assert_non_null(strstr(result.unfinished, "not finished"));
}

static void copy_file(const char *from, const char *to, off_t len)
{
	char *data = malloc((size_t)len);
	int fd = open(from, O_RDONLY);

	assert_non_null(data);
	assert_int_equal(read(fd, data, (size_t)len), len);
	close(fd);
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, data, (size_t)len), len);
	close(fd);
	free(data);
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

/*
 * Killed within a commit: pages of it are in the file, what they were before is in the journal.
 * The two are taken from under a transaction that has outgrown its cache.
 */
static void test_killed_in_a_commit(void **state)
{
	static const char half[] =
		"PRAGMA cache_size=1; BEGIN; DELETE FROM tick; UPDATE run SET lost_events = 1;"
		"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 20000)"
		" INSERT INTO loss SELECT n + 1000, n, 0, 1 FROM c";
	struct record_env *env = *state;
	char hot[160], hot_journal[176];
	sqlite3 *db;

	write_and_be_killed(env, 4);
	snprintf(hot, sizeof(hot), "%s/hot", env->dir);
	snprintf(hot_journal, sizeof(hot_journal), "%s-journal", hot);
	assert_int_equal(sqlite3_open(env->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, half, NULL, NULL, NULL), SQLITE_OK);
	copy_file(env->path, hot, size_of(env->path));
	copy_file(env->journal, hot_journal, size_of(env->journal));
	sqlite3_close(db);
	assert_true(size_of(hot) > size_of(env->path)); /* half of it is there */
	assert_int_equal(rename(hot, env->path), 0);
	assert_int_equal(rename(hot_journal, env->journal), 0);
	check_unfinished(env, 4);
}

static void test_disk_full(void **state)
{
	struct record_env *env = *state;
	struct rlimit old, limit;
	struct vw_writer *w;
	uint64_t s = 0;
	int err = 0;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	w = begin_record(env);
	limit = old;
	limit.rlim_cur = (rlim_t)size_of(env->path) + 40000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (s = 0; s < 100000 && !err; s++)
		err = write_second(w, s);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(err, -EFBIG);
	assert_string_equal(vw_writer_error(w)->reason, "io");
	assert_non_null(strstr(vw_writer_error(w)->message, env->path));
	assert_non_null(strstr(vw_writer_error(w)->message, strerror(EFBIG)));
	/* It stays with the first error, and nothing more gets in. */
	assert_int_equal(write_second(w, s), -EFBIG);
	assert_int_equal(vw_writer_finish(w, BEGIN + s * SEC, 0, 0), -EFBIG);
	vw_writer_close(w);
	assert_true(s > 20);
	check_unfinished(env, s - 1);
}

/* A run that ends early for another cause keeps what there is. */
static void test_closed_unfinished(void **state)
{
	struct record_env *env = *state;
	struct vw_writer *w = begin_record(env);
	struct vw_obs obs = loss_at(BEGIN + 2 * SEC + 300 * MS);
	struct vw_replay_result result;
	struct vw_error e;
	struct seen seen;

	write_second(w, 0);
	write_second(w, 1);
	vw_writer_obs(w, &obs);
	vw_writer_close(w);
	assert_int_equal(read_record(env->path, &seen, &result, &e), 0);
	assert_int_equal(seen.obs, 21);
	assert_int_equal(result.end_ns, obs.ts_ns);
	assert_non_null(strstr(result.unfinished, "not finished"));
	assert_int_equal(size_of(env->journal), -1);
}

static void test_one_file_when_finished(void **state)
{
	struct record_env *env = *state;
	struct vw_writer *w = begin_record(env);
	struct stat st;

	write_second(w, 0);
	end_record(w, SEC);
	assert_int_equal(size_of(env->journal), -1);
	assert_int_equal(stat(env->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* Nobody else gets in the way of a recorder, and whoever reads is told. */
static void test_read_while_written(void **state)
{
	struct record_env *env = *state;
	struct vw_writer *w = begin_record(env);
	struct vw_replay_result result;
	struct vw_error e;
	struct seen seen;
	int status;
	pid_t pid;

	write_second(w, 0);
	/* Locks are between processes. */
	pid = fork();
	if (!pid)
		_exit(read_record(env->path, &seen, &result, &e) == -EBUSY &&
				      strstr(e.message, "still being recorded") &&
				      !strcmp(e.reason, "no_input") ?
			      0 :
			      1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end_record(w, SEC);
	assert_int_equal(read_record(env->path, &seen, &result, &e), 0);
}

static void refused(const char *path, const char *reason, const char *piece)
{
	struct vw_writer *w = NULL;
	struct vw_error e = { "", "" };

	assert_true(vw_writer_open(path, &w, &e) < 0);
	assert_null(w);
	assert_string_equal(e.reason, reason);
	if (!strstr(e.message, piece) || !strstr(e.message, path))
		fail_msg("%s", e.message);
}

static void test_where_it_may_write(void **state)
{
	struct record_env *env = *state;
	struct vw_writer *w = NULL;
	char missing[160];
	int fd;

	snprintf(missing, sizeof(missing), "%s/no/a.vw", env->dir);
	refused(missing, "io", strerror(ENOENT));
	refused(env->dir, "io", strerror(EISDIR));
	refused("/dev/null", "usage", "no regular file");
	refused("", "io", "");
	/* What is there is not overwritten, not even what was recorded. */
	fd = open(env->path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	refused(env->path, "usage", "is there already");
	assert_int_equal(size_of(env->path), 1);
	/* Empty, as mktemp makes it. */
	assert_int_equal(ftruncate(fd, 0), 0);
	close(fd);
	assert_int_equal(vw_writer_open(env->path, &w, NULL), 0);
	vw_writer_close(w);
	assert_int_equal(size_of(env->path), 0);
	unlink(env->path);
	/* Nothing was begun: nothing is left. */
	assert_int_equal(vw_writer_open(env->path, &w, NULL), 0);
	assert_int_equal(size_of(env->path), 0);
	vw_writer_close(w);
	assert_int_equal(size_of(env->path), -1);
	assert_int_equal(size_of(env->journal), -1);
	end_record(begin_record(env), SEC);
	refused(env->path, "usage", "is there already");
}

/* Names that mean something else to SQLite. */
static void test_odd_names(void **state)
{
	static const char *const names[] = { ":memory:", "file:a.vw?mode=memory", "a b%20#?.vw" };
	struct record_env *env = *state;
	struct vw_replay_result result;
	struct vw_writer *w;
	struct vw_error e;
	struct seen seen;
	char cwd[256];
	size_t i;

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(env->dir), 0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(env->path, sizeof(env->path), "%s", names[i]);
		w = begin_record(env);
		write_second(w, 0);
		end_record(w, SEC);
		assert_true(size_of(names[i]) > 0);
		assert_int_equal(read_record(names[i], &seen, &result, &e), 0);
		assert_int_equal(seen.obs, 10);
		unlink(names[i]);
	}
	assert_int_equal(chdir(cwd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_killed),
		TEST(test_killed_and_sent_alone),
		TEST(test_killed_at_once),
		TEST(test_killed_in_a_commit),
		TEST(test_disk_full),
		TEST(test_closed_unfinished),
		TEST(test_one_file_when_finished),
		TEST(test_read_while_written),
		TEST(test_where_it_may_write),
		TEST(test_odd_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
