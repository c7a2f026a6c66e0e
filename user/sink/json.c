// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/evidence.h"
#include "sink/object.h"
#include "sink/sink.h"

#define SCHEMA_VERSION 1

struct json_sink {
	struct vw_sink base;
	FILE *out;
	int err; /* the first failed write */
};

static void emit(struct json_sink *sink, struct vw_object *o)
{
	int err = vw_object_write(sink->out, o);

	if (err && !sink->err)
		sink->err = err;
}

static void put_host(struct vw_object *parent, const struct vw_host *host)
{
	struct vw_object o;

	vw_object_init(&o);
	vw_object_put_text(&o, "release", host->release);
	vw_object_put_text(&o, "preempt", vw_preempt_name(host->preempt));
	vw_object_put_positive(&o, "hz", host->hz);
	vw_object_put_positive(&o, "cpus", host->cpus);
	vw_object_put_text(&o, "arch", host->arch);
	vw_object_put(&o, "preempt_switchable", json_boolean(host->preempt_switchable));
	vw_object_put_object(parent, "host", &o);
}

static void put_hooks(struct vw_object *parent, const struct vw_header *header)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < header->n_hooks && i < VW_MAX_HOOKS; i++) {
		const struct vw_hook *hook = &header->hooks[i];
		struct vw_object o;

		vw_object_init(&o);
		vw_object_put_text(&o, "name", hook->name);
		vw_object_put_text(&o, "state", vw_hook_state_name(hook->state));
		vw_object_put_text(&o, "via", hook->via);
		vw_object_put_text(&o, "reason", hook->reason);
		vw_object_put_text(&o, "lost", hook->lost);
		vw_object_put(&o, "optional", json_boolean(hook->optional));
		vw_object_append(parent, array, &o);
	}
	vw_object_put(parent, "hooks", array);
}

static void put_detectors(struct vw_object *parent, const struct vw_header *header)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < header->n_detectors && i < VW_MAX_DETECTORS; i++) {
		const struct vw_detector_info *info = &header->detectors[i];
		struct vw_object o;

		vw_object_init(&o);
		vw_object_put_text(&o, "kind", info->kind);
		vw_object_put_text(&o, "state", vw_detector_state_name(info->state));
		vw_object_put_text(&o, "reason", info->reason);
		vw_object_append(parent, array, &o);
	}
	vw_object_put(parent, "detectors", array);
}

static void json_begin(struct vw_sink *base, const struct vw_header *header)
{
	struct vw_object o;

	vw_object_init(&o);
	vw_object_put_text(&o, "type", "header");
	vw_object_put_text(&o, "tool", "vhostwatch");
	vw_object_put_text(&o, "version", VW_VERSION);
	vw_object_put_u64(&o, "schema", SCHEMA_VERSION);
	vw_object_put_text(&o, "source", header->source);
	vw_object_put_text(&o, "clock", header->clock);
	vw_object_put_text(&o, "level", header->level);
	put_host(&o, &header->host);
	put_hooks(&o, header);
	put_detectors(&o, header);
	vw_object_put_text(&o, "input", header->input);
	emit((struct json_sink *)base, &o);
}

static void put_culprit(struct vw_object *parent, const struct vw_task *task)
{
	struct vw_object o;

	vw_object_init(&o);
	vw_object_put_positive(&o, "tid", task->tid);
	vw_object_put_text(&o, "comm", task->comm);
	vw_object_put_text(&o, "role", vw_role_name(task->role));
	vw_object_put_text(&o, "backend", vw_backend_name(task->backend));
	vw_object_put_positive(&o, "owner_pid", task->owner_pid);
	vw_object_put_text(&o, "vm", task->vm);
	vw_object_put_text(&o, "device", task->device);
	vw_object_put_text(&o, "queue", task->queue);
	vw_object_put_object(parent, "culprit", &o);
}

static void put_victims(struct vw_object *parent, const struct vw_finding *finding)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < finding->n_victims && i < VW_MAX_VICTIMS; i++) {
		const struct vw_victim *victim = &finding->victims[i];
		struct vw_object o;

		vw_object_init(&o);
		vw_object_put_positive(&o, "tid", victim->task.tid);
		vw_object_put_text(&o, "comm", victim->task.comm);
		vw_object_put_text(&o, "role", vw_role_name(victim->task.role));
		vw_object_put_u64(&o, "wait_ns", victim->wait_ns);
		vw_object_put_u64(&o, "wait_total_ns", victim->wait_total_ns);
		vw_object_put_text(&o, "vm", victim->task.vm);
		vw_object_put_text(&o, "device", victim->task.device);
		vw_object_append(parent, array, &o);
	}
	vw_object_put(parent, "victims", array);
}

static void put_finding(struct vw_object *o, const struct vw_finding *finding)
{
	vw_object_init(o);
	vw_object_put_text(o, "type", "finding");
	vw_object_put_text(o, "kind", vw_kind_name(finding->kind));
	vw_object_put_text(o, "severity", vw_severity_name(finding->severity));
	vw_object_put_text(o, "status", vw_status_name(finding->status));
	vw_object_put_u64(o, "start_ns", finding->start_ns);
	vw_object_put_u64(o, "end_ns", finding->end_ns);
	vw_object_put_u64(o, "duration_ns", finding->duration_ns);
	vw_object_put_cpu(o, "cpu", finding->cpu);
	if (finding->has_culprit)
		put_culprit(o, &finding->culprit);
	else
		vw_object_put(o, "culprit", json_null());
	put_victims(o, finding);
	vw_object_put_text(o, "cause", vw_cause_name(finding->cause));
	vw_evidence_put(o, finding);
	vw_object_put_u64(o, "printed_after_ns", finding->printed_after_ns);
	vw_object_put(o, "message", vw_object_text(o, finding->message));
	vw_object_put_text(o, "remedy", finding->remedy);
}

static void json_finding(struct vw_sink *base, const struct vw_finding *finding)
{
	struct vw_object o;

	put_finding(&o, finding);
	emit((struct json_sink *)base, &o);
}

char *vw_sink_json_finding(const struct vw_finding *finding)
{
	struct vw_object o;

	put_finding(&o, finding);
	return vw_object_line(&o);
}

static void json_worker(struct vw_sink *base, const struct vw_worker_row *row)
{
	const struct vw_task *task = &row->task;
	struct vw_object o;

	vw_object_init(&o);
	vw_object_put_text(&o, "type", "worker");
	vw_object_put_u64(&o, "ts_ns", row->ts_ns);
	vw_object_put_positive(&o, "tid", task->tid);
	vw_object_put_text(&o, "comm", task->comm);
	vw_object_put_text(&o, "backend", vw_backend_name(task->backend));
	vw_object_put_positive(&o, "owner_pid", task->owner_pid);
	vw_object_put_text(&o, "vm", task->vm);
	vw_object_put_text(&o, "device", task->device);
	vw_object_put_text(&o, "cgroup", task->cgroup);
	vw_object_put_text(&o, "cpus_allowed", task->cpus_allowed);
	vw_object_put_u64(&o, "oncpu_ns", row->oncpu_ns);
	vw_object_put_u64(&o, "charged_ns", row->charged_ns);
	vw_object_put_u64(&o, "wait_ns", row->wait_ns);
	vw_object_put_u64(&o, "longest_resched_pending_ns", row->longest_pending_ns);
	vw_object_put_u64(&o, "voluntary_switches", row->voluntary);
	vw_object_put_u64(&o, "involuntary_switches", row->involuntary);
	vw_object_put_u64(&o, "migrations", row->migrations);
	vw_object_put_u64(&o, "work_items", row->work_items);
	vw_object_put_u64(&o, "tx_packets", row->tx_packets);
	vw_object_put_u64(&o, "tx_bytes", row->tx_bytes);
	vw_object_put_u64(&o, "rx_packets", row->rx_packets);
	vw_object_put_u64(&o, "rx_bytes", row->rx_bytes);
	vw_object_put_cpu(&o, "cpu", row->cpu);
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
	struct vw_object o, counts;
	int kind;

	vw_object_init(&o);
	vw_object_put_text(&o, "type", "summary");
	vw_object_put_text(&o, "verdict", vw_verdict_name(summary->verdict));
	vw_object_init(&counts);
	for (kind = 0; kind < VW_KIND_COUNT; kind++)
		if (summary->counts[kind])
			vw_object_put_u64(&counts, vw_kind_name(kind), summary->counts[kind]);
	vw_object_put_object(&o, "counts", &counts);
	vw_object_put_u64(&o, "lost_events", summary->lost_events);
	vw_object_put_u64(&o, "skipped_lines", summary->skipped_lines);
	vw_object_put_u64(&o, "duration_ns", summary->duration_ns);
	vw_object_put_u64(&o, "workers", summary->workers);
	vw_object_put_u64(&o, "invalid_samples", summary->invalid_samples);
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
	struct vw_object o;

	vw_object_init(&o);
	vw_object_put_text(&o, "type", "error");
	vw_object_put_text(&o, "reason", error->reason);
	vw_object_put_text(&o, "message", error->message);
	/* The line on stderr has been printed already; a failure here is told by that. */
	vw_object_write(out, &o);
}
