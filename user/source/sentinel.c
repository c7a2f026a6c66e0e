// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/sentinel.h"
#include "util/clock.h"
#include "util/fs.h"

#define AVOID_NS UINT64_C(2000000000)
#define MAX_CPUS CPU_SETSIZE

struct vw_sentinel {
	pthread_t thread;
	pid_t reader; /* tid */
	atomic_int self;
	uint64_t rescues_seen;
	uint64_t beat_ns;
	atomic_bool stop;
	atomic_uint_least64_t reader_beat, self_beat, rescues;
	atomic_int self_cpu;
	/* The reader's alone. */
	cpu_set_t home; /* affinity at the start */
	bool avoiding;
	uint64_t avoid_until[MAX_CPUS];
};

/* The CPU that a thread of this process sits on, or waits for; -1 unknown.  Field 39 of stat. */
static int cpu_of(pid_t tid)
{
	char path[64], buf[1024], *p;
	int field, cpu = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	if (vw_fs_read(AT_FDCWD, path, buf, sizeof(buf)) <= 0)
		return -1;
	p = strrchr(buf, ')');
	for (field = 2; p && field < 39; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	if (!p || sscanf(p, "%d", &cpu) != 1)
		return -1;
	return cpu;
}

static void all_cpus(cpu_set_t *set)
{
	long i, n = sysconf(_SC_NPROCESSORS_CONF);

	CPU_ZERO(set);
	for (i = 0; i < n && i < MAX_CPUS; i++)
		CPU_SET((size_t)i, set);
}

/* Takes @tid off the CPU it waits for.  The kernel moves a waiting task at once, from here. */
static void move_away(pid_t tid)
{
	int cpu = tid ? cpu_of(tid) : -1; /* 0: the thread has not begun */
	cpu_set_t set;

	if (cpu < 0 || cpu >= MAX_CPUS)
		return;
	all_cpus(&set);
	CPU_CLR((size_t)cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(tid, sizeof(set), &set);
}

static bool overdue(uint64_t beat, uint64_t now, uint64_t beat_ns)
{
	return now > beat && now - beat > 3 * beat_ns;
}

static void *watch(void *arg)
{
	struct vw_sentinel *s = arg;
	struct timespec nap = { .tv_nsec = (long)(s->beat_ns % 1000000000),
				.tv_sec = (time_t)(s->beat_ns / 1000000000) };

	atomic_store(&s->self, gettid());
	while (!atomic_load(&s->stop)) {
		uint64_t now = vw_clock_now();

		atomic_store(&s->self_cpu, sched_getcpu());
		atomic_store(&s->self_beat, now);
		if (overdue(atomic_load(&s->reader_beat), now, s->beat_ns)) {
			move_away(s->reader);
			atomic_fetch_add(&s->rescues, 1);
		}
		nanosleep(&nap, NULL);
	}
	return NULL;
}

struct vw_sentinel *vw_sentinel_start(uint64_t beat_ns)
{
	struct vw_sentinel *s;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->beat_ns = beat_ns;
	s->reader = gettid();
	atomic_store(&s->self_cpu, -1);
	atomic_store(&s->reader_beat, vw_clock_now());
	atomic_store(&s->self_beat, vw_clock_now());
	if (sched_getaffinity(0, sizeof(s->home), &s->home) ||
	    pthread_create(&s->thread, NULL, watch, s)) {
		free(s);
		return NULL;
	}
	return s;
}

void vw_sentinel_stop(struct vw_sentinel *s)
{
	if (!s)
		return;
	atomic_store(&s->stop, true);
	move_away(atomic_load(&s->self));
	pthread_join(s->thread, NULL);
	sched_setaffinity(0, sizeof(s->home), &s->home);
	free(s);
}

/* The reader's affinity: home without the suspects; anywhere but there when home is all suspect. */
static void apply(struct vw_sentinel *s, uint64_t now)
{
	cpu_set_t set = s->home;
	bool avoiding = false;
	size_t i;

	for (i = 0; i < MAX_CPUS; i++)
		if (s->avoid_until[i] > now) {
			CPU_CLR(i, &set);
			avoiding = true;
		}
	if (!CPU_COUNT(&set)) {
		all_cpus(&set);
		for (i = 0; i < MAX_CPUS; i++)
			if (s->avoid_until[i] > now)
				CPU_CLR(i, &set);
	}
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
	s->avoiding = avoiding;
}

void vw_sentinel_beat(struct vw_sentinel *s)
{
	uint64_t now = vw_clock_now();
	int cpu;

	if (!s)
		return;
	atomic_store(&s->reader_beat, now);
	/* After a rescue the affinity is the rescuer's. */
	if (s->avoiding || atomic_load(&s->rescues) != s->rescues_seen) {
		s->rescues_seen = atomic_load(&s->rescues);
		apply(s, now);
	}
	if (overdue(atomic_load(&s->self_beat), now, s->beat_ns)) {
		move_away(atomic_load(&s->self));
		return;
	}
	/* Never both on one CPU: one hog would then take both. */
	cpu = sched_getcpu();
	if (cpu >= 0 && cpu == atomic_load(&s->self_cpu))
		move_away(atomic_load(&s->self));
}

void vw_sentinel_avoid(struct vw_sentinel *s, int32_t cpu, uint64_t now_ns)
{
	bool known;

	if (!s || cpu < 0 || cpu >= MAX_CPUS)
		return;
	known = s->avoid_until[cpu] > now_ns;
	s->avoid_until[cpu] = now_ns + AVOID_NS;
	if (!known)
		apply(s, now_ns);
}

uint64_t vw_sentinel_rescues(struct vw_sentinel *s)
{
	return s ? atomic_load(&s->rescues) : 0;
}
