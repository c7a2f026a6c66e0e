/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What load/bpf.c and load/maps.c share. */
#ifndef VW_LOAD_BPF_INTERNAL_H
#define VW_LOAD_BPF_INTERNAL_H

#include "load/bpf.h"
#include "core.skel.h"

struct vw_bpf {
	struct core *skel;
	struct vw_attach *attach;
	int tp_index[VW_TP_COUNT]; /* in attach; -1: not wanted */
	struct ring_buffer *ring;
	struct bpf_link *stall_link; /* the kprobe's, NULL: not wanted */
	struct bpf_link **perf_links; /* one a CPU */
	int n_perf_links;
	int n_cpus; /* possible */
	void (*fn)(void *ctx, const struct vw_rec_hdr *hdr); /* of the drain under way */
	void *ctx;
	int drained;
	/*
	 * Watched tasks a slot; two tasks may share one, so it empties only with the last of them.
	 */
	uint16_t refs[VW_ABI_WATCH_SLOTS];
};

#endif
