/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the reader from starving with the victims.
 *
 * The reading thread sleeps between looks and may wake up on the very CPU that a hog keeps: then it
 * waits behind the hog, whatever its priority.  A task that waits can be moved from outside.  So a
 * second thread, kept on another CPU, watches the reader's beat and moves the reader when it fails;
 * the reader does the same for the second thread.  CPUs under suspicion are left out of the
 * reader's affinity in the first place. Nothing helps when every CPU is hogged; with one CPU this
 * does nothing.
 */
#ifndef VW_SOURCE_SENTINEL_H
#define VW_SOURCE_SENTINEL_H

#include <stdbool.h>
#include <stdint.h>

struct vw_sentinel;

/*
 * @beat_ns: the longest time between two beats in health.  NULL when it cannot be had (or needed).
 */
struct vw_sentinel *vw_sentinel_start(uint64_t beat_ns);
/* Gives the reader its first affinity back.  NULL is legal here and below. */
void vw_sentinel_stop(struct vw_sentinel *s);

/* The reader is alive; to be called on each round. */
void vw_sentinel_beat(struct vw_sentinel *s);
/* @cpu is kept by a hog, as seen at @now_ns; it is avoided for 2 s from then. */
void vw_sentinel_avoid(struct vw_sentinel *s, int32_t cpu, uint64_t now_ns);

#endif
