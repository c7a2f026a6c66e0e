// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/evidence.h"

static void put_stack(struct vw_object *o, const struct vw_evidence *e)
{
	json_t *stack = json_array();
	unsigned int i;

	for (i = 0; i < e->n_stack && i < VW_MAX_FRAMES; i++)
		if (json_array_append_new(stack, vw_object_text(o, e->stack[i])))
			o->failed = true;
	vw_object_put(o, "stack", stack);
}

static void put_scheduling(struct vw_object *o, const struct vw_evidence *e)
{
	vw_object_put_text(o, "resched", vw_resched_name(e->resched));
	vw_object_put_u64(o, "resched_pending_ns", e->resched_pending_ns);
	vw_object_put_u64(o, "oncpu_ns", e->oncpu_ns);
	vw_object_put_u64(o, "softirq_ns", e->softirq_ns);
	vw_object_put_u64(o, "irq_ns", e->irq_ns);
	vw_object_put_u64(o, "nr_running", e->nr_running);
	vw_object_put_text(o, "clock", e->clock);
	vw_object_put_u64(o, "soft_lockup_ns", e->lockup_ns);
	put_stack(o, e);
}

static void put_work(struct vw_object *o, const struct vw_finding *f)
{
	vw_object_put_text(o, "function", f->evidence.work.function);
	vw_object_put_text(o, "device", f->culprit.device);
	vw_object_put_text(o, "behind", f->evidence.work.behind);
	vw_object_put_u64(o, "oncpu_ns", f->evidence.oncpu_ns);
}

static void put_gap(struct vw_object *o, const struct vw_evidence *e)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} parts[] = {
		{ VW_TAKEN_IRQ, "irq" },
		{ VW_TAKEN_SOFTIRQ, "softirq" },
		{ VW_TAKEN_STEAL, "steal" },
	};
	json_t *taken = json_array();
	size_t i;

	vw_object_put_u64(o, "oncpu_ns", e->oncpu_ns);
	vw_object_put_u64(o, "charged_ns", e->gap.charged_ns);
	vw_object_put_u64(o, "irq_ns", e->irq_ns);
	vw_object_put_u64(o, "softirq_ns", e->softirq_ns);
	vw_object_put_u64(o, "steal_ns", e->gap.steal_ns);
	vw_object_put_u64(o, "unexplained_ns", e->gap.unexplained_ns);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if ((e->gap.taken_out & parts[i].bit) &&
		    json_array_append_new(taken, json_string(parts[i].name)))
			o->failed = true;
	vw_object_put(o, "taken_out", taken);
}

static void put_stall(struct vw_object *o, const struct vw_finding *f)
{
	const struct vw_evidence *e = &f->evidence;
	const struct vw_stall_evidence *s = &e->stall;

	vw_object_put_text(o, "flavor", s->flavor);
	vw_object_put_cpu(o, "detector_cpu", s->detector_cpu);
	vw_object_put_list(o, "cpus", s->cpus, s->n_cpus);
	vw_object_put_list(o, "tasks", s->tasks, s->n_tasks);
	vw_object_put(o, "gp", s->gp == VW_UNKNOWN ? json_null() : json_integer((json_int_t)s->gp));
	vw_object_put_u64(o, "jiffies", s->jiffies);
	vw_object_put_u64(o, "reports", s->reports);
	vw_object_put(o, "incomplete", json_boolean(s->incomplete));
	if (f->kind == VW_RCU_STALL)
		vw_object_put_u64(o, "soft_lockup_ns", e->lockup_ns);
	put_stack(o, e);
}

static void put_boost(struct vw_object *o, const struct vw_boost_evidence *b)
{
	vw_object_put_cpu(o, "from_cpu", b->from_cpu);
	vw_object_put_cpu(o, "to_cpu", b->to_cpu);
	if (b->idle_known)
		vw_object_put_list(o, "idle_cpus", b->idle_cpus, b->n_idle);
	else
		vw_object_put(o, "idle_cpus", json_null());
	vw_object_put_text(o, "allowed", b->allowed);
	vw_object_put_positive(o, "displaced_tid", b->displaced_tid);
	vw_object_put_u64(o, "wait_ns", b->wait_ns);
}

static void put_vcpu(struct vw_object *o, const struct vw_vcpu_evidence *v)
{
	vw_object_put_u64(o, "interruptions", v->interruptions);
	vw_object_put_u64(o, "taken_ns", v->taken_ns);
	vw_object_put(o, "share", json_real((double)v->share_ppm / 1e6));
}

static void put_by_kind(struct vw_object *o, const struct vw_finding *f)
{
	const struct vw_evidence *e = &f->evidence;

	switch (f->kind) {
	case VW_DELAYED_WORK_ITEM:
	case VW_LONG_WORK_ITEM:
		put_work(o, f);
		break;
	case VW_CPU_ACCOUNTING_GAP:
		put_gap(o, e);
		break;
	case VW_RCU_STALL:
	case VW_SOFT_LOCKUP:
		put_stall(o, f);
		break;
	case VW_SPURIOUS_MIGRATION_BOOST:
		put_boost(o, &e->boost);
		break;
	case VW_WORKER_ON_VCPU_CPU:
		put_vcpu(o, &e->vcpu);
		break;
	case VW_OWNER_BLOCKED:
		vw_object_put_u64(o, "state_ns", e->blocked.state_ns);
		break;
	case VW_YIELD_PING_PONG:
		break;
	default:
		put_scheduling(o, e);
		break;
	}
}

void vw_evidence_put(struct vw_object *parent, const struct vw_finding *finding)
{
	struct vw_object o;

	vw_object_init(&o);
	vw_object_put_u64(&o, "count", finding->evidence.count);
	vw_object_put_u64(&o, "span_ns", finding->evidence.span_ns);
	put_by_kind(&o, finding);
	vw_object_put_object(parent, "evidence", &o);
}
