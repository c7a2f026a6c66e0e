// SPDX-License-Identifier: GPL-2.0-or-later
/* Header, findings and summary as sentences; the text sink; doctor. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lines_check.h"
#include "sink/doctor.h"
#include "sink/findings.h"
#include "sink/sentence.h"
#include "sink/sink.h"

static void test_finding(void **state)
{
	struct vw_finding f = sample_finding();
	struct vw_lines lines = { 0 };

	vw_sentence_finding(&f, 100, true, &lines);
	check_lines(&lines, 100);
	assert_int_equal(lines.v[0].style, VW_STYLE_CRITICAL);
	check_line(&lines, 0,
		   "CRITICAL non_yielding_worker on CPU 1, open for 16s, cause "
		   "ignores_resched, told after 12ms");
	check_line(&lines, 1, "  vhost-941 kept CPU 1 for 16s while vhost-942 waited.");
	check_line(&lines, 2,
		   "  victim: vhost-942 (tid 952, VM web02, vhost-net:vnet8) waited 15.9s "
		   "at a stretch, 17s in all");
	check_line(&lines, 3, "  remedy: Let the worker loop call cond_resched().");
	assert_int_equal(lines.n, 4);
	vw_lines_done(&lines);
	f.status = VW_CLOSED;
	vw_sentence_finding(&f, 100, false, &lines);
	assert_non_null(strstr(lines.v[0].text, "closed after 16s"));
	assert_null(line_with(&lines, "remedy"));
	vw_lines_done(&lines);
	vw_sentence_update(&f, 100, &lines);
	assert_int_equal(lines.n, 1);
	assert_non_null(line_with(&lines, "still open after 16s, longest wait 15.9s"));
	vw_lines_done(&lines);
}

static void test_hostile_findings(void **state)
{
	struct vw_header header = sample_header();
	struct vw_lines lines = { 0 };
	unsigned int width;
	size_t i;

	for (i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct vw_finding f = sample_finding();

		f.culprit = sample_task(1, hostile[i], hostile[i], hostile[i]);
		f.victims[0].task = f.culprit;
		strcpy(f.message, hostile[i]);
		strcpy(f.remedy, hostile[i]);
		strcpy(header.hooks[1].reason, hostile[i]);
		for (width = VW_WIDTH_MIN; width < 120; width += 7) {
			vw_sentence_finding(&f, width, true, &lines);
			vw_sentence_update(&f, width, &lines);
			vw_sentence_header(&header, width, width & 1, &lines);
			check_lines(&lines, width);
			vw_lines_done(&lines);
		}
	}
}

static void test_findings_list(void **state)
{
	struct vw_findings *list = vw_findings_new();
	struct vw_finding f = sample_finding();
	struct vw_lines lines = { 0 };
	int i;

	f.cpu = 7; /* the oldest */
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
	f.cpu = 1;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
	f.duration_ns += SEC;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_LASTS);
	f.culprit.tid++;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
	f.culprit.tid--;
	f.status = VW_CLOSED;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_ENDS);
	f.start_ns++; /* a later episode is a new finding */
	f.status = VW_OPEN;
	f.severity = VW_WARNING;
	assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
	vw_findings_render(list, 100, &lines);
	assert_ptr_equal(strstr(lines.v[0].text, "CRITICAL"), lines.v[0].text);
	assert_non_null(strstr(lines.v[0].text, "open for"));
	assert_ptr_equal(strstr(lines.v[8].text, "WARNING"), lines.v[8].text);
	assert_non_null(strstr(lines.v[12].text, "closed after"));
	vw_lines_done(&lines);
	/* A flood: the closed one goes first, not the oldest; the list stays bounded. */
	for (i = 0; i < 3 * VW_FINDINGS_MAX; i++) {
		f.start_ns++;
		assert_int_equal(vw_findings_put(list, &f), VW_FINDING_NEW);
		vw_findings_render(list, 100, &lines);
		assert_true(lines.n <= 5 * VW_FINDINGS_MAX);
		if (i == VW_FINDINGS_MAX - 4) {
			assert_null(line_with(&lines, "closed"));
			assert_non_null(line_with(&lines, "on CPU 7"));
		}
		vw_lines_done(&lines);
	}
	vw_findings_free(list);
	vw_findings_free(NULL);
}

static void test_header_and_summary(void **state)
{
	struct vw_summary summary = { .verdict = VW_VERDICT_CRITICAL,
				      .counts = { 2, 1 },
				      .lost_events = 5000,
				      .duration_ns = 12 * SEC,
				      .workers = 1 };
	struct vw_header header = sample_header();
	struct vw_lines lines = { 0 };

	vw_sentence_header(&header, 200, false, &lines);
	check_line(&lines, 0,
		   "vhostwatch " VW_VERSION ", Linux 6.1.0-57-amd64 x86_64, preempt none, "
		   "2 CPUs, level trace, clock tp_btf/local_timer_entry");
	check_line(&lines, 1, "  switches: missing (BTF does not have it); lost: short stints");
	assert_int_equal(lines.n, 2); /* what is optional is no degradation */
	vw_lines_done(&lines);
	/* A trace says nothing of its host. */
	header = (struct vw_header){ .input = "t.gz", .source = "ftrace", .level = "offline" };
	vw_sentence_header(&header, 200, false, &lines);
	check_line(&lines, 0, "vhostwatch " VW_VERSION ", ftrace of t.gz, level offline");
	vw_lines_done(&lines);
	vw_sentence_summary(&summary, 200, &lines);
	check_line(&lines, 0,
		   "verdict critical: 2 non_yielding_worker, 1 starved_task; 1 worker in "
		   "12s, 5000 events lost");
	vw_lines_done(&lines);
	vw_sentence_summary(&(struct vw_summary){ 0 }, 200, &lines);
	check_line(&lines, 0, "verdict ok: no finding; no worker in 0, no event lost");
	vw_lines_done(&lines);
	/* A log without time stamps. */
	vw_sentence_summary(&(struct vw_summary){ .duration_ns = VW_UNKNOWN }, 200, &lines);
	check_line(&lines, 0, "verdict ok: no finding; no worker, no event lost");
	vw_lines_done(&lines);
}

/* The text sink as a whole: what comes when. */
static void test_text_sink(void **state)
{
	struct vw_header header = sample_header();
	struct vw_finding f = sample_finding();
	struct vw_worker_row row = worker(951, "web01", SEC);
	struct vw_summary summary = { .verdict = VW_VERDICT_CRITICAL, .counts = { 1 } };
	char *text = NULL, *p;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct vw_sink *sink = vw_sink_text_new(out);

	sink->ops->begin(sink, &header);
	sink->ops->finding(sink, &f);
	sink->ops->finding(sink, &f);
	sink->ops->worker(sink, &row);
	sink->ops->rows_done(sink, SEC);
	f.status = VW_CLOSED;
	sink->ops->finding(sink, &f);
	sink->ops->notice(sink, "a hook went\x1b[2J");
	sink->ops->end(sink, &summary);
	assert_int_equal(sink->ops->flush(sink), 0);
	sink->ops->free(sink);
	fclose(out);
	assert_ptr_equal(strstr(text, "vhostwatch "), text);
	p = strstr(text, "open for 16s");
	assert_non_null(p);
	p = strstr(p, "remedy: ");
	assert_non_null(p);
	p = strstr(p, "still open after 16s");
	assert_non_null(p);
	p = strstr(p, "web01      vhost-net:tap0");
	assert_non_null(p);
	p = strstr(p, "closed after 16s");
	assert_non_null(p);
	assert_null(strstr(p, "remedy: "));
	p = strstr(p, "a hook went?[2J");
	assert_non_null(p);
	assert_non_null(strstr(p, "verdict critical"));
	free(text);
}

static void test_doctor(void **state)
{
	struct vw_header header = sample_header();
	char *text = NULL, *line, *save;
	size_t size;
	FILE *out;
	int i;

	memset(header.hooks[1].reason, 'r', sizeof(header.hooks[1].reason) - 1);
	for (i = 9; i < 150; i += 10)
		header.hooks[1].reason[i] = ' ';
	header.hooks[1].lost[3] = '\x1b';
	out = open_memstream(&text, &size);
	assert_int_equal(vw_doctor_text(out, &header), 0);
	fclose(out);
	assert_non_null(strstr(text, "\nHost: Linux 6.1.0-57-amd64 x86_64, preempt none, HZ 250, "
				     "CPUs 2\n"));
	assert_non_null(
		strstr(text, "\n  clock                attached  tp_btf/local_timer_entry\n"));
	assert_non_null(strstr(text, "\n  switches             missing   -\n"));
	assert_non_null(strstr(text, "\n                                 lost: sho?t stints\n"));
	assert_non_null(strstr(text, "kprobe/handle_tx (not used at this level)\n"));
	assert_non_null(strstr(text, "\n  starved_task         degraded  no switch hook\n"));
	assert_non_null(strstr(text, "\n  non_yielding_worker  full      "));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		assert_true(vw_text_columns(line) <= 100);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finding),	      cmocka_unit_test(test_hostile_findings),
		cmocka_unit_test(test_findings_list), cmocka_unit_test(test_header_and_summary),
		cmocka_unit_test(test_text_sink),     cmocka_unit_test(test_doctor),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77; /* without wcwidth() of UTF-8 nothing here can be measured */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
