// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "source/rota.h"

static int add(struct vw_rota *set, struct vw_turn *owner)
{
	HASH_ADD(hh, set->head, pid, sizeof(owner->pid), owner);
	if (VW_HASH_ADDED(owner))
		return 0;
	free(owner);
	return -ENOMEM;
}

struct vw_turn *vw_rota_get(const struct vw_rota *set, int32_t pid)
{
	struct vw_turn *owner;

	HASH_FIND(hh, set->head, &pid, sizeof(pid), owner);
	return owner;
}

struct vw_turn *vw_rota_note(struct vw_rota *set, int32_t pid)
{
	struct vw_turn *owner = vw_rota_get(set, pid);

	if (owner)
		return owner;
	owner = calloc(1, set->size);
	if (!owner)
		return NULL;
	owner->pid = pid;
	return add(set, owner) ? NULL : owner;
}

int vw_rota_looked(struct vw_rota *set, struct vw_turn *owner, uint64_t now_ns)
{
	owner->looked_ns = now_ns;
	HASH_DEL(set->head, owner);
	return add(set, owner);
}

void vw_rota_drop(struct vw_rota *set, struct vw_turn *owner)
{
	HASH_DEL(set->head, owner);
	free(owner);
}

void vw_rota_free(struct vw_rota *set)
{
	struct vw_turn *owner, *next;

	HASH_ITER(hh, set->head, owner, next)
	{
		vw_rota_drop(set, owner);
	}
}
