// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "sink/sentence.h"
#include "util/format.h"

/* A sentence that grows; what does not fit is cut. */
struct text {
	size_t len;
	char s[2048];
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->s + t->len, sizeof(t->s) - t->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n;
	if (t->len >= sizeof(t->s))
		t->len = sizeof(t->s) - 1;
}

static void add_ns(struct text *t, uint64_t ns)
{
	char buf[VW_FORMAT_LEN];

	add(t, "%s", ns == VW_UNKNOWN ? "an unknown time" : vw_format_ns(buf, ns));
}

const char *vw_sentence_severity(enum vw_severity severity)
{
	switch (severity) {
	case VW_INFO:
		return "INFO";
	case VW_WARNING:
		return "WARNING";
	case VW_CRITICAL:
		return "CRITICAL";
	}
	return "UNKNOWN";
}

char *vw_sentence_count(char *buf, size_t size, uint64_t n, const char *noun)
{
	if (n)
		snprintf(buf, size, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
	else
		snprintf(buf, size, "no %s", noun);
	return buf;
}

static enum vw_style style_of(const struct vw_finding *f)
{
	if (f->status == VW_CLOSED)
		return VW_STYLE_DIM;
	if (f->severity == VW_CRITICAL)
		return VW_STYLE_CRITICAL;
	return f->severity == VW_WARNING ? VW_STYLE_WARNING : VW_STYLE_HEADING;
}

static const char *clock_via(const struct vw_header *header)
{
	unsigned int i;

	for (i = 0; i < header->n_hooks; i++)
		if (!strcmp(header->hooks[i].name, "clock") && *header->hooks[i].via)
			return header->hooks[i].via;
	return "";
}

static void hook_line(const struct vw_hook *hook, unsigned int width, bool cut,
		      struct vw_lines *lines)
{
	struct text t = { 0 };

	add(&t, "  %s: %s", hook->name, vw_hook_state_name(hook->state));
	if (*hook->via)
		add(&t, ", via %s", hook->via);
	if (*hook->reason)
		add(&t, " (%s)", hook->reason);
	if (*hook->lost)
		add(&t, "; lost: %s", hook->lost);
	if (cut)
		vw_lines_add(lines, VW_STYLE_DIM, width, t.s);
	else
		vw_lines_wrap(lines, VW_STYLE_DIM, width, 4, t.s);
}

void vw_sentence_header(const struct vw_header *header, unsigned int width, bool cut,
			struct vw_lines *lines)
{
	const struct vw_host *host = &header->host;
	const char *preempt = vw_preempt_name(host->preempt);
	struct text t = { 0 };
	unsigned int i;

	add(&t, "vhostwatch " VW_VERSION);
	if (header->input)
		add(&t, ", %s of %s", header->source, header->input);
	/* A file need not say what it was made on. */
	if (*host->release || !header->input)
		add(&t, ", Linux %s", *host->release ? host->release : "(unknown)");
	if (*host->arch)
		add(&t, " %s", host->arch);
	if (preempt || !header->input)
		add(&t, ", preempt %s", preempt ? preempt : "unknown");
	if (host->cpus)
		add(&t, ", %" PRIu32 " CPU%s", host->cpus, host->cpus == 1 ? "" : "s");
	add(&t, ", level %s", header->level ? header->level : "unknown");
	if (*clock_via(header) || !header->input)
		add(&t, ", clock %s", *clock_via(header) ? clock_via(header) : "none");
	vw_lines_wrap(lines, VW_STYLE_HEADING, width, 2, t.s);
	for (i = 0; i < header->n_hooks; i++)
		if (header->hooks[i].state != VW_HOOK_ATTACHED && !header->hooks[i].optional)
			hook_line(&header->hooks[i], width, cut, lines);
}

/* "vhost-4990 (tid 951, VM web02, vhost-net:vnet7)" */
static void add_task(struct text *t, const struct vw_task *task)
{
	add(t, "%s (tid %d", *task->comm ? task->comm : "a task", task->tid);
	if (*task->vm)
		add(t, ", VM %s", task->vm);
	if (*task->device)
		add(t, ", %s", task->device);
	add(t, ")");
}

static void add_head(struct text *t, const struct vw_finding *f)
{
	const char *kind = vw_kind_name(f->kind);

	add(t, "%s %s", vw_sentence_severity(f->severity), kind ? kind : "finding");
	if (f->cpu >= 0)
		add(t, " on CPU %d", f->cpu);
}

static void finding_heading(const struct vw_finding *f, unsigned int width, struct vw_lines *lines)
{
	const char *cause = vw_cause_name(f->cause);
	struct text t = { 0 };

	add_head(&t, f);
	add(&t, f->status == VW_OPEN ? ", open for " : ", closed after ");
	add_ns(&t, f->duration_ns);
	add(&t, ", cause %s", cause ? cause : "unknown");
	if (f->evidence.count != VW_UNKNOWN && f->evidence.count > 1)
		add(&t, ", %" PRIu64 " episodes", f->evidence.count);
	if (f->printed_after_ns != VW_UNKNOWN) {
		add(&t, ", told after ");
		add_ns(&t, f->printed_after_ns);
	}
	vw_lines_wrap(lines, style_of(f), width, 2, t.s);
}

static void victim_line(const struct vw_victim *victim, unsigned int width, struct vw_lines *lines)
{
	struct text t = { 0 };

	add(&t, "  victim: ");
	add_task(&t, &victim->task);
	add(&t, " waited ");
	add_ns(&t, victim->wait_ns);
	if (victim->wait_total_ns != VW_UNKNOWN && victim->wait_total_ns > victim->wait_ns) {
		add(&t, " at a stretch, ");
		add_ns(&t, victim->wait_total_ns);
		add(&t, " in all");
	}
	vw_lines_wrap(lines, VW_STYLE_PLAIN, width, 4, t.s);
}

void vw_sentence_finding(const struct vw_finding *finding, unsigned int width, bool remedy,
			 struct vw_lines *lines)
{
	struct text t = { 0 };
	unsigned int i;

	finding_heading(finding, width, lines);
	add(&t, "  %s", finding->message);
	if (*finding->message)
		vw_lines_wrap(lines, VW_STYLE_PLAIN, width, 2, t.s);
	for (i = 0; i < finding->n_victims && i < VW_MAX_VICTIMS; i++)
		victim_line(&finding->victims[i], width, lines);
	if (!remedy || !*finding->remedy)
		return;
	t.len = 0;
	add(&t, "  remedy: %s", finding->remedy);
	vw_lines_wrap(lines, VW_STYLE_PLAIN, width, 4, t.s);
}

void vw_sentence_update(const struct vw_finding *finding, unsigned int width,
			struct vw_lines *lines)
{
	struct text t = { 0 };

	add_head(&t, finding);
	add(&t, ": still open after ");
	add_ns(&t, finding->duration_ns);
	if (finding->n_victims) {
		add(&t, ", longest wait ");
		add_ns(&t, finding->victims[0].wait_ns);
	}
	if (finding->has_culprit) {
		add(&t, ", ");
		add_task(&t, &finding->culprit);
	}
	vw_lines_add(lines, style_of(finding), width, t.s);
}

void vw_sentence_summary(const struct vw_summary *summary, unsigned int width,
			 struct vw_lines *lines)
{
	const char *verdict = vw_verdict_name(summary->verdict);
	bool any = false;
	struct text t = { 0 };
	char buf[64];
	int kind;

	add(&t, "verdict %s:", verdict ? verdict : "unknown");
	for (kind = 0; kind < VW_KIND_COUNT; kind++) {
		if (!summary->counts[kind])
			continue;
		add(&t, "%s %" PRIu64 " %s", any ? "," : "", summary->counts[kind],
		    vw_kind_name(kind));
		any = true;
	}
	if (!any)
		add(&t, " no finding");
	add(&t, "; %s", vw_sentence_count(buf, sizeof(buf), summary->workers, "worker"));
	if (summary->duration_ns != VW_UNKNOWN)
		add(&t, " in %s", vw_format_ns(buf, summary->duration_ns));
	add(&t, ", %s lost", vw_sentence_count(buf, sizeof(buf), summary->lost_events, "event"));
	if (summary->skipped_lines)
		add(&t, ", %s skipped",
		    vw_sentence_count(buf, sizeof(buf), summary->skipped_lines, "line"));
	vw_lines_wrap(lines, VW_STYLE_HEADING, width, 2, t.s);
}
