// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All writers of the common forms give the name of the task 16 columns, aligned to the right.  So
 * column 16 is looked at first: a name there may hold what looks like a head.  Only lines of other
 * shapes (an instance's name in front, blanks cut off) are searched for a place that makes sense.
 */
#include <errno.h>

#include "source/ftrace_head.h"
#include "util/str.h"

#define COMM_COLUMNS 16
#define LATENCY_COMM 8 /* the latency format cuts names to so many bytes */
#define MAX_TRIES 8
#define MAX_SEC UINT64_C(10000000000) /* in nanoseconds it fits; tai counts from 1970 */
#define MAX_US (MAX_SEC * 1000000)

static const char *const why_shape = "not a line of a trace";
static const char *const why_tid = "the number of the task is too large";
static const char *const why_cpu = "the number of the CPU is too large";
static const char *const why_flags = "the flags in front of the time cannot be read";
static const char *const why_time =
	"the time is not in seconds (trace_clock must be local, global, "
	"perf, mono, mono_raw, boot or tai)";

/* The kernel writes <...> for a name that it forgot, perf :tid. */
static bool is_no_name(const char *comm)
{
	if (!strcmp(comm, "<...>"))
		return true;
	return *comm == ':' && !comm[1 + strspn(comm + 1, "0123456789")];
}

/* Of the room of a name, @columns before @end, what is the name. */
static void set_comm(struct vw_event *event, const char *p, const char *end, ptrdiff_t columns)
{
	if (end - p > columns)
		p = end - columns;
	if (end - p == 16) {
		/* The common case, all at once: blanks are shifted out, NULs come in. */
		uint64_t low = vw_scan_load8(p), high = vw_scan_load8(p + 8), other;

		other = ~vw_scan_blanks8(low) & UINT64_C(0x8080808080808080);
		if (!other) {
			low = high;
			high = 0;
			other = ~vw_scan_blanks8(low) & UINT64_C(0x8080808080808080);
		}
		if (other & 0x80) {
			high &= UINT64_MAX >> 8;
		} else if (other) {
			unsigned int shift = (unsigned int)__builtin_ctzll(other) - 7;

			low = low >> shift | high << (64 - shift);
			high >>= shift;
		} else {
			low = 0;
		}
		vw_scan_store8(event->comm, low);
		vw_scan_store8(event->comm + 8, high);
	} else {
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		memset(event->comm, 0, sizeof(event->comm));
		vw_str_copy(event->comm, sizeof(event->comm), p, (size_t)(end - p));
	}
	if ((*event->comm == '<' || *event->comm == ':') && is_no_name(event->comm))
		memset(event->comm, 0, sizeof(event->comm));
}

static bool is_interrupt(char c)
{
	return c == 'h' || c == 's' || c == 'H' || c == 'z' || c == 'Z';
}

static bool is_irqs_off(char c)
{
	return c == '.' || c == 'd' || c == 'D' || c == 'b' || c == 'X';
}

static bool take_request(char c, enum vw_resched *ret)
{
	switch (c) {
	case '.':
		*ret = VW_RESCHED_NONE;
		return true;
	case 'N':
	case 'n':
	case 'p':
	case 'b':
	case 'B':
		*ret = VW_RESCHED_FULL;
		return true;
	case 'L':
	case 'l':
		*ret = VW_RESCHED_LAZY;
		return true;
	default:
		return false;
	}
}

/*
 * "irqs-off need-resched hardirq/softirq preempt-depth [migrate-disable]"; with PREEMPT_RT before
 * 6.12 the lazy request is a column of its own in the third place.
 */
static bool take_flags(struct vw_scan *s, struct vw_event *event)
{
	const char *p = s->p;
	size_t len = 4;

	if (vw_scan_left(s) < 8)
		return false;
	while (len < 8 && p[len] != ' ')
		len++;
	if (len == 8 || !is_irqs_off(p[0]) || !take_request(p[1], &event->resched))
		return false;
	s->p += len;
	if (len > 5 && (p[2] == 'L' || (p[2] == '.' && is_interrupt(p[3])))) {
		if (p[2] == 'L' && event->resched == VW_RESCHED_NONE)
			event->resched = VW_RESCHED_LAZY;
		p++;
	}
	event->in_interrupt = is_interrupt(p[2]);
	return event->in_interrupt || p[2] == '.';
}

/*
 * "seconds.fraction:" with three to nine digits behind the dot.  NULL or what is wrong; a number
 * alone is the time of a clock that counts.
 */
static const char *take_time(struct vw_scan *s, uint64_t *ret_ns)
{
	static const uint32_t scale[10] = { 0,	   100000000, 10000000, 1000000, 100000,
					    10000, 1000,      100,	10,	 1 };
	uint64_t sec, fraction;
	const char *dot;

	if (!vw_scan_u64(s, &sec))
		return why_shape;
	if (vw_scan_char(s, ':'))
		return why_time;
	dot = s->p + 1;
	if (!vw_scan_char(s, '.') || !vw_scan_u64(s, &fraction) || !vw_scan_char(s, ':'))
		return why_shape;
	if (s->p - 1 - dot < 3 || s->p - 1 - dot > 9 || sec > MAX_SEC)
		return why_time;
	*ret_ns = sec * UINT64_C(1000000000) + fraction * scale[s->p - 1 - dot];
	return NULL;
}

/* "44244us!:": what the latency format has for a time, from the beginning of its buffer. */
static bool take_latency_time(struct vw_scan *s, uint64_t *ret_ns)
{
	uint64_t us;

	if (!vw_scan_u64(s, &us) || us > MAX_US || !vw_scan_word(s, "us"))
		return false;
	/* A mark of how long it is to the next event. */
	if (s->p < s->end)
		s->p++;
	*ret_ns = us * 1000;
	return vw_scan_char(s, ':');
}

/* From the CPU to the colon behind the time.  NULL or what is wrong. */
static const char *take_cpu_and_time(struct vw_scan *s, enum vw_trace_form form,
				     struct vw_event *event)
{
	bool bracket = vw_scan_char(s, '[');
	struct vw_scan latency;
	const char *why;
	uint64_t cpu;

	if (!vw_scan_u64(s, &cpu) || bracket != vw_scan_char(s, ']'))
		return why_shape;
	if (bracket)
		vw_scan_blanks(s);
	else if (form == VW_TRACE_PERF)
		return why_shape;
	if (form == VW_TRACE_FTRACE && !vw_scan_is_digit(vw_scan_peek(s))) {
		if (!take_flags(s, event))
			return bracket ? why_flags : why_shape;
		vw_scan_blanks(s);
	} else if (!bracket) {
		return why_shape;
	}
	latency = *s;
	if (!bracket && take_latency_time(&latency, &event->ts_ns)) {
		*s = latency;
		why = NULL;
	} else {
		why = take_time(s, &event->ts_ns);
	}
	event->cpu = (int32_t)cpu;
	return !why && cpu > VW_TRACE_MAX_CPU ? why_cpu : why;
}

/* "(  1234)" or "(-----)", if it is there. */
static bool take_tgid(struct vw_scan *s, struct vw_event *event)
{
	if (!vw_scan_char(s, '('))
		return true;
	vw_scan_blanks(s);
	if (!vw_scan_i32(s, VW_TRACE_MAX_TID, &event->tgid))
		while (vw_scan_char(s, '-'))
			;
	if (!vw_scan_char(s, ')'))
		return false;
	vw_scan_blanks(s);
	return true;
}

/* " tid" or " pid/tid"; -1 is who perf does not know. */
static const char *take_perf_ids(struct vw_scan *s, struct vw_event *event)
{
	uint64_t ids[2] = { 0, 0 };
	bool known[2];
	unsigned int n = 0;

	vw_scan_blanks(s);
	do {
		known[n] = !vw_scan_word(s, "-1");
		if (known[n] && !vw_scan_u64(s, &ids[n]))
			return why_shape;
	} while (!n++ && vw_scan_char(s, '/'));
	if (ids[0] > VW_TRACE_MAX_TID || ids[1] > VW_TRACE_MAX_TID)
		return why_tid;
	event->tid = known[n - 1] ? (int32_t)ids[n - 1] : -1;
	event->tgid = n == 2 && known[0] ? (int32_t)ids[0] : 0;
	return NULL;
}

/*
 * From behind the name of the task to the colon behind the time.  NULL or what is wrong: why_shape
 * when this is no such place at all.
 */
static const char *take_head(struct vw_scan *s, enum vw_trace_form form, struct vw_event *event)
{
	const char *why = NULL, *why_ids = NULL;
	uint64_t tid;

	if (form == VW_TRACE_PERF) {
		if (!vw_scan_char(s, ' '))
			return why_shape;
		why_ids = take_perf_ids(s, event);
	} else {
		if (!vw_scan_char(s, '-') || !vw_scan_u64(s, &tid))
			return why_shape;
		if (tid > VW_TRACE_MAX_TID)
			why_ids = why_tid;
		event->tid = (int32_t)tid;
	}
	if (why_ids == why_shape || !vw_scan_char(s, ' '))
		return why_shape;
	vw_scan_blanks(s);
	if (form == VW_TRACE_FTRACE && !take_tgid(s, event))
		return why_shape;
	why = take_cpu_and_time(s, form, event);
	return why == why_shape || !why_ids ? why : why_ids;
}

/* Back from the bracket of a CPU to where the ids begin; NULL when there are none. */
static const char *ids_before(const char *line, const char *bracket, enum vw_trace_form form)
{
	const char *p = bracket;

	while (p > line && p[-1] == ' ')
		p--;
	if (form == VW_TRACE_PERF) {
		while (p > line && (vw_scan_is_digit(p[-1]) || p[-1] == '/' || p[-1] == '-'))
			p--;
		return p > line && p < bracket ? p - 1 : NULL;
	}
	if (p > line && p[-1] == ')') {
		while (p > line && *p != '(')
			p--;
		while (p > line && p[-1] == ' ')
			p--;
	}
	while (p > line && vw_scan_is_digit(p[-1]))
		p--;
	return p > line && p[-1] == '-' ? p - 1 : NULL;
}

/* Tries one place behind a name; on success @s is behind the head. */
static const char *try_head(const char *line, const char *ids, struct vw_scan *s,
			    enum vw_trace_form form, struct vw_event *event)
{
	struct vw_scan t = { ids, s->end };
	const char *why;

	event->tgid = 0;
	event->cpu = -1;
	event->resched = VW_RESCHED_UNKNOWN;
	event->in_interrupt = false;
	why = take_head(&t, form, event);
	if (why)
		return why;
	set_comm(event, line, ids, COMM_COLUMNS);
	*s = t;
	return NULL;
}

/* The latency format: no brackets around the CPU, and names of eight bytes may be cut. */
static const char *find_latency_head(struct vw_scan *s, struct vw_event *event)
{
	const char *line = s->p, *ids = s->p, *why = why_shape;
	unsigned int tries;

	for (tries = 0; tries < MAX_TRIES && why == why_shape; tries++) {
		ids = memchr(ids, '-', (size_t)(s->end - ids));
		if (!ids)
			return why_shape;
		why = try_head(line, ids, s, VW_TRACE_FTRACE, event);
		ids++;
	}
	if (!why) {
		set_comm(event, line, ids - 1, LATENCY_COMM);
		if (event->comm[LATENCY_COMM - 1])
			memset(event->comm, 0, sizeof(event->comm));
	}
	return why;
}

/* "tid", of perf also "pid/tid"; NULL for what only take_head() can read. */
static const char *quick_ids(const char *p, enum vw_trace_form form, struct vw_event *event)
{
	uint64_t id;
	unsigned int n = vw_scan_digits8(p, &id);

	if (n - 1 > 6 || id > VW_TRACE_MAX_TID)
		return NULL;
	p += n;
	if (form == VW_TRACE_PERF && *p == '/') {
		event->tgid = (int32_t)id;
		n = vw_scan_digits8(++p, &id);
		if (n - 1 > 6 || id > VW_TRACE_MAX_TID)
			return NULL;
		p += n;
	}
	event->tid = (int32_t)id;
	return p;
}

/*
 * The same as take_head() for what nearly all lines look like: the name in its columns, a CPU of
 * three digits, microseconds.  It is half of the work of reading a line, so it is done twice; false
 * means that the long way has to be gone.
 */
static bool quick_head(struct vw_scan *s, enum vw_trace_form form, struct vw_event *event)
{
	/* What is read between two runs of blanks is shorter than this. */
	const char *p = s->p + COMM_COLUMNS, *limit = s->end - 32;
	unsigned char c0, c1, c2;
	uint64_t sec, fraction;
	unsigned int n;

	if (vw_scan_left(s) < COMM_COLUMNS + 32 || *p++ != (form == VW_TRACE_PERF ? ' ' : '-'))
		return false;
	if (form == VW_TRACE_PERF)
		while (*p == ' ' && p < limit)
			p++;
	p = quick_ids(p, form, event);
	if (!p)
		return false;
	while (*p == ' ' && p < limit)
		p++;
	c0 = (unsigned char)(p[1] - '0');
	c1 = (unsigned char)(p[2] - '0');
	c2 = (unsigned char)(p[3] - '0');
	if (*p != '[' || c0 > 9 || c1 > 9 || c2 > 9 || p[4] != ']' || p[5] != ' ')
		return false;
	event->cpu = 100 * c0 + 10 * c1 + c2;
	for (p += 6; *p == ' ' && p < limit; p++)
		;
	if (form == VW_TRACE_FTRACE && !vw_scan_is_digit(*p)) {
		struct vw_scan flags = { p, s->end };

		if (!take_flags(&flags, event))
			return false;
		for (p = flags.p; *p == ' ' && p < limit; p++)
			;
	}
	n = vw_scan_digits8(p, &sec);
	if (n - 1 > 6 || p[n] != '.')
		return false;
	p += n + 1;
	if (vw_scan_digits8(p, &fraction) != 6 || p[6] != ':')
		return false;
	event->ts_ns = sec * UINT64_C(1000000000) + fraction * 1000;
	set_comm(event, s->p, s->p + COMM_COLUMNS, COMM_COLUMNS);
	s->p = p + 7;
	return true;
}

/* On failure what is wrong with the most likely place. */
static const char *find_head(struct vw_scan *s, enum vw_trace_form form, struct vw_event *event)
{
	const char *line = s->p, *bracket = s->p, *ids, *why, *worst = why_shape;
	unsigned int tries;

	if (vw_scan_left(s) > COMM_COLUMNS) {
		worst = try_head(line, line + COMM_COLUMNS, s, form, event);
		if (!worst)
			return NULL;
	}
	for (tries = 0; tries < MAX_TRIES; tries++) {
		bracket = memchr(bracket, '[', (size_t)(s->end - bracket));
		if (!bracket)
			break;
		ids = ids_before(line, bracket, form);
		why = ids ? try_head(line, ids, s, form, event) : why_shape;
		if (!why)
			return NULL;
		if (worst == why_shape)
			worst = why;
		bracket++;
	}
	if (worst == why_shape && form == VW_TRACE_FTRACE)
		return find_latency_head(s, event);
	return worst;
}

int vw_ftrace_head(struct vw_scan *s, enum vw_trace_form form, struct vw_event *event,
		   const char **ret_why)
{
	const char *why;

	if (quick_head(s, form, event))
		return 0;
	why = find_head(s, form, event);
	if (!why)
		return 0;
	*ret_why = why;
	return why == why_shape || why == why_flags ? -EINVAL : -EBADMSG;
}
