/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a starved task is owed.
 *
 * When a hog lets go, a fair scheduler pays its victims back: they run and the hog waits, for about
 * as long as they had waited, without any request pending.  That wait is no new starvation.
 */
#ifndef VW_DETECT_DEBT_H
#define VW_DETECT_DEBT_H

#include "model/task.h"

#define VW_DEBTS 64

struct vw_debts {
	struct {
		int32_t creditor, debtor;
		uint64_t amount_ns;
		uint64_t since_ns; /* the hog let go */
		uint64_t until_ns; /* paid by then, or never */
	} slots[VW_DEBTS];
};

/* @debtor ran @amount_ns while @creditor waited, up to @ts_ns.  The oldest debt makes room. */
void vw_debts_add(struct vw_debts *debts, int32_t creditor, int32_t debtor, uint64_t amount_ns,
		  uint64_t ts_ns);

/* True when a wait of @wait_ns of @debtor, while @creditor runs, only pays what is owed. */
bool vw_debts_excuse(const struct vw_debts *debts, int32_t creditor, int32_t debtor,
		     uint64_t wait_ns, uint64_t ts_ns);

/* The same for a wait behind several: true when it is no longer than what @debtor owes to all. */
bool vw_debts_excuse_all(const struct vw_debts *debts, int32_t debtor, uint64_t wait_ns,
			 uint64_t ts_ns);

#endif
