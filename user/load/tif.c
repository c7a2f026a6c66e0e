// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "load/tif.h"

#define BIT(n) (UINT64_C(1) << (n))

struct vw_tif vw_tif_choose(const struct vw_features *f)
{
	struct vw_tif tif = { 0, 0 };

	if (!strcmp(f->host.arch, "x86_64")) {
		if (f->tp_need_resched) {
			tif.full = BIT(4);
			tif.lazy = BIT(5);
		} else {
			tif.full = BIT(3);
			tif.lazy = f->preempt_lazy ? BIT(4) : 0;
		}
	} else if (!strcmp(f->host.arch, "aarch64")) {
		tif.full = BIT(1);
		tif.lazy = f->preempt_lazy ? BIT(2) : 0;
	}
	return tif;
}
