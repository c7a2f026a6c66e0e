// SPDX-License-Identifier: GPL-2.0-or-later
/* The table and the sentences: rates, order, widths, and names that must not reach a terminal. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "samples.h"
#include "sink/doctor.h"
#include "sink/findings.h"
#include "sink/lines.h"
#include "sink/sentence.h"
#include "sink/sink.h"
#include "sink/table.h"
#include "util/utf8.h"

static const char *const hostile[] = {
	"a\"b\\c", "line\nfeed", "\x1b]0;title\x07", "\x1b[2J", "\xff\xfe", "\xc2\x9b" "31m",
	"\xe2\x80\xae" "desrever", "123456789012345", "\xe3\x83\x87\xe3\x83\xbc\xe3\x82\xbf",
	"e\xcc\x81\xcc\x81\xcc\x81", "\xe2\x82",
};

/* No line is wider than @width or holds anything that could steer a terminal. */
static void check_lines(const struct vw_lines *lines, unsigned int width)
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

static const char *line_with(const struct vw_lines *lines, const char *part)
{
	size_t i;

	for (i = 0; i < lines->n; i++)
		if (strstr(lines->v[i].text, part))
			return lines->v[i].text;
	return NULL;
}

static void check_line(const struct vw_lines *lines, size_t i, const char *want)
{
	assert_true(i < lines->n);
	assert_string_equal(lines->v[i].text, want);
}

static void test_cells(void **state)
{
	char cell[VW_CELL_SIZE];

	assert_string_equal(vw_cell(cell, "web01", 8, false), "web01   ");
	assert_string_equal(vw_cell(cell, "web01", 8, true), "   web01");
	assert_string_equal(vw_cell(cell, "web01", 5, false), "web01");
	assert_string_equal(vw_cell(cell, "web01", 4, false), "web~");
	assert_string_equal(vw_cell(cell, "web01", 0, false), "");
	/* A wide character that would straddle the edge goes, and a blank takes its place. */
	assert_string_equal(vw_cell(cell, "\xe3\x83\x87\xe3\x83\xbc\xe3\x82\xbf", 5, false),
			    "\xe3\x83\x87\xe3\x83\xbc~");
	assert_string_equal(vw_cell(cell, "\xe3\x83\x87\xe3\x83\xbc\xe3\x82\xbf", 4, false),
			    "\xe3\x83\x87~ ");
	assert_int_equal(vw_text_columns("\xe3\x83\x87\xe3\x83\xbc"), 4);
	/* Combining characters take no column. */
	assert_string_equal(vw_cell(cell, "e\xcc\x81", 2, false), "e\xcc\x81 ");
	assert_string_equal(vw_cell(cell, "\x1b[31m", 8, false), "?[31m   ");
}

static void test_wrap(void **state)
{
	struct vw_lines lines = { 0 };

	vw_lines_wrap(&lines, VW_STYLE_PLAIN, 20, 4, "  one two three four fivefivefivefivefive six");
	check_lines(&lines, 20);
	check_line(&lines, 0, "  one two three four");
	check_line(&lines, 1, "    fivefivefivefive");
	check_line(&lines, 2, "    five six");
	assert_int_equal(lines.n, 3);
	vw_lines_done(&lines);
	vw_lines_wrap(&lines, VW_STYLE_PLAIN, 20, 0, "");
	assert_int_equal(lines.n, 1);
	vw_lines_done(&lines);
	vw_lines_wrap(&lines, VW_STYLE_PLAIN, 20, 0, "  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	check_line(&lines, 0, "  aaaaaaaaaaaaaaaaaa");
	vw_lines_done(&lines);
	vw_lines_done(&lines);
}

static struct vw_worker_row worker(int32_t tid, const char *vm, uint64_t ts_ns)
{
	struct vw_worker_row row = sample_row(sample_task(tid, "vhost", vm, "vhost-net:tap0"), ts_ns);

	row.oncpu_ns = row.wait_ns = row.longest_pending_ns = 0;
	row.voluntary = row.involuntary = row.tx_packets = row.rx_packets = 0;
	return row;
}

static void put(struct vw_table *table, struct vw_worker_row row)
{
	assert_int_equal(vw_table_worker(table, &row), 0);
}

/* Two workers over two intervals; the second interval is what counts. */
static struct vw_table *two_workers(void)
{
	struct vw_table *table = vw_table_new();
	struct vw_worker_row loser = worker(952, "web02", 10 * SEC);
	struct vw_worker_row winner = worker(951, "web01", 10 * SEC);

	put(table, loser);
	put(table, winner);
	vw_table_rows_done(table);
	winner.ts_ns = loser.ts_ns = 12 * SEC;
	winner.oncpu_ns = 1999 * MS;
	winner.voluntary = 4;
	winner.involuntary = 6;
	winner.tx_packets = 184656;
	winner.longest_pending_ns = 1995 * MS;
	loser.wait_ns = 3 * SEC; /* more than the interval: clocks read one after the other */
	loser.rx_packets = VW_UNKNOWN;
	put(table, loser);
	put(table, winner);
	vw_table_rows_done(table);
	return table;
}

static void test_rates(void **state)
{
	struct vw_table *table = two_workers();
	struct vw_lines lines = { 0 };

	vw_table_render(table, 110, &lines);
	check_lines(&lines, 110);
	assert_int_equal(lines.n, 3);
	check_line(&lines, 0, "VM         DEVICE             TID  CPU ON-CPU%  WAIT% PENDING "
			      "SWITCHES/s TX pkt/s RX pkt/s");
	check_line(&lines, 1, "web01      vhost-net:tap0     951    1    99.9    0.0    1.9s "
			      "         5    92328        0");
	check_line(&lines, 2, "web02      vhost-net:tap0     952    1     0.0  100.0       0 "
			      "         0        0        -");
	vw_lines_done(&lines);
	vw_table_free(table);
}

static void test_first_interval_and_gone(void **state)
{
	struct vw_table *table = vw_table_new();
	struct vw_worker_row row = worker(951, "web01", SEC);
	struct vw_lines lines = { 0 };

	vw_table_render(table, 110, &lines);
	assert_non_null(line_with(&lines, "no vhost workers"));
	vw_lines_done(&lines);
	put(table, row);
	vw_table_rows_done(table);
	vw_table_render(table, 110, &lines);
	check_line(&lines, 1, "web01      vhost-net:tap0     951    1       -      -       0 "
			      "         -        -        -");
	vw_lines_done(&lines);
	vw_table_rows_done(table); /* an interval without its row */
	vw_table_render(table, 110, &lines);
	assert_null(line_with(&lines, "web01"));
	assert_non_null(line_with(&lines, "no vhost workers"));
	vw_lines_done(&lines);
	vw_table_free(table);
	vw_table_free(NULL);
}

static void test_reused_tid(void **state)
{
	struct vw_table *table = vw_table_new();
	struct vw_worker_row row = worker(951, "web01", SEC);
	struct vw_lines lines = { 0 };

	row.task.start_ns = 5 * SEC;
	row.oncpu_ns = 100 * MS;
	put(table, row);
	vw_table_rows_done(table);
	row.task.start_ns = 9 * SEC;
	row.ts_ns = 2 * SEC;
	row.oncpu_ns = 700 * MS;
	put(table, row);
	vw_table_rows_done(table);
	vw_table_render(table, 110, &lines);
	assert_non_null(strstr(lines.v[1].text, "951    1       -"));
	vw_lines_done(&lines);
	/* The same task whose counter fell. */
	row.ts_ns = 3 * SEC;
	row.oncpu_ns = 600 * MS;
	put(table, row);
	vw_table_rows_done(table);
	vw_table_render(table, 110, &lines);
	assert_non_null(strstr(lines.v[1].text, "951    1       -    0.0"));
	vw_lines_done(&lines);
	vw_table_free(table);
}

static void test_order(void **state)
{
	static const uint64_t oncpu[] = { 100, 500, 0, 500, 0 }, wait[] = { 0, 1, 20, 3, 50 };
	static const char *const want[] = { "vm3", "vm1", "vm0", "vm4", "vm2", "vm5" };
	struct vw_table *table = vw_table_new();
	struct vw_lines lines = { 0 };
	char vm[8];
	int i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 5; i++) {
			struct vw_worker_row row;

			snprintf(vm, sizeof(vm), "vm%d", i);
			row = worker(100 - i, vm, (1 + (uint64_t)round) * SEC);
			row.oncpu_ns = (uint64_t)round * oncpu[i] * MS;
			row.wait_ns = (uint64_t)round * wait[i] * MS;
			put(table, row);
		}
		vw_table_rows_done(table);
		if (!round)
			put(table, worker(1, "vm5", 2 * SEC)); /* new: unknown comes last */
	}
	vw_table_render(table, 80, &lines);
	assert_int_equal(lines.n, 7);
	for (i = 0; i < 6; i++)
		assert_ptr_equal(strstr(lines.v[1 + i].text, want[i]), lines.v[1 + i].text);
	vw_lines_done(&lines);
	vw_table_free(table);
}

static void test_widths(void **state)
{
	struct vw_table *table = two_workers();
	struct vw_lines lines = { 0 };
	struct vw_worker_row row;
	unsigned int width;

	for (width = 0; width <= 600; width++) {
		vw_table_render(table, width, &lines);
		check_lines(&lines, width < VW_WIDTH_MIN ? VW_WIDTH_MIN : width);
		if (width >= 30)
			assert_non_null(line_with(&lines, "web01"));
		vw_lines_done(&lines);
	}
	vw_table_render(table, 80, &lines);
	check_line(&lines, 0, "VM       DEVICE             TID CPU  CPU% WAIT% PENDING   SW/s   TX/s "
			      "  RX/s");
	vw_lines_done(&lines);
	vw_table_render(table, 41, &lines);
	check_line(&lines, 0, "VM       DEVICE           TID  CPU% WAIT%");
	vw_lines_done(&lines);
	vw_table_render(table, 40, &lines);
	check_line(&lines, 0, "VM           TID  CPU% WAIT%");
	vw_lines_done(&lines);
	vw_table_free(table);
	table = vw_table_new();
	row = worker(1, "a-name-of-thirty-two-columns-xyz", SEC);
	strcpy(row.task.device, "vhost-vdpa:0000:65:00.4");
	put(table, row);
	vw_table_rows_done(table);
	vw_table_render(table, 80, &lines); /* what is left is shared */
	assert_ptr_equal(strstr(lines.v[1].text, "a-name-of-~ vhost-vdpa:000~ "), lines.v[1].text);
	vw_lines_done(&lines);
	vw_table_free(table);
}

static void test_hostile_rows(void **state)
{
	struct vw_table *table = vw_table_new();
	struct vw_lines lines = { 0 };
	unsigned int width;
	size_t i, n = sizeof(hostile) / sizeof(hostile[0]);

	for (i = 0; i < n; i++) {
		struct vw_worker_row row = worker(100 + (int)i, hostile[i], SEC);

		snprintf(row.task.device, sizeof(row.task.device), "%s", hostile[n - 1 - i]);
		put(table, row);
	}
	vw_table_rows_done(table);
	for (width = VW_WIDTH_MIN; width < 130; width++) {
		vw_table_render(table, width, &lines);
		check_lines(&lines, width);
		vw_lines_done(&lines);
	}
	/* All rows end at the same column, wide and combining names included. */
	vw_table_render(table, 110, &lines);
	for (i = 1; i < lines.n; i++)
		assert_int_equal(vw_text_columns(lines.v[i].text), vw_text_columns(lines.v[0].text));
	vw_lines_done(&lines);
	vw_table_free(table);
}

static void test_too_many(void **state)
{
	struct vw_table *table = vw_table_new();
	struct vw_lines lines = { 0 };
	int i;

	for (i = 0; i < VW_TABLE_MAX + 3; i++)
		put(table, worker(1 + i, "vm", SEC));
	vw_table_rows_done(table);
	vw_table_render(table, 80, &lines);
	assert_int_equal(lines.n, 1 + VW_TABLE_MAX + 1);
	check_line(&lines, lines.n - 1, "and 3 more workers");
	vw_lines_done(&lines);
	vw_table_free(table);
}

static void test_finding(void **state)
{
	struct vw_finding f = sample_finding();
	struct vw_lines lines = { 0 };

	vw_sentence_finding(&f, 100, true, &lines);
	check_lines(&lines, 100);
	assert_int_equal(lines.v[0].style, VW_STYLE_CRITICAL);
	check_line(&lines, 0, "CRITICAL non_yielding_worker on CPU 1, open for 16s, cause "
			      "ignores_resched, told after 12ms");
	check_line(&lines, 1, "  vhost-941 kept CPU 1 for 16s while vhost-942 waited.");
	check_line(&lines, 2, "  victim: vhost-942 (tid 952, VM web02, vhost-net:vnet8) waited 15.9s "
			      "at a stretch, 17s in all");
	check_line(&lines, 3, "  remedy: Let the worker loop call cond_resched().");
	assert_int_equal(lines.n, 4);
	vw_lines_done(&lines);
	f.status = VW_CLOSED;
	vw_sentence_finding(&f, 100, false, &lines);
	assert_non_null(strstr(lines.v[0].text, "closed after 16s"));
	assert_null(line_with(&lines, "remedy"));
	vw_lines_done(&lines);
	vw_sentence_update(&f, 100, &lines);
	assert_int_equal(lines.n, 1);
	assert_non_null(line_with(&lines, "still open after 16s, longest wait 15.9s"));
	vw_lines_done(&lines);
}

static void test_hostile_findings(void **state)
{
	struct vw_header header = sample_header();
	struct vw_lines lines = { 0 };
	unsigned int width;
	size_t i;

	for (i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct vw_finding f = sample_finding();

		f.culprit = sample_task(1, hostile[i], hostile[i], hostile[i]);
		f.victims[0].task = f.culprit;
		strcpy(f.message, hostile[i]);
		strcpy(f.remedy, hostile[i]);
		strcpy(header.hooks[1].reason, hostile[i]);
		for (width = VW_WIDTH_MIN; width < 120; width += 7) {
			vw_sentence_finding(&f, width, true, &lines);
			vw_sentence_update(&f, width, &lines);
			vw_sentence_header(&header, width, width & 1, &lines);
			check_lines(&lines, width);
			vw_lines_done(&lines);
		}
	}
}

static void test_findings_list(void **state)
{
	struct vw_findings *list = vw_findings_new();
	struct vw_finding f = sample_finding();
	struct vw_lines lines = { 0 };
	int i;

	f.cpu = 7; /* the oldest */
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
	f.cpu = 1;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
	f.duration_ns += SEC;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_LASTS);
	f.culprit.tid++;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
	f.culprit.tid--;
	f.status = VW_CLOSED;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_ENDS);
	f.start_ns++; /* a later episode is a new finding */
	f.status = VW_OPEN;
	f.severity = VW_WARNING;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
	vw_findings_render(list, 100, &lines);
	assert_ptr_equal(strstr(lines.v[0].text, "CRITICAL"), lines.v[0].text);
	assert_non_null(strstr(lines.v[0].text, "open for"));
	assert_ptr_equal(strstr(lines.v[8].text, "WARNING"), lines.v[8].text);
	assert_non_null(strstr(lines.v[12].text, "closed after"));
	vw_lines_done(&lines);
	/* A flood: the closed one goes first though it is not the oldest; the list stays bounded. */
	for (i = 0; i < 3 * VW_FINDINGS_MAX; i++) {
		f.start_ns++;
		assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
		vw_findings_render(list, 100, &lines);
		assert_true(lines.n <= 5 * VW_FINDINGS_MAX);
		if (i == VW_FINDINGS_MAX - 4) {
			assert_null(line_with(&lines, "closed"));
			assert_non_null(line_with(&lines, "on CPU 7"));
		}
		vw_lines_done(&lines);
	}
	vw_findings_free(list);
	vw_findings_free(NULL);
}

static void test_header_and_summary(void **state)
{
	struct vw_summary summary = { .verdict = VW_VERDICT_CRITICAL, .counts = { 2, 1 },
				      .lost_events = 5000, .duration_ns = 12 * SEC, .workers = 1 };
	struct vw_header header = sample_header();
	struct vw_lines lines = { 0 };

	vw_sentence_header(&header, 200, false, &lines);
	check_line(&lines, 0, "vhostwatch " VW_VERSION ", Linux 6.1.0-57-amd64 x86_64, preempt none, "
			      "2 CPUs, level trace, clock tp_btf/local_timer_entry");
	check_line(&lines, 1, "  switches: missing (BTF does not have it); lost: short stints");
	assert_int_equal(lines.n, 2); /* what is optional is no degradation */
	vw_lines_done(&lines);
	vw_sentence_summary(&summary, 200, &lines);
	check_line(&lines, 0, "verdict critical: 2 non_yielding_worker, 1 starved_task; 1 worker in "
			      "12s, 5000 events lost");
	vw_lines_done(&lines);
	vw_sentence_summary(&(struct vw_summary){ 0 }, 200, &lines);
	check_line(&lines, 0, "verdict ok: no finding; no worker in 0, no event lost");
	vw_lines_done(&lines);
}

/* The text sink as a whole: what comes when. */
static void test_text_sink(void **state)
{
	struct vw_header header = sample_header();
	struct vw_finding f = sample_finding();
	struct vw_worker_row row = worker(951, "web01", SEC);
	struct vw_summary summary = { .verdict = VW_VERDICT_CRITICAL, .counts = { 1 } };
	char *text = NULL, *p;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct vw_sink *sink = vw_sink_text_new(out);

	sink->ops->begin(sink, &header);
	sink->ops->finding(sink, &f);
	sink->ops->finding(sink, &f);
	sink->ops->worker(sink, &row);
	sink->ops->rows_done(sink, SEC);
	f.status = VW_CLOSED;
	sink->ops->finding(sink, &f);
	sink->ops->notice(sink, "a hook went\x1b[2J");
	sink->ops->end(sink, &summary);
	assert_int_equal(sink->ops->flush(sink), 0);
	sink->ops->free(sink);
	fclose(out);
	assert_ptr_equal(strstr(text, "vhostwatch "), text);
	p = strstr(text, "open for 16s");
	assert_non_null(p);
	p = strstr(p, "remedy: ");
	assert_non_null(p);
	p = strstr(p, "still open after 16s");
	assert_non_null(p);
	p = strstr(p, "web01      vhost-net:tap0");
	assert_non_null(p);
	p = strstr(p, "closed after 16s");
	assert_non_null(p);
	assert_null(strstr(p, "remedy: "));
	p = strstr(p, "a hook went?[2J");
	assert_non_null(p);
	assert_non_null(strstr(p, "verdict critical"));
	free(text);
}

static void test_doctor(void **state)
{
	struct vw_header header = sample_header();
	char *text = NULL, *line, *save;
	size_t size;
	FILE *out;
	int i;

	memset(header.hooks[1].reason, 'r', sizeof(header.hooks[1].reason) - 1);
	for (i = 9; i < 150; i += 10)
		header.hooks[1].reason[i] = ' ';
	header.hooks[1].lost[3] = '\x1b';
	out = open_memstream(&text, &size);
	assert_int_equal(vw_doctor_text(out, &header), 0);
	fclose(out);
	assert_non_null(strstr(text, "\nHost: Linux 6.1.0-57-amd64 x86_64, preempt none, HZ 250, "
				     "CPUs 2\n"));
	assert_non_null(strstr(text, "\n  clock                attached  tp_btf/local_timer_entry\n"));
	assert_non_null(strstr(text, "\n  switches             missing   -\n"));
	assert_non_null(strstr(text, "\n                                 lost: sho?t stints\n"));
	assert_non_null(strstr(text, "kprobe/handle_tx (not used at this level)\n"));
	assert_non_null(strstr(text, "\n  starved_task         degraded  no switch hook\n"));
	assert_non_null(strstr(text, "\n  non_yielding_worker  full      "));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		assert_true(vw_text_columns(line) <= 100);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_first_interval_and_gone),
		cmocka_unit_test(test_reused_tid),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_hostile_rows),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_finding),
		cmocka_unit_test(test_hostile_findings),
		cmocka_unit_test(test_findings_list),
		cmocka_unit_test(test_header_and_summary),
		cmocka_unit_test(test_text_sink),
		cmocka_unit_test(test_doctor),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77; /* without wcwidth() of UTF-8 nothing here can be measured */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
