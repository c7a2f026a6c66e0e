/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the scheduler model (source/sched.h) share.
 *
 * A task is in one state, and with it in the lists that go with the state; all changes go through
 * the functions below, so that lists, sums and masks agree.  What is wrong in the end is kept in
 * @err, so that only the entry has to look at it.  docs/INTERNALS.md has the rules.
 */
#ifndef VW_SOURCE_SCHED_INTERNAL_H
#define VW_SOURCE_SCHED_INTERNAL_H

#include <utlist.h>

#include "source/sched.h"
#include "util/hash.h"
#include "util/parse.h"

#define VW_SCHED_CPUS 8192
#define VW_SCHED_TASKS 65536 /* sleeping ones are forgotten above that */
#define VW_SCHED_TASKS_MAX (4 * VW_SCHED_TASKS) /* others are not even taken up above that */
#define VW_SCHED_ITEMS 65536
#define VW_SCHED_LOG 256 /* stints kept of a CPU, a power of two */
#define VW_SCHED_SHARES 4 /* worker and vCPU, of one CPU */
#define VW_SCHED_REPEAT_NS VW_NS_PER_SEC /* what lasts is told again */

enum vw_sched_state {
	VW_SCHED_UNKNOWN,
	VW_SCHED_SLEEPS,
	VW_SCHED_BLOCKED, /* sleeps in D state */
	VW_SCHED_WAITS, /* could run and does not */
	VW_SCHED_RUNS,
};

/* What ran while a task waited, as far as it was added up. */
struct vw_sched_runs {
	unsigned int n;
	bool incomplete; /* stints are missing */
	bool more; /* there was no room for all tasks */
	uint64_t longest_ns;
	uint32_t heaviest;
	struct {
		int32_t tid;
		uint64_t total_ns, longest_ns;
	} runs[VW_WAIT_RUNNERS];
};

struct vw_sched_wait {
	uint64_t start_ns; /* what began before it was seen is no wait */
	bool preempted; /* taken off its CPU; else woken */
	bool by_waking; /* only sched_waking was seen of the wake-up */
	bool moved; /* from the queue where it began */
	int32_t woken_cpu;
	uint64_t due_ns; /* when to tell next */
	/* What the CPUs did where it waited before, and their counters when it joined this one. */
	uint64_t idle_ns, rt_ns, softirq_ns;
	uint64_t joined_ns, idle_at, rt_at, softirq_at, log_at;
	bool parts_known;
	struct vw_sched_runs *runs; /* NULL: nothing yet */
};

/* Time charged against time on a CPU, since both were known at one moment. */
struct vw_sched_charge {
	bool open;
	bool rt; /* it ran in a real-time class meanwhile, which not all kernels tell of */
	bool off; /* the window before this one had a difference */
	bool any; /* it was charged at some time of the trace */
	int32_t cpu; /* -1: several */
	uint32_t gap; /* of the model when it began: lost events may be any task's */
	uint64_t start_ns, oncpu_at, irq_at, softirq_at;
	uint64_t charged_ns;
	uint64_t last_ns; /* it was charged in this stint, 0 not yet */
	uint64_t choosing_ns; /* sum of what came after the last charge of each stint */
	/* When the charge was up to date last, and the sums then. */
	uint64_t sync_ns, sync_oncpu, sync_irq, sync_softirq;
};

struct vw_sched_item;
struct vw_sched_move;

struct vw_sched_task {
	int32_t tid;
	int32_t tgid; /* 0 unknown */
	int32_t prio; /* -1 unknown */
	char comm[VW_COMM_LEN];
	enum vw_role role;
	enum vw_backend backend;
	int32_t owner_pid;
	bool owner_by_name;
	bool watched;
	bool works; /* it was seen running vhost work */
	bool counted; /* as a worker */
	bool ran; /* counted as one that ran */
	bool stopper; /* migration/N */
	bool told, ever_told; /* as it is now; at all */
	bool lived; /* it was woken, or ran */
	bool gone; /* it exits; no observation names it any more */
	bool asked; /* /proc was asked */
	struct vw_task *proc; /* what /proc says, NULL */

	enum vw_sched_state state;
	/* Runs there, waits there, or ran there last; NULL unknown. */
	struct vw_sched_cpu *cpu;
	uint64_t since_ns; /* of a blocked one */
	struct vw_sched_wait wait; /* while it waits */
	struct vw_sched_task *prev, *next; /* in a CPU's queue, or among the sleepers */

	/* Sums since the start, without what is open. */
	uint64_t oncpu_ns, wait_ns, irq_ns, softirq_ns, charged_ns;
	uint64_t longest_pending_ns, voluntary, involuntary, migrations, items;

	/* Awake since, with the sums then; 0: it is not. */
	uint64_t awake_ns, awake_oncpu, awake_wait, awake_items;
	bool switched; /* out at least once since */
	uint64_t busy_due_ns;
	uint64_t others_wait_ns; /* the longest of any task on its CPUs; VW_UNKNOWN */
	struct vw_sched_task *w_prev, *w_next; /* watched tasks of a CPU, while awake */
	struct vw_sched_cpu *w_cpu;
	struct vw_sched_task *worker_prev, *worker_next; /* all vhost workers, if @listed */
	bool listed;

	uint64_t blocked_due_ns;
	struct vw_sched_task *b_prev, *b_next; /* blocked tasks */

	uint64_t left_wait_ns; /* the longest wait of another where it ran, when it left */
	struct vw_sched_move *move; /* it is being moved */
	struct vw_sched_move *displaced; /* it made room for one that was moved */
	int32_t last_from, last_to; /* its last move */
	uint64_t last_move_ns;
	uint64_t numa_ns; /* NUMA balancing named it */

	struct vw_sched_charge charge;
	struct vw_sched_item *items_list; /* queued to it or run by it */
	struct vw_sched_item *running;
	int32_t work_cpu; /* where its work was last told to be; -1 unknown */
	UT_hash_handle hh;
};

/* A stint that is over. */
struct vw_sched_run {
	int32_t tid;
	int32_t prio;
	uint64_t end_ns, ns;
};

/* Time in interrupts of one kind. */
struct vw_sched_irq {
	unsigned int depth;
	bool bad; /* entries without exits */
	uint64_t since_ns, total_ns;
};

struct vw_sched_share {
	int32_t vcpu, worker; /* 0: free */
	uint64_t start_ns, interruptions, taken_ns;
};

struct vw_sched_cpu {
	int32_t id;
	bool known; /* who runs */
	bool whole; /* the stint's beginning was seen */
	struct vw_sched_task *curr; /* NULL and known: idle */
	uint64_t since_ns; /* the stint's beginning, or when it was first seen */
	uint64_t heard_ns; /* the last event of this CPU */
	uint64_t due_ns, stint_due_ns, wait_due_ns; /* when to look again */
	bool stint_told; /* with somebody waiting */
	int32_t left_tid; /* who left at since_ns; -1 nobody was seen to */
	uint64_t left_since_ns; /* and since when it had run, or been seen to */
	uint64_t idle_ns, rt_ns; /* sums, without the open stint */

	struct vw_sched_task *first; /* who waits, longest first */
	unsigned int n_waiting;
	bool queue_known; /* it was idle since sight was lost: no others wait */

	enum vw_resched flag; /* of the running task, as seen last */
	uint64_t flag_ns, full_since_ns; /* 0 none */

	struct vw_sched_irq irq, softirq;
	uint64_t irq_at, softirq_at; /* when the stint began */

	struct vw_sched_run *log; /* the last VW_SCHED_LOG stints */
	uint64_t n_log;

	struct vw_sched_task *watched; /* watched tasks, awake */
	unsigned int n_watched;
	struct vw_sched_move *moves; /* of tasks that left it and did not run yet */
	struct vw_sched_move *arriving; /* moves to it that are not settled */

	struct {
		int32_t vcpu, worker; /* 0: none */
		uint64_t since_ns, ns; /* taken so far */
	} broken; /* the interruption of a vCPU under way */
	struct vw_sched_share shares[VW_SCHED_SHARES];
	struct {
		int32_t tid[2], left; /* who left last for the other one */
		uint64_t start_ns, switches, misses, longest_ns;
	} pair;
};

/* Kinds of events seen; they decide what can be known at all. */
struct vw_sched_seen {
	uint64_t switches, wakings, wakeups, migrations, charges, softirqs, irqs, works, flags;
	uint64_t console;
};

struct vw_sched {
	struct vw_sched_config config;
	const struct vw_replay *out;
	int err;
	bool started;
	uint64_t now_ns, start_ns, second_ns, last_charge_ns;
	uint64_t lost, breaks, unseen;
	uint32_t gap; /* counts losses */
	unsigned int ran_tasks, charged_tasks; /* so far, some may be gone */
	unsigned int workers;
	struct vw_sched_seen seen;
	struct vw_sched_task *tasks;
	struct vw_sched_task *sleepers; /* asleep or unknown, the oldest first */
	struct vw_sched_task *blocked;
	struct vw_sched_task *worker_list;
	struct vw_sched_move *displaced; /* moves for which somebody made room */
	struct vw_sched_item *items;
	unsigned int n_cpus; /* in use */
	struct vw_sched_cpu *cpus[VW_SCHED_CPUS]; /* by number */
	struct vw_sched_cpu *active[VW_SCHED_CPUS]; /* the same in order of first sight */
	uint64_t seen_mask[VW_SCHED_CPUS / 64];
	uint64_t known_mask[VW_SCHED_CPUS / 64];
	uint64_t idle_mask[VW_SCHED_CPUS / 64]; /* idle, and nobody waits there */
	unsigned int n_words; /* of the masks in use */
	struct vw_obs obs; /* the one that is being told */
};

/* --- sched.c */
/* An observation of @kind at @ts_ns with its own part zeroed; vw_sched_tell() gives it out. */
struct vw_obs *vw_sched_obs(struct vw_sched *s, enum vw_obs_kind kind, uint64_t ts_ns);
void vw_sched_tell(struct vw_sched *s);
void vw_sched_oom(struct vw_sched *s);
/* @count 0: nobody said that events were lost. */
void vw_sched_tell_loss(struct vw_sched *s, int32_t cpu, uint64_t count);
/* What @cpu is thought to do cannot be: sight of it is lost. */
void vw_sched_contradict(struct vw_sched *s, struct vw_sched_cpu *cpu);

/* --- sched_tasks.c */
void vw_sched_task_free(struct vw_sched_task *t);
struct vw_sched_task *vw_sched_find(const struct vw_sched *s, int32_t tid);
/* The task that an event names, taken up if need be; NULL for the idle task and on failure. */
struct vw_sched_task *vw_sched_take(struct vw_sched *s, const struct vw_event_task *et,
				    bool off_cpu);
struct vw_sched_task *vw_sched_take_tid(struct vw_sched *s, int32_t tid);
/* Its name, as seen now. */
void vw_sched_name(struct vw_sched *s, struct vw_sched_task *t, const char *comm);
/* From the head of a line. */
void vw_sched_head_facts(struct vw_sched *s, struct vw_sched_task *t, const struct vw_event *e);
/* No longer in this model; an exit is told if it was named. */
void vw_sched_drop(struct vw_sched *s, struct vw_sched_task *t);
/* Tells that it is gone; it stays for as long as it is on a CPU. */
void vw_sched_exit(struct vw_sched *s, struct vw_sched_task *t);
/* To be called before an observation is made that names it. */
void vw_sched_tell_task(struct vw_sched *s, struct vw_sched_task *t);
void vw_sched_row(struct vw_sched *s, const struct vw_sched_task *t);
uint64_t vw_sched_start_of(const struct vw_sched_task *t);
/* With what is open. */
uint64_t vw_sched_oncpu(const struct vw_sched_task *t, uint64_t ts_ns);
uint64_t vw_sched_waited(const struct vw_sched_task *t, uint64_t ts_ns);

/* --- sched_roles.c */
void vw_sched_classify(struct vw_sched *s, struct vw_sched_task *t);
void vw_sched_fill_task(const struct vw_sched_task *t, struct vw_task *dst);
/* Asks /proc once. */
void vw_sched_ask(struct vw_sched *s, struct vw_sched_task *t);
void vw_sched_unlist(struct vw_sched *s, struct vw_sched_task *t);
/* It was seen running vhost work. */
void vw_sched_works(struct vw_sched *s, struct vw_sched_task *t);

/* --- sched_cpus.c */
struct vw_sched_cpu *vw_sched_cpu(struct vw_sched *s, int32_t id);
void vw_sched_cpu_free(struct vw_sched_cpu *cpu);
/* @t (NULL: the idle task) runs from now on. */
void vw_sched_begin(struct vw_sched *s, struct vw_sched_cpu *cpu, struct vw_sched_task *t,
		    bool whole);
/* Its stint ends here; what becomes of the task is the caller's. */
void vw_sched_end(struct vw_sched *s, struct vw_sched_cpu *cpu);
/* Sight of @cpu is lost: what is open there is unknown from when it was last heard of. */
void vw_sched_break(struct vw_sched *s, struct vw_sched_cpu *cpu);
/* Who runs there, by the head of a line. */
void vw_sched_hear(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e);
void vw_sched_interrupt(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e);
void vw_sched_masks(struct vw_sched *s, const struct vw_sched_cpu *cpu);
/* VW_UNKNOWN where the trace does not tell. */
uint64_t vw_sched_softirq(const struct vw_sched *s, const struct vw_sched_cpu *cpu, uint64_t ts_ns);
uint64_t vw_sched_irq(const struct vw_sched *s, const struct vw_sched_cpu *cpu, uint64_t ts_ns);

/* --- sched_stints.c */
void vw_sched_flag(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e);
void vw_sched_tell_stint(struct vw_sched *s, struct vw_sched_cpu *cpu, bool final);
/* Tells what lasts on it and is due. */
void vw_sched_look(struct vw_sched *s, struct vw_sched_cpu *cpu);
uint32_t vw_sched_weight(int32_t prio);

/* --- sched_switch.c */
void vw_sched_switch(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_event *e);
void vw_sched_wake(struct vw_sched *s, const struct vw_event *e);
void vw_sched_migrate(struct vw_sched *s, const struct vw_event *e);
/* @t, which is in no list: nobody knows what it does. */
void vw_sched_set_unknown(struct vw_sched *s, struct vw_sched_task *t);

/* --- sched_waits.c */
/* @t, which is in no list, waits on @cpu (NULL unknown) from now on. */
void vw_sched_wait_begin(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *cpu,
			 bool preempted);
/* It got to run on @ran; its state is unknown then, for vw_sched_begin() to say. */
void vw_sched_wait_end(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *ran);
/* What became of it was not seen. */
void vw_sched_wait_drop(struct vw_sched *s, struct vw_sched_task *t);
/* It began only now. */
void vw_sched_wait_restart(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *cpu);
void vw_sched_wait_move(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *to);
/* A stint is over. */
void vw_sched_log(struct vw_sched *s, struct vw_sched_cpu *cpu, const struct vw_sched_task *t,
		  uint64_t ns, uint64_t end_ns);
/* Tells those that are due; returns when the next one is. */
uint64_t vw_sched_tell_waits(struct vw_sched *s, struct vw_sched_cpu *cpu);

/* --- sched_moves.c */
/* @t, which waits, is moved. */
void vw_sched_move(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *from,
		   struct vw_sched_cpu *to);
/* @t is moved, of which it is not known that it waits. */
void vw_sched_move_unseen(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *from,
			  struct vw_sched_cpu *to);
/* A switch on @cpu, before it is made; and after it, but before @prev went where it goes. */
void vw_sched_move_leave(struct vw_sched *s, struct vw_sched_cpu *cpu, struct vw_sched_task *prev);
void vw_sched_moves_switch(struct vw_sched *s, struct vw_sched_cpu *cpu, struct vw_sched_task *prev,
			   struct vw_sched_task *next, bool runnable);
/* No more will be known of the moves that @t has to do with: what is known is told, or nothing. */
void vw_sched_move_over(struct vw_sched *s, struct vw_sched_task *t);
void vw_sched_move_drop(struct vw_sched *s, struct vw_sched_task *t);
void vw_sched_moves_lost(struct vw_sched *s, struct vw_sched_cpu *cpu);
void vw_sched_moves_second(struct vw_sched *s);
void vw_sched_moves_finish(struct vw_sched *s);

/* --- sched_work.c */
void vw_sched_work(struct vw_sched *s, const struct vw_event *e);
void vw_sched_items_drop(struct vw_sched *s, struct vw_sched_task *t);
/* Of workers on @cpu. */
void vw_sched_items_lost(struct vw_sched *s, const struct vw_sched_cpu *cpu);
void vw_sched_items_second(struct vw_sched *s, bool all);
void vw_sched_item_lasts(struct vw_sched *s, struct vw_sched_task *t);
void vw_sched_items_free(struct vw_sched *s);

/* --- sched_busy.c */
void vw_sched_set_watched(struct vw_sched *s, struct vw_sched_task *t, bool watched);
void vw_sched_awake(struct vw_sched *s, struct vw_sched_task *t, struct vw_sched_cpu *cpu);
/* @tell: it went to sleep, and else nobody knows. */
void vw_sched_asleep(struct vw_sched *s, struct vw_sched_task *t, bool tell);
/* @t has waited for @ns on @cpu. */
void vw_sched_others_wait(struct vw_sched *s, struct vw_sched_cpu *cpu,
			  const struct vw_sched_task *t, uint64_t ns);
void vw_sched_tell_busy(struct vw_sched *s, struct vw_sched_task *t, bool final);
void vw_sched_blocked_begin(struct vw_sched *s, struct vw_sched_task *t);
void vw_sched_blocked_end(struct vw_sched *s, struct vw_sched_task *t, bool tell);
void vw_sched_blocked_second(struct vw_sched *s, bool all);

/* --- sched_charge.c */
void vw_sched_charge(struct vw_sched *s, const struct vw_event *e);
void vw_sched_charge_in(struct vw_sched *s, struct vw_sched_task *t, bool whole);
void vw_sched_charge_out(struct vw_sched *s, struct vw_sched_task *t);
void vw_sched_charge_look(struct vw_sched *s, struct vw_sched_task *t);
void vw_sched_charge_finish(struct vw_sched *s, struct vw_sched_task *t);

/* --- sched_windows.c */
void vw_sched_shares(struct vw_sched *s, struct vw_sched_cpu *cpu, struct vw_sched_task *prev,
		     struct vw_sched_task *next, bool runnable);
void vw_sched_shares_second(struct vw_sched *s, struct vw_sched_cpu *cpu, bool all);
void vw_sched_shares_drop(struct vw_sched_cpu *cpu);

/* Of sums of time in interrupts: VW_UNKNOWN then means that there were no such events yet. */
static inline uint64_t vw_sched_grown(uint64_t now, uint64_t then)
{
	if (now == VW_UNKNOWN || then == VW_UNKNOWN)
		return now;
	return now - then;
}

static inline uint64_t vw_sched_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t vw_sched_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif
