// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"

#define PATH_LEN 256

void fixture_open(struct fixture *f)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(f->dir, sizeof(f->dir), "%.40s/vw-test-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(f->dir));
	f->dir_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->dir_fd >= 0);
	assert_int_equal(mkdirat(f->dir_fd, "proc", 0755), 0);
	assert_int_equal(mkdirat(f->dir_fd, "sys", 0755), 0);
	f->proc_fd = openat(f->dir_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->sys_fd = openat(f->dir_fd, "sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->proc_fd >= 0 && f->sys_fd >= 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void fixture_close(struct fixture *f)
{
	close(f->proc_fd);
	close(f->sys_fd);
	close(f->dir_fd);
	assert_int_equal(nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void make_parents(struct fixture *f, const char *path)
{
	char part[PATH_LEN];
	char *slash;

	snprintf(part, sizeof(part), "%s", path);
	for (slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(f->dir_fd, part, 0755);
		*slash = '/';
	}
}

void fixture_write(struct fixture *f, const char *path, const char *data, size_t len)
{
	int fd;

	make_parents(f, path);
	fd = openat(f->dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

void fixture_text(struct fixture *f, const char *path, const char *text)
{
	fixture_write(f, path, text, strlen(text));
}

void fixture_link(struct fixture *f, const char *path, const char *target)
{
	make_parents(f, path);
	unlinkat(f->dir_fd, path, 0);
	assert_int_equal(symlinkat(target, f->dir_fd, path), 0);
}

void fixture_remove(struct fixture *f, const char *path)
{
	char full[PATH_LEN];

	snprintf(full, sizeof(full), "%s/%s", f->dir, path);
	assert_int_equal(nftw(full, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

__attribute__((format(printf, 4, 5)))
static void put(struct fixture *f, const char *folder, const char *name, const char *fmt, ...)
{
	char path[PATH_LEN], text[4096];
	va_list ap;

	snprintf(path, sizeof(path), "proc/%s/%s", folder, name);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fixture_text(f, path, text);
}

/* The Name line has line feeds and backslashes escaped, the other files have them raw. */
static void escape(const char *comm, char *to)
{
	for (; *comm; comm++) {
		if (*comm == '\n' || *comm == '\\')
			*to++ = '\\';
		*to++ = *comm == '\n' ? 'n' : *comm;
	}
	*to = '\0';
}

void fixture_task_at(struct fixture *f, const char *folder, const struct fixture_task *task)
{
	uint64_t start = task->start_ticks ? task->start_ticks : 1000;
	int32_t pid = task->pid ? task->pid : task->tid;
	int32_t ppid = task->ppid ? task->ppid : 1;
	char state = task->state ? task->state : 'S';
	char name[160];

	put(f, folder, "comm", "%s\n", task->comm);
	put(f, folder, "stat",
	    "%d (%s) %c %d %d %d 0 -1 %u 0 0 0 0 0 %" PRIu64 " 0 0 20 0 1 0 %" PRIu64
	    " 0 0 18446744073709551615 0 0 0 0 0 0 2147483647 0 0 0 0 0 -1 %d 0 %d 0 0 0"
	    " 0 0 0 0 0 0 0 0\n",
	    task->tid, task->comm, state, ppid, pid, pid, task->flags, task->cpu_ticks, start,
	    task->cpu, task->policy);
	escape(task->comm, name);
	put(f, folder, "status",
	    "Name:\t%s\nState:\t%c\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n"
	    "Cpus_allowed:\tf\nCpus_allowed_list:\t%s\nMems_allowed_list:\t0\n"
	    "voluntary_ctxt_switches:\t%" PRIu64 "\nnonvoluntary_ctxt_switches:\t%" PRIu64 "\n",
	    name, state, pid, task->tid, ppid, task->cpus_allowed ? task->cpus_allowed : "0-3",
	    task->voluntary, task->involuntary);
	put(f, folder, "schedstat", "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", task->run_ns,
	    task->delay_ns, task->slices);
	put(f, folder, "sched",
	    "%s (%d, #threads: 1)\n----\nse.exec_start                                :"
	    "      1.5\nse.nr_migrations                             :                   17\n",
	    task->comm, task->tid);
	put(f, folder, "cgroup", "%s", task->cgroup ? task->cgroup : "0::/\n");
}

void fixture_task(struct fixture *f, const struct fixture_task *task)
{
	int32_t pid = task->pid ? task->pid : task->tid;
	char folder[64];

	snprintf(folder, sizeof(folder), "%d/task/%d", pid, task->tid);
	fixture_task_at(f, folder, task);
	if (pid != task->tid)
		return;
	snprintf(folder, sizeof(folder), "%d", pid);
	fixture_task_at(f, folder, task);
}

void fixture_cmdline(struct fixture *f, int32_t pid, const char *const *args)
{
	char path[PATH_LEN], text[4096];
	size_t len = 0, n;

	for (; *args; args++) {
		n = strlen(*args) + 1;
		assert_true(len + n <= sizeof(text));
		memcpy(text + len, *args, n);
		len += n;
	}
	snprintf(path, sizeof(path), "proc/%d/cmdline", pid);
	fixture_write(f, path, text, len);
}

void fixture_fd(struct fixture *f, int32_t pid, int fd, const char *target, const char *ifname)
{
	char path[PATH_LEN], text[160];

	snprintf(path, sizeof(path), "proc/%d/fd/%d", pid, fd);
	fixture_link(f, path, target);
	snprintf(path, sizeof(path), "proc/%d/fdinfo/%d", pid, fd);
	snprintf(text, sizeof(text), "pos:\t0\nflags:\t0104002\nmnt_id:\t25\nino:\t87\n%s%s%s",
		 ifname ? "iff:\t" : "", ifname ? ifname : "", ifname ? "\n" : "");
	fixture_text(f, path, text);
}

static void put_number(struct fixture *f, const char *ifname, const char *file, uint64_t value)
{
	char path[PATH_LEN], text[32];

	snprintf(path, sizeof(path), "sys/class/net/%s/%s", ifname, file);
	snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	fixture_text(f, path, text);
}

void fixture_interface(struct fixture *f, const char *name, int index, uint64_t rx_packets,
		       uint64_t rx_bytes, uint64_t tx_packets, uint64_t tx_bytes)
{
	put_number(f, name, "ifindex", (uint64_t)index);
	put_number(f, name, "statistics/rx_packets", rx_packets);
	put_number(f, name, "statistics/rx_bytes", rx_bytes);
	put_number(f, name, "statistics/tx_packets", tx_packets);
	put_number(f, name, "statistics/tx_bytes", tx_bytes);
}
