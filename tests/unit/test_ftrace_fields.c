// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of each event, as kernels of several lines and the plugins of trace-cmd write them. */
#include <stdio.h>

#include "ftrace_env.h"

static void check_task(const struct vw_event_task *task, const char *comm, int32_t tid,
		       int32_t prio)
{
	assert_string_equal(task->comm, comm);
	assert_int_equal(task->tid, tid);
	assert_int_equal(task->prio, prio);
}

static struct vw_event sched_switch(const char *state)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "sched_switch: prev_comm=vhost-3077 prev_pid=3101 prev_prio=120 prev_state=%s ==> "
		 "next_comm=kworker/6:1 next_pid=812 next_prio=100",
		 state);
	return fields(text);
}

static void check_switch(const struct vw_event *e, char state, bool preempted)
{
	assert_int_equal(e->kind, VW_EVENT_SWITCH);
	check_task(&e->sw.prev, "vhost-3077", 3101, 120);
	check_task(&e->sw.next, "kworker/6:1", 812, 100);
	assert_int_equal(e->sw.prev_state, state);
	assert_int_equal(e->sw.preempted, preempted);
}

static void test_switch(void **state)
{
	static const struct {
		const char *text;
		char state;
		bool preempted;
	} states[] = {
		{ "R", 'R', false },	 { "R+", 'R', true },	{ "S", 'S', false },
		{ "D", 'D', false },	 { "I", 'I', false },	{ "S|K", 'S', false },
		{ "D|K|W", 'D', false }, { "x", 'x', false },	{ "Z", 'Z', false },
		{ "0", 'R', false },	 { "1", 'S', false },	{ "2", 'D', false },
		{ "64", 'P', false },	 { "128", 'I', false }, { "256", 'R', true },
		{ "1026", 'D', false },
	};
	struct vw_event e;
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		e = sched_switch(states[i].text);
		check_switch(&e, states[i].state, states[i].preempted);
	}
	/* trace-cmd report -R */
	e = fields(
		"sched_switch:          prev_comm=vhost-3077 prev_pid=3101 prev_prio=120 prev_state=1 "
		"next_comm=kworker/6:1 next_pid=812 next_prio=100");
	check_switch(&e, 'S', false);
	/* A deadline task. */
	e = fields("sched_switch: prev_comm=a prev_pid=1 prev_prio=-1 prev_state=S ==> next_comm=b "
		   "next_pid=2 next_prio=0");
	check_task(&e.sw.prev, "a", 1, 0);
	check_task(&e.sw.next, "b", 2, 0);
	/* What stands behind the fields is of no concern. */
	e = fields(
		"sched_switch: prev_comm=a prev_pid=1 prev_prio=99 prev_state=R+ ==> next_comm=b "
		"next_pid=2 next_prio=120 ffffffff81399f41 __traceiter_sched_switch");
	check_task(&e.sw.next, "b", 2, 120);
}

/* A name may hold the keys around it; it has at most 15 bytes. */
static void test_switch_names(void **state)
{
	struct vw_event e;

	e = fields("sched_switch: prev_comm=a prev_pid=7 prev_pid=3 prev_prio=120 prev_state=S ==> "
		   "next_comm==> next_pid=9 next_pid=4 next_prio=120");
	check_task(&e.sw.prev, "a prev_pid=7", 3, 120);
	check_task(&e.sw.next, "=> next_pid=9", 4, 120);
	e = fields(
		"sched_switch: prev_comm= prev_pid=3 prev_prio=120 prev_state=S ==> next_comm=  x "
		"next_pid=4 next_prio=120");
	check_task(&e.sw.prev, "", 3, 120);
	check_task(&e.sw.next, "  x", 4, 120);
	e = fields(
		"sched_switch: prev_comm=fifteen-bytes-1 prev_pid=3 prev_prio=120 prev_state=S ==> "
		"next_comm=CPU 0/KVM next_pid=4 next_prio=120");
	check_task(&e.sw.prev, "fifteen-bytes-1", 3, 120);
	check_task(&e.sw.next, "CPU 0/KVM", 4, 120);
}

static void test_switch_plugin(void **state)
{
	struct vw_event e;

	e = fields("sched_switch:         vhost-3077:3101 [120] S ==> kworker/6:1:812 [100]");
	check_switch(&e, 'S', false);
	e = fields("sched_switch:         vhost-3077:3101 [120] R+ ==> kworker/6:1:812 [100]");
	check_switch(&e, 'R', true);
	e = fields("sched_switch:         a:1 [2] S:5 [120] D|W ==> c ==> d:6 [-1]");
	check_task(&e.sw.prev, "a:1 [2] S", 5, 120);
	check_task(&e.sw.next, "c ==> d", 6, 0);
	assert_int_equal(e.sw.prev_state, 'D');
	/* Refused rather than misread. */
	why_bad("            bash-12    [001] d..2. 5.000001: sched_switch: a:1 [120] S ==> x ==> y",
		VW_TRACE_FTRACE, -EBADMSG);
	e = fields("sched_switch:         swapper/1:0 [120] R ==> memfd:sealed-91:28789 [120]");
	check_task(&e.sw.next, "memfd:sealed-91", 28789, 120);
}

static void check_wake(const struct vw_event *e, enum vw_event_kind kind, int32_t target)
{
	assert_int_equal(e->kind, kind);
	check_task(&e->wake.task, "a b=c", 812, 120);
	assert_int_equal(e->wake.target_cpu, target);
}

static void test_wakeups(void **state)
{
	struct vw_event e;

	e = fields("sched_waking: comm=a b=c pid=812 prio=120 target_cpu=006");
	check_wake(&e, VW_EVENT_WAKING, 6);
	e = fields("sched_wakeup: comm=a b=c pid=812 prio=120 target_cpu=006");
	check_wake(&e, VW_EVENT_WAKEUP, 6);
	e = fields("sched_wakeup_new: comm=a b=c pid=812 prio=120 target_cpu=4095");
	check_wake(&e, VW_EVENT_WAKEUP_NEW, 4095);
	e = fields("sched_wakeup: comm=a b=c pid=812 prio=120 success=1 target_cpu=006");
	check_wake(&e, VW_EVENT_WAKEUP, 6);
	e = fields("sched_wakeup: comm=a b=c pid=812 prio=120 success=1 target_cpu=[006]");
	check_wake(&e, VW_EVENT_WAKEUP, 6);
	e = fields("sched_wakeup: comm=a b=c pid=812 prio=120");
	check_wake(&e, VW_EVENT_WAKEUP, -1);
	e = fields("sched_wakeup: comm=a pid=x pid=812 prio=120 target_cpu=006");
	check_task(&e.wake.task, "a pid=x", 812, 120);
	/* It was awake: nothing changed. */
	e = fields("sched_wakeup: comm=a b=c pid=812 prio=120 success=0 target_cpu=006");
	assert_int_equal(e.kind, VW_EVENT_OTHER);
	e = fields("sched_wakeup:         a b=c:812 [120] CPU:006");
	check_wake(&e, VW_EVENT_WAKEUP, 6);
	e = fields("sched_wakeup:         a b=c:812 [120] success=1 CPU:006");
	check_wake(&e, VW_EVENT_WAKEUP, 6);
	e = fields("sched_wakeup:         a b=c:812 [120]<CANT FIND FIELD success> CPU:006");
	check_wake(&e, VW_EVENT_WAKEUP, 6);
	e = fields("sched_wakeup:         a b=c:812 [120]<CPU:006>");
	check_wake(&e, VW_EVENT_WAKEUP, 6);
}

static void test_migrate_and_runtime(void **state)
{
	struct vw_event e;

	e = fields("sched_migrate_task: comm=x pid=4 pid=812 prio=120 orig_cpu=1 dest_cpu=4095");
	assert_int_equal(e.kind, VW_EVENT_MIGRATE);
	check_task(&e.migrate.task, "x pid=4", 812, 120);
	assert_int_equal(e.migrate.from_cpu, 1);
	assert_int_equal(e.migrate.to_cpu, 4095);
	e = fields(
		"sched_stat_runtime: comm=x pid=812 runtime=9957000 [ns] vruntime=244334517704 [ns]");
	assert_int_equal(e.kind, VW_EVENT_STAT_RUNTIME);
	check_task(&e.runtime.task, "x", 812, -1);
	assert_int_equal(e.runtime.runtime_ns, 9957000);
	assert_int_equal(
		fields("sched_stat_runtime: comm=x pid=812 runtime=7 [ns]").runtime.runtime_ns, 7);
}

static void test_fork_and_exit(void **state)
{
	struct vw_event e;

	e = fields("sched_process_fork: comm=ba sh pid=5 child_comm=a child_pid=8 child_pid=6");
	assert_int_equal(e.kind, VW_EVENT_FORK);
	check_task(&e.fork.parent, "ba sh", 5, -1);
	check_task(&e.fork.child, "a child_pid=8", 6, -1);
	e = fields(
		"sched_process_fork:    parent_comm=bash parent_pid=5 child_comm=bash child_pid=6");
	check_task(&e.fork.parent, "bash", 5, -1);
	check_task(&e.fork.child, "bash", 6, -1);
	e = fields("sched_process_fork: pid=5 child_pid=6");
	check_task(&e.fork.parent, "", 5, -1);
	check_task(&e.fork.child, "", 6, -1);
	e = fields("sched_process_exit: comm=bash pid=5 prio=120 group_dead=true");
	assert_int_equal(e.kind, VW_EVENT_EXIT);
	check_task(&e.exit, "bash", 5, 120);
}

static void test_interrupts(void **state)
{
	struct vw_event e;

	e = fields("softirq_entry: vec=3 [action=NET_RX]");
	assert_int_equal(e.kind, VW_EVENT_SOFTIRQ_ENTRY);
	assert_int_equal(e.vector, 3);
	assert_int_equal(fields("softirq_exit: vec=3").kind, VW_EVENT_SOFTIRQ_EXIT);
	e = fields("irq_handler_entry: irq=36 name=virtio1-req.0");
	assert_int_equal(e.kind, VW_EVENT_IRQ_ENTRY);
	assert_int_equal(e.vector, 36);
	assert_int_equal(fields("irq_handler_exit: irq=36 ret=handled").kind, VW_EVENT_IRQ_EXIT);
}

static void check_numa(const char *text, int32_t tid, int32_t other, int32_t from, int32_t to)
{
	struct vw_event e = fields(text);

	assert_int_equal(e.kind, VW_EVENT_NUMA);
	assert_int_equal(e.numa.tid, tid);
	assert_int_equal(e.numa.other_tid, other);
	assert_int_equal(e.numa.from_cpu, from);
	assert_int_equal(e.numa.to_cpu, to);
}

static void test_numa(void **state)
{
	check_numa("sched_move_numa: pid=5 tgid=4 ngid=0 src_cpu=1 src_nid=0 dst_cpu=9 dst_nid=1",
		   5, 0, 1, 9);
	check_numa("sched_stick_numa: pid=5 tgid=4 ngid=0 src_cpu=1 src_nid=0 dst_cpu=9 dst_nid=1",
		   5, 0, 1, 9);
	check_numa("sched_swap_numa: src_pid=5 src_tgid=4 src_ngid=0 src_cpu=1 src_nid=0 dst_pid=6 "
		   "dst_tgid=6 dst_ngid=0 dst_cpu=9 dst_nid=1",
		   5, 6, 1, 9);
	check_numa(
		"sched_stick_numa: src_pid=5 src_tgid=4 src_ngid=0 src_cpu=1 src_nid=0 dst_pid=0 "
		"dst_tgid=0 dst_ngid=0 dst_cpu=-1 dst_nid=-1",
		5, 0, 1, -1);
}

static void check_work(const char *text, enum vw_event_kind kind, uint64_t work, bool workqueue,
		       const char *function, int32_t worker)
{
	struct vw_event e = fields(text);

	assert_int_equal(e.kind, kind);
	assert_true(e.work.work == work);
	assert_int_equal(e.work.workqueue, workqueue);
	assert_string_equal(e.work.function, function);
	assert_int_equal(e.work.worker, worker);
}

static void test_work(void **state)
{
	check_work("vhost_work_queue: work=000000002d2d29c1 function=handle_rx_net worker=3101",
		   VW_EVENT_WORK_QUEUE, 0x2d2d29c1, false, "handle_rx_net", 3101);
	check_work(
		"vhost_work_execute_start: work=0xffff888627d27de8 function=handle_tx_kick [vhost_net]",
		VW_EVENT_WORK_START, UINT64_C(0xffff888627d27de8), false, "handle_tx_kick", 0);
	check_work("vhost_work_execute_end: work=0xffff888627d27de8 function=handle_tx_kick",
		   VW_EVENT_WORK_END, UINT64_C(0xffff888627d27de8), false, "handle_tx_kick", 0);
	check_work(
		"workqueue_execute_start: work struct 00000000a1: function vhost_work_fn [vhost]",
		VW_EVENT_WORK_START, 0xa1, true, "vhost_work_fn", 0);
	check_work("workqueue_execute_end: work struct 00000000a1: function vhost_work_fn",
		   VW_EVENT_WORK_END, 0xa1, true, "vhost_work_fn", 0);
	check_work("workqueue_execute_end: work struct 00000000a1", VW_EVENT_WORK_END, 0xa1, true,
		   "", 0);
	/* Who executes it is whose line it is. */
	check_work("vhost_work_execute_start: work=1 function=f worker=9", VW_EVENT_WORK_START, 1,
		   false, "f", 0);
	/* Early at boot the kernel cannot hide addresses yet. */
	check_work("vhost_work_queue: work=(____ptrval____) function=f worker=9",
		   VW_EVENT_WORK_QUEUE, 0, false, "f", 9);
	check_work("vhost_work_queue: work=1 function=f", VW_EVENT_WORK_QUEUE, 1, false, "f", 0);
}

static void test_texts(void **state)
{
	static const char line[] =
		"          <idle>-0       [001] d..2.   100.000001: console: [  5.0] rcu";
	struct vw_event e;
	const char *why;

	assert_int_equal(vw_ftrace_parse(line, sizeof(line) - 1, VW_TRACE_FTRACE, &e, &why), 1);
	assert_int_equal(e.kind, VW_EVENT_CONSOLE);
	assert_ptr_equal(e.console.text, strstr(line, "[  5.0]"));
	assert_int_equal(e.console.len, strlen("[  5.0] rcu"));
	assert_int_equal(fields("console: ").console.len, 0);
	assert_int_equal(fields("rcu_stall_warning: rcu_sched StallDetected").kind,
			 VW_EVENT_RCU_STALL);
}

static void test_broken(void **state)
{
	static const char *const texts[] = {
		"sched_switch: ",
		"sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S",
		"sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b",
		"sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=",
		"sched_switch: prev_comm=a prev_pid=4194305 prev_prio=120 prev_state=S ==> next_comm=b "
		"next_pid=2 next_prio=120",
		"sched_switch: prev_comm=a prev_pid=1 prev_prio=999 prev_state=S ==> next_comm=b next_pid=2",
		"sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=? ==> next_comm=b next_pid=2",
		"sched_switch: prev_comm=sixteen-bytes-12 prev_pid=1 prev_prio=120 prev_state=S ==> "
		"next_comm=b next_pid=2",
		"sched_switch: a:1 [120] S ==> ",
		"sched_switch: a:1 [120] S",
		"sched_switch: a:1 [120] S x ==> b:2 [120]",
		"sched_wakeup: comm=a pid=1 prio=120 target_cpu=8192",
		"sched_wakeup: comm=a pid=x prio=120 target_cpu=1",
		"sched_wakeup: a:1 [120]",
		"sched_wakeup: [120] CPU:001",
		"sched_migrate_task: comm=a pid=1 prio=120 orig_cpu=1",
		"sched_migrate_task: comm=a pid=1 prio=120 orig_cpu=1 dest_cpu=8192",
		"sched_stat_runtime: comm=a pid=1",
		"sched_stat_runtime: comm=a pid=1 runtime=99999999999999999999",
		"sched_process_fork: comm=a pid=1",
		"sched_process_exit: pid=1",
		"softirq_entry: 3",
		"irq_handler_entry: irq=-1",
		"sched_move_numa: tgid=4",
		"vhost_work_queue: work=1 function=f worker=4194305",
		"vhost_work_execute_start: function=f",
	};
	char line[512];
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(line, sizeof(line), "            bash-12    [001] d..2. 5.000001: %s",
			 texts[i]);
		why_bad(line, VW_TRACE_FTRACE, -EBADMSG);
	}
}

/* Each line cut at each byte: nothing behind its end is read (the tests run under ASan). */
static void test_cut(void **state)
{
	static const char *const texts[] = {
		"sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2",
		"sched_switch: a:1 [120] S ==> b:2 [120]",
		"sched_wakeup: comm=a pid=1 prio=120 success=1 target_cpu=001",
		"sched_migrate_task: comm=a pid=1 prio=120 orig_cpu=1 dest_cpu=2",
		"sched_process_fork: comm=a pid=1 child_comm=b child_pid=2",
		"vhost_work_queue: work=0x12 function=f worker=1234",
	};
	struct vw_event e;
	const char *why;
	char line[512];
	size_t i;
	int len;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (len = snprintf(line, sizeof(line),
				    "   bash-12   (  12) [001] d..2. 5.000001: %s", texts[i]);
		     len >= 0; len--) {
			parse_bytes(line, (size_t)len, VW_TRACE_FTRACE, &e, &why);
			parse_bytes(line, (size_t)len, VW_TRACE_PERF, &e, &why);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_switch_names),
		cmocka_unit_test(test_switch_plugin),
		cmocka_unit_test(test_wakeups),
		cmocka_unit_test(test_migrate_and_runtime),
		cmocka_unit_test(test_fork_and_exit),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_numa),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
