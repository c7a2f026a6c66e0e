/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owners of workers that a part looks at in turn: however many there are, those that nobody has
 * looked at for the longest time come first.
 */
#ifndef VW_SOURCE_ROTA_H
#define VW_SOURCE_ROTA_H

#include <stddef.h>
#include <stdint.h>

#include "util/hash.h"

/* The first member of a part's own struct.  Times are CLOCK_MONOTONIC nanoseconds. */
struct vw_turn {
	int32_t pid;
	uint64_t seen_ns; /* when it was last noted; set by the part */
	uint64_t looked_ns; /* 0: never */
	UT_hash_handle hh;
};

struct vw_rota {
	size_t size; /* of the part's own struct */
	struct vw_turn *head; /* HASH_ITER() goes from the one looked at longest ago */
};

/* NULL when there is none. */
struct vw_turn *vw_rota_get(const struct vw_rota *set, int32_t pid);
/* That of @pid; a new one is all zeros but for its pid.  NULL when out of memory. */
struct vw_turn *vw_rota_note(struct vw_rota *set, int32_t pid);
/* It is looked at, at @now_ns: its turn comes last now.  -ENOMEM: it is gone instead. */
int vw_rota_looked(struct vw_rota *set, struct vw_turn *owner, uint64_t now_ns);
void vw_rota_drop(struct vw_rota *set, struct vw_turn *owner);
void vw_rota_free(struct vw_rota *set);

#endif
