// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "attr/proc.h"
#include "model/finding.h"
#include "util/fs.h"
#include "util/str.h"

#define STAT_MAX 2048
#define SCHED_MAX 8192
#define NSEC_PER_SEC 1000000000ull
#define VHOST_PREFIX "vhost-"

/* Fields of the stat file, numbered as in proc(5). */
enum {
	STAT_STATE = 3,
	STAT_PPID = 4,
	STAT_FLAGS = 9,
	STAT_UTIME = 14,
	STAT_STIME = 15,
	STAT_START = 22,
	STAT_CPU = 39,
	STAT_POLICY = 41,
};

static uint64_t ticks_to_ns(uint64_t ticks)
{
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t ns;

	if (hz <= 0 || __builtin_mul_overflow(ticks, NSEC_PER_SEC / (uint64_t)hz, &ns))
		return 0;
	return ns;
}

static void take_field(struct vw_proc_stat *stat, int number, uint64_t value)
{
	switch (number) {
	case STAT_PPID:
		stat->ppid = value <= INT32_MAX ? (int32_t)value : 0;
		break;
	case STAT_FLAGS:
		stat->flags = (uint32_t)value;
		break;
	case STAT_UTIME:
	case STAT_STIME:
		stat->cpu_ticks += value;
		break;
	case STAT_START:
		stat->start_ns = ticks_to_ns(value);
		break;
	case STAT_CPU:
		stat->cpu = value <= INT32_MAX ? (int32_t)value : -1;
		break;
	case STAT_POLICY:
		stat->rt = value == 1 || value == 2 || value == 6;
		break;
	default:
		break;
	}
}

int vw_proc_parse_stat(const char *text, struct vw_proc_stat *ret)
{
	struct vw_proc_stat stat = { .cpu = -1 };
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')');
	const char *p, *end;
	uint64_t value;
	int number, err;

	if (!open || !close || close < open || close[1] != ' ' || !close[2] || close[3] != ' ')
		return -EINVAL;
	vw_str_copy(stat.name, sizeof(stat.name), open + 1, (size_t)(close - open - 1));
	stat.state = close[2];
	p = close + 4;
	for (number = STAT_STATE + 1; *p && *p != '\n' && number <= STAT_POLICY; number++) {
		/* Negative fields are none of ours: terminal and priority. */
		p += *p == '-';
		err = vw_str_u64(p, &end, &value);
		if (err)
			return -EINVAL;
		take_field(&stat, number, value);
		p = end + strspn(end, " ");
	}
	if (number <= STAT_START)
		return -EINVAL;
	*ret = stat;
	return 0;
}

/* The value of "KEY:\tvalue" at @line, or NULL. */
static const char *value_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len) || line[len] != ':')
		return NULL;
	line += len + 1;
	return line + strspn(line, " \t");
}

static uint64_t number_of(const char *line, const char *key, uint64_t otherwise)
{
	const char *value = value_of(line, key), *end;
	uint64_t number;

	if (!value || vw_str_u64(value, &end, &number))
		return otherwise;
	return number;
}

static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	return line && line[1] ? line + 1 : NULL;
}

void vw_proc_parse_status(const char *text, struct vw_proc_status *ret)
{
	struct vw_proc_status status = { .voluntary = VW_UNKNOWN, .involuntary = VW_UNKNOWN };
	const char *line, *value;

	/* The kernel escapes line feeds in the Name line, so a name cannot forge another line. */
	for (line = text; line; line = next_line(line)) {
		status.tgid = (int32_t)number_of(line, "Tgid", (uint64_t)status.tgid);
		status.ppid = (int32_t)number_of(line, "PPid", (uint64_t)status.ppid);
		status.voluntary = number_of(line, "voluntary_ctxt_switches", status.voluntary);
		status.involuntary = number_of(line, "nonvoluntary_ctxt_switches",
					       status.involuntary);
		value = value_of(line, "Cpus_allowed_list");
		if (value) {
			status.cpus_allowed = value;
			status.cpus_allowed_len = strcspn(value, "\n");
		}
	}
	*ret = status;
}

int vw_proc_parse_schedstat(const char *text, struct vw_proc_schedstat *ret)
{
	struct vw_proc_schedstat schedstat;
	const char *p;

	if (vw_str_u64(text, &p, &schedstat.run_ns) || *p++ != ' ' ||
	    vw_str_u64(p, &p, &schedstat.delay_ns) || *p++ != ' ' ||
	    vw_str_u64(p, &p, &schedstat.slices))
		return -EINVAL;
	*ret = schedstat;
	return 0;
}

/* True when @name is one of the comma separated words at @list, which ends at a colon. */
static bool has_word(const char *list, const char *name)
{
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",:\n");
		if (len == strlen(name) && !strncmp(list, name, len))
			return true;
		if (list[len] != ',')
			return false;
	}
}

int vw_proc_parse_cgroup(const char *text, char *ret, size_t size)
{
	const char *line, *controllers, *path, *best = NULL;

	for (line = text; line; line = next_line(line)) {
		controllers = strchr(line, ':');
		path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path || path > line + strcspn(line, "\n"))
			continue;
		controllers++;
		path++;
		if (has_word(controllers, "cpu")) {
			best = path;
			break;
		}
		if (vw_str_starts(line, "0::"))
			best = path;
	}
	if (!best)
		return -ENOENT;
	return vw_str_copy(ret, size, best, strcspn(best, "\n")) ? 0 : -ENAMETOOLONG;
}

int vw_proc_read_stat(int fd, struct vw_proc_stat *ret)
{
	char buf[STAT_MAX];
	ssize_t len = vw_fs_read(fd, "stat", buf, sizeof(buf));

	return len < 0 ? (int)len : vw_proc_parse_stat(buf, ret);
}

int vw_proc_read_status(int fd, char *buf, size_t size, struct vw_proc_status *ret)
{
	ssize_t len = vw_fs_read(fd, "status", buf, size);

	if (len < 0)
		return (int)len;
	vw_proc_parse_status(buf, ret);
	return 0;
}

int vw_proc_read_schedstat(int fd, struct vw_proc_schedstat *ret)
{
	char buf[128];
	ssize_t len = vw_fs_read(fd, "schedstat", buf, sizeof(buf));

	return len < 0 ? (int)len : vw_proc_parse_schedstat(buf, ret);
}

uint64_t vw_proc_read_migrations(int fd)
{
	char buf[SCHED_MAX];
	const char *line, *end;
	uint64_t number;

	if (vw_fs_read(fd, "sched", buf, sizeof(buf)) < 0)
		return VW_UNKNOWN;
	/* The first lines hold the name, raw; ours has blanks before the colon and comes later. */
	for (line = next_line(buf); line; line = next_line(line)) {
		if (!vw_str_starts(line, "se.nr_migrations "))
			continue;
		line += strcspn(line, ":\n");
		if (*line == ':' && !vw_str_u64(line + 1 + strspn(line + 1, " "), &end, &number))
			return number;
		break;
	}
	return VW_UNKNOWN;
}

int32_t vw_proc_vhost_number(const char *name)
{
	int32_t number;

	if (!vw_str_starts(name, VHOST_PREFIX) ||
	    vw_str_pid(name + strlen(VHOST_PREFIX), &number))
		return 0;
	return number;
}
