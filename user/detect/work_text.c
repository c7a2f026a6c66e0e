// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <string.h>

#include "detect/words.h"
#include "detect/work_text.h"
#include "util/format.h"
#include "util/str.h"

static void put_item(struct vw_words *l, const struct vw_finding *f)
{
	const char *function = f->evidence.work.function;

	vw_words_put(l, "%s%s of ", function[0] ? "work item " : "a work item", function);
	vw_words_task(l, &f->culprit, true);
}

static void put_delayed(struct vw_words *l, const struct vw_work_episode *e)
{
	const struct vw_finding *f = &e->base.finding;
	const char *behind = f->evidence.work.behind;
	char ns[VW_FORMAT_LEN];

	vw_words_put(l, " %s %s in its queue", e->base.lasts ? "has waited" : "waited",
		     vw_format_ns(ns, e->base.longest_ns));
	switch (f->cause) {
	case VW_CAUSE_HEAD_OF_LINE:
		if (e->ahead_ns > e->base.longest_ns / 2)
			vw_words_put(l, " behind %s, which ran for %s of that",
				     behind[0] ? behind : "another item",
				     vw_format_ns(ns, e->ahead_ns));
		else
			vw_words_put(l, " behind other items of that worker");
		break;
	case VW_CAUSE_WORKER_THROTTLED:
		vw_words_put(l, " because the worker's cgroup had used up its CPU quota");
		break;
	case VW_CAUSE_WORKER_STOPPED:
		vw_words_put(l, " while the worker neither ran nor waited for a CPU");
		break;
	default:
		vw_words_put(l, " because the worker did not get to run");
		break;
	}
}

static void put_long(struct vw_words *l, const struct vw_work_episode *e)
{
	const struct vw_finding *f = &e->base.finding;
	char ns[VW_FORMAT_LEN];

	vw_words_put(l, " %s for %s", e->base.lasts ? "has run" : "ran",
		     vw_format_ns(ns, e->base.longest_ns));
	if (f->evidence.oncpu_ns != VW_UNKNOWN)
		vw_words_put(l, ", %s of it on a CPU", vw_format_ns(ns, f->evidence.oncpu_ns));
	if (e->base.lasts)
		vw_words_put(l, ", and is not done");
}

static void put_delayed_remedy(struct vw_words *l, const struct vw_finding *f)
{
	const struct vw_task *worker = &f->culprit;

	switch (f->cause) {
	case VW_CAUSE_HEAD_OF_LINE:
		vw_words_put(l,
			     "one worker runs its items one after the other: see what keeps %s"
			     " busy",
			     f->evidence.work.behind[0] ? f->evidence.work.behind : "it");
		if (vw_str_starts(worker->device, "vhost-net"))
			vw_words_put(l, ", or give the device more queue pairs, each has a worker");
		else if (vw_str_starts(worker->device, "vhost-scsi"))
			vw_words_put(l, ", or give each virtqueue a worker"
					" (QEMU: worker_per_virtqueue=true, Linux 6.5)");
		break;
	case VW_CAUSE_WORKER_THROTTLED:
		vw_words_quota(l, worker);
		break;
	case VW_CAUSE_WORKER_STOPPED:
		vw_words_put(l,
			     "/proc/%d/stack says where the worker sleeps; a frozen cgroup or"
			     " SIGSTOP stops it, too",
			     worker->tid);
		break;
	default:
		vw_words_put(l,
			     "see who runs on the CPUs that the worker may use%s%s, and give it one"
			     " with room (taskset -pc, emulatorpin)",
			     worker->cpus_allowed[0] ? ": " : "", worker->cpus_allowed);
		break;
	}
}

static void put_long_remedy(struct vw_words *l, const struct vw_work_episode *e)
{
	const struct vw_finding *f = &e->base.finding;

	if (f->evidence.oncpu_ns != VW_UNKNOWN && f->evidence.oncpu_ns < e->base.longest_ns / 2) {
		vw_words_put(l,
			     "the worker was off its CPU for most of it: see who shares that CPU,"
			     " or what it sleeps on (/proc/%d/stack)",
			     f->culprit.tid);
		return;
	}
	vw_words_put(
		l,
		"an item has its limits (vhost-net: 256 packets or 512 KiB), so one that long"
		" is a loop that does not come to them: `perf top -t %d` and /proc/%d/stack say"
		" where",
		f->culprit.tid, f->culprit.tid);
}

void vw_work_words(struct vw_episode *episode, const struct vw_host *host)
{
	const struct vw_work_episode *e = (struct vw_work_episode *)episode;
	struct vw_finding *f = &episode->finding;
	struct vw_words message = VW_WORDS(f->message);
	struct vw_words remedy = VW_WORDS(f->remedy);

	(void)host;
	put_item(&message, f);
	if (f->kind == VW_DELAYED_WORK_ITEM) {
		put_delayed(&message, e);
		put_delayed_remedy(&remedy, f);
	} else {
		put_long(&message, e);
		put_long_remedy(&remedy, e);
	}
	if (f->evidence.count > 1)
		vw_words_put(&message, "; %" PRIu64 " items like that, this was the longest",
			     f->evidence.count);
}
