/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for kernel addresses.
 *
 * A kernel has 200 000 symbols; kept, they would be most of this program's memory, and reading them
 * takes long (a second and more under emulation).  So addresses that were asked for are looked up
 * together while the list is read past, piece by piece, and only their names are kept.
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
 * The function that holds @addr; "" when no list names one or the addresses are hidden
 * (kptr_restrict); NULL when it is not known yet: the address is then looked up by the next
 * readings.  The text lives until the next vw_ksyms_work().
 */
const char *vw_ksyms_name(struct vw_ksyms *syms, uint64_t addr);

/* Reads a piece, if there is something to look up; to be called now and then. */
void vw_ksyms_work(struct vw_ksyms *syms);

#endif
