// SPDX-License-Identifier: GPL-2.0-or-later
/* Options, several VMs at once, waiting for the start, and owners that come and go. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vhost-load.h"

#define VL_COUNT_MAX	256
#define VL_CHURN_MAX	1000000
#define VL_SIZE_MIN	14	/* an Ethernet header */
#define VL_SIZE_MAX	65000
#define VL_RING_MAX	32768
#define VL_OUTPUT_BYTES	(256 * 1024)

static const char usage[] =
	"usage: vhost-load [-name guest=NAME] [--tap IF] [--size BYTES] [--duration SEC]\n"
	"                  [--direction tx|rx|both] [--sndbuf max|default|BYTES] [--ring N]\n"
	"                  [--fork-owner 0|1] [--cpu N] [--worker-cpu N] [--hold] [--idle]\n"
	"                  [--period US --burst PACKETS] [--fault]\n"
	"                  [--vcpus N [--vcpu-cpu N] [--yield]]\n"
	"                  [--count N | --churn N]\n";

int vl_fail(int err, const char *what)
{
	fprintf(stderr, "vhost-load[%d]: %s: %s\n", getpid(), what, strerror(err));
	return -err;
}

uint64_t vl_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * VL_NSEC + now.tv_nsec;
}

static int bad(const char *option, const char *value)
{
	fprintf(stderr, "vhost-load: bad value for --%s: %s\n", option, value);
	return -EINVAL;
}

static int number(const char *option, const char *text, long min, long max, long *ret_value)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max)
		return bad(option, text);
	*ret_value = value;
	return 0;
}

/* QEMU's syntax: guest=NAME,key=value...; a plain NAME is taken as well. */
static int parse_name(const char *text, struct vl_options *opt)
{
	size_t length;

	if (!strncmp(text, "guest=", 6))
		text += 6;
	length = strcspn(text, ",");
	if (!length || length >= sizeof(opt->name))
		return bad("name", text);
	snprintf(opt->name, sizeof(opt->name), "%.*s", (int)length, text);
	return 0;
}

static int parse_words(int key, const char *text, struct vl_options *opt)
{
	static const char *const words[] = { "", "tx", "rx", "both" };
	unsigned int i;
	long value;

	if (key == 'd') {
		for (i = VL_TX; i <= VL_BOTH; i++) {
			if (strcmp(text, words[i]))
				continue;
			opt->direction = i;
			return 0;
		}
		return bad("direction", text);
	}
	if (!strcmp(text, "default") || !strcmp(text, "max")) {
		opt->sndbuf_bytes = text[0] == 'm' ? INT_MAX : -1;
		return 0;
	}
	if (number("sndbuf", text, 1, INT_MAX, &value))
		return -EINVAL;
	opt->sndbuf_bytes = value;
	return 0;
}

static const struct option options[] = {
	{ "name", required_argument, NULL, 'n' },
	{ "tap", required_argument, NULL, 't' },
	{ "size", required_argument, NULL, 's' },
	{ "duration", required_argument, NULL, 'D' },
	{ "direction", required_argument, NULL, 'd' },
	{ "sndbuf", required_argument, NULL, 'b' },
	{ "ring", required_argument, NULL, 'r' },
	{ "fork-owner", required_argument, NULL, 'f' },
	{ "cpu", required_argument, NULL, 'c' },
	{ "worker-cpu", required_argument, NULL, 'w' },
	{ "count", required_argument, NULL, 'N' },
	{ "churn", required_argument, NULL, 'C' },
	{ "vcpus", required_argument, NULL, 'V' },
	{ "vcpu-cpu", required_argument, NULL, 'v' },
	{ "period", required_argument, NULL, 'p' },
	{ "burst", required_argument, NULL, 'B' },
	{ "yield", no_argument, NULL, 'y' },
	{ "fault", no_argument, NULL, 'F' },
	{ "hold", no_argument, NULL, 'h' },
	{ "idle", no_argument, NULL, 'i' },
	{ NULL, 0, NULL, 0 },
};

static int parse_number(int key, const char *name, struct vl_options *opt)
{
	static const struct {
		int key;
		long min;
		long max;
	} limits[] = {
		{ 's', VL_SIZE_MIN, VL_SIZE_MAX }, { 'D', 1, VL_WINDOWS_MAX },
		{ 'r', 2, VL_RING_MAX }, { 'f', 0, 1 }, { 'c', 0, 1023 }, { 'w', 0, 1023 },
		{ 'N', 1, VL_COUNT_MAX }, { 'C', 1, VL_CHURN_MAX }, { 'V', 0, VL_VCPUS_MAX },
		{ 'v', 0, 1023 }, { 'p', 0, 1000000 }, { 'B', 1, VL_RING_MAX },
	};
	unsigned int i = 0;
	long value;

	while (limits[i].key != key)
		i++;
	if (number(name, optarg, limits[i].min, limits[i].max, &value))
		return -EINVAL;
	switch (key) {
	case 's':
		opt->size_bytes = value;
		break;
	case 'D':
		opt->duration_s = value;
		break;
	case 'r':
		opt->ring = value;
		break;
	case 'f':
		opt->fork_owner = value;
		break;
	case 'c':
		opt->cpu = value;
		break;
	case 'w':
		opt->worker_cpu = value;
		break;
	case 'V':
		opt->vcpus = value;
		break;
	case 'v':
		opt->vcpu_cpu = value;
		break;
	case 'p':
		opt->period_us = value;
		break;
	case 'B':
		opt->burst = value;
		break;
	case 'N':
		opt->count = value;
		break;
	default:
		opt->churn = value;
		break;
	}
	return 0;
}

static int parse(int argc, char **argv, struct vl_options *opt)
{
	int index = 0;
	int err = 0;
	int key;

	while (!err && (key = getopt_long_only(argc, argv, "", options, &index)) != -1) {
		switch (key) {
		case 'n':
			err = parse_name(optarg, opt);
			break;
		case 't':
			err = strlen(optarg) < IFNAMSIZ ? 0 : bad("tap", optarg);
			snprintf(opt->tap, sizeof(opt->tap), "%s", optarg);
			break;
		case 'd':
		case 'b':
			err = parse_words(key, optarg, opt);
			break;
		case 'y':
			opt->yield = true;
			break;
		case 'F':
			opt->fault = true;
			break;
		case 'h':
			opt->hold = true;
			break;
		case 'i':
			opt->idle = true;
			break;
		case '?':
			err = -EINVAL;
			break;
		default:
			err = parse_number(key, options[index].name, opt);
			break;
		}
	}
	if (!err && optind < argc)
		err = bad("", argv[optind]);
	if (!err && (opt->ring & (opt->ring - 1))) {
		fputs("vhost-load: --ring must be a power of two\n", stderr);
		err = -EINVAL;
	}
	if (!err && opt->count && opt->churn) {
		fputs("vhost-load: --count and --churn exclude each other\n", stderr);
		err = -EINVAL;
	}
	return err;
}

/* Blocked before anything starts, so that a signal sent right after "ready" is not lost. */
static void block_start_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	/* For the thread that ends a page fault (--fault); threads inherit the mask. */
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void wait_start_signal(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwait(&set, &signal);
}

/* SIGTERM ends a run before its time, with a report; vl_run waits for it. */
static void block_stop_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int play_one(const struct vl_options *opt)
{
	static struct vl_report report;
	struct vl_device dev;
	int err;

	err = vl_pin(0, opt->cpu);
	if (!err)
		err = vl_device_open(&dev, opt);
	if (err)
		return err;
	if (opt->hold) {
		printf("ready pid=%d worker=%d kind=%s tap=%s name=%s\n", getpid(), dev.worker,
		       dev.worker_is_thread ? "task" : "kthread", opt->tap, opt->name);
		fflush(stdout);
		wait_start_signal();
	}
	block_stop_signal();
	err = vl_vcpus_start(&dev.vcpus, opt);
	if (!err)
		err = vl_run(&dev, opt, &report);
	vl_vcpus_stop(&dev.vcpus);
	if (!err)
		vl_print(&dev, opt, &report);
	vl_device_close(&dev);
	return err;
}

/* The index that a child adds to the name and to the interface of its parent. */
static int numbered(const struct vl_options *opt, unsigned int index, char *ret_name,
		    size_t name_bytes, char *ret_tap, size_t tap_bytes)
{
	int a = snprintf(ret_name, name_bytes, "guest=%s-%u", opt->name, index);
	int b = snprintf(ret_tap, tap_bytes, "%s%u", opt->tap, index);

	if (a >= (int)name_bytes || b >= (int)tap_bytes)
		return vl_fail(ENAMETOOLONG, "a numbered name");
	return 0;
}

/*
 * A child executes this program again, so that its command line names its own guest: that is
 * where the tool under test looks for the name.
 */
static void exec_child(char **argv, const struct vl_options *opt, unsigned int index)
{
	char name[VL_NAME_MAX + 24];
	char tap[IFNAMSIZ];
	unsigned int out = 1;
	char *args[64];
	unsigned int i;

	if (numbered(opt, index, name, sizeof(name), tap, sizeof(tap)))
		_exit(1);
	args[0] = argv[0];
	args[out++] = "-name";
	args[out++] = name;
	args[out++] = "--tap";
	args[out++] = tap;
	for (i = 1; argv[i] && out < 62; i++) {
		const char *word = argv[i] + strspn(argv[i], "-");

		/* With or without '=', and shortened as getopt allows it. */
		if (argv[i][0] == '-' && (!strncmp(word, "n", 1) || !strncmp(word, "t", 1) ||
					  !strncmp(word, "cou", 3))) {
			if (!strchr(word, '=') && argv[i + 1])
				i++;
			continue;
		}
		args[out++] = argv[i];
	}
	args[out] = NULL;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv("/proc/self/exe", args);
	vl_fail(errno, "starting a child");
	_exit(1);
}

static int wait_child(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		return vl_fail(errno, "waitpid");
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static int play_many(char **argv, const struct vl_options *opt)
{
	pid_t pid[VL_COUNT_MAX];
	unsigned int i;
	int err = 0;

	for (i = 0; i < opt->count; i++) {
		pid[i] = fork();
		if (pid[i] < 0) {
			err = vl_fail(errno, "fork");
			break;
		}
		if (!pid[i])
			exec_child(argv, opt, i + 1);
	}
	if (err) {
		while (i--)
			kill(pid[i], SIGKILL);
		return err;
	}
	if (opt->hold) {
		wait_start_signal();
		for (i = 0; i < opt->count; i++)
			kill(pid[i], SIGUSR1);
	}
	for (i = 0; i < opt->count; i++)
		if (wait_child(pid[i]))
			err = -EIO;
	return err;
}

/* Each owner is a process of its own, because the worker is named after the owner's pid. */
static int churn(const struct vl_options *opt)
{
	uint64_t start = vl_now_ns();
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < opt->churn; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return vl_fail(errno, "fork");
		if (!pid) {
			struct vl_device dev;

			err = vl_pin(0, opt->cpu);
			if (!err)
				err = vl_device_open(&dev, opt);
			if (!err && !opt->idle)
				err = vl_run_once(&dev);
			/* The kernel takes device and worker down at exit, as for a killed VM. */
			_exit(err ? 1 : 0);
		}
		err = wait_child(pid);
	}
	printf("{\"churned\":%u,\"duration_ns\":%llu}\n", i,
	       (unsigned long long)(vl_now_ns() - start));
	return err;
}

int main(int argc, char **argv)
{
	static char output[VL_OUTPUT_BYTES];
	struct vl_options opt = {
		.name = "lab", .tap = "vnet0", .direction = VL_TX, .size_bytes = 64,
		.duration_s = 10, .ring = VL_RING_MAX, .sndbuf_bytes = -1, .fork_owner = -1,
		.cpu = -1, .worker_cpu = -1, .vcpu_cpu = -1, .burst = 1,
	};
	int err;

	setvbuf(stdout, output, _IOFBF, sizeof(output));
	if (parse(argc, argv, &opt)) {
		fputs(usage, stderr);
		return 1;
	}
	block_start_signal();
	if (opt.count)
		err = play_many(argv, &opt);
	else if (opt.churn)
		err = churn(&opt);
	else
		err = play_one(&opt);
	return err || fflush(stdout) ? 1 : 0;
}
