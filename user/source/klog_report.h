/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of source/klog.c share: a report of the kernel under construction, and the lines
 * that it is made of.  Texts are without their prefixes (source/klog_line.h) and end with a NUL.
 */
#ifndef VW_SOURCE_KLOG_REPORT_H
#define VW_SOURCE_KLOG_REPORT_H

#include "model/host.h"
#include "model/obs.h"

#define VW_KLOG_DUMPS 4 /* CPUs and tasks of one report whose stacks are kept */

/* Who ran on a CPU, and where. */
struct vw_klog_dump {
	int32_t cpu; /* -1 unknown */
	int32_t tid; /* 0 unknown, or the idle task */
	bool named; /* tid and comm were told */
	bool dumped; /* its own lines have begun */
	bool in_irq; /* the lines are about an interrupt that came on top */
	bool after_irq; /* the frames so far led to the interrupt */
	bool at_counter; /* the last frame is where the program counter was */
	char comm[VW_COMM_LEN];
	unsigned int n_stack;
	char stack[VW_MAX_FRAMES][VW_FRAME_LEN];
};

struct vw_klog_report {
	uint64_t opened; /* counts up; 0: this slot is free */
	uint64_t last_ns; /* of its last line, VW_UNKNOWN */
	unsigned int idle_lines; /* since then */
	uint64_t ts_ns; /* of its first line, VW_UNKNOWN */
	struct vw_obs_report obs;
	bool head, tail; /* its first line is there; and what ends its description */
	bool cut; /* a line of it ends early */
	bool self; /* RCU: told by the stalled CPU itself */
	bool tasks_only; /* RCU tasks: no CPU stalls */
	bool in_list; /* a list in braces goes on in the next line */
	bool last_is_task;
	uint64_t last_item; /* what ended such a line, plus one; 0: nothing that may be cut */
	bool awaits; /* a dump was announced and has not come */
	int32_t starved_cpu; /* where the grace-period thread should run, -1 unknown */
	unsigned int rows, hardirq; /* utilisation: rows, and the sum of their per cents */
	unsigned int n_dumps;
	struct vw_klog_dump dumps[VW_KLOG_DUMPS];
};

void vw_klog_report_init(struct vw_klog_report *r, enum vw_report_kind kind, uint64_t ts_ns);
/* Each once, as many as fit; what is no CPU or tid is left out. */
void vw_klog_report_add_cpu(struct vw_klog_report *r, int64_t cpu);
void vw_klog_report_add_task(struct vw_klog_report *r, int64_t tid);
bool vw_klog_report_has_cpu(const struct vw_klog_report *r, int32_t cpu);
bool vw_klog_report_has_task(const struct vw_klog_report *r, int32_t tid);

/*
 * Numbers within lines, with and without a sign.  One at the very end of a line may have been cut
 * and is not taken.
 */
bool vw_klog_u64(const char **at, uint64_t *ret);
bool vw_klog_s64(const char **at, int64_t *ret);
/* Takes @word off the text. */
bool vw_klog_word(const char **at, const char *word);

/* --- klog_rcu.c: true when the line was one of that sort; it is then taken into the report. --- */

bool vw_klog_rcu_head(struct vw_klog_report *r, const char *text);
/* "2-....: (20990 ticks this GP) ..." */
bool vw_klog_rcu_cpu(const char *text, int64_t *ret_cpu);

struct vw_klog_tail {
	bool other; /* told by another CPU than those that stall */
	bool cut;
	int64_t detector; /* -1 unknown */
	uint64_t gp, jiffies; /* VW_UNKNOWN */
};
/* "(t=21004 jiffies g=7001 q=55)", "(detected by 0, t=...)" */
bool vw_klog_rcu_tail(const char *text, struct vw_klog_tail *ret);
void vw_klog_rcu_add_tail(struct vw_klog_report *r, const struct vw_klog_tail *tail);
/* The list in braces goes on, if the line looks like it. */
bool vw_klog_rcu_is_list(const char *text);
void vw_klog_rcu_list(struct vw_klog_report *r, const char *text);
/* Blocked tasks, starved threads, late timers, the holdouts of RCU tasks. */
bool vw_klog_rcu_note(struct vw_klog_report *r, const char *text);

/* --- klog_lockup.c: soft lockups, in the same way. --- */

bool vw_klog_lockup_head(struct vw_klog_report *r, const char *text);
/* "CPU#1 Utilization every 4s during lockup:" and the line about interrupts */
bool vw_klog_lockup_table(const char *text, int64_t *ret_cpu, bool *ret_interrupts);
/* "#1: 0% system, 0% softirq, 100% hardirq, 0% idle" */
bool vw_klog_lockup_row(struct vw_klog_report *r, const char *text);

/* --- klog_dump.c --- */

enum vw_klog_dump_line {
	VW_KLOG_DUMP_NONE,
	VW_KLOG_DUMP_SENT, /* "Sending NMI from CPU 0 to CPUs 2:"; the CPU if it is one, else -1 */
	VW_KLOG_DUMP_NMI, /* "NMI backtrace for cpu 2" */
	VW_KLOG_DUMP_IDLE, /* "NMI backtrace for cpu 2 skipped: idling at ..." */
	VW_KLOG_DUMP_CPU, /* "CPU: 2 PID: 8123 Comm: vhost-8100 Not tainted", and the old forms */
	VW_KLOG_DUMP_TASK_ON, /* "Task dump for CPU 2:" */
	VW_KLOG_DUMP_TASK, /* "task:vhost-8100 state:R ...", and the old form */
	VW_KLOG_DUMP_OTHER, /* a trouble of another kind, with a dump of its own */
};

struct vw_klog_dump_head {
	int32_t cpu; /* -1 unknown */
	int32_t tid;
	char comm[VW_COMM_LEN];
	char state; /* of TASK: R, S, D, ... */
	bool cut; /* it ends early: who it is cannot be told */
};

/* @after_task_on: the line before was a TASK_ON, so this may be a TASK in the old form. */
enum vw_klog_dump_line vw_klog_dump_parse(const char *text, bool after_task_on,
					  struct vw_klog_dump_head *ret);
void vw_klog_dump_init(struct vw_klog_dump *dump, int32_t cpu);
/* A line of a stack or with the place of the program counter. */
bool vw_klog_dump_frame(struct vw_klog_dump *dump, const char *text);
/* True for a frame of the code that prints the dumps of an RCU stall. */
bool vw_klog_dump_is_rcu(const char *text);

/* Who that is, by its name and its stack; tid 0 when it is the idle task or unknown. */
void vw_klog_dump_task(const struct vw_klog_dump *dump, struct vw_task *ret);

/* --- klog_host.c --- */

/* Takes what the line tells of the host. */
void vw_klog_host(struct vw_host *host, const char *text);
/* The first line of a boot. */
bool vw_klog_host_boots(const char *text);

#endif
