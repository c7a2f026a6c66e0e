/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sentences of all findings are put together from. */
#ifndef VW_DETECT_WORDS_H
#define VW_DETECT_WORDS_H

#include "model/finding.h"

/* A text under construction in a buffer that stays the caller's; what does not fit is cut. */
struct vw_words {
	char *buf;
	size_t size, used;
};

/* Begins an empty line in @buf, which is an array. */
#define VW_WORDS(array) ((struct vw_words){ (array), sizeof(array), ((array)[0] = '\0', 0) })

void vw_words_put(struct vw_words *line, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* "comm (tid N, VM x, device)", with @noun "vhost worker comm (...)". */
void vw_words_task(struct vw_words *line, const struct vw_task *task, bool noun);

/* ", as have N more": the victims besides the one that was named; nothing without. */
void vw_words_more(struct vw_words *line, const struct vw_finding *f);

/* Where to look for what softirqs of @cpu come from. */
void vw_words_softirqs(struct vw_words *line, int32_t cpu);

/* How to get @task from under the CPU quota of its group. */
void vw_words_quota(struct vw_words *line, const struct vw_task *task);

/*
 * The victim that people ask about: another machine's, if there is one; else the one that waited
 * longest.  NULL without victims.
 */
const struct vw_victim *vw_words_chief(const struct vw_finding *f);

/* True when the list of CPUs (as in struct vw_task) names exactly one. */
bool vw_words_one_cpu(const char *list);

/* "1, 2, 3" */
void vw_words_list(struct vw_words *line, const int32_t *values, unsigned int n);

#endif
