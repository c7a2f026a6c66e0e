// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The full-screen view.  ncurses keeps the terminal's state in a SCREEN of its own; the rest is
 * what the text sink has too, drawn again from its last state at each update.
 */
#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/findings.h"
#include "sink/lines.h"
#include "sink/sentence.h"
#include "sink/sink.h"
#include "sink/table.h"
#include "sink/terminal.h"

enum color_pair { PAIR_WARNING = 1, PAIR_CRITICAL };

struct screen_sink {
	struct vw_sink base;
	SCREEN *screen;
	struct vw_header header;
	struct vw_table *table;
	struct vw_findings *findings;
	struct vw_lines summary; /* printed once the terminal is given back */
	char notice[VW_TEXT_LEN];
	bool begun;
	bool quit;
};

static attr_t attributes(enum vw_style style)
{
	switch (style) {
	case VW_STYLE_HEADING:
		return A_BOLD;
	case VW_STYLE_DIM:
		return A_DIM;
	case VW_STYLE_WARNING:
		return A_BOLD | (has_colors() ? (attr_t)COLOR_PAIR(PAIR_WARNING) : 0);
	case VW_STYLE_CRITICAL:
		return has_colors() ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_CRITICAL) : A_REVERSE;
	case VW_STYLE_PLAIN:
		break;
	}
	return A_NORMAL;
}

/* Up to @room lines from row @y on; says how many did not fit.  Returns the row that follows. */
static int draw_lines(const struct vw_lines *lines, int y, int room)
{
	size_t i, shown = lines->n;

	if (room <= 0)
		return y;
	if (shown > (size_t)room)
		shown = (size_t)room - 1;
	for (i = 0; i < shown; i++) {
		attrset((int)attributes(lines->v[i].style));
		mvaddstr(y++, 0, lines->v[i].text);
	}
	attrset(A_DIM);
	if (shown < lines->n)
		mvprintw(y++, 0, "  %zu more lines do not fit", lines->n - shown);
	attrset(A_NORMAL);
	return y;
}

static void draw(struct screen_sink *sink)
{
	struct vw_lines header = { 0 }, table = { 0 }, findings = { 0 };
	unsigned int width = COLS > 0 ? (unsigned int)COLS : VW_WIDTH_MIN;
	int y, room, for_findings;

	if (width > VW_WIDTH_MAX)
		width = VW_WIDTH_MAX;
	if (sink->begun)
		vw_sentence_header(&sink->header, width, true, &header);
	if (*sink->notice)
		vw_lines_add(&header, VW_STYLE_PLAIN, width, sink->notice);
	vw_table_render(sink->table, width, &table);
	vw_findings_render(sink->findings, width, &findings);
	erase();
	y = draw_lines(&header, 0, LINES / 3 > 1 ? LINES / 3 : 1);
	/* A blank line after header and table, the help at the bottom. */
	room = LINES - y - 3;
	/* Half for findings; more when the table is short, less when they are. */
	for_findings = (int)findings.n < room / 2 ? (int)findings.n : room / 2;
	if ((int)table.n < room - for_findings)
		for_findings = room - (int)table.n;
	y = draw_lines(&table, y + 1, room - for_findings);
	draw_lines(&findings, y + 1, for_findings);
	attrset(A_DIM);
	mvaddstr(LINES - 1, 0, "q quits");
	attrset(A_NORMAL);
	wnoutrefresh(stdscr);
	doupdate();
	vw_lines_done(&header);
	vw_lines_done(&table);
	vw_lines_done(&findings);
}

static void screen_begin(struct vw_sink *base, const struct vw_header *header)
{
	struct screen_sink *sink = (struct screen_sink *)base;

	sink->header = *header;
	sink->begun = true;
	draw(sink);
}

static void screen_finding(struct vw_sink *base, const struct vw_finding *finding)
{
	struct screen_sink *sink = (struct screen_sink *)base;

	/* Shown at once when it is news; what lasts waits for the interval. */
	if (vw_findings_put(sink->findings, finding) != VW_FINDING_LASTS)
		draw(sink);
}

static void screen_worker(struct vw_sink *base, const struct vw_worker_row *row)
{
	/* Out of memory leaves a row out of the view, which the next interval makes good. */
	vw_table_worker(((struct screen_sink *)base)->table, row);
}

static void screen_rows_done(struct vw_sink *base, uint64_t ts_ns)
{
	struct screen_sink *sink = (struct screen_sink *)base;

	(void)ts_ns;
	vw_table_rows_done(sink->table);
	draw(sink);
}

static void screen_notice(struct vw_sink *base, const char *text)
{
	struct screen_sink *sink = (struct screen_sink *)base;

	snprintf(sink->notice, sizeof(sink->notice), "%s", text);
	draw(sink);
}

static void screen_end(struct vw_sink *base, const struct vw_summary *summary)
{
	struct screen_sink *sink = (struct screen_sink *)base;

	vw_lines_done(&sink->summary);
	vw_sentence_summary(summary, COLS > 0 ? (unsigned int)COLS : 80, &sink->summary);
}

/* The terminal takes what it gets; there is no write to fail. */
static int screen_flush(struct vw_sink *base)
{
	(void)base;
	return 0;
}

static void screen_free(struct vw_sink *base)
{
	struct screen_sink *sink = (struct screen_sink *)base;

	if (!sink)
		return;
	if (sink->screen) {
		endwin();
		delscreen(sink->screen);
	}
	vw_lines_print(&sink->summary, stdout);
	vw_lines_done(&sink->summary);
	vw_table_free(sink->table);
	vw_findings_free(sink->findings);
	free(sink);
}

static void set_up_terminal(void)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	if (!has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(PAIR_WARNING, COLOR_YELLOW, -1);
	init_pair(PAIR_CRITICAL, COLOR_RED, -1);
}

static bool screen_quit(struct vw_sink *base)
{
	struct screen_sink *sink = (struct screen_sink *)base;
	int key;

	set_term(sink->screen);
	while ((key = getch()) != ERR) {
		if (key == 'q' || key == 'Q')
			sink->quit = true;
		else if (key == KEY_RESIZE)
			draw(sink);
	}
	return sink->quit;
}

struct vw_sink *vw_sink_screen_new(struct vw_error *ret_err)
{
	static const struct vw_sink_ops ops = {
		.quit = screen_quit,
		.begin = screen_begin,
		.finding = screen_finding,
		.worker = screen_worker,
		.rows_done = screen_rows_done,
		.notice = screen_notice,
		.end = screen_end,
		.flush = screen_flush,
		.free = screen_free,
	};
	struct screen_sink *sink;

	if (vw_terminal_check(ret_err))
		return NULL;
	sink = calloc(1, sizeof(*sink));
	if (!sink)
		goto out;
	sink->base.ops = &ops;
	sink->table = vw_table_new();
	sink->findings = vw_findings_new();
	if (!sink->table || !sink->findings)
		goto out;
	sink->screen = newterm(NULL, stdout, stdin);
	if (!sink->screen)
		goto out;
	set_up_terminal();
	return &sink->base;
out:
	screen_free(sink ? &sink->base : NULL);
	vw_error_set(ret_err, -ENOMEM, "terminal", "cannot set up the full screen: out of memory");
	return NULL;
}
