// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "source/part.h"
#include "util/parse.h"

/* In this order they are asked; each says in its own file what it is for. */
static const struct vw_part_ops *const table[] = {
	&vw_part_moves,
	&vw_part_place,
	&vw_part_busy,
	&vw_part_wait,
	&vw_part_stall,
};

#define N_PARTS (sizeof(table) / sizeof(table[0]))

struct vw_parts {
	uint64_t second_ns; /* when they were last asked for the second */
	void *state[N_PARTS]; /* NULL: has nothing to do */
};

/* Calls a function of each part that has it and has something to do; the first failure stays. */
#define EACH(parts, err, fn, ...)                                                                  \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < N_PARTS; i_++)                                            \
			if ((parts)->state[i_] && table[i_]->fn)                                   \
				(err) = (err) ?: table[i_]->fn((parts)->state[i_], __VA_ARGS__);   \
	} while (0)

int vw_parts_open(const struct vw_part_env *env, struct vw_parts **ret_parts)
{
	struct vw_parts *parts = calloc(1, sizeof(*parts));
	int err = parts ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !err && i < N_PARTS; i++)
		err = table[i]->open(env, &parts->state[i]);
	if (err) {
		vw_parts_close(parts);
		return err;
	}
	*ret_parts = parts;
	return 0;
}

int vw_parts_record(struct vw_parts *parts, const struct vw_rec_hdr *hdr)
{
	int err = 0;

	EACH(parts, err, record, hdr);
	return err;
}

int vw_parts_poll(struct vw_parts *parts, uint64_t now_ns)
{
	int err = 0;

	EACH(parts, err, poll, now_ns);
	if (now_ns - parts->second_ns < VW_NS_PER_SEC)
		return err;
	parts->second_ns = now_ns;
	EACH(parts, err, second, now_ns);
	return err;
}

void vw_parts_row(struct vw_parts *parts, struct vw_worker_row *row)
{
	size_t i;

	for (i = 0; i < N_PARTS; i++)
		if (parts->state[i] && table[i]->row)
			table[i]->row(parts->state[i], row);
}

void vw_parts_lost(struct vw_parts *parts)
{
	size_t i;

	for (i = 0; i < N_PARTS; i++)
		if (parts->state[i] && table[i]->lost)
			table[i]->lost(parts->state[i]);
}

void vw_parts_close(struct vw_parts *parts)
{
	size_t i;

	if (!parts)
		return;
	for (i = 0; i < N_PARTS; i++)
		if (parts->state[i])
			table[i]->close(parts->state[i]);
	free(parts);
}
