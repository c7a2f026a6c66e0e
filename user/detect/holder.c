// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "detect/holder.h"
#include "util/parse.h"

/* No stall of RCU is shorter; and who was not seen on its CPU for so long holds it no more. */
#define HELD_NS VW_NS_PER_SEC
#define SEEN_NS (2 * VW_NS_PER_SEC)

void vw_holders_note(struct vw_holders *holders, const struct vw_obs *obs)
{
	const struct vw_obs_stint *s = &obs->stint;
	struct vw_holder *slot = &holders->slots[0];
	bool known = false;
	unsigned int i;

	for (i = 0; i < VW_HOLDERS_MAX && !known; i++) {
		struct vw_holder *h = &holders->slots[i];

		known = h->tid && h->cpu == s->cpu;
		if (known || h->seen_ns < slot->seen_ns)
			slot = h;
	}
	if (!s->final && s->oncpu_ns >= HELD_NS)
		*slot = (struct vw_holder){ s->cpu, s->tid, s->start_ns, obs->ts_ns };
	else if (known)
		memset(slot, 0, sizeof(*slot));
}

bool vw_holders_of(const struct vw_holders *holders, const struct vw_detect_env *env, int32_t cpu,
		   uint64_t ts_ns, struct vw_task *ret_task)
{
	unsigned int i;

	for (i = 0; i < VW_HOLDERS_MAX; i++) {
		const struct vw_holder *h = &holders->slots[i];

		if (!h->tid || h->cpu != cpu || ts_ns > h->seen_ns + SEEN_NS)
			continue;
		vw_detect_task(env, h->tid, h->start_ns, ret_task);
		return true;
	}
	return false;
}
