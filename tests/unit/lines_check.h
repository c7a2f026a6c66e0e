/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks on rendered lines, and names nobody should have. */
#ifndef VW_TESTS_LINES_CHECK_H
#define VW_TESTS_LINES_CHECK_H

#include <string.h>

#include "samples.h"
#include "sink/lines.h"
#include "util/utf8.h"

static const char *const hostile[] = {
	"a\"b\\c", "line\nfeed", "\x1b]0;title\x07", "\x1b[2J", "\xff\xfe", "\xc2\x9b" "31m",
	"\xe2\x80\xae" "desrever", "123456789012345", "\xe3\x83\x87\xe3\x83\xbc\xe3\x82\xbf",
	"e\xcc\x81\xcc\x81\xcc\x81", "\xe2\x82",
};

/* No line is wider than @width or holds anything that could steer a terminal. */
static inline void check_lines(const struct vw_lines *lines, unsigned int width)
{
	size_t i, pos, step, len;
	uint32_t code;

	assert_false(lines->failed);
	for (i = 0; i < lines->n; i++) {
		const char *text = lines->v[i].text;

		if (vw_text_columns(text) > width)
			fail_msg("wider than %u: %s", width, text);
		len = strlen(text);
		for (pos = 0; pos < len; pos += step) {
			step = vw_utf8_decode(text + pos, len - pos, &code);
			assert_false(vw_utf8_is_control(code) || code == VW_UTF8_REPLACEMENT);
		}
		assert_false(len && text[len - 1] == ' ');
	}
}

static inline const char *line_with(const struct vw_lines *lines, const char *part)
{
	size_t i;

	for (i = 0; i < lines->n; i++)
		if (strstr(lines->v[i].text, part))
			return lines->v[i].text;
	return NULL;
}

static inline void check_line(const struct vw_lines *lines, size_t i, const char *want)
{
	assert_true(i < lines->n);
	assert_string_equal(lines->v[i].text, want);
}

static inline struct vw_worker_row worker(int32_t tid, const char *vm, uint64_t ts_ns)
{
	struct vw_task task = sample_task(tid, "vhost", vm, "vhost-net:tap0");
	struct vw_worker_row row = sample_row(task, ts_ns);

	row.oncpu_ns = row.wait_ns = row.longest_pending_ns = 0;
	row.voluntary = row.involuntary = row.tx_packets = row.rx_packets = 0;
	return row;
}

#endif
