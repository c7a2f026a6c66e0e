// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "sink/sink.h"
#include "util/utf8.h"

#define SCHEMA_VERSION 1

struct json_sink {
	struct vw_sink base;
	FILE *out;
	int err; /* the first failed write */
};

/* One object under construction.  Keys keep the order in which they are put. */
struct object {
	json_t *json;
	bool failed;
	/*
	 * A C1 control or a bidirectional override is valid in a JSON string, yet somebody may look
	 * at the line on a terminal: write such lines in ASCII with \u escapes.
	 */
	bool ascii;
};

static void object_init(struct object *o)
{
	memset(o, 0, sizeof(*o));
	o->json = json_object();
	o->failed = !o->json;
}

/* Takes over @value, NULL included. */
static void put(struct object *o, const char *key, json_t *value)
{
	if (json_object_set_new(o->json, key, value))
		o->failed = true;
}

static json_t *text_value(struct object *o, const char *text)
{
	char clean[VW_UTF8_ROOM(VW_TEXT_LEN)];
	size_t len, pos, step;
	uint32_t code;

	len = vw_utf8_clean(clean, sizeof(clean), text, VW_TEXT_LEN);
	for (pos = 0; pos < len; pos += step) {
		step = vw_utf8_decode(clean + pos, len - pos, &code);
		if (code >= 0x7f && vw_utf8_is_control(code))
			o->ascii = true;
	}
	return json_stringn(clean, len);
}

/* null when there is nothing to tell. */
static void put_text(struct object *o, const char *key, const char *text)
{
	put(o, key, text && *text ? text_value(o, text) : json_null());
}

static json_t *integer_value(uint64_t value)
{
	if (value == VW_UNKNOWN)
		return json_null();
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static void put_u64(struct object *o, const char *key, uint64_t value)
{
	put(o, key, integer_value(value));
}

/* An id, a rate: null when it is 0 or less, which no real one is. */
static void put_positive(struct object *o, const char *key, int64_t value)
{
	put(o, key, value > 0 ? json_integer(value) : json_null());
}

static void put_cpu(struct object *o, int32_t cpu)
{
	put(o, "cpu", cpu >= 0 ? json_integer(cpu) : json_null());
}

/* Hands @child over to @parent. */
static void put_object(struct object *parent, const char *key, struct object *child)
{
	parent->failed |= child->failed;
	parent->ascii |= child->ascii;
	put(parent, key, child->json);
}

static void append_object(struct object *parent, json_t *array, struct object *child)
{
	parent->failed |= child->failed;
	parent->ascii |= child->ascii;
	if (json_array_append_new(array, child->json))
		parent->failed = true;
}

/* Writes and frees @o.  0 or a negative errno. */
static int write_object(FILE *out, struct object *o)
{
	size_t flags = JSON_COMPACT | (o->ascii ? JSON_ENSURE_ASCII : 0);
	char *line = NULL;
	int err = 0;

	if (!o->failed)
		line = json_dumps(o->json, flags);
	json_decref(o->json);
	if (!line)
		return -ENOMEM;
	errno = 0;
	if (fprintf(out, "%s\n", line) < 0 || fflush(out))
		err = errno ? -errno : -EIO;
	free(line);
	return err;
}

static void emit(struct json_sink *sink, struct object *o)
{
	int err = write_object(sink->out, o);

	if (err && !sink->err)
		sink->err = err;
}

static void put_host(struct object *parent, const struct vw_host *host)
{
	struct object o;

	object_init(&o);
	put_text(&o, "release", host->release);
	put_text(&o, "preempt", vw_preempt_name(host->preempt));
	put_positive(&o, "hz", host->hz);
	put_positive(&o, "cpus", host->cpus);
	put_text(&o, "arch", host->arch);
	put(&o, "preempt_switchable", json_boolean(host->preempt_switchable));
	put_object(parent, "host", &o);
}

static void put_hooks(struct object *parent, const struct vw_header *header)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < header->n_hooks && i < VW_MAX_HOOKS; i++) {
		const struct vw_hook *hook = &header->hooks[i];
		struct object o;

		object_init(&o);
		put_text(&o, "name", hook->name);
		put_text(&o, "state", vw_hook_state_name(hook->state));
		put_text(&o, "via", hook->via);
		put_text(&o, "reason", hook->reason);
		put_text(&o, "lost", hook->lost);
		put(&o, "optional", json_boolean(hook->optional));
		append_object(parent, array, &o);
	}
	put(parent, "hooks", array);
}

static void put_detectors(struct object *parent, const struct vw_header *header)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < header->n_detectors && i < VW_MAX_DETECTORS; i++) {
		const struct vw_detector_info *info = &header->detectors[i];
		struct object o;

		object_init(&o);
		put_text(&o, "kind", info->kind);
		put_text(&o, "state", vw_detector_state_name(info->state));
		put_text(&o, "reason", info->reason);
		append_object(parent, array, &o);
	}
	put(parent, "detectors", array);
}

static void json_begin(struct vw_sink *base, const struct vw_header *header)
{
	struct object o;

	object_init(&o);
	put_text(&o, "type", "header");
	put_text(&o, "tool", "vhostwatch");
	put_text(&o, "version", VW_VERSION);
	put_u64(&o, "schema", SCHEMA_VERSION);
	put_text(&o, "source", header->source);
	put_text(&o, "clock", header->clock);
	put_text(&o, "level", header->level);
	put_host(&o, &header->host);
	put_hooks(&o, header);
	put_detectors(&o, header);
	emit((struct json_sink *)base, &o);
}

static void put_culprit(struct object *parent, const struct vw_task *task)
{
	struct object o;

	object_init(&o);
	put_positive(&o, "tid", task->tid);
	put_text(&o, "comm", task->comm);
	put_text(&o, "role", vw_role_name(task->role));
	put_text(&o, "backend", vw_backend_name(task->backend));
	put_positive(&o, "owner_pid", task->owner_pid);
	put_text(&o, "vm", task->vm);
	put_text(&o, "device", task->device);
	put_text(&o, "queue", task->queue);
	put_object(parent, "culprit", &o);
}

static void put_victims(struct object *parent, const struct vw_finding *finding)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < finding->n_victims && i < VW_MAX_VICTIMS; i++) {
		const struct vw_victim *victim = &finding->victims[i];
		struct object o;

		object_init(&o);
		put_positive(&o, "tid", victim->task.tid);
		put_text(&o, "comm", victim->task.comm);
		put_text(&o, "role", vw_role_name(victim->task.role));
		put_u64(&o, "wait_ns", victim->wait_ns);
		put_u64(&o, "wait_total_ns", victim->wait_total_ns);
		put_text(&o, "vm", victim->task.vm);
		put_text(&o, "device", victim->task.device);
		append_object(parent, array, &o);
	}
	put(parent, "victims", array);
}

static void put_evidence(struct object *parent, const struct vw_evidence *evidence)
{
	json_t *stack = json_array();
	struct object o;
	unsigned int i;

	object_init(&o);
	put_u64(&o, "count", evidence->count);
	put_u64(&o, "span_ns", evidence->span_ns);
	put_text(&o, "resched", vw_resched_name(evidence->resched));
	put_u64(&o, "resched_pending_ns", evidence->resched_pending_ns);
	put_u64(&o, "oncpu_ns", evidence->oncpu_ns);
	put_u64(&o, "softirq_ns", evidence->softirq_ns);
	put_u64(&o, "irq_ns", evidence->irq_ns);
	put_u64(&o, "nr_running", evidence->nr_running);
	put_text(&o, "clock", evidence->clock);
	for (i = 0; i < evidence->n_stack && i < VW_MAX_FRAMES; i++)
		if (json_array_append_new(stack, text_value(&o, evidence->stack[i])))
			o.failed = true;
	put(&o, "stack", stack);
	put_object(parent, "evidence", &o);
}

static void json_finding(struct vw_sink *base, const struct vw_finding *finding)
{
	struct object o;

	object_init(&o);
	put_text(&o, "type", "finding");
	put_text(&o, "kind", vw_kind_name(finding->kind));
	put_text(&o, "severity", vw_severity_name(finding->severity));
	put_text(&o, "status", vw_status_name(finding->status));
	put_u64(&o, "start_ns", finding->start_ns);
	put_u64(&o, "end_ns", finding->end_ns);
	put_u64(&o, "duration_ns", finding->duration_ns);
	put_cpu(&o, finding->cpu);
	if (finding->has_culprit)
		put_culprit(&o, &finding->culprit);
	else
		put(&o, "culprit", json_null());
	put_victims(&o, finding);
	put_text(&o, "cause", vw_cause_name(finding->cause));
	put_evidence(&o, &finding->evidence);
	put_u64(&o, "printed_after_ns", finding->printed_after_ns);
	put(&o, "message", text_value(&o, finding->message));
	put_text(&o, "remedy", finding->remedy);
	emit((struct json_sink *)base, &o);
}

static void json_worker(struct vw_sink *base, const struct vw_worker_row *row)
{
	const struct vw_task *task = &row->task;
	struct object o;

	object_init(&o);
	put_text(&o, "type", "worker");
	put_u64(&o, "ts_ns", row->ts_ns);
	put_positive(&o, "tid", task->tid);
	put_text(&o, "comm", task->comm);
	put_text(&o, "backend", vw_backend_name(task->backend));
	put_positive(&o, "owner_pid", task->owner_pid);
	put_text(&o, "vm", task->vm);
	put_text(&o, "device", task->device);
	put_text(&o, "cgroup", task->cgroup);
	put_text(&o, "cpus_allowed", task->cpus_allowed);
	put_u64(&o, "oncpu_ns", row->oncpu_ns);
	put_u64(&o, "charged_ns", row->charged_ns);
	put_u64(&o, "wait_ns", row->wait_ns);
	put_u64(&o, "longest_resched_pending_ns", row->longest_pending_ns);
	put_u64(&o, "voluntary_switches", row->voluntary);
	put_u64(&o, "involuntary_switches", row->involuntary);
	put_u64(&o, "migrations", row->migrations);
	put_u64(&o, "work_items", row->work_items);
	put_u64(&o, "tx_packets", row->tx_packets);
	put_u64(&o, "tx_bytes", row->tx_bytes);
	put_u64(&o, "rx_packets", row->rx_packets);
	put_u64(&o, "rx_bytes", row->rx_bytes);
	put_cpu(&o, row->cpu);
	emit((struct json_sink *)base, &o);
}

/* Each object was flushed as it came; JSON has no row of rows. */
static void json_rows_done(struct vw_sink *base, uint64_t ts_ns)
{
	(void)base;
	(void)ts_ns;
}

/* For people; programs have header, summary and error. */
static void json_notice(struct vw_sink *base, const char *text)
{
	(void)base;
	(void)text;
}

static void json_end(struct vw_sink *base, const struct vw_summary *summary)
{
	struct object o, counts;
	int kind;

	object_init(&o);
	put_text(&o, "type", "summary");
	put_text(&o, "verdict", vw_verdict_name(summary->verdict));
	object_init(&counts);
	for (kind = 0; kind < VW_KIND_COUNT; kind++)
		if (summary->counts[kind])
			put_u64(&counts, vw_kind_name(kind), summary->counts[kind]);
	put_object(&o, "counts", &counts);
	put_u64(&o, "lost_events", summary->lost_events);
	put_u64(&o, "skipped_lines", summary->skipped_lines);
	put_u64(&o, "duration_ns", summary->duration_ns);
	put_u64(&o, "workers", summary->workers);
	emit((struct json_sink *)base, &o);
}

static int json_flush(struct vw_sink *base)
{
	return ((struct json_sink *)base)->err;
}

static void json_free(struct vw_sink *base)
{
	free(base);
}

struct vw_sink *vw_sink_json_new(FILE *out)
{
	static const struct vw_sink_ops ops = {
		.begin = json_begin,
		.finding = json_finding,
		.worker = json_worker,
		.rows_done = json_rows_done,
		.notice = json_notice,
		.end = json_end,
		.flush = json_flush,
		.free = json_free,
	};
	struct json_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return NULL;
	sink->base.ops = &ops;
	sink->out = out;
	return &sink->base;
}

void vw_sink_json_error(FILE *out, const struct vw_error *error)
{
	struct object o;

	object_init(&o);
	put_text(&o, "type", "error");
	put_text(&o, "reason", error->reason);
	put_text(&o, "message", error->message);
	/* The line on stderr has been printed already; a failure here is told by that. */
	write_object(out, &o);
}
