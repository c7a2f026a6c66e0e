/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of workers: cumulative rows in, lines with rates over the last interval out.
 *
 * Rows of one interval come through vw_table_worker() and take effect with vw_table_rows_done(); a
 * worker without a row in the interval is gone.  Unknown is "-", and so is a rate of a worker seen for
 * the first time whose row does not say since when it counts.
 */
#ifndef VW_SINK_TABLE_H
#define VW_SINK_TABLE_H

#include "model/worker.h"
#include "sink/lines.h"

/* Rows kept; a host with more is told how many are left out. */
#define VW_TABLE_MAX 4096

struct vw_table;

struct vw_table *vw_table_new(void);
void vw_table_free(struct vw_table *table);
/* 0 or -ENOMEM. */
int vw_table_worker(struct vw_table *table, const struct vw_worker_row *row);
void vw_table_rows_done(struct vw_table *table);
/* Heading and rows, most time on CPU first, then longest wait; one line when there are none. */
void vw_table_render(const struct vw_table *table, unsigned int width, struct vw_lines *lines);

#endif
