// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <string.h>

#include "model/finding.h"
#include "source/klog_line.h"
#include "util/parse.h"
#include "util/str.h"

#define ESCAPE '\033'

/* "\033[31m": the length of the sequence, 0 when it is none. */
static size_t colour(const char *s, size_t len)
{
	size_t i = 2;

	if (len < 3 || s[0] != ESCAPE || s[1] != '[')
		return 0;
	while (i < len && (isdigit((unsigned char)s[i]) || s[i] == ';'))
		i++;
	return i < len ? i + 1 : 0;
}

/* rsyslog writes a tab as "#011". */
static bool escaped_tab(const char *s, size_t len)
{
	return len >= 4 && !memcmp(s, "#011", 4);
}

/* The line without colours and line ends; no NUL but the one at its end. */
static void copy(struct vw_klog_text *t, const char *line, size_t len)
{
	size_t i = 0, n = 0, skip;

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	while (i < len && n < sizeof(t->buf) - 1) {
		skip = colour(line + i, len - i);
		if (skip) {
			i += skip;
		} else if (escaped_tab(line + i, len - i)) {
			t->buf[n++] = '\t';
			i += 4;
		} else {
			t->buf[n++] = line[i] ? line[i] : '?';
			i++;
		}
	}
	t->buf[n] = '\0';
	t->text = t->buf;
}

/* "\x09" of /dev/kmsg, in place. */
static void unescape(char *s)
{
	char *to = s;
	unsigned int value;

	while (*s) {
		if (s[0] == '\\' && s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
		    isxdigit((unsigned char)s[3])) {
			value = (unsigned int)(isdigit((unsigned char)s[2]) ? s[2] - '0' :
									      (s[2] & 7) + 9)
				<< 4;
			value |= (unsigned int)(isdigit((unsigned char)s[3]) ? s[3] - '0' :
									       (s[3] & 7) + 9);
			*to++ = value ? (char)value : '?';
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

static void set_time(struct vw_klog_text *t, uint64_t ns, bool kernel_time)
{
	t->ts_ns = ns;
	t->kernel_time = kernel_time;
}

/* The number in front of syslog messages: facility and level.  0 is the kernel's facility. */
static void set_facility(struct vw_klog_text *t, uint64_t number)
{
	t->sort = number >> 3 ? VW_KLOG_FOREIGN : VW_KLOG_KERNEL;
}

/* "T123", "C1" */
static bool take_caller(struct vw_klog_text *t, const char **at)
{
	const char *p = *at, *end;
	uint64_t id;

	if ((*p != 'T' && *p != 'C') || vw_str_u64(p + 1, &end, &id) || id > INT32_MAX)
		return false;
	t->caller = *p == 'T' ? VW_KLOG_TASK : VW_KLOG_CPU;
	t->caller_id = (int32_t)id;
	*at = end;
	return true;
}

/* "6,123,456789,-,caller=T1;text" */
static bool take_kmsg(struct vw_klog_text *t)
{
	const char *p = t->buf, *end, *caller;
	uint64_t number, sequence, us;

	if (vw_str_u64(p, &p, &number) || *p++ != ',' || vw_str_u64(p, &p, &sequence) ||
	    *p++ != ',' || vw_str_u64(p, &p, &us) || *p++ != ',')
		return false;
	end = strchr(p, ';');
	if (!end || us > UINT64_MAX / VW_NS_PER_US)
		return false;
	set_facility(t, number);
	set_time(t, us * VW_NS_PER_US, true);
	caller = strstr(p, ",caller=");
	if (caller && caller < end) {
		caller += strlen(",caller=");
		(void)take_caller(t, &caller);
	}
	t->text = end + 1;
	unescape(t->buf + (t->text - t->buf));
	return true;
}

/* "<6>" */
static void take_level(struct vw_klog_text *t)
{
	const char *p;
	uint64_t number;

	if (*t->text != '<' || vw_str_u64(t->text + 1, &p, &number) || *p != '>' || number > 1023)
		return;
	set_facility(t, number);
	t->text = p + 1;
}

/* A word of letters and blanks up to a colon: dmesg -x pads with blanks. */
static const char *padded_word(const char *p, const char **ret_end)
{
	const char *start = p;

	while (islower((unsigned char)*p) || isdigit((unsigned char)*p))
		p++;
	*ret_end = p;
	while (*p == ' ')
		p++;
	return p > start && *p == ':' && *ret_end > start ? p + 1 : NULL;
}

/* "kern  :info  : [" */
static void take_words(struct vw_klog_text *t)
{
	const char *end, *ignored, *p = padded_word(t->text, &end);
	bool kernel = p && end - t->text == 4 && !memcmp(t->text, "kern", 4);

	p = p ? padded_word(p, &ignored) : NULL;
	if (!p || *p++ != ' ' || (*p != '[' && !kernel))
		return;
	t->sort = kernel ? VW_KLOG_KERNEL : VW_KLOG_FOREIGN;
	t->text = p;
}

/* " <    0.000012>": dmesg -d. */
static bool take_delta(const char **at, uint64_t *ret_ns)
{
	const char *p = *at + strspn(*at, " ");

	if (*p++ != '<')
		return false;
	p += strspn(p, " ");
	if (!vw_klog_time_seconds(&p, ret_ns) || *p != '>')
		return false;
	*at = p + 1;
	return true;
}

/* What is between brackets; true when it is a stamp or a caller. */
static bool take_inside(struct vw_klog_clock *clock, struct vw_klog_text *t, const char **at)
{
	const char *p = *at + strspn(*at, " ");
	bool plus = *p == '+';
	uint64_t ns;

	if (take_caller(t, &p)) {
		*at = p;
		return true;
	}
	if (vw_klog_time_seconds(&p, &ns)) {
		set_time(t, ns, true);
	} else if (vw_klog_time_date(&p, &ns) || vw_klog_time_minute(clock, &p, &ns)) {
		set_time(t, ns, false);
	} else if (plus && (p++, vw_klog_time_seconds(&p, &ns))) {
		set_time(t, clock->last_ns + ns, false);
	} else if (take_delta(&p, &ns)) {
		set_time(t, clock->last_ns + ns, true);
		*at = p;
		return true;
	} else {
		return false;
	}
	(void)take_delta(&p, &ns);
	*at = p;
	return true;
}

/* "[  500.100000][    C1] " */
static bool take_brackets(struct vw_klog_clock *clock, struct vw_klog_text *t)
{
	bool any = false;

	for (;;) {
		uint64_t ts_ns = t->ts_ns;
		bool kernel_time = t->kernel_time;
		const char *p = t->text;

		/* Between a stamp and a caller there may be a blank. */
		if (any && p[0] == ' ' && p[1] == '[')
			p++;
		if (*p++ != '[' || !take_inside(clock, t, &p) || *p++ != ']') {
			set_time(t, ts_ns, kernel_time);
			break;
		}
		any = true;
		t->text = p;
	}
	if (any && *t->text == ' ')
		t->text++;
	return any;
}

/* "host kernel: ", or "kernel: " alone. */
static bool take_tag(struct vw_klog_text *t)
{
	const char *p = t->text;
	size_t host = strcspn(p, " ");

	if (!vw_str_starts(p, "kernel:")) {
		if (!host || p[host - 1] == ':' || !vw_str_starts(p + host, " kernel:"))
			return false;
		p += host + 1;
	}
	p += strlen("kernel:");
	t->text = *p == ' ' ? p + 1 : p;
	return true;
}

static bool take_date(struct vw_klog_clock *clock, struct vw_klog_text *t, bool *ret_dmesg)
{
	const char *p = t->text;
	uint64_t ns;

	*ret_dmesg = false;
	if (!vw_klog_time_syslog(clock, &p, &ns) && !vw_klog_time_iso(&p, &ns, ret_dmesg) &&
	    !vw_klog_time_seconds(&p, &ns))
		return false;
	if (*p != ' ')
		return false;
	set_time(t, ns, false);
	t->text = p + 1;
	return true;
}

/* "** 123 printk messages dropped ** ", in front of a line or instead of its text. */
static void take_dropped(struct vw_klog_text *t)
{
	static const char words[] = " printk messages dropped **";
	const char *p = t->text;
	uint64_t n;

	if (!vw_str_starts(p, "** ") || vw_str_u64(p + 3, &p, &n) || !vw_str_starts(p, words))
		return;
	t->dropped = n;
	p += strlen(words);
	t->text = *p == ' ' ? p + 1 : p;
	if (t->sort == VW_KLOG_BARE && !*t->text)
		t->sort = VW_KLOG_KERNEL;
}

/* "systemd-journald[321]: Missed 123 kernel messages" */
static void missed(struct vw_klog_text *t)
{
	const char *p = strstr(t->text, "systemd-journald[");
	uint64_t n;

	p = p ? strstr(p, "]: Missed ") : NULL;
	if (p && !vw_str_u64(p + strlen("]: Missed "), &p, &n) &&
	    vw_str_starts(p, " kernel messages"))
		t->dropped = n;
}

/* What the programs that show logs say themselves. */
static void sort_bare(struct vw_klog_text *t)
{
	const char *p = t->text;

	if (vw_str_starts(p, "-- Reboot --") || vw_str_starts(p, "-- Boot "))
		t->sort = VW_KLOG_REBOOT;
	else if (!p[strspn(p, " \t")] || vw_str_starts(p, "-- ") ||
		 (p[0] == ' ' && isupper((unsigned char)p[1]) && strchr(p, '=')))
		t->sort = VW_KLOG_ASIDE;
}

void vw_klog_text_parse(struct vw_klog_clock *clock, const char *line, size_t len,
			struct vw_klog_text *ret)
{
	bool dmesg;

	ret->sort = VW_KLOG_BARE;
	ret->dropped = 0;
	ret->caller = VW_KLOG_NOBODY;
	ret->caller_id = -1;
	set_time(ret, VW_UNKNOWN, false);
	copy(ret, line, len);
	if (take_kmsg(ret))
		return;
	take_dropped(ret);
	take_level(ret);
	take_words(ret);
	if (take_brackets(clock, ret)) {
		if (ret->sort == VW_KLOG_BARE)
			ret->sort = VW_KLOG_KERNEL;
		/* journalctl -o short-monotonic */
		if (take_tag(ret))
			(void)take_brackets(clock, ret);
	} else if (take_date(clock, ret, &dmesg)) {
		if (take_tag(ret)) {
			ret->sort = VW_KLOG_KERNEL;
			(void)take_brackets(clock, ret);
		} else {
			ret->sort = dmesg ? VW_KLOG_KERNEL : VW_KLOG_FOREIGN;
		}
	}
	take_dropped(ret);
	if (ret->sort == VW_KLOG_BARE)
		sort_bare(ret);
	else if (!ret->dropped)
		missed(ret);
	if (ret->ts_ns != VW_UNKNOWN)
		clock->last_ns = ret->ts_ns;
}
