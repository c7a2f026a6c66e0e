// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hog CPU: two threads on one CPU, and what they do there is told on standard input:
 *
 *   hog MS     one stays in the kernel for MS milliseconds (hog.bpf.c), the other wants to run
 *   fair MS    both are busy in user space
 *   flood N    N threads come, take names of vhost workers, and go
 *
 * Answers, a line each: "ready PID HOG-TID VICTIM-TID"; "begin NS" as soon as the work lasts;
 * "end NS GAP" at its end, GAP the longest time in ns for which the second thread did not run.  Ends
 * with standard input.  Times are CLOCK_MONOTONIC.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

enum work { NOTHING, HOG, FAIR, QUIT };

struct pair {
	int cpu, prog_fd;
	uint64_t ns, asked_ns;
	pthread_barrier_t begin, end;
	enum work work;
	atomic_bool over;
	pid_t hog, victim;
	uint64_t gap_ns;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("hog: sched_setaffinity");
		exit(1);
	}
}

/* Anywhere but on @cpu: the one who talks must not starve. */
static void keep_off(int cpu)
{
	cpu_set_t set;
	long i, n = sysconf(_SC_NPROCESSORS_ONLN);

	CPU_ZERO(&set);
	for (i = 0; i < n; i++)
		if (i != cpu)
			CPU_SET((size_t)i, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("hog: a second CPU is needed");
		exit(1);
	}
}

static void say(const char *word, uint64_t ns)
{
	printf("%s %llu\n", word, (unsigned long long)ns);
	fflush(stdout);
}

static int run_bpf(struct pair *p)
{
	uint64_t args = now_ns() + p->ns;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &args, .ctx_size_in = sizeof(args));

	return bpf_prog_test_run_opts(p->prog_fd, &opts);
}

static void *hog(void *arg)
{
	struct pair *p = arg;

	pin(p->cpu);
	prctl(PR_SET_NAME, "test-hog");
	p->hog = gettid();
	for (;;) {
		pthread_barrier_wait(&p->begin);
		if (p->work == QUIT)
			return NULL;
		if (p->work == HOG) {
			say("begin", now_ns());
			if (run_bpf(p)) {
				perror("hog: bpf_prog_test_run");
				exit(1);
			}
		} else {
			uint64_t until = now_ns() + p->ns;

			say("begin", now_ns());
			while (now_ns() < until)
				;
		}
		atomic_store(&p->over, true);
		pthread_barrier_wait(&p->end);
	}
}

static void *victim(void *arg)
{
	struct pair *p = arg;
	uint64_t last, now;

	pin(p->cpu);
	prctl(PR_SET_NAME, "test-victim");
	p->victim = gettid();
	for (;;) {
		pthread_barrier_wait(&p->begin);
		if (p->work == QUIT)
			return NULL;
		for (last = p->asked_ns; !atomic_load(&p->over); last = now) {
			now = now_ns();
			if (now - last > p->gap_ns)
				p->gap_ns = now - last;
		}
		if (now_ns() - last > p->gap_ns)
			p->gap_ns = now_ns() - last;
		pthread_barrier_wait(&p->end);
	}
}

static void *passer_by(void *arg)
{
	prctl(PR_SET_NAME, arg);
	return NULL;
}

/* Stays long enough to be looked at in /proc. */
static void *squatter(void *arg)
{
	const struct timespec second = { .tv_sec = 1 };

	prctl(PR_SET_NAME, "vhost-1");
	nanosleep(&second, NULL);
	return NULL;
}

static void flood(unsigned long n)
{
	pthread_t thread, stays;
	char name[16];
	unsigned long i;

	say("begin", now_ns());
	if (pthread_create(&stays, NULL, squatter, NULL)) {
		perror("hog: pthread_create");
		exit(1);
	}
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "vhost-%lu", 1000 + i % 9000);
		if (pthread_create(&thread, NULL, passer_by, name) || pthread_join(thread, NULL)) {
			perror("hog: pthread_create");
			exit(1);
		}
	}
	pthread_join(stays, NULL);
	say("end", now_ns());
}

static void work(struct pair *p, enum work what, unsigned long ms)
{
	p->work = what;
	p->ns = ms * 1000000;
	p->asked_ns = now_ns();
	p->gap_ns = 0;
	atomic_store(&p->over, false);
	pthread_barrier_wait(&p->begin);
	if (what == QUIT)
		return;
	pthread_barrier_wait(&p->end);
	printf("end %llu %llu\n", (unsigned long long)now_ns(), (unsigned long long)p->gap_ns);
	fflush(stdout);
}

/* hog.bpf.o lies beside the program. */
static int load(void)
{
	char path[PATH_MAX], file[PATH_MAX + 16];
	struct bpf_object *obj;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		return -1;
	path[n] = '\0';
	snprintf(file, sizeof(file), "%s/hog.bpf.o", dirname(path));
	obj = bpf_object__open_file(file, NULL);
	if (!obj || bpf_object__load(obj))
		return -1;
	return bpf_program__fd(bpf_object__find_program_by_name(obj, "test_hog"));
}

static void serve(struct pair *p)
{
	char line[64], word[16];
	unsigned long n;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%15s %lu", word, &n) != 2)
			continue;
		if (!strcmp(word, "hog"))
			work(p, HOG, n);
		else if (!strcmp(word, "fair"))
			work(p, FAIR, n);
		else if (!strcmp(word, "flood"))
			flood(n);
	}
	work(p, QUIT, 0);
}

int main(int argc, char **argv)
{
	struct pair p = { .cpu = argc == 2 ? atoi(argv[1]) : -1 };
	pthread_t threads[2];

	if (p.cpu < 0) {
		fprintf(stderr, "usage: hog CPU\n");
		return 2;
	}
	p.prog_fd = load();
	if (p.prog_fd < 0) {
		perror("hog: cannot load hog.bpf.o");
		return 1;
	}
	keep_off(p.cpu);
	pthread_barrier_init(&p.begin, NULL, 3);
	pthread_barrier_init(&p.end, NULL, 3);
	pthread_create(&threads[0], NULL, hog, &p);
	pthread_create(&threads[1], NULL, victim, &p);
	/* Nothing to do but to learn who they are. */
	work(&p, FAIR, 1);
	printf("ready %d %d %d\n", getpid(), p.hog, p.victim);
	fflush(stdout);
	serve(&p);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
