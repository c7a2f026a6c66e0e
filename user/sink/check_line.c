// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sink/check_line.h"
#include "sink/sentence.h"
#include "util/parse.h"
#include "util/utf8.h"

/* Monitoring systems cut long lines, and what they cut must not be the numbers. */
#define MESSAGE_MAX 400

static const char *state_name(enum vw_verdict verdict)
{
	switch (verdict) {
	case VW_VERDICT_OK:
		return "OK";
	case VW_VERDICT_WARNING:
		return "WARNING";
	case VW_VERDICT_CRITICAL:
		return "CRITICAL";
	case VW_VERDICT_UNKNOWN:
		break;
	}
	return "UNKNOWN";
}

static uint64_t total_findings(const struct vw_summary *summary)
{
	uint64_t sum = 0;
	int kind;

	for (kind = 0; kind < VW_KIND_COUNT; kind++)
		sum += summary->counts[kind];
	return sum;
}

/* What people read; @text may hold names that others chose, and a bar would begin the perfdata. */
static void print_text(FILE *out, const char *text)
{
	char clean[MESSAGE_MAX + 1];
	size_t len;
	char *bar;

	len = vw_utf8_printable(clean, sizeof(clean), text, strlen(text));
	if (len && clean[len - 1] == '.')
		clean[len - 1] = '\0'; /* more may follow in the sentence */
	for (bar = clean; (bar = strchr(bar, '|')); bar++)
		*bar = '/';
	fputs(clean, out);
}

static void print_message(FILE *out, const struct vw_summary *summary,
			  const struct vw_finding *worst, uint32_t workers)
{
	uint64_t findings = total_findings(summary);
	char buf[64];

	if (worst) {
		print_text(out, *worst->message ? worst->message : vw_kind_name(worst->kind));
		if (findings > 1)
			fprintf(out, " (%s in all)",
				vw_sentence_count(buf, sizeof(buf), findings, "finding"));
	} else if (summary->verdict == VW_VERDICT_UNKNOWN) {
		fputs("cannot tell: vhostwatch doctor says what this host lets it see", out);
	} else if (!workers) {
		fputs("no vhost workers", out);
	} else {
		fputs(vw_sentence_count(buf, sizeof(buf), workers, "vhost worker"), out);
		fprintf(out, ", %s", vw_sentence_count(buf, sizeof(buf), findings, "finding"));
	}
	if (summary->lost_events)
		fprintf(out, "; %s lost",
			vw_sentence_count(buf, sizeof(buf), summary->lost_events, "event"));
}

/* The longest wait of a victim of the worst finding, 0 without one. */
static void print_longest_wait(FILE *out, const struct vw_finding *worst)
{
	uint64_t wait = 0;

	if (worst && worst->n_victims)
		wait = worst->victims[0].wait_ns;
	if (wait == VW_UNKNOWN)
		fputs(" longest_wait=U", out);
	else
		fprintf(out, " longest_wait=%" PRIu64 ".%06" PRIu64 "s;;;0", wait / VW_NS_PER_SEC,
			wait % VW_NS_PER_SEC / VW_NS_PER_US);
}

int vw_check_line(FILE *out, const struct vw_summary *summary, const struct vw_finding *worst,
		  uint32_t workers)
{
	int kind;

	errno = 0;
	fprintf(out, "VHOSTWATCH %s - ", state_name(summary->verdict));
	print_message(out, summary, worst, workers);
	fprintf(out, "|findings=%" PRIu64 ";;;0", total_findings(summary));
	/* Every kind, so that graphs have a value for each run. */
	for (kind = 0; kind < VW_KIND_COUNT; kind++)
		fprintf(out, " %s=%" PRIu64 ";;;0", vw_kind_name(kind), summary->counts[kind]);
	fprintf(out, " lost_events=%" PRIu64 ";;;0 workers=%" PRIu32 ";;;0", summary->lost_events,
		workers);
	print_longest_wait(out, worst);
	fputc('\n', out);
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
