/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of text with a style each: what table and sentences render into and text and screen print.
 *
 * Everything that goes in is made safe for terminals (util/utf8.h) and measured in columns, so that
 * wide and combining characters line up.  Widths come from wcwidth(): main() sets LC_CTYPE.
 */
#ifndef VW_SINK_LINES_H
#define VW_SINK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define VW_WIDTH_MIN 20
#define VW_WIDTH_MAX 512
/* Room for a cell of VW_WIDTH_MAX columns and what combines with them. */
#define VW_CELL_SIZE (8 * VW_WIDTH_MAX)

enum vw_style {
	VW_STYLE_PLAIN,
	VW_STYLE_HEADING,
	VW_STYLE_DIM,
	VW_STYLE_WARNING,
	VW_STYLE_CRITICAL,
};

struct vw_line {
	enum vw_style style;
	char *text; /* owned; printable UTF-8, no trailing blanks */
};

struct vw_lines {
	struct vw_line *v;
	size_t n, cap;
	bool failed; /* out of memory: some lines are missing */
};

/* Frees the contents; *@lines is empty and usable afterwards. */
void vw_lines_done(struct vw_lines *lines);

/* One line, cut at @width columns. */
void vw_lines_add(struct vw_lines *lines, enum vw_style style, unsigned int width,
		  const char *text);

/* @text broken between words at @width columns; @indent blanks before each line but the first. */
void vw_lines_wrap(struct vw_lines *lines, enum vw_style style, unsigned int width,
		   unsigned int indent, const char *text);

/* 0 or the negative errno of the first failed write. */
int vw_lines_print(const struct vw_lines *lines, FILE *out);

/* Columns of @text as vw_cell() would show it uncut. */
unsigned int vw_text_columns(const char *text);

/* @text in exactly @width columns: padded (in front if @right), or cut with '~' as the last one. */
char *vw_cell(char dst[VW_CELL_SIZE], const char *text, unsigned int width, bool right);

#endif
