// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel itself reports, as it does: RCU stalls and soft lockups.
 *
 * A tracepoint (or a kprobe) is the first sign of an RCU stall, the text that follows in the
 * kernel's log is the report.  The two make one observation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/decode.h"
#include "source/klog.h"
#include "source/part.h"
#include "util/parse.h"
#include "util/str.h"

/* /dev/kmsg gives a record of at most so much (PRINTK_MESSAGE_MAX), or refuses. */
#define RECORD_BYTES 8192
#define MAX_RECORDS 4096 /* in one round */
#define LOG_KERN 0
#define FACILITY_SHIFT 3

/* The kernel prints a report in one go; what has not gone on for so long is complete. */
#define QUIET_NS (300 * VW_NS_PER_MS)
#define LONGEST_NS (5 * VW_NS_PER_SEC) /* also where other lines keep coming */
/* A sign for which no text has come by then stands alone. */
#define ALONE_NS (2 * VW_NS_PER_SEC)
#define MAX_SIGNS 8

struct part {
	const struct vw_part_env *env;
	struct vw_klog *log;
	struct vw_replay out; /* of the log */
	uint64_t now_ns; /* of the round */
	/* When lines came, first and last, since all reports were given; 0: none did */
	uint64_t first_ns, line_ns;
	unsigned int n_signs;
	struct vw_rec_stall signs[MAX_SIGNS]; /* oldest first */
	char record[RECORD_BYTES];
};

static void take_out(struct part *p, unsigned int i)
{
	p->n_signs--;
	memmove(&p->signs[i], &p->signs[i + 1], (p->n_signs - i) * sizeof(p->signs[0]));
}

/* Names who stalls by what ran on the CPU that reported itself. */
static void blame(const struct vw_rec_stall *sign, struct vw_obs_report *r)
{
	if (sign->how != VW_ABI_STALL_SELF || r->culprit.tid || !sign->task.tid)
		return;
	vw_decode_task(&sign->task, &r->culprit);
	r->culprit_cpu = (int32_t)sign->hdr.cpu;
	if (!r->n_cpus)
		r->cpus[r->n_cpus++] = r->culprit_cpu;
}

static bool same_stall(const struct vw_rec_stall *sign, const struct vw_obs_report *r)
{
	if ((sign->how == VW_ABI_STALL_EXPEDITED) != r->expedited)
		return false;
	return !r->flavor[0] || !sign->flavor[0] ||
	       !strncmp(sign->flavor, r->flavor, sizeof(sign->flavor) - 1);
}

static void tell(struct part *p, struct vw_obs *obs)
{
	struct vw_obs_report *r = &obs->report;

	/* Told when it is known, as all that is live. */
	obs->ts_ns = p->now_ns;
	if (r->culprit.tid)
		p->env->know(p->env->ctx, &r->culprit, p->now_ns);
	p->env->emit(p->env->ctx, obs);
}

/* A report, all its lines put together. */
static int on_report(void *ctx, const struct vw_obs *told)
{
	struct part *p = ctx;
	struct vw_obs obs = *told;
	unsigned int i;

	if (obs.kind != VW_OBS_REPORT)
		return 0;
	for (i = 0; obs.report.kind == VW_REPORT_RCU_STALL && i < p->n_signs; i++)
		if (same_stall(&p->signs[i], &obs.report)) {
			blame(&p->signs[i], &obs.report);
			take_out(p, i);
			break;
		}
	tell(p, &obs);
	return 0;
}

/* No text has come: all that is known is the sign itself. */
static void tell_sign(struct part *p, const struct vw_rec_stall *sign)
{
	struct vw_obs obs = { .kind = VW_OBS_REPORT };
	struct vw_obs_report *r = &obs.report;

	r->kind = VW_REPORT_RCU_STALL;
	vw_str_copy(r->flavor, sizeof(r->flavor), sign->flavor, sizeof(sign->flavor));
	r->expedited = sign->how == VW_ABI_STALL_EXPEDITED;
	r->incomplete = true;
	r->detector_cpu = (int32_t)sign->hdr.cpu;
	r->culprit_cpu = -1;
	r->gp = r->jiffies = r->stuck_ns = VW_UNKNOWN;
	blame(sign, r);
	tell(p, &obs);
}

/* "6,1234,5678,-,caller=C1;text": the number in front is facility and level. */
static bool is_kernels(const char *record)
{
	char *end;
	unsigned long prefix = strtoul(record, &end, 10);

	return end != record && *end == ',' && prefix >> FACILITY_SHIFT == LOG_KERN;
}

static int take_record(struct part *p, size_t len)
{
	char *end;
	int ret;

	p->record[len] = '\0';
	/* Whoever may write to /dev/kmsg can write anything, but not in the kernel's name. */
	if (!is_kernels(p->record))
		return 0;
	/* Behind the line feed are facts about the device that the message is of. */
	end = strchr(p->record, '\n');
	if (end)
		len = (size_t)(end - p->record);
	p->line_ns = p->now_ns;
	p->first_ns = p->first_ns ?: p->now_ns;
	ret = vw_klog_line(p->log, p->record, len, p->now_ns);
	return ret < 0 ? ret : 0;
}

static int read_log(struct part *p)
{
	unsigned int left = MAX_RECORDS;
	ssize_t n;
	int err = 0;

	while (!err && left--) {
		n = read(p->env->log_fd, p->record, sizeof(p->record) - 1);
		if (n > 0)
			err = take_record(p, (size_t)n);
		else if (n < 0 && (errno == EPIPE || errno == EINVAL || errno == EINTR))
			continue; /* records were overwritten before they were read */
		else
			break;
	}
	return err;
}

static int open_part(const struct vw_part_env *env, void **ret_part)
{
	struct part *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->env = env;
	p->out = (struct vw_replay){ .obs = on_report, .ctx = p };
	p->log = vw_klog_new(&p->out);
	if (!p->log) {
		free(p);
		return -ENOMEM;
	}
	*ret_part = p;
	return 0;
}

static int record(void *part, const struct vw_rec_hdr *hdr)
{
	struct part *p = part;

	if (hdr->kind != VW_REC_STALL)
		return 0;
	if (p->n_signs == MAX_SIGNS)
		take_out(p, 0);
	p->signs[p->n_signs++] = *(const struct vw_rec_stall *)hdr;
	return 0;
}

static int poll_part(void *part, uint64_t now_ns)
{
	struct part *p = part;
	int err = 0;

	p->now_ns = now_ns;
	if (p->env->log_fd >= 0)
		err = read_log(p);
	if (!err && p->first_ns &&
	    (now_ns - p->line_ns >= QUIET_NS || now_ns - p->first_ns >= LONGEST_NS)) {
		p->first_ns = 0;
		err = vw_klog_finish(p->log);
	}
	while (p->n_signs && (p->env->log_fd < 0 || now_ns - p->signs[0].hdr.ts_ns >= ALONE_NS)) {
		tell_sign(p, &p->signs[0]);
		take_out(p, 0);
	}
	return err;
}

static void close_part(void *part)
{
	struct part *p = part;

	vw_klog_free(p->log);
	free(p);
}

const struct vw_part_ops vw_part_stall = {
	.open = open_part,
	.record = record,
	.poll = poll_part,
	.close = close_part,
};
