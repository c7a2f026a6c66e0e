// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "load/bpf_internal.h"
#include "load/sight.h"
#include "util/clock.h"

static uint8_t *slot(struct vw_bpf *bpf, int32_t tid)
{
	return &bpf->skel->bss->vw_watch[(uint32_t)tid & (VW_ABI_WATCH_SLOTS - 1)];
}

/* The kernel changes slots, too. */
void vw_bpf_mark(struct vw_bpf *bpf, int32_t tid, uint8_t flags, bool on)
{
	if (on)
		__atomic_fetch_or(slot(bpf, tid), flags, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(slot(bpf, tid), (uint8_t)~flags, __ATOMIC_SEQ_CST);
}

int vw_bpf_watch(struct vw_bpf *bpf, int32_t tid, uint64_t start_ns, uint8_t flag)
{
	struct vw_abi_totals totals = { .start_ns = start_ns, .since_ns = vw_clock_now() };
	uint32_t key = (uint32_t)tid;

	if (bpf_map__update_elem(bpf->skel->maps.vw_totals, &key, sizeof(key), &totals,
				 sizeof(totals), BPF_ANY))
		return -errno;
	if (bpf->refs[key & (VW_ABI_WATCH_SLOTS - 1)] < UINT16_MAX)
		bpf->refs[key & (VW_ABI_WATCH_SLOTS - 1)]++;
	vw_bpf_mark(bpf, tid, flag, true);
	return 0;
}

void vw_bpf_unwatch(struct vw_bpf *bpf, int32_t tid)
{
	uint32_t key = (uint32_t)tid;

	if (bpf_map__delete_elem(bpf->skel->maps.vw_totals, &key, sizeof(key), 0))
		return; /* was not watched */
	if (!--bpf->refs[key & (VW_ABI_WATCH_SLOTS - 1)])
		vw_bpf_mark(bpf, tid, VW_WATCH_TASK | VW_WATCH_VCPU, false);
}

static const struct bpf_map *map_of(const struct vw_bpf *bpf, enum vw_bpf_map map)
{
	const struct bpf_map *const maps[VW_MAP_COUNT] = {
		[VW_MAP_TOTALS] = bpf->skel->maps.vw_totals,
		[VW_MAP_MOVES] = bpf->skel->maps.vw_moves,
		[VW_MAP_PAIRS] = bpf->skel->maps.vw_pairs,
	};

	return maps[map];
}

int vw_bpf_lookup(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key, void *ret_value)
{
	return bpf_map_lookup_elem(bpf_map__fd(map_of(bpf, map)), key, ret_value) ? -errno : 0;
}

int vw_bpf_remove(struct vw_bpf *bpf, enum vw_bpf_map map, const void *key)
{
	return bpf_map_delete_elem(bpf_map__fd(map_of(bpf, map)), key) ? -errno : 0;
}

int vw_bpf_each(struct vw_bpf *bpf, enum vw_bpf_map which,
		int (*fn)(void *ctx, const void *key, const void *value), void *ctx)
{
	const struct bpf_map *map = map_of(bpf, which);
	size_t key_size = bpf_map__key_size(map);
	char *key = calloc(2, key_size), *value = calloc(1, bpf_map__value_size(map));
	uint32_t left = bpf_map__max_entries(map);
	int err = key && value ? 0 : -ENOMEM;
	char *next = key;
	bool more;

	/* A map that is filled meanwhile may start anew; it still has an end for us. */
	more = !err && !bpf_map_get_next_key(bpf_map__fd(map), NULL, next);
	while (!err && more && left--) {
		char *at = next;

		next = at == key ? key + key_size : key;
		more = !bpf_map_get_next_key(bpf_map__fd(map), at, next);
		if (!bpf_map_lookup_elem(bpf_map__fd(map), at, value))
			err = fn(ctx, at, value);
	}
	free(key);
	free(value);
	return err;
}

static uint64_t counter(struct vw_bpf *bpf, uint32_t key)
{
	size_t size = sizeof(uint64_t) * (size_t)bpf->n_cpus;
	uint64_t *values = calloc(1, size), sum = 0;
	int i;

	if (!values)
		return 0;
	if (!bpf_map__lookup_elem(bpf->skel->maps.vw_counters, &key, sizeof(key), values, size, 0))
		for (i = 0; i < bpf->n_cpus; i++)
			sum += values[i];
	free(values);
	return sum;
}

uint64_t vw_bpf_lost(struct vw_bpf *bpf)
{
	return counter(bpf, VW_COUNT_RESERVE_FAILED);
}

uint64_t vw_bpf_ticks(struct vw_bpf *bpf)
{
	return counter(bpf, VW_COUNT_TICKS);
}

struct vw_sight vw_sight_of(struct vw_bpf *bpf)
{
	return (struct vw_sight){
		.bpf = bpf,
		.attached = vw_bpf_attached,
		.lookup = vw_bpf_lookup,
		.remove = vw_bpf_remove,
		.each = vw_bpf_each,
		.watch = vw_bpf_watch,
		.unwatch = vw_bpf_unwatch,
		.mark = vw_bpf_mark,
	};
}
