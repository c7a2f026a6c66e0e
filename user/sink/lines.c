// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "sink/lines.h"
#include "util/utf8.h"

#define CUT_MARK '~'

/* Columns of one printable code point; what the C library does not know is taken for narrow. */
static unsigned int code_columns(uint32_t code)
{
	int n = wcwidth((wchar_t)code);

	return n < 0 ? 1 : (unsigned int)n;
}

/* Bytes of the longest start of the printable @text that fits @width; *@ret_used: its columns. */
static size_t fit(const char *text, unsigned int width, unsigned int *ret_used)
{
	size_t len = strlen(text), pos = 0, step;
	unsigned int used = 0;
	uint32_t code;

	while (pos < len) {
		unsigned int columns;

		step = vw_utf8_decode(text + pos, len - pos, &code);
		columns = code_columns(code);
		if (used + columns > width)
			break;
		used += columns;
		pos += step;
	}
	*ret_used = used;
	return pos;
}

/* A printable copy of @text, NULL when out of memory. */
static char *printable(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	if (copy)
		vw_utf8_printable(copy, size, text, size - 1);
	return copy;
}

unsigned int vw_text_columns(const char *text)
{
	char *copy = printable(text);
	unsigned int used = 0;

	if (copy)
		fit(copy, VW_WIDTH_MAX, &used);
	free(copy);
	return used;
}

char *vw_cell(char dst[VW_CELL_SIZE], const char *text, unsigned int width, bool right)
{
	char clean[VW_CELL_SIZE - VW_WIDTH_MAX];
	unsigned int used;
	size_t len, pad;

	if (width > VW_WIDTH_MAX)
		width = VW_WIDTH_MAX;
	vw_utf8_printable(clean, sizeof(clean), text, strlen(text));
	len = fit(clean, width, &used);
	if (clean[len] && width) {
		len = fit(clean, width - 1, &used);
		clean[len++] = CUT_MARK;
		used++;
	}
	pad = width - used;
	memset(dst, ' ', pad + len);
	memcpy(dst + (right ? pad : 0), clean, len);
	dst[pad + len] = '\0';
	return dst;
}

/* Adds @len bytes of printable text behind @indent blanks; blanks at the end go. */
static void append(struct vw_lines *lines, enum vw_style style, unsigned int indent,
		   const char *text, size_t len)
{
	char *copy;

	while (len && text[len - 1] == ' ')
		len--;
	if (lines->n == lines->cap) {
		size_t cap = lines->cap ? 2 * lines->cap : 64;
		struct vw_line *v = realloc(lines->v, cap * sizeof(*v));

		if (!v)
			goto fail;
		lines->v = v;
		lines->cap = cap;
	}
	copy = malloc(indent + len + 1);
	if (!copy)
		goto fail;
	memset(copy, ' ', indent);
	memcpy(copy + indent, text, len);
	copy[indent + len] = '\0';
	lines->v[lines->n++] = (struct vw_line){ .style = style, .text = copy };
	return;
fail:
	lines->failed = true;
}

void vw_lines_done(struct vw_lines *lines)
{
	size_t i;

	for (i = 0; i < lines->n; i++)
		free(lines->v[i].text);
	free(lines->v);
	memset(lines, 0, sizeof(*lines));
}

void vw_lines_add(struct vw_lines *lines, enum vw_style style, unsigned int width, const char *text)
{
	unsigned int columns = vw_text_columns(text);
	char cell[VW_CELL_SIZE];

	vw_cell(cell, text, columns < width ? columns : width, false);
	append(lines, style, 0, cell, strlen(cell));
}

/* Where to break the printable @text to fit @room columns: after a word, if there is one. */
static size_t break_at(const char *text, unsigned int room)
{
	unsigned int used;
	size_t blanks = strspn(text, " "), len, pos;

	len = fit(text, room, &used);
	if (!text[len] || (text[len] == ' ' && len > blanks))
		return len;
	for (pos = len; pos > blanks; pos--)
		if (text[pos - 1] == ' ')
			return pos;
	/* One word longer than the line.  At least one character, or this would not end. */
	return len ? len : strlen(text);
}

void vw_lines_wrap(struct vw_lines *lines, enum vw_style style, unsigned int width,
		   unsigned int indent, const char *text)
{
	char *copy = printable(text);
	const char *rest = copy;
	bool first = true;

	if (!copy) {
		lines->failed = true;
		return;
	}
	if (width < VW_WIDTH_MIN)
		width = VW_WIDTH_MIN;
	if (indent > width / 2)
		indent = width / 2;
	do {
		unsigned int front = first ? 0 : indent;
		size_t len = break_at(rest, width - front);

		append(lines, style, front, rest, len);
		rest += len;
		while (*rest == ' ')
			rest++;
		first = false;
	} while (*rest);
	free(copy);
}

int vw_lines_print(const struct vw_lines *lines, FILE *out)
{
	size_t i;

	if (lines->failed)
		return -ENOMEM;
	errno = 0;
	for (i = 0; i < lines->n; i++)
		if (fprintf(out, "%s\n", lines->v[i].text) < 0)
			return errno ? -errno : -EIO;
	if (fflush(out))
		return errno ? -errno : -EIO;
	return 0;
}
