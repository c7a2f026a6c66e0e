// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tasks that are taken off their CPU while they run, to be moved.
 *
 *	move-load hog CPU NICE		burns CPU until it is ended
 *	move-load exec FROM TO ROUNDS back|wake [NAME]
 *					a child that is moved by exec
 *	move-load kick A B ROUNDS	a child that burns and may use A and B in turn
 *	move-load numa A B		two that use memory of the other one's node
 *
 * On exec the kernel looks for the least loaded CPU of those that the task may use and, where that
 * is another one, has the stopper move it at once (sched_exec()): though it runs, and though that
 * CPU is busy.  Each round of "exec" begins with the child on FROM, lets it use FROM and TO, and
 * has it exec itself.  The child gets back to FROM by a wake-up, which forces nobody, or with
 * "back" by a change of its affinity while it runs, which does, and rightly so: it may not stay.
 * The child may have the name of another program: "CPU 0/KVM".
 *
 * On stdout a line a round: "round PID ran-on-CPU": where it was after exec.
 */
#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ML_NSEC		1000000000ULL
#define ML_BURN_NS	3000000ULL	/* on TO, for each round: who made room waits so long */
#define ML_FAR_BYTES	(16 << 20)
#define ML_READY_FD	20	/* the child tells where it is */
#define ML_GO_FD	21	/* and is told to go on */

static int fail(const char *what)
{
	fprintf(stderr, "move-load[%d]: %s: %s\n", getpid(), what, strerror(errno));
	return 1;
}

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * ML_NSEC + now.tv_nsec;
}

static int allow(pid_t pid, int a, int b)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(a, &set);
	CPU_SET(b, &set);
	return sched_setaffinity(pid, sizeof(set), &set);
}

static int on_cpu(int cpu)
{
	return allow(0, cpu, cpu) ? fail("sched_setaffinity") : 0;
}

static void burn_until(unsigned long long end)
{
	while (now_ns() < end)
		;
}

static int hog(int cpu, int nice_value)
{
	if (on_cpu(cpu))
		return 1;
	if (setpriority(PRIO_PROCESS, 0, nice_value))
		return fail("setpriority");
	for (;;)
		burn_until(now_ns() + ML_NSEC);
}

/* Before others of its priority when it wakes up. */
static int hurry(void)
{
	return setpriority(PRIO_PROCESS, 0, -20) ? fail("setpriority") : 0;
}

/* Burns, and tells each time that it runs on another CPU. */
static int burn_and_tell(int fd)
{
	int cpu;

	for (;;) {
		cpu = sched_getcpu();
		if (write(fd, &cpu, sizeof(cpu)) != sizeof(cpu))
			return fail("write");
		while (sched_getcpu() == cpu)
			;
	}
}

/* Moves a child off its CPU as soon as it runs there, from the other CPU. */
static int kick(char **argv)
{
	int i, cpu, cpus[] = { atoi(argv[2]), atoi(argv[3]) }, n = atoi(argv[4]), told[2];
	pid_t pid;

	if (pipe(told) || on_cpu(cpus[0]))
		return fail("pipe");
	pid = fork();
	if (pid < 0)
		return fail("fork");
	if (!pid)
		_exit(burn_and_tell(told[1]));
	printf("child %d\n", pid);
	if (hurry())
		return 1;
	for (i = 1; i <= n; i++) {
		if (on_cpu(cpus[i % 2]) || read(told[0], &cpu, sizeof(cpu)) != sizeof(cpu))
			return fail("read");
		if (allow(pid, cpus[i % 2], cpus[i % 2]))
			return fail("sched_setaffinity");
	}
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) == pid ? 0 : fail("waitpid");
}

/* Fills memory where it runs, goes to the other CPU, and uses that memory from there. */
static int far(int home, int away)
{
	unsigned long node = 1UL << home; /* a node has one CPU */
	unsigned long long since;
	char *memory;
	size_t i;

	if (prctl(PR_SET_NAME, home < away ? "CPU 0/KVM" : "CPU 1/KVM") || on_cpu(home))
		return fail("prctl");
	/* Its memory must stay where it is, or that would follow the task instead. */
	if (syscall(SYS_set_mempolicy, MPOL_BIND | MPOL_F_NUMA_BALANCING, &node, 64))
		return fail("set_mempolicy");
	memory = mmap(NULL, ML_FAR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return fail("mmap");
	for (;;) {
		memset(memory, 1, ML_FAR_BYTES);
		if (on_cpu(away) || allow(0, home, away))
			return fail("sched_setaffinity");
		/* Until it has been at home for a while: somebody moved it. */
		for (since = now_ns(); now_ns() - since < ML_NSEC;) {
			for (i = 0; i < ML_FAR_BYTES; i += 4096)
				memory[i]++;
			if (sched_getcpu() == away)
				since = now_ns();
		}
	}
}

/* Two that NUMA balancing swaps; then they go away from their memory again. */
static int numa(char **argv)
{
	int i, cpus[] = { atoi(argv[2]), atoi(argv[3]) };
	pid_t pids[2];

	for (i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			return fail("fork");
		if (!pids[i])
			_exit(prctl(PR_SET_PDEATHSIG, SIGKILL) || far(cpus[i], cpus[!i]));
	}
	printf("children %d %d\n", pids[0], pids[1]);
	fflush(stdout);
	return waitpid(-1, NULL, 0) < 0 ? fail("waitpid") : 0;
}

/* The image behind each exec: tells where it is, works a little, waits for the next round. */
static int child(char **argv)
{
	int cpu = sched_getcpu(), from = atoi(argv[2]), to = atoi(argv[3]);
	bool back = !strcmp(argv[4], "back");
	char go;

	if (argv[5] && prctl(PR_SET_NAME, argv[5]))
		return fail("prctl");
	/* It is there; so it will be when it wakes up. */
	if (back && cpu == to && on_cpu(to))
		return 1;
	burn_until(now_ns() + ML_BURN_NS);
	if (write(ML_READY_FD, &cpu, sizeof(cpu)) != sizeof(cpu))
		return fail("write");
	if (read(ML_GO_FD, &go, 1) != 1)
		return 0; /* the last round is over */
	if (back) {
		if (write(ML_READY_FD, &cpu, sizeof(cpu)) != sizeof(cpu))
			return fail("write");
		while (sched_getcpu() != from)
			;
	}
	if (allow(0, from, to))
		return fail("sched_setaffinity");
	execv("/proc/self/exe", argv);
	return fail("execv");
}

static int wait_state(pid_t pid, char state)
{
	unsigned long long end = now_ns() + 20 * ML_NSEC;
	struct timespec look = { .tv_nsec = 2000000 };
	char path[64], line[512], *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (now_ns() < end) {
		f = fopen(path, "r");
		if (!f || !fgets(line, sizeof(line), f))
			return fail(path);
		fclose(f);
		p = strrchr(line, ')');
		if (p && p[2] == state)
			return 0;
		nanosleep(&look, NULL);
	}
	errno = ETIME;
	return fail("waiting for the child");
}

/* Hears where the child is, and gets it to @from for the next round. */
static int round_of(pid_t pid, int from, bool back, int ready_fd, int go_fd)
{
	int cpu;

	if (read(ready_fd, &cpu, sizeof(cpu)) != sizeof(cpu))
		return fail("read");
	printf("round %d %d\n", pid, cpu);
	if (wait_state(pid, 'S'))
		return 1;
	if (!back && allow(pid, from, from))
		return fail("sched_setaffinity");
	if (write(go_fd, "", 1) != 1)
		return fail("write");
	if (!back)
		return 0;
	/* It runs: it has just told so. */
	if (read(ready_fd, &cpu, sizeof(cpu)) != sizeof(cpu))
		return fail("read");
	return allow(pid, from, from) ? fail("sched_setaffinity") : 0;
}

static int start_child(char **argv, int ready_fd, int go_fd)
{
	char *args[] = { "move-load", "child", argv[2], argv[3], argv[5], argv[6], NULL };
	int fd, from = atoi(argv[2]);

	if (dup2(ready_fd, ML_READY_FD) < 0 || dup2(go_fd, ML_GO_FD) < 0)
		return fail("dup2");
	for (fd = 3; fd < ML_READY_FD; fd++)
		close(fd);
	if (on_cpu(from))
		return 1;
	execv("/proc/self/exe", args);
	return fail("execv");
}

static int rounds(char **argv)
{
	int i, cpu, from = atoi(argv[2]), n = atoi(argv[4]), ready[2], go[2];
	bool back = !strcmp(argv[5], "back");
	pid_t pid;

	if (pipe(ready) || pipe(go))
		return fail("pipe");
	pid = fork();
	if (pid < 0)
		return fail("fork");
	if (!pid)
		_exit(start_child(argv, ready[1], go[0]));
	close(ready[1]);
	close(go[0]);
	/* On another CPU than the child, which it is to find running. */
	if (back && (on_cpu(from) || hurry()))
		return 1;
	for (i = 0; i < n; i++)
		if (round_of(pid, from, back, ready[0], go[1]))
			return 1;
	/*
	 * It sleeps before it ends, so whoever made room for its last move has run again by then:
	 * what comes of the move of a program that is gone is told differently live and from a
	 * trace.
	 */
	if (read(ready[0], &cpu, sizeof(cpu)) != sizeof(cpu) || wait_state(pid, 'S'))
		return 1;
	close(go[1]);
	return waitpid(pid, NULL, 0) == pid ? 0 : fail("waitpid");
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "hog"))
		return hog(atoi(argv[2]), atoi(argv[3]));
	if (argc >= 5 && !strcmp(argv[1], "child"))
		return child(argv);
	if (argc >= 6 && !strcmp(argv[1], "exec"))
		return rounds(argv);
	if (argc == 4 && !strcmp(argv[1], "numa"))
		return numa(argv);
	if (argc == 5 && !strcmp(argv[1], "kick"))
		return kick(argv);
	fprintf(stderr, "usage: move-load hog CPU NICE | exec FROM TO ROUNDS back|wake"
			" [NAME] | kick A B ROUNDS | numa A B\n");
	return 2;
}
