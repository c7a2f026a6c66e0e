# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2086
# Helpers of the acceptance tests' scripts (scenarios/detect), on top of lib.sh.

# attached NAME: wait until a background step has printed its header: its hooks are in.
attached() {
	_out=/results/step-$1.out
	wait_for 40 'grep -q "\"type\":\"header\"" $_out'
}

# watch_bg NAME [OPTION...]: vhostwatch watch in the background, attached.
watch_bg() {
	_watch=$1
	shift
	step_bg "$_watch" vhostwatch watch --format json "$@"
	attached "$_watch"
}

# reported NAME: wait until a background step has printed a finding that is open.
reported() {
	_out=/results/step-$1.out
	wait_for 20 'grep "\"type\":\"finding\"" $_out | grep -q "\"status\":\"open\""'
}

# go_load N: release one load.
go_load() {
	eval "kill -USR1 \$LAB_PID_$1"
}

# ran NAME MS: wait until the worker of a load has had the CPU for so long.
ran() {
	_tid=$(worker_of "$1")
	_ns=$(($2 * 1000000))
	wait_for 60 'set -- $(schedstat $_tid); [ "$1" -gt $_ns ]'
}

# hog_first: the first load has the CPU before the second one wants it, so it is known who is who.
hog_first() {
	go_load 1
	ran web01 50
	go_load 2
	now_cs
	result second_cs $NOW_CS
}

# running N: the load's program is still there, so what was seen until now was seen during it.
running() {
	eval "kill -0 \$LAB_PID_$1" || fail "load $1 has ended too early"
}

# timed NAME COMMAND...: a step, and how long it took as the value NAME_cs.
timed() {
	now_cs
	_from=$NOW_CS
	step "$@"
	now_cs
	result "$1_cs" $((NOW_CS - _from))
}

# programs: how many BPF programs of ours the kernel holds.
programs() {
	bpftool prog show | grep -c ' name vw_'
}

# links: how many of ours are attached. perf_event links count as well.
links() {
	bpftool link show | grep -cE 'tracing|perf_event'
}

# ends NAME SIGNAL LEFT: until the process is gone with all its threads, and until no more than
# LEFT programs of ours are held; 8 s for that, so that a late end has a figure, too.
ends() {
	now_cs
	_from=$NOW_CS
	step_stop "$1" "$2"
	now_cs
	result "$1_gone_cs" $((NOW_CS - _from))
	while [ "$(programs)" -gt "$3" ]; do
		now_cs
		[ $((NOW_CS - _from)) -lt 800 ] || break
		sleep 0.05 # between two looks
	done
	now_cs
	result "$1_hooks_cs" $((NOW_CS - _from))
	result "$1_programs_left" "$(programs)"
	result "$1_processes_left" "$(pidof vhostwatch | wc -w)"
}

# tracing_on: who gets the CPU and who asks for a reschedule, by the kernel's own tracer.
tracing_on() {
	cd /sys/kernel/tracing || fail "no tracefs"
	echo mono >trace_clock
	echo 16384 >buffer_size_kb
	echo 'p:lab/resched resched_curr' >kprobe_events || fail "no kprobe on resched_curr"
	echo 1 >events/lab/resched/enable
	echo 1 >events/sched/sched_switch/enable
	echo 1 >tracing_on
	cd /
}

# tracing_off: the trace of CPU $1 goes to the results.
tracing_off() {
	echo 0 >/sys/kernel/tracing/tracing_on
	cat "/sys/kernel/tracing/per_cpu/cpu$1/trace" >/results/trace
	cat "/sys/kernel/tracing/per_cpu/cpu$1/stats" >/results/trace-stats
}
