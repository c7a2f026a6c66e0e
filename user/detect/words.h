/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sentences of all findings are put together from. */
#ifndef VW_DETECT_WORDS_H
#define VW_DETECT_WORDS_H

#include "model/finding.h"

/* A text under construction in a buffer that stays the caller's; what does not fit is cut. */
struct vw_line {
	char *buf;
	size_t size, used;
};

/* Begins an empty line in @buf, which is an array. */
#define VW_LINE(array) ((struct vw_line){ (array), sizeof(array), ((array)[0] = '\0', 0) })

void vw_line_put(struct vw_line *line, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "comm (tid N, VM x, device)", with @noun "vhost worker comm (...)". */
void vw_line_task(struct vw_line *line, const struct vw_task *task, bool noun);

/* "1, 2, 3" */
void vw_line_list(struct vw_line *line, const int32_t *values, unsigned int n);

#endif
