// SPDX-License-Identifier: GPL-2.0-or-later
#include "detect/debt.h"

/*
 * Measured on 6.1 and 6.12 after 5 s of starvation: the loser ran alone for about 5 s.  A quarter
 * more covers the weight of a task of another nice value near 0 and the ticks at both ends.
 */
static uint64_t with_margin(uint64_t amount_ns)
{
	return amount_ns + amount_ns / 4;
}

/* What is left of debt @i when its debtor takes the CPU again at @ts_ns; till then it was paid. */
static uint64_t unpaid(const struct vw_debts *debts, unsigned int i, uint64_t ts_ns)
{
	uint64_t paid = ts_ns > debts->slots[i].since_ns ? ts_ns - debts->slots[i].since_ns : 0;

	return debts->slots[i].amount_ns > paid ? debts->slots[i].amount_ns - paid : 0;
}

void vw_debts_add(struct vw_debts *debts, int32_t creditor, int32_t debtor, uint64_t amount_ns,
		  uint64_t ts_ns)
{
	unsigned int i, slot = 0;
	uint64_t rest = 0;

	for (i = 0; i < VW_DEBTS; i++) {
		if (debts->slots[i].creditor == creditor && debts->slots[i].debtor == debtor) {
			slot = i;
			rest = unpaid(debts, i, ts_ns > amount_ns ? ts_ns - amount_ns : 0);
			break;
		}
		if (debts->slots[i].until_ns < debts->slots[slot].until_ns)
			slot = i;
	}
	debts->slots[slot].creditor = creditor;
	debts->slots[slot].debtor = debtor;
	debts->slots[slot].amount_ns = amount_ns + rest;
	debts->slots[slot].since_ns = ts_ns;
	debts->slots[slot].until_ns = ts_ns + 2 * with_margin(amount_ns + rest);
}

bool vw_debts_excuse(const struct vw_debts *debts, int32_t creditor, int32_t debtor,
		     uint64_t wait_ns, uint64_t ts_ns)
{
	unsigned int i;

	for (i = 0; i < VW_DEBTS; i++)
		if (debts->slots[i].creditor == creditor && debts->slots[i].debtor == debtor)
			return ts_ns <= debts->slots[i].until_ns &&
			       wait_ns <= with_margin(debts->slots[i].amount_ns);
	return false;
}

bool vw_debts_excuse_all(const struct vw_debts *debts, int32_t debtor, uint64_t wait_ns,
			 uint64_t ts_ns)
{
	uint64_t total_ns = 0, n = 0;
	unsigned int i;

	for (i = 0; i < VW_DEBTS; i++)
		n += debts->slots[i].debtor == debtor && debts->slots[i].amount_ns;
	for (i = 0; i < VW_DEBTS; i++) {
		if (debts->slots[i].debtor != debtor)
			continue;
		/* Paid in turns, each creditor's takes as much longer as there are others. */
		if (ts_ns <=
		    debts->slots[i].since_ns + 2 * n * with_margin(debts->slots[i].amount_ns))
			total_ns += debts->slots[i].amount_ns;
	}
	return total_ns && wait_ns <= with_margin(total_ns);
}
