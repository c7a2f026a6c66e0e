// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/sentinel.h"
#include "util/affinity.h"
#include "util/clock.h"

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
	atomic_int self_cpu; /* -1: not known */
	/* The reader's alone. */
	cpu_set_t home; /* affinity at the start */
	bool avoiding;
	uint64_t avoid_until[MAX_CPUS];
};

static void all_cpus(cpu_set_t *set)
{
	long i, n = sysconf(_SC_NPROCESSORS_CONF);

	CPU_ZERO(set);
	for (i = 0; i < n && i < MAX_CPUS; i++)
		CPU_SET((size_t)i, set);
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
			vw_affinity_bring_here(s->reader);
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
	vw_affinity_bring_here(atomic_load(&s->self));
	pthread_join(s->thread, NULL);
	sched_setaffinity(0, sizeof(s->home), &s->home);
	free(s);
}

/* All CPUs but the suspects; true when there are suspects. */
static bool without_suspects(const struct vw_sentinel *s, cpu_set_t *set, uint64_t now)
{
	bool any = false;
	size_t i;

	all_cpus(set);
	for (i = 0; i < MAX_CPUS; i++)
		if (s->avoid_until[i] > now) {
			CPU_CLR(i, set);
			any = true;
		}
	return any;
}

/* The reader's affinity: home without the suspects; anywhere but there when home is all suspect. */
static void apply(struct vw_sentinel *s, uint64_t now)
{
	cpu_set_t set, home;

	s->avoiding = without_suspects(s, &set, now);
	CPU_AND(&home, &s->home, &set);
	if (CPU_COUNT(&home))
		sched_setaffinity(0, sizeof(home), &home);
	else if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

void vw_sentinel_beat(struct vw_sentinel *s)
{
	uint64_t now = vw_clock_now();
	cpu_set_t set;
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
		vw_affinity_bring_here(atomic_load(&s->self));
		return;
	}
	/* Not both on one CPU if it can be helped: one hog would then take both. */
	cpu = sched_getcpu();
	if (cpu >= 0 && cpu < MAX_CPUS && cpu == atomic_load(&s->self_cpu)) {
		without_suspects(s, &set, now);
		CPU_CLR((size_t)cpu, &set);
		if (CPU_COUNT(&set)) {
			/* Unknown until it has run there, which a hog may prevent. */
			atomic_store(&s->self_cpu, -1);
			sched_setaffinity(atomic_load(&s->self), sizeof(set), &set);
		}
	}
}

void vw_sentinel_avoid(struct vw_sentinel *s, int32_t cpu, uint64_t now_ns)
{
	bool known;
	int self_cpu;

	if (!s || cpu < 0 || cpu >= MAX_CPUS)
		return;
	known = s->avoid_until[cpu] > now_ns;
	s->avoid_until[cpu] = now_ns + AVOID_NS;
	if (known)
		return;
	apply(s, now_ns);
	/* Not only when its beat is overdue: until then a SIGKILL would have to wait for it. */
	self_cpu = atomic_load(&s->self_cpu);
	if (self_cpu == cpu || self_cpu < 0)
		vw_affinity_bring_here(atomic_load(&s->self));
}
