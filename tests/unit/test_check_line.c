// SPDX-License-Identifier: GPL-2.0-or-later
/* The line for monitoring systems: one line, one bar, numbers that graphs can rely on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samples.h"
#include "sink/check_line.h"

static char *line_of(const struct vw_summary *summary, const struct vw_finding *worst,
		     uint32_t workers)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(vw_check_line(out, summary, worst, workers), 0);
	fclose(out);
	/* One line, one bar. */
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	assert_non_null(strchr(text, '|'));
	assert_ptr_equal(strchr(text, '|'), strrchr(text, '|'));
	text[size - 1] = '\0';
	return text;
}

static void check(const struct vw_summary *summary, const struct vw_finding *worst,
		  uint32_t workers, const char *want)
{
	char *line = line_of(summary, worst, workers);

	assert_string_equal(line, want);
	free(line);
}

/* The kinds of which there is none in these tests. */
#define REST                                                                                       \
	"delayed_work_item=0;;;0 long_work_item=0;;;0 cpu_accounting_gap=0;;;0 "                   \
	"rcu_stall=0;;;0 soft_lockup=0;;;0 spurious_migration_boost=0;;;0 "                        \
	"worker_on_vcpu_cpu=0;;;0 yield_ping_pong=0;;;0 owner_blocked=0;;;0 "

static void test_ok(void **state)
{
	struct vw_summary summary = { .verdict = VW_VERDICT_OK };

	check(&summary, NULL, 0,
	      "VHOSTWATCH OK - no vhost workers|findings=0;;;0 non_yielding_worker=0;;;0 "
	      "starved_task=0;;;0 busy_worker=0;;;0 " REST "lost_events=0;;;0 workers=0;;;0 "
	      "longest_wait=0.000000s;;;0");
	check(&summary, NULL, 1,
	      "VHOSTWATCH OK - 1 vhost worker, no finding|findings=0;;;0 non_yielding_worker=0;;;0 "
	      "starved_task=0;;;0 busy_worker=0;;;0 " REST "lost_events=0;;;0 workers=1;;;0 "
	      "longest_wait=0.000000s;;;0");
}

static void test_critical(void **state)
{
	struct vw_summary summary = { .verdict = VW_VERDICT_CRITICAL, .counts = { 1, 2 } };
	struct vw_finding finding = sample_finding();

	check(&summary, &finding, 2,
	      "VHOSTWATCH CRITICAL - vhost-941 kept CPU 1 for 16s while vhost-942 waited "
	      "(3 findings in all)|findings=3;;;0 non_yielding_worker=1;;;0 starved_task=2;;;0 "
	      "busy_worker=0;;;0 " REST "lost_events=0;;;0 workers=2;;;0 longest_wait=15.900000s;;;0");
}

static void test_warning_and_loss(void **state)
{
	struct vw_summary summary = { .verdict = VW_VERDICT_WARNING, .counts = { 1 },
				      .lost_events = 5000 };
	struct vw_finding finding = sample_finding();
	char *line;

	finding.victims[0].wait_ns = VW_UNKNOWN;
	line = line_of(&summary, &finding, 2);
	assert_ptr_equal(strstr(line, "VHOSTWATCH WARNING - vhost-941"), line);
	assert_non_null(strstr(line, "waited; 5000 events lost|"));
	assert_non_null(strstr(line, "lost_events=5000;;;0"));
	assert_non_null(strstr(line, "longest_wait=U"));
	free(line);
	finding.n_victims = 0;
	line = line_of(&summary, &finding, 2);
	assert_non_null(strstr(line, "longest_wait=0.000000s"));
	free(line);
}

static void test_unknown(void **state)
{
	struct vw_summary summary = { .verdict = VW_VERDICT_UNKNOWN };
	char *line = line_of(&summary, NULL, 0);

	/* Never "no workers" when nobody could look. */
	assert_ptr_equal(strstr(line, "VHOSTWATCH UNKNOWN - cannot tell"), line);
	assert_null(strstr(line, "no vhost workers"));
	free(line);
}

static void test_hostile_names(void **state)
{
	struct vw_summary summary = { .verdict = VW_VERDICT_CRITICAL, .counts = { 1 } };
	struct vw_finding finding = sample_finding();
	char *line;
	size_t i;

	strcpy(finding.message, "a|b\nc\x1b[31m\xff\"\\ kept its CPU.");
	line = line_of(&summary, &finding, 1);
	assert_non_null(strstr(line, " - a/b?c?[31m?\"\\ kept its CPU|"));
	free(line);
	memset(finding.message, 'x', sizeof(finding.message) - 1);
	finding.message[sizeof(finding.message) - 1] = '\0';
	line = line_of(&summary, &finding, 1);
	assert_true(strchr(line, '|') - line < 450);
	for (i = 0; line[i]; i++)
		assert_true(line[i] >= ' ');
	free(line);
	finding.message[0] = '\0';
	line = line_of(&summary, &finding, 1);
	assert_non_null(strstr(line, "CRITICAL - non_yielding_worker|"));
	free(line);
}

static void test_full_disk(void **state)
{
	struct vw_summary summary = { 0 };
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	assert_int_equal(vw_check_line(full, &summary, NULL, 0), -ENOSPC);
	setvbuf(full, NULL, _IONBF, 0); /* now it is the printing that fails, not the flush */
	assert_int_equal(vw_check_line(full, &summary, NULL, 0), -ENOSPC);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ok),
		cmocka_unit_test(test_critical),
		cmocka_unit_test(test_warning_and_loss),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
