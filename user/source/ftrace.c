// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "source/ftrace.h"
#include "source/ftrace_fields.h"
#include "source/ftrace_head.h"

/*
 * "CPU:3 [LOST 507 EVENTS]", of trace-cmd "CPU:3 [507 EVENTS DROPPED]", both also without number.
 * perf's own record without a head.
 */
static bool read_lost(struct vw_scan *s, struct vw_event *event)
{
	struct vw_scan perf = *s;
	uint64_t lost = 1;
	int32_t cpu = -1;
	bool linux_words;

	if (vw_scan_seek_word(&perf, "PERF_RECORD_LOST lost ")) {
		if (!vw_scan_u64(&perf, &lost))
			return false;
	} else {
		if (!vw_scan_seek_word(s, "CPU:") || !vw_scan_i32(s, VW_TRACE_MAX_CPU, &cpu) ||
		    !vw_scan_word(s, " ["))
			return false;
		linux_words = vw_scan_word(s, "LOST ");
		if (vw_scan_u64(s, &lost) && !vw_scan_char(s, ' '))
			return false;
		if (linux_words ? !vw_scan_word(s, "EVENTS]") : !vw_scan_word(s, "EVENTS DROPPED]"))
			return false;
	}
	event->kind = VW_EVENT_LOST;
	event->cpu = cpu;
	event->lost = lost ? lost : 1;
	return true;
}

/* An entry of a call chain: "=> function", "ffffffff81399f41 function+0x31 (module)". */
static bool is_call_chain(struct vw_scan s)
{
	const char *p = s.p;

	vw_scan_blanks(&s);
	if (s.p == p)
		return vw_scan_word(&s, "=> ");
	if (vw_scan_word(&s, "=> "))
		return true;
	for (p = s.p; s.p < s.end; s.p++)
		if (!vw_scan_is_digit(*s.p) && !(*s.p >= 'a' && *s.p <= 'f'))
			break;
	if (s.p - p < 3)
		return vw_scan_word(&s, " [unknown]");
	return s.p == s.end || *s.p == ' ';
}

/* What stands between events without being one. */
static bool is_heading(struct vw_scan s)
{
	struct vw_scan t = s;
	uint64_t n;

	vw_scan_blanks(&t);
	if (t.p == t.end)
		return true;
	/* trace-cmd: "cpus=4", "version = 6", "CPU 1 is empty" */
	if (vw_scan_word(&s, "cpus=") || vw_scan_word(&s, "version = "))
		return vw_scan_u64(&s, &n) && s.p == s.end;
	if (vw_scan_word(&s, "CPU ") && vw_scan_u64(&s, &n))
		return vw_scan_word(&s, " is empty") && s.p == s.end;
	return false;
}

/* "system:event:" after what perf may put before it; the name of what it recorded itself. */
static bool perf_event(struct vw_scan *s, struct vw_event *event)
{
	const char *name, *colon, *blank;
	struct vw_scan t;
	uint64_t n;

	/* The period. */
	if (vw_scan_u64(s, &n))
		vw_scan_blanks(s);
	t = *s;
	if (vw_scan_word(&t, "PERF_RECORD_") || vw_scan_word(&t, "unknown: PERF_RECORD_")) {
		/* Some of these have no time but 0; none tells who runs. */
		if (vw_scan_word(&t, "LOST lost ") && vw_scan_u64(&t, &n)) {
			event->kind = VW_EVENT_LOST;
			event->lost = n ? n : 1;
		} else {
			event->ts_ns = VW_UNKNOWN;
		}
		s->p = s->end;
		return true;
	}
	name = s->p;
	blank = memchr(name, ' ', vw_scan_left(s));
	s->p = blank ? blank : s->end;
	if (s->p == name || s->p[-1] != ':')
		return false;
	colon = memchr(name, ':', (size_t)(s->p - 1 - name));
	if (colon)
		event->kind = vw_ftrace_kind(colon + 1, (size_t)(s->p - 1 - (colon + 1)));
	return true;
}

/* "event:"; what has another shape (functions, markers) is an event of no use. */
static void ftrace_event(struct vw_scan *s, struct vw_event *event)
{
	const char *colon = memchr(s->p, ':', vw_scan_left(s));

	if (!colon)
		return;
	event->kind = vw_ftrace_kind(s->p, (size_t)(colon - s->p));
	s->p = colon + 1;
}

int vw_ftrace_parse(const char *line, size_t len, enum vw_trace_form form, struct vw_event *ret,
		    const char **ret_why)
{
	struct vw_scan s = { line, line + len };
	struct vw_event event;
	const char *why;
	int err;

	if (!len || *line == '#')
		return 0;
	memset(&event, 0, sizeof(event));
	event.cpu = event.tid = -1;
	event.ts_ns = VW_UNKNOWN;
	err = vw_ftrace_head(&s, form, &event, &why);
	if (err) {
		struct vw_scan whole = { line, line + len };

		if (is_heading(whole) || is_call_chain(whole))
			return 0;
		memset(&event, 0, sizeof(event));
		event.tid = -1;
		event.ts_ns = VW_UNKNOWN;
		if (!read_lost(&whole, &event)) {
			*ret_why = why;
			return err;
		}
		*ret = event;
		return 1;
	}
	vw_scan_blanks(&s);
	if (form == VW_TRACE_FTRACE) {
		ftrace_event(&s, &event);
	} else if (!perf_event(&s, &event)) {
		*ret_why = "no event behind the time";
		return -EBADMSG;
	}
	vw_scan_blanks(&s);
	if (!vw_ftrace_fields(&s, &event)) {
		*ret_why = "fields of the event are missing or cannot be read";
		return -EBADMSG;
	}
	*ret = event;
	return 1;
}
