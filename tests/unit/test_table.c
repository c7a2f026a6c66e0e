// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cells, wrapped lines and the table: rates, order, widths, names that must not reach a terminal.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lines_check.h"
#include "sink/table.h"

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

	vw_lines_wrap(&lines, VW_STYLE_PLAIN, 20, 4,
		      "  one two three four fivefivefivefivefive six");
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
	check_line(&lines, 0,
		   "VM         DEVICE             TID  CPU ON-CPU%  WAIT% PENDING "
		   "SWITCHES/s TX pkt/s RX pkt/s");
	check_line(&lines, 1,
		   "web01      vhost-net:tap0     951    1    99.9    0.0    1.9s "
		   "         5    92328        0");
	check_line(&lines, 2,
		   "web02      vhost-net:tap0     952    1     0.0  100.0       0 "
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
	check_line(&lines, 1,
		   "web01      vhost-net:tap0     951    1       -      -       0 "
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

/* One row alone has rates when it says since when it counts. */
static void test_since(void **state)
{
	struct vw_table *table = vw_table_new();
	struct vw_worker_row row = worker(951, "web01", 20 * SEC);
	struct vw_lines lines = { 0 };

	row.oncpu_ns = 5 * SEC;
	row.wait_ns = 2 * SEC;
	row.voluntary = 100;
	row.involuntary = 0;
	row.since_ns = 10 * SEC;
	put(table, row);
	vw_table_rows_done(table);
	vw_table_render(table, 100, &lines);
	assert_non_null(strstr(lines.v[1].text, " 50.0   20.0 "));
	vw_lines_done(&lines);
	vw_table_free(table);
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
	char vm[16];
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
	check_line(&lines, 0,
		   "VM       DEVICE             TID CPU  CPU% WAIT% PENDING   SW/s   TX/s "
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
	width = vw_text_columns(lines.v[0].text);
	for (i = 1; i < lines.n; i++)
		assert_int_equal(vw_text_columns(lines.v[i].text), width);
	vw_lines_done(&lines);
	vw_table_free(table);
}

static void test_no_worker(void **state)
{
	struct vw_table *table = vw_table_new();
	struct vw_worker_row row = worker(7, "", SEC);
	struct vw_lines lines = { 0 };

	row.task.device[0] = '\0';
	put(table, row);
	row.task.tid = 8;
	row.task.role = VW_ROLE_OTHER;
	strcpy(row.task.comm, "123456\x1b"
			      "8901234");
	put(table, row);
	vw_table_rows_done(table);
	vw_table_render(table, 110, &lines);
	assert_non_null(strstr(lines.v[1].text, "-          -                      7"));
	assert_non_null(strstr(lines.v[2].text, "-          (123456?8901234)       8"));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),	     cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_rates),	     cmocka_unit_test(test_first_interval_and_gone),
		cmocka_unit_test(test_since),	     cmocka_unit_test(test_reused_tid),
		cmocka_unit_test(test_order),	     cmocka_unit_test(test_widths),
		cmocka_unit_test(test_hostile_rows), cmocka_unit_test(test_no_worker),
		cmocka_unit_test(test_too_many),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77; /* without wcwidth() of UTF-8 nothing here can be measured */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
