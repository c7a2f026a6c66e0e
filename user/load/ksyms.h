/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for kernel addresses.
 *
 * /proc/kallsyms takes long to read (a second and more under emulation), so it is read piece by
 * piece from the first need on; until it is done there are no names.
 */
#ifndef VW_LOAD_KSYMS_H
#define VW_LOAD_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vw_ksyms;

/* @proc_fd stays the caller's and must outlive the object.  NULL when out of memory. */
struct vw_ksyms *vw_ksyms_new(int proc_fd);
void vw_ksyms_free(struct vw_ksyms *syms);

/*
 * The function that holds @addr, or NULL: not known, hidden (kptr_restrict), or not read yet.  The
 * first call asks for the reading.  The text lives as long as @syms.
 */
const char *vw_ksyms_name(struct vw_ksyms *syms, uint64_t addr);

/* Reads a piece, if it was asked for and is not done; to be called now and then. */
void vw_ksyms_work(struct vw_ksyms *syms);

#endif
