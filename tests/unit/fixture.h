/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folders that stand in for /proc and /sys, made in a temporary directory.
 *
 * Every helper fails the running test when it cannot do its work.
 */
#ifndef VW_TESTS_FIXTURE_H
#define VW_TESTS_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

struct fixture {
	char dir[64];
	int dir_fd, proc_fd, sys_fd;
};

void fixture_open(struct fixture *f);
void fixture_close(struct fixture *f);

/* @path is relative to the fixture ("proc/7/comm"); missing folders are made. */
void fixture_write(struct fixture *f, const char *path, const char *data, size_t len);
void fixture_text(struct fixture *f, const char *path, const char *text);
void fixture_link(struct fixture *f, const char *path, const char *target);
void fixture_remove(struct fixture *f, const char *path);

/* What the kernel would show for one task. */
struct fixture_task {
	int32_t pid; /* the process; 0: the same as @tid */
	int32_t tid;
	const char *comm;
	uint32_t flags;
	int32_t ppid;         /* 0: 1 */
	uint64_t start_ticks; /* 0: 1000 */
	char state;           /* 0: S */
	int32_t cpu;
	int32_t policy;
	uint64_t cpu_ticks;
	uint64_t run_ns, delay_ns, slices;
	uint64_t voluntary, involuntary;
	const char *cgroup;       /* text of the file; NULL: "0::/\n" */
	const char *cpus_allowed; /* NULL: "0-3" */
};

/* Writes comm, stat, status, schedstat, sched and cgroup below proc/@folder. */
void fixture_task_at(struct fixture *f, const char *folder, const struct fixture_task *task);
/* The real place: proc/PID/task/TID, and proc/PID too for the main thread. */
void fixture_task(struct fixture *f, const struct fixture_task *task);
/* A command line of @pid, the arguments up to a NULL. */
void fixture_cmdline(struct fixture *f, int32_t pid, const char *const *args);
/* Descriptor @fd of @pid: a link to @target, and @ifname (may be NULL) in its fdinfo. */
void fixture_fd(struct fixture *f, int32_t pid, int fd, const char *target, const char *ifname);
/* An interface with its index and its four counters. */
void fixture_interface(struct fixture *f, const char *name, int index, uint64_t rx_packets,
		       uint64_t rx_bytes, uint64_t tx_packets, uint64_t tx_bytes);

#endif
