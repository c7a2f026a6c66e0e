/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that /proc has for one task.  Parsers work on text and allocate nothing; readers take
 * the descriptor of /proc/PID/task/TID (or /proc/PID), so all they read is of one task.
 */
#ifndef VW_ATTR_PROC_H
#define VW_ATTR_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Task flags as the stat file shows them; include/linux/sched.h. */
#define VW_PF_IO_WORKER 0x00000010u
#define VW_PF_WQ_WORKER 0x00000020u
/* Since 6.4.  Until 5.17 the bit was PF_USED_ASYNC, which only loaders of modules ever had. */
#define VW_PF_USER_WORKER 0x00004000u
#define VW_PF_KTHREAD 0x00200000u

#define VW_PROC_NAME_LEN 64 /* the kernel shows long names of kernel threads in up to 63 bytes */

struct vw_proc_stat {
	char name[VW_PROC_NAME_LEN]; /* as shown, any byte but NUL */
	char state;
	int32_t ppid;
	uint32_t flags;
	uint64_t cpu_ticks; /* user and system time */
	uint64_t start_ns;  /* CLOCK_BOOTTIME, cut to USER_HZ */
	int32_t cpu;        /* the run queue it is or was on; -1 unknown */
	bool rt;            /* SCHED_FIFO, SCHED_RR or SCHED_DEADLINE */
};

/* VW_UNKNOWN and "" and 0 where a line is missing. */
struct vw_proc_status {
	int32_t tgid;
	int32_t ppid;
	uint64_t voluntary;
	uint64_t involuntary;
	const char *cpus_allowed; /* points into the text, not terminated */
	size_t cpus_allowed_len;
};

struct vw_proc_schedstat {
	uint64_t run_ns, delay_ns, slices;
};

/* The name runs to the LAST ')': it may hold blanks, parentheses and line feeds.  -EINVAL. */
int vw_proc_parse_stat(const char *text, struct vw_proc_stat *ret);
void vw_proc_parse_status(const char *text, struct vw_proc_status *ret);
int vw_proc_parse_schedstat(const char *text, struct vw_proc_schedstat *ret);
/*
 * The path of the cpu controller, or of the unified hierarchy where cpu has none of its own.
 * Copied to @ret; -ENOENT when there is neither, -ENAMETOOLONG when it was cut.
 */
int vw_proc_parse_cgroup(const char *text, char *ret, size_t size);

/* These read a file of the task at @fd and parse it. */
int vw_proc_read_stat(int fd, struct vw_proc_stat *ret);
/* @buf of @size bytes holds the text that @ret points into. */
int vw_proc_read_status(int fd, char *buf, size_t size, struct vw_proc_status *ret);
int vw_proc_read_schedstat(int fd, struct vw_proc_schedstat *ret);
/* nr_migrations of the sched file; VW_UNKNOWN where the kernel has none. */
uint64_t vw_proc_read_migrations(int fd);

/*
 * The number in the name of a vhost worker, `vhost-<pid>` in full; 0 for every other name, too
 * large a number (a cut name) included.
 */
int32_t vw_proc_vhost_number(const char *name);

#endif
