/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF side as one object: open with a plan, load, attach, activate; then drain and watch.
 *
 * All calls from one thread.  A hook that is refused is a normal event: it is struck from the
 * features, a new plan is made, and the header's hooks say so.
 */
#ifndef VW_LOAD_BPF_H
#define VW_LOAD_BPF_H

#include "load/plan.h"
#include "vw_abi.h"

struct vw_bpf;

struct vw_bpf_config {
	struct vw_plan_wanted wanted;
	uint64_t threshold_ns;
	uint64_t emit_ns; /* between two records of one stint */
	bool verbose; /* libbpf's own log to stderr */
};

/*
 * Loads, attaches and activates what @features offers, striking from it what was refused.  On
 * success *@ret_plan is the plan in force.  -ENOTSUP when no BPF clock works here (then *@ret_plan
 * is the plan without BPF, and @e says why); other errors are of the rights or of memory, told in
 * @e.
 */
int vw_bpf_open(const struct vw_bpf_config *config, struct vw_features *features,
		struct vw_plan *ret_plan, struct vw_bpf **ret_bpf, struct vw_error *e);
void vw_bpf_close(struct vw_bpf *bpf);

/* Calls @fn for each record waiting, in order per CPU.  Their number, or a negative errno. */
int vw_bpf_drain(struct vw_bpf *bpf, void (*fn)(void *ctx, const struct vw_rec_hdr *hdr),
		 void *ctx);

/* True once the hook is in place; it may come late (load/attach.h). */
bool vw_bpf_attached(const struct vw_bpf *bpf, enum vw_tp tp);

/*
 * Starts or ends adding up what (tid, start) does; @flag is VW_WATCH_TASK (also exit and busy
 * records) or VW_WATCH_VCPU.  0, -E2BIG when full.
 */
int vw_bpf_watch(struct vw_bpf *bpf, int32_t tid, uint64_t start_ns, uint8_t flag);
void vw_bpf_unwatch(struct vw_bpf *bpf, int32_t tid);
/* Sets or clears VW_WATCH_* in the slot of @tid, which other tasks may share. */
void vw_bpf_mark(struct vw_bpf *bpf, int32_t tid, uint8_t flags, bool on);

/* The maps that user space reads; key and value are those of the map's definition in bpf/. */
enum vw_bpf_map {
	VW_MAP_TOTALS, /* uint32_t tid: struct vw_abi_totals */
	VW_MAP_MOVES, /* uint32_t tid: struct vw_abi_move */
	VW_MAP_PAIRS, /* struct vw_abi_pair_key: struct vw_abi_pair */
	VW_MAP_COUNT,
};

/* 0, -ENOENT, or another negative errno. */
int vw_bpf_lookup(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key, void *ret_value);
int vw_bpf_remove(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key);
/*
 * Calls @fn for each entry; it may remove the one it is called for.  0, or the first that @fn
 * returned which was not, or a negative errno.
 */
int vw_bpf_each(struct vw_bpf *bpf, enum vw_bpf_map map,
		int (*fn)(void *ctx, const void *key, const void *value), void *ctx);

/* Records lost so far. */
uint64_t vw_bpf_lost(struct vw_bpf *bpf);

/* Looks of the clock at busy CPUs so far: 0 after a second of load means a dead clock. */
uint64_t vw_bpf_ticks(struct vw_bpf *bpf);

#endif
