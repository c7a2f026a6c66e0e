// SPDX-License-Identifier: GPL-2.0-or-later
/* Sentences: true on the host at hand, whole, and no remedy that would not help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "detect/text.h"

#define SEC UINT64_C(1000000000)

static const enum vw_preempt modes[] = { VW_PREEMPT_UNKNOWN, VW_PREEMPT_NONE, VW_PREEMPT_VOLUNTARY,
					 VW_PREEMPT_FULL, VW_PREEMPT_LAZY };
#define MODES (sizeof(modes) / sizeof(modes[0]))

static struct vw_finding sample(enum vw_kind kind, enum vw_cause cause)
{
	struct vw_finding f;

	memset(&f, 0, sizeof(f));
	f.kind = kind;
	f.cause = cause;
	f.cpu = 3;
	f.has_culprit = true;
	f.culprit.tid = 3101;
	f.culprit.watched = true;
	f.culprit.role = VW_ROLE_VHOST_WORKER;
	strcpy(f.culprit.comm, "vhost-3077");
	strcpy(f.culprit.vm, "web01");
	strcpy(f.culprit.device, "vhost-net:vnet7");
	strcpy(f.culprit.cpus_allowed, "0-3");
	if (kind != VW_BUSY_WORKER) {
		f.n_victims = 1;
		f.victims[0].task.tid = 812;
		f.victims[0].task.watched = true;
		f.victims[0].task.role = VW_ROLE_VHOST_WORKER;
		f.victims[0].wait_ns = 4 * SEC;
		strcpy(f.victims[0].task.comm, "vhost-800");
		strcpy(f.victims[0].task.vm, "db01");
		strcpy(f.victims[0].task.cpus_allowed, "0-3");
	}
	f.evidence.oncpu_ns = 6 * SEC;
	f.evidence.resched_pending_ns = 5 * SEC;
	return f;
}

static void write_on(struct vw_finding *f, enum vw_preempt preempt, bool switchable)
{
	const struct vw_host host = { .preempt = preempt, .preempt_switchable = switchable };

	memset(f->message, 'x', sizeof(f->message));
	memset(f->remedy, 'x', sizeof(f->remedy));
	vw_text_finding(f, &host);
	assert_true(memchr(f->message, '\0', sizeof(f->message)));
	assert_true(memchr(f->remedy, '\0', sizeof(f->remedy)));
}

static void has(const char *text, const char *piece)
{
	if (!strstr(text, piece))
		fail_msg("\"%s\" is not in \"%s\"", piece, text);
}

static void lacks(const char *text, const char *piece)
{
	if (strstr(text, piece))
		fail_msg("\"%s\" is in \"%s\"", piece, text);
}

static void test_messages(void **state)
{
	static const struct {
		enum vw_cause cause;
		const char *piece;
	} cases[] = {
		{ VW_CAUSE_IGNORES_RESCHED, "for 6s and ignored the kernel's request to "
					    "reschedule for 5s; vhost worker vhost-800" },
		{ VW_CAUSE_SOFTIRQ_IN_WORKER, "request pending for 5s, mostly in softirqs" },
		{ VW_CAUSE_SCHEDULER_NO_REQUEST, "the scheduler never asked it to make room; " },
		{ VW_CAUSE_LAZY_PREEMPTION, "with only a lazy request to reschedule; " },
		{ VW_CAUSE_UNKNOWN, "for 6s without a break; " },
	};
	struct vw_finding f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f = sample(VW_STARVED_TASK, cases[i].cause);
		write_on(&f, VW_PREEMPT_NONE, false);
		has(f.message, "vhost worker vhost-3077 (tid 3101, VM web01, vhost-net:vnet7) has "
			       "kept CPU 3 for 6s ");
		has(f.message, cases[i].piece);
		has(f.message, "vhost worker vhost-800 (tid 812, VM db01) has waited 4s for it");
		lacks(f.message, "more");
		f.status = VW_CLOSED;
		write_on(&f, VW_PREEMPT_NONE, false);
		has(f.message, ") kept CPU 3 ");
		has(f.message, ") waited 4s ");
		lacks(f.message, " has ");
	}
}

static void test_busy(void **state)
{
	struct vw_finding f = sample(VW_BUSY_WORKER, VW_CAUSE_SATURATED);

	(void)state;
	strcpy(f.culprit.cpus_allowed, "3");
	write_on(&f, VW_PREEMPT_NONE, true);
	has(f.message, "without a break, and nobody waits for that CPU");
	lacks(f.message, "another task");
	assert_string_equal(f.remedy, "");
}

static void test_number_of_victims(void **state)
{
	struct vw_finding f = sample(VW_STARVED_TASK, VW_CAUSE_UNKNOWN);

	(void)state;
	f.n_victims = 2;
	f.victims[1].task.tid = 7;
	write_on(&f, VW_PREEMPT_NONE, false);
	has(f.message, "for it, as has 1 more");
	f.n_victims = 3;
	write_on(&f, VW_PREEMPT_NONE, false);
	has(f.message, "for it, as have 2 more");
	f.n_victims = 0;
	write_on(&f, VW_PREEMPT_NONE, false);
	has(f.message, "; while another task waits");
	f.has_culprit = false;
	f.n_victims = 1;
	write_on(&f, VW_PREEMPT_NONE, false);
	has(f.message, "a task on CPU 3 did not get to run: vhost worker vhost-800");
	lacks(f.message, "3101");
}

/* The other machine's worker is what people ask about, not the kworker that waited longer. */
static void test_chief_victim(void **state)
{
	struct vw_finding f = sample(VW_STARVED_TASK, VW_CAUSE_UNKNOWN);

	(void)state;
	f.victims[1] = f.victims[0];
	f.n_victims = 2;
	memset(&f.victims[0], 0, sizeof(f.victims[0]));
	f.victims[0].task.tid = 41;
	f.victims[0].task.role = VW_ROLE_KWORKER;
	f.victims[0].wait_ns = 6 * SEC;
	strcpy(f.victims[0].task.comm, "kworker/3:1");
	write_on(&f, VW_PREEMPT_NONE, false);
	has(f.message, "vhost worker vhost-800 (tid 812, VM db01) has waited 4s");
	f.n_victims = 1;
	write_on(&f, VW_PREEMPT_NONE, false);
	has(f.message, "kworker kworker/3:1 (tid 41) has waited 6s");
}

/* A kernel that preempts kernel code is not told to yield, nor to be what it is. */
static void test_remedy_of_ignored_request(void **state)
{
	size_t i;
	int switchable, worker;

	(void)state;
	for (i = 0; i < MODES; i++)
		for (switchable = 0; switchable < 2; switchable++)
			for (worker = 0; worker < 2; worker++) {
				struct vw_finding f =
					sample(worker ? VW_NON_YIELDING_WORKER : VW_STARVED_TASK,
					       VW_CAUSE_IGNORES_RESCHED);
				bool preempts = modes[i] == VW_PREEMPT_FULL ||
						modes[i] == VW_PREEMPT_LAZY;

				f.culprit.role = worker ? VW_ROLE_VHOST_WORKER : VW_ROLE_OTHER;
				write_on(&f, modes[i], switchable);
				(preempts ? lacks : has)(f.remedy, "cond_resched()");
				(preempts ? has : lacks)(f.remedy, "softirqs are disabled");
				(switchable && !preempts ? has : lacks)(f.remedy, "echo full");
				(switchable && modes[i] == VW_PREEMPT_UNKNOWN ? has : lacks)(
					f.remedy, "if the preemption mode is none or voluntary");
				(switchable && !preempts && modes[i] ? has : lacks)(f.remedy,
										    "at once");
				(worker && !preempts ? has : lacks)(f.remedy, "vhost loop");
			}
}

/* Where nobody asked, or it could not listen, a yield would not help. */
static void test_other_remedies(void **state)
{
	static const struct {
		enum vw_cause cause;
		const char *piece; /* NULL: none at all */
	} cases[] = {
		{ VW_CAUSE_SOFTIRQ_IN_WORKER, "move the interrupts or RPS of CPU 3" },
		{ VW_CAUSE_SCHEDULER_NO_REQUEST, "would not help, as nobody asked it to yield" },
		{ VW_CAUSE_LAZY_PREEMPTION, "see whether CPU 3 has its tick" },
		{ VW_CAUSE_UNKNOWN, NULL },
	};
	struct vw_finding f;
	size_t i, mode;
	int switchable;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (mode = 0; mode < MODES; mode++)
			for (switchable = 0; switchable < 2; switchable++) {
				f = sample(VW_STARVED_TASK, cases[i].cause);
				write_on(&f, modes[mode], switchable);
				lacks(f.remedy, "cond_resched");
				lacks(f.remedy, "echo full");
				if (cases[i].piece)
					has(f.remedy, cases[i].piece);
				else
					assert_string_equal(f.remedy, "");
			}
}

static void test_pinned(void **state)
{
	static const struct {
		const char *culprit, *victim;
		bool told;
	} cases[] = {
		{ "3", "3", true },	 { "3", "4", false },	  { "3", "0-3", false },
		{ "0-3", "0-3", false }, { "3,4", "3,4", false }, { "", "", false },
		{ "3", "", false },	 { "127", "127", true },
	};
	static const enum vw_cause causes[] = { VW_CAUSE_IGNORES_RESCHED,
						VW_CAUSE_SCHEDULER_NO_REQUEST, VW_CAUSE_UNKNOWN };
	struct vw_finding f;
	size_t i, c;

	(void)state;
	for (c = 0; c < sizeof(causes) / sizeof(causes[0]); c++)
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			f = sample(VW_STARVED_TASK, causes[c]);
			strcpy(f.culprit.cpus_allowed, cases[i].culprit);
			strcpy(f.victims[0].task.cpus_allowed, cases[i].victim);
			write_on(&f, VW_PREEMPT_NONE, true);
			(cases[i].told ? has : lacks)(f.remedy, "both tasks are pinned to CPU");
			assert_true(f.remedy[0] != ' ' && f.remedy[0] != ';');
			lacks(f.remedy, "  ");
		}
	/* A per-CPU kernel thread is where it has to be. */
	f = sample(VW_STARVED_TASK, VW_CAUSE_UNKNOWN);
	f.victims[0].task.watched = false;
	f.victims[0].task.vm[0] = '\0';
	strcpy(f.culprit.cpus_allowed, "3");
	strcpy(f.victims[0].task.cpus_allowed, "3");
	write_on(&f, VW_PREEMPT_NONE, true);
	assert_string_equal(f.remedy, "");
}

static void fill(char *to, size_t size, const char *pattern)
{
	size_t i, n = strlen(pattern);

	for (i = 0; i + 1 < size; i++)
		to[i] = pattern[i % n];
	to[size - 1] = '\0';
}

static void make_hostile(struct vw_task *t, const char *pattern)
{
	t->tid = INT32_MIN;
	fill(t->comm, sizeof(t->comm), pattern);
	fill(t->vm, sizeof(t->vm), pattern);
	fill(t->device, sizeof(t->device), pattern);
	fill(t->cpus_allowed, sizeof(t->cpus_allowed), "1");
}

/* The longest names there are still fit: a sentence is never cut. */
static void test_hostile_names(void **state)
{
	static const char *const patterns[] = { "%n%s", "\xff", "\n|", "\"\\", "x" };
	struct vw_finding f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		f = sample(VW_NON_YIELDING_WORKER, VW_CAUSE_IGNORES_RESCHED);
		make_hostile(&f.culprit, patterns[i]);
		make_hostile(&f.victims[0].task, patterns[i]);
		f.n_victims = VW_MAX_VICTIMS;
		f.cpu = INT32_MAX;
		f.evidence.oncpu_ns = f.evidence.resched_pending_ns = UINT64_MAX;
		f.victims[0].wait_ns = UINT64_MAX;
		write_on(&f, VW_PREEMPT_UNKNOWN, true);
		assert_true(strlen(f.message) + 1 < sizeof(f.message));
		assert_true(strlen(f.remedy) + 1 < sizeof(f.remedy));
		has(f.message, f.culprit.comm);
		has(f.message, f.culprit.vm);
		has(f.message, f.culprit.device);
		has(f.message, "for it, as have 7 more");
		has(f.remedy, "(taskset -pc)");
	}
}

static void test_no_name(void **state)
{
	struct vw_finding f = sample(VW_STARVED_TASK, VW_CAUSE_UNKNOWN);

	(void)state;
	memset(&f.culprit, 0, sizeof(f.culprit));
	f.culprit.tid = 9;
	write_on(&f, VW_PREEMPT_NONE, false);
	has(f.message, "task ? (tid 9) has kept");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_number_of_victims),
		cmocka_unit_test(test_chief_victim),
		cmocka_unit_test(test_remedy_of_ignored_request),
		cmocka_unit_test(test_other_remedies),
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
