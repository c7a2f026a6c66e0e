/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Header, findings and summary as sentences, rendered into lines of at most @width columns.
 */
#ifndef VW_SINK_SENTENCE_H
#define VW_SINK_SENTENCE_H

#include "model/finding.h"
#include "model/host.h"
#include "model/worker.h"
#include "sink/lines.h"

/* Host, level and clock; then a line for each hook of the plan that is not the first choice.  Those
 * are cut when @cut, else wrapped. */
void vw_sentence_header(const struct vw_header *header, unsigned int width, bool cut,
			struct vw_lines *lines);

/* All of a finding; its remedy only if @remedy. */
void vw_sentence_finding(const struct vw_finding *finding, unsigned int width, bool remedy,
			 struct vw_lines *lines);

/* One line about a finding that was shown before and lasts. */
void vw_sentence_update(const struct vw_finding *finding, unsigned int width,
			struct vw_lines *lines);

/* Verdict, findings by kind, workers, duration, losses. */
void vw_sentence_summary(const struct vw_summary *summary, unsigned int width,
			 struct vw_lines *lines);

/* "INFO", "WARNING", "CRITICAL" */
const char *vw_sentence_severity(enum vw_severity severity);

/* "1 worker", "2 workers", "no worker" */
char *vw_sentence_count(char *buf, size_t size, uint64_t n, const char *noun);

#endif
