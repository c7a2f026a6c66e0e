// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "sink/doctor.h"
#include "sink/lines.h"
#include "sink/sentence.h"

#define DOCTOR_WIDTH 100
#define NAME_COLUMNS 20
#define STATE_COLUMNS 9
/* Where via, reasons and losses begin. */
#define TEXT_COLUMN (2 + NAME_COLUMNS + 1 + STATE_COLUMNS + 1)

static const char *or_unknown(const char *text)
{
	return text && *text ? text : "unknown";
}

/* "  NAME  STATE  TEXT", wrapped below TEXT; with neither name nor state a line that goes on. */
static void row(struct vw_lines *lines, enum vw_style style, const char *name, const char *state,
		const char *text)
{
	char name_cell[VW_CELL_SIZE], state_cell[VW_CELL_SIZE], line[1024];

	snprintf(line, sizeof(line), "  %.120s %.60s %s",
		 vw_cell(name_cell, name, NAME_COLUMNS, false),
		 vw_cell(state_cell, state, STATE_COLUMNS, false), text);
	vw_lines_wrap(lines, style, DOCTOR_WIDTH, TEXT_COLUMN, line);
}

static void host_lines(const struct vw_header *header, struct vw_lines *lines)
{
	const struct vw_host *host = &header->host;
	char line[512], hz[16] = "unknown", cpus[16] = "unknown";

	if (host->hz)
		snprintf(hz, sizeof(hz), "%" PRIu32, host->hz);
	if (host->cpus)
		snprintf(cpus, sizeof(cpus), "%" PRIu32, host->cpus);
	snprintf(line, sizeof(line), "Host: Linux %s %s, preempt %s%s, HZ %s, CPUs %s",
		 or_unknown(host->release), host->arch, or_unknown(vw_preempt_name(host->preempt)),
		 host->preempt_switchable ? " (can be changed at run time)" : "", hz, cpus);
	vw_lines_wrap(lines, VW_STYLE_PLAIN, DOCTOR_WIDTH, 6, line);
	snprintf(line, sizeof(line), "Level: %s", or_unknown(header->level));
	vw_lines_wrap(lines, VW_STYLE_PLAIN, DOCTOR_WIDTH, 6, line);
}

static void hook_lines(const struct vw_hook *hook, struct vw_lines *lines)
{
	char line[512];

	snprintf(line, sizeof(line), "%s%s", *hook->via ? hook->via : "-",
		 hook->optional ? " (not used at this level)" : "");
	row(lines, VW_STYLE_PLAIN, hook->name, or_unknown(vw_hook_state_name(hook->state)), line);
	if (*hook->reason) {
		snprintf(line, sizeof(line), "why: %s", hook->reason);
		row(lines, VW_STYLE_PLAIN, "", "", line);
	}
	if (*hook->lost) {
		snprintf(line, sizeof(line), "lost: %s", hook->lost);
		row(lines, VW_STYLE_PLAIN, "", "", line);
	}
}

static void detector_lines(const struct vw_detector_info *info, struct vw_lines *lines)
{
	const char *why = info->reason;

	if (!*why)
		why = info->state == VW_DETECTOR_FULL ? "all it needs is there" : "reason unknown";
	row(lines, VW_STYLE_PLAIN, info->kind, or_unknown(vw_detector_state_name(info->state)),
	    why);
}

int vw_doctor_text(FILE *out, const struct vw_header *header)
{
	struct vw_lines lines = { 0 };
	unsigned int i;
	int err;

	vw_lines_wrap(&lines, VW_STYLE_HEADING, DOCTOR_WIDTH, 0, "vhostwatch " VW_VERSION);
	host_lines(header, &lines);
	vw_lines_add(&lines, VW_STYLE_PLAIN, DOCTOR_WIDTH, "");
	row(&lines, VW_STYLE_HEADING, "HOOK", "STATE", "VIA");
	for (i = 0; i < header->n_hooks && i < VW_MAX_HOOKS; i++)
		hook_lines(&header->hooks[i], &lines);
	vw_lines_add(&lines, VW_STYLE_PLAIN, DOCTOR_WIDTH, "");
	row(&lines, VW_STYLE_HEADING, "DETECTOR", "STATE", "WHY");
	for (i = 0; i < header->n_detectors && i < VW_MAX_DETECTORS; i++)
		detector_lines(&header->detectors[i], &lines);
	err = vw_lines_print(&lines, out);
	vw_lines_done(&lines);
	return err;
}
