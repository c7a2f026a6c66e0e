/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences of delayed_work_item and long_work_item. */
#ifndef VW_DETECT_WORK_TEXT_H
#define VW_DETECT_WORK_TEXT_H

#include "detect/episode.h"

struct vw_work_episode {
	struct vw_episode base;
	/* The item that was told of last. */
	uint64_t work, since_ns;
	/* Of the longest one. */
	uint64_t ahead_ns; /* the item in front ran so long meanwhile */
};

void vw_work_words(struct vw_episode *episode, const struct vw_host *host);

#endif
