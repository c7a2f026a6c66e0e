// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "sink/findings.h"
#include "sink/sentence.h"

struct vw_findings {
	unsigned int n;
	struct vw_finding v[VW_FINDINGS_MAX]; /* in the order of arrival */
};

struct vw_findings *vw_findings_new(void)
{
	return calloc(1, sizeof(struct vw_findings));
}

void vw_findings_free(struct vw_findings *list)
{
	free(list);
}

static bool same(const struct vw_finding *a, const struct vw_finding *b)
{
	if (a->kind != b->kind || a->start_ns != b->start_ns || a->cpu != b->cpu ||
	    a->has_culprit != b->has_culprit)
		return false;
	return !a->has_culprit || vw_task_same(&a->culprit, &b->culprit);
}

/* Makes room for one more: the oldest closed finding goes, or the oldest when all are open. */
static void evict(struct vw_findings *list)
{
	unsigned int i, victim = 0;

	for (i = 0; i < list->n; i++) {
		if (list->v[i].status == VW_CLOSED) {
			victim = i;
			break;
		}
	}
	list->n--;
	memmove(&list->v[victim], &list->v[victim + 1],
		(list->n - victim) * sizeof(list->v[0]));
}

enum vw_finding_news vw_findings_put(struct vw_findings *list, const struct vw_finding *finding)
{
	unsigned int i;

	for (i = 0; i < list->n; i++) {
		if (!same(&list->v[i], finding))
			continue;
		list->v[i] = *finding;
		return finding->status == VW_CLOSED ? VW_FINDING_ENDS : VW_FINDING_LASTS;
	}
	if (list->n == VW_FINDINGS_MAX)
		evict(list);
	list->v[list->n++] = *finding;
	return VW_FINDING_NEW;
}

/* Negative when @a is to be shown before @b. */
static int by_urgency(const void *a, const void *b)
{
	const struct vw_finding *x = *(const struct vw_finding *const *)a;
	const struct vw_finding *y = *(const struct vw_finding *const *)b;

	if (x->status != y->status)
		return x->status == VW_OPEN ? -1 : 1;
	if (x->status == VW_CLOSED && x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x > y) - (x < y); /* both are in one array */
}

void vw_findings_render(const struct vw_findings *list, unsigned int width, struct vw_lines *lines)
{
	const struct vw_finding *order[VW_FINDINGS_MAX];
	unsigned int i;

	for (i = 0; i < list->n; i++)
		order[i] = &list->v[i];
	qsort(order, list->n, sizeof(order[0]), by_urgency);
	for (i = 0; i < list->n; i++)
		vw_sentence_finding(order[i], width, order[i]->status == VW_OPEN, lines);
}
