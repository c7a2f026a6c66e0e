// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "load/features.h"
#include "util/fs.h"

enum vw_preempt vw_features_preempt(const char *debugfs_text, const char *uname_version)
{
	static const struct {
		const char *word;
		enum vw_preempt mode;
	} modes[] = {
		{ "(none)", VW_PREEMPT_NONE },
		{ "(voluntary)", VW_PREEMPT_VOLUNTARY },
		{ "(full)", VW_PREEMPT_FULL },
		{ "(lazy)", VW_PREEMPT_LAZY },
	};
	size_t i;

	if (debugfs_text)
		for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
			if (strstr(debugfs_text, modes[i].word))
				return modes[i].mode;
	/* Only a model that was fixed at build shows in uname; PREEMPT_DYNAMIC says nothing. */
	if (!uname_version || strstr(uname_version, "PREEMPT_DYNAMIC"))
		return VW_PREEMPT_UNKNOWN;
	if (strstr(uname_version, "PREEMPT"))
		return VW_PREEMPT_FULL;
	return VW_PREEMPT_UNKNOWN;
}

static void probe_host(struct vw_features *f, int sys_fd)
{
	unsigned int major = 0, minor = 0, patch = 0;
	struct timespec res;
	struct utsname u;
	char text[128];
	bool listed;

	listed = vw_fs_read(sys_fd, "kernel/debug/sched/preempt", text, sizeof(text)) > 0;
	if (uname(&u))
		return;
	snprintf(f->host.release, sizeof(f->host.release), "%s", u.release);
	snprintf(f->host.arch, sizeof(f->host.arch), "%.31s", u.machine);
	sscanf(u.release, "%u.%u.%u", &major, &minor, &patch);
	f->version = KERNEL_VERSION(major, minor, patch > 255 ? 255 : patch);
	f->host.preempt = vw_features_preempt(listed ? text : NULL, u.version);
	f->host.preempt_switchable = strstr(u.version, "PREEMPT_DYNAMIC");
	f->preempt_lazy = listed && strstr(text, "lazy");
	/* The coarse clock's resolution is the tick (KTIME_LOW_RES = TICK_NSEC). */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &res) && !res.tv_sec && res.tv_nsec) {
		f->tick_ns = (uint64_t)res.tv_nsec;
		f->host.hz = (uint32_t)((1000000000 + res.tv_nsec / 2) / res.tv_nsec);
	}
	f->host.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

static bool effective(cap_t caps, cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;

	return !cap_get_flag(caps, cap, CAP_EFFECTIVE, &value) && value == CAP_SET;
}

static void probe_rights(struct vw_features *f, int sys_fd)
{
	struct rlimit limit;
	char text[64];
	cap_t caps = cap_get_proc();

	if (caps) {
		bool admin = effective(caps, CAP_SYS_ADMIN);

		f->cap_bpf = admin || effective(caps, CAP_BPF);
		f->cap_perfmon = admin || effective(caps, CAP_PERFMON);
		f->cap_resource = effective(caps, CAP_SYS_RESOURCE);
		cap_free(caps);
	}
	f->memlock_bytes = getrlimit(RLIMIT_MEMLOCK, &limit) ? 0 : limit.rlim_cur;
	f->lockdown = VW_LOCKDOWN_NONE;
	if (vw_fs_read(sys_fd, "kernel/security/lockdown", text, sizeof(text)) <= 0)
		return;
	if (strstr(text, "[integrity]"))
		f->lockdown = VW_LOCKDOWN_INTEGRITY;
	else if (strstr(text, "[confidentiality]"))
		f->lockdown = VW_LOCKDOWN_CONFIDENTIALITY;
}

/* Of a tracepoint; 0 when it does not exist. */
static int n_arguments(const struct btf *btf, const char *tracepoint)
{
	const struct btf_type *t;
	char type[64];
	int id;

	snprintf(type, sizeof(type), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF);
	t = id > 0 ? btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type) : NULL;
	if (!t || !btf_is_ptr(t))
		return 0;
	t = btf__type_by_id(btf, t->type);
	/* The first one is the probe's own data. */
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : 0;
}

static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t;
	int i;

	if (id <= 0)
		return false;
	t = btf__type_by_id(btf, (__u32)id);
	for (i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), member))
			return true;
	return false;
}

static void probe_btf(struct vw_features *f)
{
	struct btf *btf = btf__load_vmlinux_btf();
	enum vw_tp tp;

	if (!btf)
		return;
	f->btf = true;
	for (tp = 0; tp < VW_TP_COUNT; tp++)
		f->tp[tp] = n_arguments(btf, vw_tp_name(tp)) > 0;
	/* bool, prev, next; then the state, which fa2c3254d7cf added. */
	f->switch_state = n_arguments(btf, "sched_switch") > 3;
	f->tp_need_resched = n_arguments(btf, "sched_set_need_resched_tp") > 0;
	f->sched_info = has_member(btf, "sched_info", "last_queued");
	f->throttled_clock = has_member(btf, "cfs_rq", "throttled_clock_pelt_time");
	f->stall_function = btf__find_by_name_kind(btf, VW_STALL_FUNCTION, BTF_KIND_FUNC) > 0;
	btf__free(btf);
}

static void probe_log(struct vw_features *f)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	f->kernel_log = fd >= 0;
	if (fd >= 0)
		close(fd);
}

static void probe_perf(struct vw_features *f)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 4000000,
		.disabled = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	f->perf_cpu_clock = fd >= 0;
	if (fd >= 0)
		close((int)fd);
}

/*
 * Whether an event's program is refused a hash map that grows as it is filled.  Growing was made
 * safe there by 96da3f7d489d ("bpf: Remove tracing program restriction on map types", 6.1).
 */
static bool refuses_growing(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "vw_probe", 4, 4, 1, &opts);
	struct bpf_insn insns[] = {
		/* r1 = the map; r0 = 0; exit */
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	bool refused;
	int prog;

	if (map < 0)
		return false;
	insns[0].imm = map;
	prog = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "vw_probe", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), NULL);
	refused = prog == -EINVAL;
	if (prog >= 0)
		close(prog);
	close(map);
	return refused;
}

void vw_features_probe(struct vw_features *f, int sys_fd)
{
	memset(f, 0, sizeof(*f));
	f->tick_ns = 4000000;
	probe_host(f, sys_fd);
	probe_rights(f, sys_fd);
	probe_btf(f);
	probe_perf(f);
	f->needs_prealloc = refuses_growing();
	probe_log(f);
	f->vhost_loaded = !faccessat(sys_fd, "module/vhost", F_OK, 0);
}

int vw_features_may_load(const struct vw_features *f, struct vw_error *e)
{
	if (f->lockdown == VW_LOCKDOWN_CONFIDENTIALITY)
		return vw_error_set(
			e, -EPERM, "lockdown",
			"kernel lockdown is at confidentiality, which forbids BPF to read the kernel; "
			"boot with lockdown=integrity, or use --clock procfs");
	if (!f->cap_bpf || !f->cap_perfmon)
		return vw_error_set(
			e, -EPERM, "capability",
			"loading BPF needs CAP_BPF and CAP_PERFMON and this process lacks %s; "
			"run as root or grant both, or use --clock procfs",
			f->cap_bpf     ? "CAP_PERFMON" :
			f->cap_perfmon ? "CAP_BPF" :
					 "both");
	/*
	 * From 5.11 on BPF memory is charged to the cgroup, not to RLIMIT_MEMLOCK (97306be45fbe).
	 */
	if (f->version < KERNEL_VERSION(5, 11, 0) && !f->cap_resource &&
	    f->memlock_bytes < (8u << 20))
		return vw_error_set(
			e, -EPERM, "memlock",
			"this kernel charges BPF maps to RLIMIT_MEMLOCK, which is %llu bytes here; "
			"raise it to 8 MiB (ulimit -l 8192)",
			(unsigned long long)f->memlock_bytes);
	return 0;
}
