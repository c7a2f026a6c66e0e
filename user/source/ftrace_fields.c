// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/ftrace.h"
#include "source/ftrace_fields.h"
#include "util/str.h"

#define MAX_PRIO 139
#define MAX_VECTOR INT32_MAX

#define IS(name, literal) (!memcmp(name, literal, sizeof(literal) - 1))

static enum vw_event_kind sched_kind(const char *name, size_t len)
{
	switch (len) {
	case sizeof("switch") - 1:
		if (IS(name, "switch"))
			return VW_EVENT_SWITCH;
		if (IS(name, "waking"))
			return VW_EVENT_WAKING;
		return IS(name, "wakeup") ? VW_EVENT_WAKEUP : VW_EVENT_OTHER;
	case sizeof("stat_runtime") - 1:
		if (IS(name, "stat_runtime"))
			return VW_EVENT_STAT_RUNTIME;
		if (IS(name, "migrate_task"))
			return VW_EVENT_MIGRATE;
		if (IS(name, "process_fork"))
			return VW_EVENT_FORK;
		return IS(name, "process_exit") ? VW_EVENT_EXIT : VW_EVENT_OTHER;
	case sizeof("wakeup_new") - 1:
		if (IS(name, "wakeup_new"))
			return VW_EVENT_WAKEUP_NEW;
		return IS(name, "stick_numa") ? VW_EVENT_NUMA : VW_EVENT_OTHER;
	case sizeof("move_numa") - 1:
		return IS(name, "move_numa") || IS(name, "swap_numa") ? VW_EVENT_NUMA :
									VW_EVENT_OTHER;
	default:
		return VW_EVENT_OTHER;
	}
}

enum vw_event_kind vw_ftrace_kind(const char *name, size_t len)
{
	static const struct {
		const char *text;
		unsigned char len, kind;
	} names[] = {
#define NAME(name, k) { name, sizeof(name) - 1, VW_EVENT_##k }
		NAME("softirq_entry", SOFTIRQ_ENTRY),
		NAME("softirq_exit", SOFTIRQ_EXIT),
		NAME("irq_handler_entry", IRQ_ENTRY),
		NAME("irq_handler_exit", IRQ_EXIT),
		NAME("vhost_work_queue", WORK_QUEUE),
		NAME("vhost_work_execute_start", WORK_START),
		NAME("vhost_work_execute_end", WORK_END),
		NAME("workqueue_execute_start", WORK_START),
		NAME("workqueue_execute_end", WORK_END),
		NAME("rcu_stall_warning", RCU_STALL),
		NAME("console", CONSOLE),
#undef NAME
	};
	size_t i;

	if (len > 6 && IS(name, "sched_"))
		return sched_kind(name + 6, len - 6);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].len == len && !memcmp(names[i].text, name, len))
			return (enum vw_event_kind)names[i].kind;
	return VW_EVENT_OTHER;
}

/* Copies the @len first of 16 bytes, which must be there, as a name of at most 15 bytes. */
static inline void copy_comm(char dst[VW_COMM_LEN], const char *p, size_t len)
{
	uint64_t low = vw_scan_load8(p), high = vw_scan_load8(p + 8);

	if (len < 8) {
		low &= (UINT64_C(1) << 8 * len) - 1;
		high = 0;
	} else {
		high &= (UINT64_C(1) << 8 * (len - 8)) - 1;
	}
	vw_scan_store8(dst, low);
	vw_scan_store8(dst + 8, high);
}

/*
 * A name that ends where @key and a digit follow; @key begins with a blank.  It may hold anything,
 * @key too: the last place that it can reach counts.
 */
static inline __attribute__((always_inline)) bool take_comm(struct vw_scan *s, const char *key,
							    size_t key_len, char comm[VW_COMM_LEN])
{
	size_t left = vw_scan_left(s), at;
	char near_end[2 * VW_COMM_LEN + 1];
	const char *p = s->p;
	unsigned int blanks;

	if (left < VW_COMM_LEN + key_len + 1) {
		/* So that 16 bytes and a key behind each can be looked at. */
		memset(near_end, 0, sizeof(near_end));
		memcpy(near_end, p, left);
		p = near_end;
	}
	for (blanks = vw_scan_blanks16(p); blanks; blanks ^= 1U << at) {
		at = 31 - (size_t)__builtin_clz(blanks);
		if (memcmp(p + at, key, key_len) || !vw_scan_is_digit(p[at + key_len]))
			continue;
		copy_comm(comm, p, at);
		s->p += at + key_len;
		return true;
	}
	return false;
}

_Static_assert(sizeof(" parent_pid=") <= VW_COMM_LEN, "the longest key");

#define TAKE_COMM(s, key, comm) take_comm(s, key, sizeof(key) - 1, comm)

/* A deadline task has -1 here: it goes before every real-time task. */
static bool take_prio(struct vw_scan *s, int32_t *ret_prio)
{
	if (vw_scan_i32(s, MAX_PRIO, ret_prio))
		return true;
	if (!vw_scan_word(s, "-1"))
		return false;
	*ret_prio = 0;
	return true;
}

static bool take_tid(struct vw_scan *s, int32_t *ret_tid)
{
	return vw_scan_i32(s, VW_TRACE_MAX_TID, ret_tid);
}

static bool take_cpu(struct vw_scan *s, int32_t *ret_cpu)
{
	return vw_scan_i32(s, VW_TRACE_MAX_CPU, ret_cpu);
}

/* The lowest bit counts; what is above those with a letter is "still runnable, yet taken off". */
static void state_of_number(uint64_t state, char *ret_state, bool *ret_preempted)
{
	static const char letters[8] = "SDTtXZPI";
	unsigned int i;

	*ret_state = 'R';
	*ret_preempted = (state & 0xff) == 0 && state != 0;
	for (i = 0; i < sizeof(letters); i++)
		if (state & (1U << i)) {
			*ret_state = letters[i];
			return;
		}
}

/* "S", "R+", "D|K", or a number where the letters are not known to the writer. */
static bool take_state(struct vw_scan *s, char *ret_state, bool *ret_preempted)
{
	uint64_t number;
	char c = vw_scan_peek(s);

	if (vw_scan_is_digit(c)) {
		if (!vw_scan_u64(s, &number))
			return false;
		state_of_number(number, ret_state, ret_preempted);
		return true;
	}
	if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')))
		return false;
	*ret_state = c;
	for (; s->p < s->end && *s->p != ' '; s->p++)
		if (*s->p == '+')
			*ret_preempted = true;
	return true;
}

/*
 * "comm:tid [prio]" as the plugins of trace-cmd and perf write it, read from its end, as the name
 * may hold all of this.  *@ret_after is what follows the last such place before @end.
 */
static bool plugin_task(const char *p, const char *end, struct vw_event_task *task,
			const char **ret_after)
{
	const char *open = end, *colon;
	struct vw_scan s;

	do {
		open = memrchr(p, '[', (size_t)(open - p));
		if (!open)
			return false;
		s = (struct vw_scan){ open + 1, end };
	} while (!take_prio(&s, &task->prio) || !vw_scan_char(&s, ']'));
	*ret_after = s.p;
	colon = memrchr(p, ':', (size_t)(open - p));
	if (!colon || colon - p > VW_COMM_LEN - 1)
		return false;
	s = (struct vw_scan){ colon + 1, open };
	if (!take_tid(&s, &task->tid) || !vw_scan_char(&s, ' ') || s.p != open)
		return false;
	vw_str_copy(task->comm, sizeof(task->comm), p, (size_t)(colon - p));
	return true;
}

/* "comm:tid [prio] state ==> comm:tid [prio]"; also a name may hold the arrow. */
static bool plugin_switch(struct vw_scan *s, struct vw_event *event)
{
	const char *arrow = s->p, *after;
	struct vw_scan t;

	while ((arrow = memchr(arrow, '=', (size_t)(s->end - arrow)))) {
		t = (struct vw_scan){ arrow - 1, s->end };
		arrow++;
		if (t.p < s->p || !vw_scan_word(&t, " ==> "))
			continue;
		memset(&event->sw, 0, sizeof(event->sw));
		if (!plugin_task(s->p, arrow - 2, &event->sw.prev, &after) ||
		    !plugin_task(t.p, s->end, &event->sw.next, &t.p))
			continue;
		t = (struct vw_scan){ after, arrow - 2 };
		if (vw_scan_char(&t, ' ') &&
		    take_state(&t, &event->sw.prev_state, &event->sw.preempted) && t.p == t.end)
			return true;
	}
	return false;
}

static bool read_switch(struct vw_scan *s, struct vw_event *event)
{
	struct vw_event_task *prev = &event->sw.prev, *next = &event->sw.next;

	prev->prio = next->prio = -1;
	if (!vw_scan_word(s, "prev_comm="))
		return plugin_switch(s, event);
	if (!TAKE_COMM(s, " prev_pid=", prev->comm) || !take_tid(s, &prev->tid))
		return false;
	if (vw_scan_word(s, " prev_prio=") && !take_prio(s, &prev->prio))
		return false;
	if (vw_scan_word(s, " prev_state=") &&
	    !take_state(s, &event->sw.prev_state, &event->sw.preempted))
		return false;
	/* Without the plugin trace-cmd leaves the arrow out. */
	if (!vw_scan_word(s, " ==> next_comm=") && !vw_scan_seek_word(s, " next_comm="))
		return false;
	if (!TAKE_COMM(s, " next_pid=", next->comm) || !take_tid(s, &next->tid))
		return false;
	return !vw_scan_word(s, " next_prio=") || take_prio(s, &next->prio);
}

/* "comm=... pid=...", and the priority if it is there. */
static bool take_task(struct vw_scan *s, struct vw_event_task *task)
{
	task->prio = -1;
	if (!vw_scan_word(s, "comm=") || !TAKE_COMM(s, " pid=", task->comm) ||
	    !take_tid(s, &task->tid))
		return false;
	return !vw_scan_word(s, " prio=") || take_prio(s, &task->prio);
}

static bool read_wakeup(struct vw_scan *s, struct vw_event *event)
{
	struct vw_event_task *task = &event->wake.task;

	event->wake.target_cpu = -1;
	if (!vw_scan_word(s, "comm=")) {
		if (!plugin_task(s->p, s->end, task, &s->p))
			return false;
		return vw_scan_seek_word(s, "CPU:") && take_cpu(s, &event->wake.target_cpu);
	}
	s->p -= sizeof("comm=") - 1;
	if (!take_task(s, task))
		return false;
	/* Until 4.13 a wake-up that changed nothing was told, too. */
	if (vw_scan_word(s, " success=0")) {
		event->kind = VW_EVENT_OTHER;
		return true;
	}
	if (!vw_scan_seek_word(s, " target_cpu="))
		return true;
	vw_scan_char(s, '[');
	return take_cpu(s, &event->wake.target_cpu);
}

static bool read_migrate(struct vw_scan *s, struct vw_event *event)
{
	return take_task(s, &event->migrate.task) && vw_scan_seek_word(s, " orig_cpu=") &&
	       take_cpu(s, &event->migrate.from_cpu) && vw_scan_seek_word(s, " dest_cpu=") &&
	       take_cpu(s, &event->migrate.to_cpu);
}

static bool read_runtime(struct vw_scan *s, struct vw_event *event)
{
	return take_task(s, &event->runtime.task) && vw_scan_seek_word(s, " runtime=") &&
	       vw_scan_u64(s, &event->runtime.runtime_ns);
}

static bool read_fork(struct vw_scan *s, struct vw_event *event)
{
	struct vw_event_task *parent = &event->fork.parent, *child = &event->fork.child;

	parent->prio = child->prio = -1;
	vw_scan_word(s, "parent_");
	if (vw_scan_word(s, "comm=")) {
		if (!TAKE_COMM(s, " pid=", parent->comm) &&
		    !TAKE_COMM(s, " parent_pid=", parent->comm))
			return false;
		if (!take_tid(s, &parent->tid))
			return false;
	} else if (vw_scan_word(s, "pid=") && !take_tid(s, &parent->tid)) {
		return false;
	}
	vw_scan_blanks(s);
	if (vw_scan_word(s, "child_comm="))
		return TAKE_COMM(s, " child_pid=", child->comm) && take_tid(s, &child->tid);
	return vw_scan_word(s, "child_pid=") && take_tid(s, &child->tid);
}

/* Swaps, and newer kernels in all cases, name two tasks: "src_pid=... dst_pid=...". */
static bool read_numa(struct vw_scan *s, struct vw_event *event)
{
	event->numa.from_cpu = event->numa.to_cpu = -1;
	vw_scan_word(s, "src_");
	if (!vw_scan_word(s, "pid=") || !take_tid(s, &event->numa.tid))
		return false;
	if (!vw_scan_seek_word(s, " src_cpu=") || !take_cpu(s, &event->numa.from_cpu))
		return false;
	/* No task, no CPU on the other side: 0 or -1. */
	if (vw_scan_seek_word(s, " dst_pid="))
		take_tid(s, &event->numa.other_tid);
	if (vw_scan_seek_word(s, " dst_cpu="))
		take_cpu(s, &event->numa.to_cpu);
	return true;
}

/* 0 for what is no number: an address that the kernel hides. */
static uint64_t take_address(struct vw_scan *s)
{
	uint64_t value = 0;

	vw_scan_word(s, "0x");
	for (; s->p < s->end; s->p++) {
		char c = *s->p;

		if (vw_scan_is_digit(c))
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	return value;
}

/* "work=... function=... worker=...", or of a workqueue "work struct ...: function ..." */
static bool read_work(struct vw_scan *s, struct vw_event *event)
{
	struct vw_scan t;

	if (vw_scan_word(s, "work struct ") || vw_scan_word(s, "work struct="))
		event->work.workqueue = true;
	else if (!vw_scan_word(s, "work="))
		return false;
	event->work.work = take_address(s);
	t = *s;
	if (vw_scan_seek_word(&t, " function ") || vw_scan_seek_word(&t, " function=")) {
		const char *blank = memchr(t.p, ' ', vw_scan_left(&t));

		/* Behind it may stand the module, in brackets. */
		vw_str_copy(event->work.function, sizeof(event->work.function), t.p,
			    blank ? (size_t)(blank - t.p) : vw_scan_left(&t));
	}
	if (event->kind != VW_EVENT_WORK_QUEUE || !vw_scan_seek_word(s, " worker="))
		return true;
	return take_tid(s, &event->work.worker);
}

bool vw_ftrace_fields(struct vw_scan *s, struct vw_event *event)
{
	switch (event->kind) {
	case VW_EVENT_SWITCH:
		return read_switch(s, event);
	case VW_EVENT_WAKING:
	case VW_EVENT_WAKEUP:
	case VW_EVENT_WAKEUP_NEW:
		return read_wakeup(s, event);
	case VW_EVENT_MIGRATE:
		return read_migrate(s, event);
	case VW_EVENT_STAT_RUNTIME:
		return read_runtime(s, event);
	case VW_EVENT_FORK:
		return read_fork(s, event);
	case VW_EVENT_EXIT:
		return take_task(s, &event->exit);
	case VW_EVENT_SOFTIRQ_ENTRY:
	case VW_EVENT_SOFTIRQ_EXIT:
		return vw_scan_word(s, "vec=") && vw_scan_i32(s, MAX_VECTOR, &event->vector);
	case VW_EVENT_IRQ_ENTRY:
	case VW_EVENT_IRQ_EXIT:
		return vw_scan_word(s, "irq=") && vw_scan_i32(s, MAX_VECTOR, &event->vector);
	case VW_EVENT_NUMA:
		return read_numa(s, event);
	case VW_EVENT_RCU_STALL:
	case VW_EVENT_CONSOLE:
		event->console.text = s->p;
		event->console.len = vw_scan_left(s);
		return true;
	case VW_EVENT_WORK_QUEUE:
	case VW_EVENT_WORK_START:
	case VW_EVENT_WORK_END:
		return read_work(s, event);
	default:
		return true;
	}
}
