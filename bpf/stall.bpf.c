// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel reports an RCU stall.  Once a minute at most, while one lasts. */
#include "vw_core.bpf.h"
#include <bpf/bpf_tracing.h>

/* The messages are SelfDetected, StallDetected and ExpeditedStall. */
static __always_inline u8 how_of(const char *msg)
{
	char text[4] = {};

	bpf_probe_read_kernel_str(text, sizeof(text), msg);
	if (text[0] == 'E')
		return VW_ABI_STALL_EXPEDITED;
	if (text[0] == 'S' && text[1] == 'e')
		return VW_ABI_STALL_SELF;
	return text[0] == 'S' ? VW_ABI_STALL_OTHER : VW_ABI_STALL_UNKNOWN;
}

static __always_inline void send(const char *flavor, u8 how)
{
	struct vw_rec_stall *rec;

	if (!vw_active)
		return;
	rec = vw_reserve(sizeof(*rec), VW_REC_STALL, bpf_ktime_get_ns());
	if (!rec)
		return;
	vw_task_fill(&rec->task, (void *)bpf_get_current_task());
	__builtin_memset(rec->flavor, 0, sizeof(rec->flavor));
	if (flavor)
		bpf_probe_read_kernel_str(rec->flavor, sizeof(rec->flavor), flavor);
	rec->how = how;
	__builtin_memset(rec->pad, 0, sizeof(rec->pad));
	vw_submit(rec);
}

SEC("?tp_btf/rcu_stall_warning")
int BPF_PROG(vw_rcu_stall, const char *flavor, const char *msg)
{
	send(flavor, how_of(msg));
	return 0;
}

/* Linux 5.10 has no tracepoint; both printers call this, without a word of who stalls. */
SEC("?kprobe")
int vw_rcu_stall_printed(void *ctx)
{
	send(NULL, VW_ABI_STALL_UNKNOWN);
	return 0;
}
