/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which bits of thread_info.flags mean "reschedule".  They are macros, so BTF does not have them,
 * and the same bit 4 of x86 means lazy on 6.16 and full on 6.18.
 *
 * Source: arch/x86/include/asm/thread_info.h and arch/arm64/include/asm/thread_info.h of the lines,
 * and include/asm-generic/thread_info_tif.h, which x86 took up in the release that also added
 * sched_set_need_resched_tp; so that tracepoint tells the new numbering from the old.
 */
#ifndef VW_LOAD_TIF_H
#define VW_LOAD_TIF_H

#include "load/features.h"

struct vw_tif {
	uint64_t full; /* mask of TIF_NEED_RESCHED; 0: not known for this architecture */
	uint64_t lazy; /* mask of TIF_NEED_RESCHED_LAZY; 0: the kernel has none */
};

struct vw_tif vw_tif_choose(const struct vw_features *f);

#endif
