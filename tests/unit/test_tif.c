// SPDX-License-Identifier: GPL-2.0-or-later
/* The bits of thread_info.flags, line by line of the kernels that were looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "load/tif.h"

#define BIT(n) (UINT64_C(1) << (n))

/* What tells the lines apart: the tracepoint of 6.18, and a mode "lazy" in debugfs. */
static const struct {
	const char *line, *arch;
	bool tracepoint, lazy_mode;
	uint64_t full, lazy;
} lines[] = {
	{ "5.10", "x86_64", false, false, BIT(3), 0 },
	{ "6.1", "x86_64", false, false, BIT(3), 0 },
	{ "6.12", "x86_64", false, false, BIT(3), 0 },
	/* The same bit 4 is lazy here and full two releases later. */
	{ "6.16", "x86_64", false, true, BIT(3), BIT(4) },
	{ "6.18", "x86_64", true, true, BIT(4), BIT(5) },
	/* Without debugfs nothing says lazy; the numbering does not depend on it. */
	{ "6.18, no debugfs", "x86_64", true, false, BIT(4), BIT(5) },
	{ "7.2", "x86_64", true, true, BIT(4), BIT(5) },
	{ "7.3", "x86_64", true, true, BIT(4), BIT(5) },
	{ "6.12", "aarch64", false, false, BIT(1), 0 },
	{ "7.3", "aarch64", true, true, BIT(1), BIT(2) },
	/* Unknown stays unknown: a wrong bit would blame or miss at random. */
	{ "6.12", "riscv64", false, true, 0, 0 },
	{ "7.3", "s390x", true, true, 0, 0 },
	{ "6.1", "i686", false, false, 0, 0 },
	{ "6.1", "", false, false, 0, 0 },
};

static void test_lines(void **state)
{
	struct vw_tif tif;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct vw_features f = { .tp_need_resched = lines[i].tracepoint,
					 .preempt_lazy = lines[i].lazy_mode };

		snprintf(f.host.arch, sizeof(f.host.arch), "%s", lines[i].arch);
		tif = vw_tif_choose(&f);
		if (tif.full != lines[i].full || tif.lazy != lines[i].lazy)
			fail_msg("%s on %s: full %#lx, lazy %#lx", lines[i].line, lines[i].arch,
				 (unsigned long)tif.full, (unsigned long)tif.lazy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
