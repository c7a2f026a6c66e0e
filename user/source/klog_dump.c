// SPDX-License-Identifier: GPL-2.0-or-later
/* Stack dumps: whose they are, and the functions in them. */
#include <ctype.h>
#include <string.h>

#include "attr/attr.h"
#include "attr/proc.h"
#include "source/klog_report.h"
#include "util/str.h"

#define TID_MAX 4194304

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* Without the blanks that pad it. */
static void copy_comm(char comm[VW_COMM_LEN], const char *name, size_t len)
{
	while (len && name[len - 1] == ' ')
		len--;
	vw_str_copy(comm, VW_COMM_LEN, name, len);
}

static bool take_tid(const char **at, int32_t *ret)
{
	uint64_t tid;

	*at = skip_blanks(*at);
	if (!vw_klog_u64(at, &tid) || tid > TID_MAX)
		return false;
	*ret = (int32_t)tid;
	return true;
}

/* A comm ends where it is said whether the kernel is tainted. */
static const char *taint_of(const char *text)
{
	const char *not = strstr(text, " Not tainted"), *yes = strstr(text, " Tainted: ");

	return !not || (yes && yes < not ) ? yes : not ;
}

/* "CPU: 2 UID: 0 PID: 8123 Comm: vhost-8100 Not tainted 5.7.0 #1" */
static bool parse_cpu(const char *p, struct vw_klog_dump_head *ret)
{
	const char *taint;
	uint64_t cpu, uid;

	if (!vw_klog_word(&p, "CPU: "))
		return false;
	ret->cut = true;
	if (!vw_klog_u64(&p, &cpu) || cpu > INT32_MAX)
		return true;
	ret->cpu = (int32_t)cpu;
	if (vw_klog_word(&p, " UID: ") && !vw_klog_u64(&p, &uid))
		return true;
	if (!vw_klog_word(&p, " PID: ") || !take_tid(&p, &ret->tid) || !vw_klog_word(&p, " Comm: "))
		return true;
	taint = taint_of(p);
	if (!taint)
		return true;
	copy_comm(ret->comm, p, (size_t)(taint - p));
	ret->cut = false;
	return true;
}

/* "Pid: 13, comm:      softirq-timer/1", until 3.9 */
static bool parse_pid(const char *p, struct vw_klog_dump_head *ret)
{
	const char *taint;

	if (!vw_klog_word(&p, "Pid: "))
		return false;
	ret->cut = true;
	if (!take_tid(&p, &ret->tid) || !vw_klog_word(&p, ", comm:"))
		return true;
	p = skip_blanks(p);
	taint = taint_of(p);
	copy_comm(ret->comm, p, taint ? (size_t)(taint - p) : strlen(p));
	ret->cut = !ret->comm[0];
	return true;
}

/* "task:vhost-8100      state:R  running task     stack:    0 pid: 8123 ppid:     2 flags:0x4000" */
static bool parse_task(const char *p, struct vw_klog_dump_head *ret)
{
	const char *state, *pid;

	if (!vw_klog_word(&p, "task:"))
		return false;
	state = strstr(p, " state:");
	if (!state)
		return false;
	ret->cut = true;
	ret->state = state[strlen(" state:")];
	pid = strstr(state, " pid:");
	if (!pid)
		return true;
	pid += strlen(" pid:");
	if (!take_tid(&pid, &ret->tid))
		return true;
	copy_comm(ret->comm, p, (size_t)(state - p));
	ret->cut = false;
	return true;
}

/* "vhost-8100      R  running task        0  8123      2 0x00000008", until 5.9 */
static bool parse_old_task(const char *text, struct vw_klog_dump_head *ret)
{
	const char *p = strstr(text, "running task"), *end = p;
	uint64_t stack;

	if (!p)
		return false;
	while (end > text && end[-1] == ' ')
		end--;
	if (end - text < 2 || end[-1] != 'R' || end[-2] != ' ')
		return false;
	ret->state = 'R';
	copy_comm(ret->comm, text, (size_t)(end - 1 - text));
	p = skip_blanks(p + strlen("running task"));
	ret->cut = !vw_klog_u64(&p, &stack) || !take_tid(&p, &ret->tid);
	return true;
}

/* The CPUs of "Sending NMI from CPU 0 to CPUs 2:": one, or -1. */
static bool parse_sent(const char *p, struct vw_klog_dump_head *ret)
{
	uint64_t cpu;

	if (!vw_klog_word(&p, "Sending NMI ") && !vw_klog_word(&p, "sending NMI "))
		return false;
	p = strstr(p, " to CPUs ");
	if (!p)
		return true;
	p += strlen(" to CPUs ");
	if (vw_klog_u64(&p, &cpu) && *p == ':' && cpu <= INT32_MAX)
		ret->cpu = (int32_t)cpu;
	return true;
}

static bool names_cpu(const char *p, const char *words, const char **ret_end,
		      struct vw_klog_dump_head *ret)
{
	uint64_t cpu;

	if (!vw_klog_word(&p, words) || vw_str_u64(p, &p, &cpu) || cpu > INT32_MAX)
		return false;
	ret->cpu = (int32_t)cpu;
	*ret_end = p;
	return true;
}

/* What dumps stacks for reasons of its own. */
static bool other_trouble(const char *text)
{
	static const char *const starts[] = {
		"WARNING: ",
		"BUG: ",
		"Kernel panic",
		"Oops",
		"general protection",
		"Unable to handle kernel",
		"------------[ cut here",
		"INFO: task ",
		"SysRq",
		"sysrq: ",
		"watchdog: Watchdog detected hard LOCKUP",
		"NMI watchdog: Watchdog detected hard LOCKUP",
		"Watchdog detected hard LOCKUP",
	};
	size_t i;

	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (vw_str_starts(text, starts[i]))
			return true;
	return strstr(text, "page allocation failure") || strstr(text, " invoked oom-killer");
}

enum vw_klog_dump_line vw_klog_dump_parse(const char *text, bool after_task_on,
					  struct vw_klog_dump_head *ret)
{
	const char *end;

	memset(ret, 0, sizeof(*ret));
	ret->cpu = -1;
	if (parse_sent(text, ret))
		return VW_KLOG_DUMP_SENT;
	if (names_cpu(text, "NMI backtrace for cpu ", &end, ret))
		return vw_str_starts(end, " skipped") ? VW_KLOG_DUMP_IDLE : VW_KLOG_DUMP_NMI;
	if (names_cpu(text, "Task dump for CPU ", &end, ret))
		return VW_KLOG_DUMP_TASK_ON;
	/* "CPU 2 ", in front of the old form of a dump */
	if (names_cpu(text, "CPU ", &end, ret) && !end[strspn(end, " :")])
		return VW_KLOG_DUMP_NMI;
	ret->cpu = -1;
	if (parse_cpu(text, ret) || parse_pid(text, ret))
		return VW_KLOG_DUMP_CPU;
	if (parse_task(text, ret) || (after_task_on && parse_old_task(text, ret)))
		return VW_KLOG_DUMP_TASK;
	return other_trouble(text) ? VW_KLOG_DUMP_OTHER : VW_KLOG_DUMP_NONE;
}

void vw_klog_dump_init(struct vw_klog_dump *dump, int32_t cpu)
{
	memset(dump, 0, sizeof(*dump));
	dump->cpu = cpu;
}

/* "<IRQ>", "</IRQ>", "<<EOE>>", "<TASK>", ...: of which stack the frames behind it are. */
static bool take_marker(struct vw_klog_dump *dump, const char **at)
{
	const char *p = *at, *name;
	size_t len;
	bool ends;

	if (*p != '<')
		return false;
	p += strspn(p, "<");
	ends = *p == '/';
	name = ends ? p + 1 : p;
	len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ#");
	if (!len || name[len] != '>')
		return false;
	if (!ends)
		dump->in_irq = strncmp(name, "TASK", 4) && strncmp(name, "EO", 2);
	else if (dump->in_irq)
		dump->in_irq = false;
	/* What follows is what was interrupted, and how. */
	if (!dump->in_irq && (ends || !strncmp(name, "EO", 2)))
		dump->after_irq = true;
	*at = name + len + strspn(name + len, ">");
	return true;
}

/* "[<ffffffff8013d094>] " */
static const char *skip_addresses(const char *p)
{
	for (;;) {
		p = skip_blanks(p);
		if (p[0] != '[' || p[1] != '<')
			return p;
		p += 2 + strspn(p + 2, "0123456789abcdefx?");
		if (p[0] != '>' || p[1] != ']')
			return p;
		p += 2;
	}
}

/* The name in front of "+0x1a/0x90"; its length, 0 without. */
static size_t symbol(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || (p[n] && strchr("_.$@", p[n])))
		n++;
	return n && !strncmp(p + n, "+0x", 3) ? n : 0;
}

/* arm64 names the place of the program counter once more as the first frame. */
static void push(struct vw_klog_dump *dump, const char *name, size_t len)
{
	const char *last = dump->at_counter ? dump->stack[0] : "";

	dump->at_counter = false;
	if (strlen(last) == len && !strncmp(last, name, len))
		return;
	if (dump->n_stack < VW_MAX_FRAMES)
		vw_str_copy(dump->stack[dump->n_stack++], VW_FRAME_LEN, name, len);
}

/* Where the program counter was: what is behind the words that say so, else NULL. */
static const char *counter(const char *p)
{
	static const char *const words[] = { "RIP: ",  "EIP is at ", "EIP: ",	  "pc : ",
					     "epc : ", "PC is at ",  "NIP is at " };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!vw_klog_word(&p, words[i]))
			continue;
		/* the segment: "0010:" */
		if (i == 0 && strspn(p, "0123456789abcdef") == 4 && p[4] == ':')
			p += 5;
		return skip_addresses(p);
	}
	return NULL;
}

bool vw_klog_dump_frame(struct vw_klog_dump *dump, const char *text)
{
	const char *p = skip_blanks(text), *pc = counter(p);
	size_t len;
	bool marked = false;

	if (pc) {
		len = symbol(pc);
		if (!len || dump->in_irq || (dump->n_stack && !dump->after_irq))
			return true;
		/* Up to here the frames told how it was interrupted. */
		dump->n_stack = 0;
		dump->after_irq = false;
		push(dump, pc, len);
		dump->at_counter = true;
		return true;
	}
	if (vw_klog_word(&p, "Call Trace:") || vw_klog_word(&p, "Call trace:"))
		marked = true;
	for (p = skip_blanks(p); take_marker(dump, &p); p = skip_blanks(p))
		marked = true;
	p = skip_addresses(p);
	/* What the unwinder is not sure of. */
	if (p[0] == '?' && p[1] == ' ')
		return true;
	len = symbol(p);
	if (!len)
		return marked;
	/* arm64 has no marks; this is where its interrupts come in. */
	if (!strncmp(p, "el1_irq+", 8) || !strncmp(p, "el1h_64_irq+", 12))
		dump->n_stack = 0;
	else if (!dump->in_irq)
		push(dump, p, len);
	return true;
}

bool vw_klog_dump_is_rcu(const char *text)
{
	const char *p = skip_addresses(text);

	return vw_str_starts(p, "rcu_dump_cpu_stacks+0x") || vw_str_starts(p, "print_cpu_stall+0x");
}

static enum vw_backend backend_of(const struct vw_klog_dump *dump)
{
	unsigned int i;

	for (i = 0; i < dump->n_stack; i++) {
		if (!strcmp(dump->stack[i], "vhost_task_fn"))
			return VW_BACKEND_VHOST_TASK;
		/* The latter of 3.10 to 6.3, where every worker is a kernel thread. */
		if (!strcmp(dump->stack[i], "vhost_run_work_kthread_list") ||
		    !strcmp(dump->stack[i], "vhost_worker"))
			return VW_BACKEND_KTHREAD;
	}
	return VW_BACKEND_NONE;
}

void vw_klog_dump_task(const struct vw_klog_dump *dump, struct vw_task *ret)
{
	int32_t number = vw_proc_vhost_number(dump->comm);

	memset(ret, 0, sizeof(*ret));
	if (!dump->named || !dump->tid)
		return;
	ret->tid = dump->tid;
	memcpy(ret->comm, dump->comm, sizeof(ret->comm));
	if (number) {
		ret->role = VW_ROLE_VHOST_WORKER;
		ret->watched = true;
		ret->backend = backend_of(dump);
		ret->owner_pid = number;
		ret->owner_by_name = true;
	} else if (vw_str_starts(dump->comm, "kworker/")) {
		ret->role = VW_ROLE_KWORKER;
	} else if (vw_attr_is_vcpu_name(dump->comm)) {
		ret->role = VW_ROLE_VCPU;
	}
}
