/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF side as its readers see it: the functions of load/bpf.h, or those of a test.
 */
#ifndef VW_LOAD_SIGHT_H
#define VW_LOAD_SIGHT_H

#include "load/bpf.h"

struct vw_sight {
	struct vw_bpf *bpf;
	bool (*attached)(const struct vw_bpf *bpf, enum vw_tp tp);
	int (*lookup)(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key, void *ret_value);
	int (*remove)(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key);
	int (*each)(struct vw_bpf *bpf, enum vw_bpf_map map,
		    int (*fn)(void *ctx, const void *key, const void *value), void *ctx);
	int (*watch)(struct vw_bpf *bpf, int32_t tid, uint64_t start_ns, uint8_t flag);
	void (*unwatch)(struct vw_bpf *bpf, int32_t tid);
	void (*mark)(struct vw_bpf *bpf, int32_t tid, uint8_t flags, bool on);
};

/* The real one; @bpf stays the caller's. */
struct vw_sight vw_sight_of(struct vw_bpf *bpf);

#endif
