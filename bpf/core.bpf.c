// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Settings and state of the core skeleton, declared in vw_maps.bpf.h. */
#include "vw_maps.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u64 vw_threshold_ns = 10000000;
const volatile __u64 vw_emit_ns = 100000000;
const volatile __u64 vw_tick_ns = 4000000;
const volatile __u64 vw_busy_ns = 5000000000;
const volatile __u32 vw_pending_looks = 2;
const volatile __u32 vw_stint_looks = 4;
const volatile __u32 vw_self = 0;
const volatile __u64 vw_tif_full = 0;
const volatile __u64 vw_tif_lazy = 0;
const volatile __u8 vw_switch_state = 0;
const volatile __u32 vw_n_cpus = 0;
const volatile __u32 vw_mask_bytes = 8;

__u32 vw_active = 0;
__u32 vw_trace = 0;
__u8 vw_watch[VW_ABI_WATCH_SLOTS] = {};
