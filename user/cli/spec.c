// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/spec.h"
#include "util/parse.h"

/* The offset of @member, which must have @type: both arms of ?: must agree. */
#define AT(type, member)                                                                           \
	(offsetof(struct vw_options, member) +                                                     \
	 0 * sizeof(1 ? (type *)0 : &((struct vw_options *)0)->member))

#define WATCH (1U << VW_COMMAND_WATCH)
#define CHECK (1U << VW_COMMAND_CHECK)
#define RECORD (1U << VW_COMMAND_RECORD)
#define ANALYZE (1U << VW_COMMAND_ANALYZE)
#define DOCTOR (1U << VW_COMMAND_DOCTOR)
#define LIVE (WATCH | CHECK | RECORD)
#define RUNS (LIVE | ANALYZE) /* where findings come of it */
#define HOST (LIVE | DOCTOR) /* where this host is looked at */
#define ALL (HOST | ANALYZE)

const struct vw_options vw_option_defaults = {
	.command = VW_COMMAND_WATCH,
	.level = VW_LEVEL_TRACE,
	.format = VW_FORMAT_TEXT,
	.clock = VW_CLOCK_AUTO,
	.interval_ns = VW_NS_PER_SEC,
	.threshold_ns = 10 * VW_NS_PER_MS,
	.procfs = "/proc",
	.sysfs = "/sys",
};

/* clang-format off */

const struct vw_command_spec vw_command_specs[VW_COMMAND_COUNT] = {
	[VW_COMMAND_WATCH] = {
		.name = "watch",
		.summary = "live table of vhost workers, findings as they happen",
		.details = "Runs until ^C, q (full screen) or the end of -d. The default command.\n",
		.examples =
			"  vhostwatch                          watch every vhost worker of the host\n"
			"  vhostwatch -d 60 -p 4990            one minute, the VM of process 4990\n"
			"  vhostwatch --format json | jq -c 'select(.type == \"finding\")'\n",
	},
	[VW_COMMAND_CHECK] = {
		.name = "check",
		.summary = "one verdict for scripts and monitoring, one line",
		.details = "Looks for 10 s or as long as -d says, prints one line that Nagios and its\n"
			   "kin understand, and exits with the verdict.\n",
		.examples =
			"  vhostwatch check -d 30              verdict after half a minute\n"
			"  vhostwatch check -T 50ms            only what stands out by 50 ms and more\n",
		.duration_ns = 10 * VW_NS_PER_SEC,
	},
	[VW_COMMAND_RECORD] = {
		.name = "record",
		.summary = "watch, and keep all of it in a file for analyze",
		.details = "Writes an SQLite database until ^C or the end of -d, then shows the findings.\n"
			   "What was recorded stays readable if the run is killed or the disk gets full.\n",
		.examples =
			"  vhostwatch record -o vm7.vw -d 60   one minute, to be looked at elsewhere\n",
		.needs = "output",
	},
	[VW_COMMAND_ANALYZE] = {
		.name = "analyze",
		.summary = "the same detectors over recordings, traces and kernel logs",
		.details = "Reads recordings, ftrace text (trace, trace_pipe, trace-cmd report), perf script\n"
			   "text and kernel logs (dmesg, journalctl -k), plain or gzip; each is known by its\n"
			   "content. - is standard input. Each file is a run of its own.\n",
		.examples =
			"  vhostwatch analyze vm7.vw           the findings of a recording\n"
			"  dmesg | vhostwatch analyze -        stalls and lockups in the kernel's log\n"
			"  vhostwatch analyze -t 4711 t.gz     an ftrace; thread 4711 is looked at, too\n",
		.operands = "FILE...",
	},
	[VW_COMMAND_DOCTOR] = {
		.name = "doctor",
		.summary = "what this host lets vhostwatch see, and what is lost",
		.details = "Tries every hook, names the one chosen, why, and what is not seen without\n"
			   "the others. Ends with 3 when nothing could be observed.\n",
		.examples =
			"  vhostwatch doctor                   hooks and detectors of this host\n"
			"  vhostwatch doctor --level guard     the same for the always-on level\n",
	},
};

const struct vw_option_spec vw_option_specs[] = {
	{
		.name = "pid", .letter = 'p', .type = VW_OPTION_IDS, .commands = RUNS,
		.offset = AT(struct vw_id_list, pids), .metavar = "PID[,PID...]",
		.help = "workers and threads of these processes",
	},
	{
		.name = "tid", .letter = 't', .type = VW_OPTION_IDS, .commands = RUNS,
		.offset = AT(struct vw_id_list, tids), .metavar = "TID[,TID...]",
		.help = "these threads, vhost workers or not",
	},
	{
		.name = "interval", .letter = 'i', .type = VW_OPTION_DURATION, .commands = LIVE,
		.offset = AT(uint64_t, interval_ns), .metavar = "SEC",
		.bare_unit_ns = VW_NS_PER_SEC, .min_ns = 10 * VW_NS_PER_MS,
		.help = "time between updates: 2, 0.5, 500ms, at least 10ms",
	},
	{
		.name = "duration", .letter = 'd', .type = VW_OPTION_DURATION, .commands = LIVE,
		.offset = AT(uint64_t, duration_ns), .metavar = "SEC",
		.bare_unit_ns = VW_NS_PER_SEC, .min_ns = 1,
		.help = "stop after this time: 30, 0.5, 5m",
	},
	{
		.name = "threshold", .letter = 'T', .type = VW_OPTION_DURATION, .commands = RUNS,
		.offset = AT(uint64_t, threshold_ns), .given_offset = AT(bool, threshold_given),
		.metavar = "TIME", .min_ns = VW_NS_PER_US,
		.help = "what counts as too long, with its unit: 500us, 2s",
	},
	{
		.name = "output", .letter = 'o', .type = VW_OPTION_FILE, .commands = RECORD,
		.offset = AT(const char *, output), .metavar = "FILE",
		.help = "the file to write",
	},
	{
		.name = "level", .type = VW_OPTION_CHOICE, .commands = HOST,
		.offset = AT(enum vw_level, level), .given_offset = AT(bool, level_given),
		.metavar = "LEVEL", .choices = { "guard", "trace" },
		.help = "trace: every switch is seen; guard: ticks and totals only",
	},
	{
		.name = "clock", .type = VW_OPTION_CHOICE, .commands = HOST,
		.offset = AT(enum vw_clock, clock), .metavar = "HOOK",
		.choices = { "auto", "local_timer_entry", "cpu_clock", "sched_stat_runtime",
			     "procfs" },
		.help = "force the hook that looks at running tasks",
	},
	{
		.name = "format", .type = VW_OPTION_CHOICE, .commands = ALL,
		.offset = AT(enum vw_format, format), .metavar = "FORMAT",
		.choices = { "text", "json" },
		.help = "json: one object a line",
	},
	{
		.name = "procfs", .type = VW_OPTION_PATH, .commands = ALL,
		.offset = AT(const char *, procfs), .given_offset = AT(bool, procfs_given),
		.metavar = "DIR", .help = "read this folder for /proc",
	},
	{
		.name = "sysfs", .type = VW_OPTION_PATH, .commands = ALL,
		.offset = AT(const char *, sysfs), .given_offset = AT(bool, sysfs_given),
		.metavar = "DIR", .help = "read this folder for /sys",
	},
	{
		.name = "verbose", .letter = 'v', .type = VW_OPTION_FLAG, .commands = HOST,
		.offset = AT(bool, verbose), .help = "show what libbpf says (on stderr)",
	},
	{
		.name = "help", .letter = 'h', .type = VW_OPTION_FLAG, .commands = ALL,
		.offset = AT(bool, help), .help = "this text; with a command, that of the command",
	},
	{
		.name = "version", .letter = 'V', .type = VW_OPTION_FLAG, .commands = ALL,
		.offset = AT(bool, version), .help = "print the version",
	},
};

const size_t vw_option_spec_count = sizeof(vw_option_specs) / sizeof(vw_option_specs[0]);
