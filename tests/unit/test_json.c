// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON output: every key of docs/FORMATS.md, in its order, and names that hold anything. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "samples.h"
#include "sink/sink.h"

struct capture {
	char *text;
	size_t size;
	FILE *out;
	struct vw_sink *sink;
};

static int set_up(void **state)
{
	struct capture *c = calloc(1, sizeof(*c));

	c->out = open_memstream(&c->text, &c->size);
	c->sink = vw_sink_json_new(c->out);
	*state = c;
	return c->sink ? 0 : -1;
}

static int tear_down(void **state)
{
	struct capture *c = *state;

	c->sink->ops->free(c->sink);
	fclose(c->out);
	free(c->text);
	free(c);
	return 0;
}

/* The one line printed so far, parsed; without flushing: the sink must have done that. */
static json_t *parse_line(const struct capture *c)
{
	json_error_t error;
	json_t *json;

	assert_non_null(c->text);
	assert_ptr_equal(strchr(c->text, '\n'), c->text + c->size - 1);
	json = json_loads(c->text, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("%s: %s", error.text, c->text);
	return json;
}

/* @object's first keys are the blank-separated @keys, in this order. */
static void check_keys(json_t *object, const char *keys)
{
	char have[1024] = "";
	const char *key;
	json_t *value;

	assert_true(json_is_object(object));
	json_object_foreach(object, key, value) {
		strcat(have, key);
		strcat(have, " ");
	}
	if (strncmp(have, keys, strlen(keys)) || have[strlen(keys)] != ' ')
		fail_msg("keys are: %s", have);
}

static json_t *at(json_t *json, const char *path)
{
	char copy[64], *word, *save;

	snprintf(copy, sizeof(copy), "%s", path);
	for (word = strtok_r(copy, ".", &save); word; word = strtok_r(NULL, ".", &save))
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(word)) :
					     json_object_get(json, word);
	if (!json)
		fail_msg("no %s", path);
	return json;
}

static void check_int(json_t *json, const char *path, int64_t want)
{
	assert_true(json_is_integer(at(json, path)));
	assert_int_equal(json_integer_value(at(json, path)), want);
}

static void check_string(json_t *json, const char *path, const char *want)
{
	assert_true(json_is_string(at(json, path)));
	assert_string_equal(json_string_value(at(json, path)), want);
}

static void check_null(json_t *json, const char *path)
{
	if (!json_is_null(at(json, path)))
		fail_msg("%s is not null", path);
}

static void test_header(void **state)
{
	struct capture *c = *state;
	struct vw_header header = sample_header();
	json_t *json;

	c->sink->ops->begin(c->sink, &header);
	json = parse_line(c);
	check_keys(json, "type tool version schema source clock level host hooks detectors");
	check_string(json, "type", "header");
	check_string(json, "tool", "vhostwatch");
	check_string(json, "version", VW_VERSION);
	check_int(json, "schema", 1);
	check_keys(at(json, "host"), "release preempt hz cpus");
	check_string(json, "host.preempt", "none");
	check_int(json, "host.hz", 250);
	assert_int_equal(json_array_size(at(json, "hooks")), 3);
	check_keys(at(json, "hooks.1"), "name state via reason lost");
	check_string(json, "hooks.0.state", "attached");
	check_null(json, "hooks.0.reason");
	check_string(json, "hooks.1.state", "missing");
	check_null(json, "hooks.1.via");
	check_string(json, "hooks.1.lost", "short stints");
	assert_true(json_is_true(at(json, "hooks.2.optional")));
	assert_int_equal(json_array_size(at(json, "detectors")), 2);
	check_keys(at(json, "detectors.0"), "kind state reason");
	check_string(json, "detectors.1.state", "degraded");
	json_decref(json);
}

static void test_header_unknown(void **state)
{
	struct capture *c = *state;
	struct vw_header header = { .source = "live", .clock = "monotonic", .level = "guard" };
	json_t *json;

	c->sink->ops->begin(c->sink, &header);
	json = parse_line(c);
	check_null(json, "host.release");
	check_null(json, "host.preempt");
	check_null(json, "host.hz");
	check_null(json, "host.cpus");
	assert_true(json_is_array(at(json, "hooks")));
	assert_true(json_is_array(at(json, "detectors")));
	json_decref(json);
}

static void test_finding(void **state)
{
	struct capture *c = *state;
	struct vw_finding finding = sample_finding();
	json_t *json;

	c->sink->ops->finding(c->sink, &finding);
	json = parse_line(c);
	check_keys(json, "type kind severity status start_ns end_ns duration_ns cpu culprit victims "
			 "cause evidence printed_after_ns message remedy");
	check_string(json, "kind", "non_yielding_worker");
	check_string(json, "severity", "critical");
	check_string(json, "status", "open");
	check_int(json, "start_ns", 5 * SEC);
	check_int(json, "end_ns", 21 * SEC);
	check_int(json, "duration_ns", 16 * SEC);
	check_int(json, "cpu", 1);
	check_keys(at(json, "culprit"), "tid comm role backend owner_pid vm device queue");
	check_int(json, "culprit.tid", 951);
	check_string(json, "culprit.role", "vhost_worker");
	check_string(json, "culprit.backend", "kthread");
	check_int(json, "culprit.owner_pid", 941);
	check_null(json, "culprit.queue");
	check_keys(at(json, "victims.0"), "tid comm role wait_ns wait_total_ns");
	check_int(json, "victims.0.wait_ns", 15900 * MS);
	check_int(json, "victims.0.wait_total_ns", 17 * SEC);
	check_string(json, "victims.0.vm", "web02");
	check_string(json, "cause", "ignores_resched");
	check_keys(at(json, "evidence"), "count span_ns resched resched_pending_ns oncpu_ns "
					 "softirq_ns irq_ns nr_running clock soft_lockup_ns stack");
	check_string(json, "evidence.resched", "full");
	check_null(json, "evidence.softirq_ns");
	check_string(json, "evidence.stack.1", "vhost_worker");
	assert_int_equal(json_array_size(at(json, "evidence.stack")), 2);
	check_int(json, "printed_after_ns", 12 * MS);
	check_string(json, "remedy", "Let the worker loop call cond_resched().");
	json_decref(json);
}

/* A name deep in the object decides for the whole line. */
static void test_finding_in_ascii(void **state)
{
	struct capture *c = *state;
	struct vw_finding finding = sample_finding();
	json_t *json;

	strcpy(finding.victims[0].task.vm, "\xc2\x9b" "2J");
	c->sink->ops->finding(c->sink, &finding);
	assert_null(strchr(c->text, '\xc2'));
	json = parse_line(c);
	check_string(json, "victims.0.vm", "\xc2\x9b" "2J");
	json_decref(json);
	finding = sample_finding();
	strcpy(finding.culprit.vm, "\xc2\x9b" "2J");
	c->sink->ops->finding(c->sink, &finding);
	assert_null(strchr(c->text, '\xc2'));
}

static void test_finding_unknown(void **state)
{
	struct capture *c = *state;
	struct vw_finding f = { .kind = VW_BUSY_WORKER, .severity = VW_INFO, .status = VW_CLOSED,
				.cpu = -1, .end_ns = VW_UNKNOWN, .printed_after_ns = VW_UNKNOWN,
				.evidence = { .count = 0, .nr_running = VW_UNKNOWN } };
	json_t *json;

	c->sink->ops->finding(c->sink, &f);
	json = parse_line(c);
	check_string(json, "kind", "busy_worker");
	check_string(json, "severity", "info");
	check_string(json, "status", "closed");
	check_string(json, "cause", "unknown");
	check_null(json, "cpu");
	check_null(json, "end_ns");
	check_null(json, "culprit");
	check_int(json, "evidence.count", 0); /* a known zero is not unknown */
	check_null(json, "evidence.resched");
	check_null(json, "evidence.clock");
	check_null(json, "evidence.nr_running");
	check_null(json, "printed_after_ns");
	check_null(json, "remedy");
	check_string(json, "message", "");
	assert_int_equal(json_array_size(at(json, "victims")), 0);
	json_decref(json);
}

static void test_worker(void **state)
{
	struct capture *c = *state;
	struct vw_worker_row row =
		sample_row(sample_task(951, "vhost-941", "web01", "vhost-net:vnet7"), 3 * SEC);
	json_t *json;

	snprintf(row.task.cpus_allowed, sizeof(row.task.cpus_allowed), "0-3,8");
	row.oncpu_ns = 0;
	row.charged_ns = 1;
	row.wait_ns = 2;
	row.longest_pending_ns = 3;
	row.voluntary = 4;
	row.involuntary = 5;
	row.tx_bytes = (uint64_t)INT64_MAX + 9; /* more than JSON integers of jansson hold */
	c->sink->ops->worker(c->sink, &row);
	json = parse_line(c);
	check_keys(json, "type ts_ns tid comm backend owner_pid vm device cgroup cpus_allowed "
			 "oncpu_ns charged_ns wait_ns longest_resched_pending_ns "
			 "voluntary_switches involuntary_switches migrations work_items tx_packets "
			 "tx_bytes rx_packets rx_bytes");
	check_string(json, "type", "worker");
	check_int(json, "ts_ns", 3 * SEC);
	check_null(json, "backend");
	check_null(json, "owner_pid");
	check_null(json, "cgroup");
	check_string(json, "cpus_allowed", "0-3,8");
	check_int(json, "oncpu_ns", 0);
	check_int(json, "charged_ns", 1);
	check_int(json, "wait_ns", 2);
	check_int(json, "longest_resched_pending_ns", 3);
	check_int(json, "voluntary_switches", 4);
	check_int(json, "involuntary_switches", 5);
	check_null(json, "work_items");
	check_int(json, "tx_bytes", INT64_MAX);
	check_null(json, "rx_packets");
	json_decref(json);
}

static void test_summary(void **state)
{
	struct capture *c = *state;
	struct vw_summary summary = { .verdict = VW_VERDICT_WARNING, .counts = { 2, 0, 1 },
				      .lost_events = 5, .duration_ns = 7, .workers = 3 };
	json_t *json;

	c->sink->ops->rows_done(c->sink, 1); /* prints nothing */
	c->sink->ops->notice(c->sink, "for people");
	c->sink->ops->end(c->sink, &summary);
	json = parse_line(c);
	check_keys(json, "type verdict counts lost_events skipped_lines duration_ns");
	check_string(json, "verdict", "warning");
	check_keys(at(json, "counts"), "non_yielding_worker busy_worker");
	assert_int_equal(json_object_size(at(json, "counts")), 2);
	check_int(json, "counts.non_yielding_worker", 2);
	check_int(json, "lost_events", 5);
	check_int(json, "skipped_lines", 0);
	check_int(json, "workers", 3);
	json_decref(json);
}

static void test_error(void **state)
{
	struct capture *c = *state;
	struct vw_error error = { .reason = "usage", .message = "unknown option '--\xff\"'" };
	json_t *json;

	vw_sink_json_error(c->out, &error);
	json = parse_line(c);
	check_keys(json, "type reason message");
	check_string(json, "type", "error");
	check_string(json, "reason", "usage");
	check_string(json, "message", "unknown option '--\xef\xbf\xbd\"'");
	json_decref(json);
}

static void test_hostile_names(void **state)
{
	static const struct {
		const char *in, *out;
		bool ascii;
	} cases[] = {
		{ "a\"b", "a\"b", false },
		{ "a\\b", "a\\b", false },
		{ "a\nb\tc", "a\nb\tc", false },
		{ "\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m", false },
		{ "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd", false },
		{ "123456789012345", "123456789012345", false },
		{ "\xc2\x9b" "2J", "\xc2\x9b" "2J", true },
		{ "\xe2\x80\xae" "txt", "\xe2\x80\xae" "txt", true },
		{ "d\xc3\xbc", "d\xc3\xbc", false },
	};
	size_t i, k;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vw_worker_row row =
			sample_row(sample_task(7, cases[i].in, cases[i].in, cases[i].in), SEC);
		struct capture *c;
		json_t *json;

		set_up((void **)&c);
		c->sink->ops->worker(c->sink, &row);
		json = parse_line(c);
		check_string(json, "comm", cases[i].out);
		check_string(json, "vm", cases[i].out);
		check_string(json, "device", cases[i].out);
		json_decref(json);
		for (k = 0; k + 1 < c->size; k++)
			assert_true((unsigned char)c->text[k] >= 0x20);
		assert_int_equal(strstr(c->text, "\\u") && cases[i].ascii, cases[i].ascii);
		if (cases[i].ascii)
			assert_null(strpbrk(c->text, "\xc2\xe2"));
		tear_down((void **)&c);
	}
}

/* Every value has a word of its own, and what is no value has none. */
static void test_names(void **state)
{
	int i, k;

	for (i = 0; i < VW_KIND_COUNT; i++) {
		assert_non_null(vw_kind_name(i));
		for (k = 0; k < i; k++)
			assert_string_not_equal(vw_kind_name(i), vw_kind_name(k));
	}
	for (i = 0; i < VW_CAUSE_COUNT; i++)
		assert_non_null(vw_cause_name(i));
	assert_null(vw_kind_name(VW_KIND_COUNT));
	assert_null(vw_cause_name(1000));
	assert_string_equal(vw_severity_name(VW_WARNING), "warning");
	assert_null(vw_severity_name(VW_CRITICAL + 1));
	assert_string_equal(vw_status_name(VW_CLOSED), "closed");
	assert_null(vw_resched_name(VW_RESCHED_UNKNOWN));
	assert_string_equal(vw_resched_name(VW_RESCHED_LAZY), "lazy");
	assert_null(vw_preempt_name(VW_PREEMPT_UNKNOWN));
	assert_string_equal(vw_preempt_name(VW_PREEMPT_LAZY), "lazy");
	assert_string_equal(vw_hook_state_name(VW_HOOK_FALLBACK), "fallback");
	assert_string_equal(vw_detector_state_name(VW_DETECTOR_OFF), "off");
	assert_string_equal(vw_verdict_name(VW_VERDICT_UNKNOWN), "unknown");
	assert_null(vw_verdict_name(VW_VERDICT_UNKNOWN + 1));
}

static void test_full_disk(void **state)
{
	struct vw_summary summary = { 0 };
	FILE *full = fopen("/dev/full", "w");
	struct vw_sink *sink;

	assert_non_null(full);
	sink = vw_sink_json_new(full);
	assert_int_equal(sink->ops->flush(sink), 0);
	sink->ops->end(sink, &summary);
	assert_int_equal(sink->ops->flush(sink), -ENOSPC);
	sink->ops->free(sink);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_header, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_header_unknown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_finding, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_finding_in_ascii, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_finding_unknown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_worker, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_summary, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_error, set_up, tear_down),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
