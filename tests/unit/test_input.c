// SPDX-License-Identifier: GPL-2.0-or-later
/* Files, pipes and gzip as lines and bytes. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "fixture.h"
#include "source/input.h"

struct env {
	struct fixture f;
	char path[128];
	struct vw_input *in;
};

static int setup(void **state)
{
	struct env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	fixture_open(&env->f);
	snprintf(env->path, sizeof(env->path), "%s/input", env->f.dir);
	*state = env;
	return 0;
}

static int teardown(void **state)
{
	struct env *env = *state;

	vw_input_close(env->in);
	fixture_close(&env->f);
	free(env);
	return 0;
}

static struct vw_input *open_bytes(struct env *env, const void *data, size_t len)
{
	struct vw_error e;

	vw_input_close(env->in);
	env->in = NULL;
	fixture_write(&env->f, "input", data, len);
	assert_int_equal(vw_input_open(env->path, &env->in, &e), 0);
	return env->in;
}

static void expect_line(struct vw_input *in, const char *want)
{
	const char *line;
	size_t len;

	assert_int_equal(vw_input_line(in, &line, &len), 1);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(line, want, len);
}

static void expect_end(struct vw_input *in)
{
	const char *line;
	size_t len;

	assert_int_equal(vw_input_line(in, &line, &len), 0);
	assert_int_equal(vw_input_line(in, &line, &len), 0);
}

static void test_lines(void **state)
{
	static const char text[] = "one\n\ntwo\r\n\r\nthree\r\r\nlast";
	struct vw_input *in = open_bytes(*state, text, sizeof(text) - 1);

	expect_line(in, "one");
	expect_line(in, "");
	expect_line(in, "two");
	assert_int_equal(vw_input_line_number(in), 3);
	expect_line(in, "");
	expect_line(in, "three\r");
	expect_line(in, "last");
	assert_int_equal(vw_input_line_number(in), 6);
	expect_end(in);
	assert_int_equal(vw_input_line_number(in), 6);
	assert_false(vw_input_truncated(in));
}

static void test_small(void **state)
{
	const char *line;
	size_t len;

	expect_end(open_bytes(*state, "", 0));
	expect_line(open_bytes(*state, "x", 1), "x");
	expect_line(open_bytes(*state, "\n", 1), "");
	expect_line(open_bytes(*state,
			       "\xef\xbb\xbf"
			       "a\nb",
			       6),
		    "a");
	expect_end(open_bytes(*state, "\xef\xbb\xbf", 3));
	expect_line(open_bytes(*state, "\xef\xbb", 2), "\xef\xbb");
	assert_int_equal(vw_input_line(open_bytes(*state, "a\0b\n", 4), &line, &len), 1);
	assert_int_equal(len, 3);
	assert_memory_equal(line, "a\0b", 3);
}

/* A line of @len bytes between two short ones. */
static struct vw_input *open_long(struct env *env, size_t len)
{
	char *text = malloc(len + 8);
	struct vw_input *in;

	assert_non_null(text);
	memcpy(text, "a\n", 2);
	memset(text + 2, 'x', len);
	memcpy(text + 2 + len, "\nb\n", 3);
	in = open_bytes(env, text, len + 5);
	free(text);
	return in;
}

static void test_long_lines(void **state)
{
	static const size_t too_long[] = { VW_LINE_MAX + 1, VW_LINE_MAX * 2, 1 << 20, 5 << 20 };
	struct vw_input *in = open_long(*state, VW_LINE_MAX);
	const char *line;
	size_t len, i;

	expect_line(in, "a");
	assert_int_equal(vw_input_line(in, &line, &len), 1);
	assert_int_equal(len, VW_LINE_MAX);
	assert_int_equal(line[len - 1], 'x');
	expect_line(in, "b");
	expect_end(in);
	for (i = 0; i < sizeof(too_long) / sizeof(too_long[0]); i++) {
		in = open_long(*state, too_long[i]);
		expect_line(in, "a");
		assert_int_equal(vw_input_line(in, &line, &len), -ENOBUFS);
		assert_int_equal(vw_input_line_number(in), 2);
		expect_line(in, "b");
		assert_int_equal(vw_input_line_number(in), 3);
		expect_end(in);
	}
}

/* The same at the end of the file. */
static void test_long_last_line(void **state)
{
	char *text = malloc(1 << 20);
	struct vw_input *in;
	const char *line;
	size_t len;

	assert_non_null(text);
	memset(text, 0, 1 << 20);
	in = open_bytes(*state, text, 1 << 20);
	free(text);
	assert_int_equal(vw_input_line(in, &line, &len), -ENOBUFS);
	expect_end(in);
}

static char *numbered_lines(size_t n, size_t *ret_len)
{
	char *text = malloc(n * 40), *p = text;
	size_t i;

	assert_non_null(text);
	for (i = 0; i < n; i++)
		p += sprintf(p, "line %zu %.*s\n", i, (int)(i % 19), "abcdefghijklmnopqrs");
	*ret_len = (size_t)(p - text);
	return text;
}

/* All lines of @text come, whatever the sizes of the reads. */
static void expect_all(struct vw_input *in, const char *text, size_t text_len)
{
	const char *line, *p = text, *feed;
	size_t len;

	while (p < text + text_len) {
		feed = memchr(p, '\n', (size_t)(text + text_len - p));
		assert_int_equal(vw_input_line(in, &line, &len), 1);
		assert_int_equal(len, feed - p);
		assert_memory_equal(line, p, len);
		p = feed + 1;
	}
	expect_end(in);
}

static void test_many_lines(void **state)
{
	size_t len, head_len;
	char *text = numbered_lines(100000, &len);
	struct vw_input *in = open_bytes(*state, text, len);
	const char *head = vw_input_head(in, &head_len);

	assert_int_equal(head_len, VW_INPUT_HEAD);
	assert_memory_equal(head, text, head_len);
	expect_all(in, text, len);
	/* Once more as bytes. */
	in = open_bytes(*state, text, len);
	{
		char *copy = malloc(len + 1);
		size_t got = 0;
		ssize_t n;

		assert_non_null(copy);
		vw_input_head(in, &head_len);
		while ((n = vw_input_read(in, copy + got,
					  len + 1 - got < 777 ? len + 1 - got : 777)) > 0)
			got += (size_t)n;
		assert_int_equal(n, 0);
		assert_int_equal(got, len);
		assert_memory_equal(copy, text, len);
		free(copy);
	}
	free(text);
}

/* A writer that comes in pieces, from another process. */
static void test_pipe(void **state)
{
	struct env *env = *state;
	size_t len, head_len, at, step = 1;
	char *text = numbered_lines(20000, &len);
	struct vw_error e;
	pid_t child;

	assert_int_equal(mkfifo(env->path, 0600), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		int fd = open(env->path, O_WRONLY);

		for (at = 0; at < len; at += step) {
			step = step * 3 % 4093 + 1;
			if (step > len - at)
				step = len - at;
			if (write(fd, text + at, step) != (ssize_t)step)
				_exit(1);
		}
		_exit(0);
	}
	assert_int_equal(vw_input_open(env->path, &env->in, &e), 0);
	assert_memory_equal(vw_input_head(env->in, &head_len), text, VW_INPUT_HEAD);
	assert_int_equal(head_len, VW_INPUT_HEAD);
	expect_all(env->in, text, len);
	assert_string_equal(vw_input_name(env->in), env->path);
	assert_false(vw_input_is_file(env->in));
	free(text);
}

static size_t pack(const char *text, size_t len, unsigned char *out, size_t size)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)text;
	z.avail_in = (unsigned int)len;
	z.next_out = out;
	z.avail_out = (unsigned int)size;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return size - z.avail_out;
}

static void test_gzip(void **state)
{
	size_t len, packed_len, half;
	char *text = numbered_lines(50000, &len);
	unsigned char *packed = malloc(len + 4096);
	struct vw_input *in;

	assert_non_null(packed);
	assert_true(vw_input_is_file(open_bytes(*state, text, len)));
	packed_len = pack(text, len, packed, len);
	in = open_bytes(*state, packed, packed_len);
	expect_all(in, text, len);
	assert_false(vw_input_truncated(in));
	assert_false(vw_input_is_file(in));
	/* Two members in a row, as of a log that was rotated and joined; then a padded block. */
	half = len / 2;
	packed_len = pack(text, half, packed, len);
	packed_len += pack(text + half, len - half, packed + packed_len, len - packed_len);
	expect_all(open_bytes(*state, packed, packed_len), text, len);
	assert_false(vw_input_truncated(((struct env *)*state)->in));
	memset(packed + packed_len, 0, 512);
	expect_all(open_bytes(*state, packed, packed_len + 512), text, len);
	assert_false(vw_input_truncated(((struct env *)*state)->in));
	/* Something else behind it. */
	packed[packed_len] = 'x';
	expect_all(open_bytes(*state, packed, packed_len + 1), text, len);
	assert_true(vw_input_truncated(((struct env *)*state)->in));
	/* An empty one. */
	packed_len = pack("", 0, packed, len);
	expect_end(open_bytes(*state, packed, packed_len));
	assert_false(vw_input_truncated(((struct env *)*state)->in));
	free(packed);
	free(text);
}

/* Lines that come before the damage, all of them right. */
static size_t count_right(struct vw_input *in, const char *text)
{
	const char *line, *p = text;
	size_t len, n = 0;

	while (vw_input_line(in, &line, &len) == 1 && !memcmp(line, p, len) && p[len] == '\n') {
		p += len + 1;
		n++;
	}
	return n;
}

static void test_gzip_damaged(void **state)
{
	size_t len, packed_len, cut, n;
	char *text = numbered_lines(50000, &len);
	unsigned char *packed = malloc(len);
	struct vw_input *in;

	assert_non_null(packed);
	packed_len = pack(text, len, packed, len);
	for (cut = 2; cut < packed_len - packed_len / 14; cut += packed_len / 7) {
		in = open_bytes(*state, packed, cut);
		n = count_right(in, text);
		assert_true(n < 50000);
		assert_true(cut < packed_len / 2 || n > 10000);
		assert_true(vw_input_truncated(in));
	}
	/* All there but the checksum. */
	in = open_bytes(*state, packed, packed_len - 1);
	assert_int_equal(count_right(in, text), 50000);
	assert_true(vw_input_truncated(in));
	packed[packed_len - 6] ^= 1;
	in = open_bytes(*state, packed, packed_len);
	assert_int_equal(count_right(in, text), 50000);
	assert_true(vw_input_truncated(in));
	memset(packed + packed_len / 2, 0xff, 64);
	in = open_bytes(*state, packed, packed_len);
	assert_in_range(count_right(in, text), 1, 49999);
	assert_true(vw_input_truncated(in));
	free(packed);
	free(text);
}

static void expect_failure(const char *path, const char *word)
{
	struct vw_input *in = (void *)0x55;
	struct vw_error e;

	assert_true(vw_input_open(path, &in, &e) < 0);
	assert_ptr_equal(in, (void *)0x55);
	assert_string_equal(e.reason, "no_input");
	assert_non_null(strstr(e.message, path));
	assert_non_null(strstr(e.message, word));
}

static void test_failures(void **state)
{
	struct env *env = *state;

	expect_failure(env->path, "No such file");
	expect_failure(env->f.dir, "directory");
	expect_failure("/dev/zero", "device");
	/* Can be opened, not read. */
	expect_failure("/proc/self/mem", "error");
}

static void no_op(int sig)
{
}

/* A signal that somebody handles comes through; nothing is lost by it. */
static void test_interrupt(void **state)
{
	struct env *env = *state;
	struct sigaction act = { .sa_handler = no_op }, before;
	const char *line;
	struct vw_error e;
	size_t len;
	int fd;

	assert_int_equal(mkfifo(env->path, 0600), 0);
	fd = open(env->path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "one\ntw", 6), 6);
	assert_int_equal(vw_input_open(env->path, &env->in, &e), 0);
	expect_line(env->in, "one");
	assert_int_equal(sigaction(SIGALRM, &act, &before), 0);
	ualarm(20000, 20000);
	assert_int_equal(vw_input_line(env->in, &line, &len), -EINTR);
	ualarm(0, 0);
	sigaction(SIGALRM, &before, NULL);
	assert_int_equal(write(fd, "o\n", 2), 2);
	expect_line(env->in, "two");
	close(fd);
	expect_end(env->in);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lines),	   TEST(test_small),	    TEST(test_long_lines),
		TEST(test_long_last_line), TEST(test_many_lines),   TEST(test_pipe),
		TEST(test_gzip),	   TEST(test_gzip_damaged), TEST(test_failures),
		TEST(test_interrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
