# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2086,SC2016,SC2046
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

# reported NAME [TIMES]: wait until a background step has printed a finding that is open.
reported() {
	_out=/results/step-$1.out
	_times=${2:-1}
	wait_for 20 '[ "$(grep "\"type\":\"finding\"" $_out | grep -c "\"status\":\"open\"")" -ge $_times ]'
}

# found NAME KIND [TIMES]: wait until a background step has printed an open finding of a kind.
found() {
	_out=/results/step-$1.out
	_kind=$2
	_times=${3:-1}
	wait_for 40 '[ "$(grep "\"type\":\"finding\"" $_out | grep "\"kind\":\"$_kind\"" | grep -c "\"status\":\"open\"")" -ge $_times ]'
}

# closed NAME: wait until a background step has printed that its last finding is over.
closed() {
	_out=/results/step-$1.out
	wait_for 20 'grep "\"type\":\"finding\"" $_out | tail -n 1 | grep -q "\"status\":\"closed\""'
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
# The programs go first where they run: a ring that runs dry would end the hog.
hog_first() {
	renice -n -20 -p $LAB_PIDS
	go_load 1
	ran web01 50
	go_load 2
	now_cs
	result second_cs $NOW_CS
}

_apart() {
	set -- "$(_run_of web01)" "$(_run_of web02)"
	[ $(($1 - $2)) -gt "$_want" ] || [ $(($2 - $1)) -gt "$_want" ]
}

# apart MS: wait until one of two workers has had the CPU for so much longer than the other one,
# whichever they are: a load that pauses hands the CPU to the other one.
apart() {
	_want=$(($1 * 1000000))
	wait_for 60 _apart
}

_run_of() {
	schedstat "$(worker_of "$1")" | cut -d ' ' -f 1
}

_grown() {
	[ $(($(_run_of "$1") - $2)) -gt "$3" ]
}

# finish_hog: end the load that has the CPU, let the other one run, end it, too.
finish_hog() {
	_first=$(_run_of web01)
	_second=$(_run_of web02)
	wait_for 20 '_grown web01 $_first 20000000 || _grown web02 $_second 20000000'
	_hog=2 _other=1 _name=web01
	_grown web01 "$_first" 20000000 && _hog=1 _other=2 _name=web02
	_first=$(_run_of $_name)
	end_load $_hog
	wait_for 20 '_grown $_name $_first 200000000'
	end_load $_other
	wait_loads
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

# runs FILE: how often each of our BPF programs has run, kernel.bpf_stats_enabled set.
runs() {
	bpftool prog show | sed -n 's/^\([0-9]*:\) .* name vw_.* run_cnt \([0-9]*\).*/\1 \2/p' >"$1"
}

# gone PID: the process and its threads have ended; its parent, this shell, need not know yet.
gone() {
	# shellcheck disable=SC2046 # a list of threads
	set -- "$1" $(ls "/proc/$1/task" 2>/dev/null)
	[ $# -le 2 ] && { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }
}

# where_is PID FILE: what the threads of a process that will not end are doing.
where_is() {
	for _task in /proc/"$1"/task/*; do
		echo "$_task CPU $(cut -d ' ' -f 39 "$_task/stat") $(cat "$_task/comm")"
		grep -E '^(State|Cpus_allowed_list)' "$_task/status"
		cat "$_task/stack"
	done >"$2" 2>&1
}

# _look_until STEP CONDITION: look every STEP seconds until it holds, or 4 s after _from.
_look_until() {
	until eval "$2"; do
		now_cs
		[ $((NOW_CS - _from)) -lt 400 ] || break
		sleep "$1" # between two looks
	done
	now_cs
}

# ends NAME SIGNAL LEFT: until the process is gone with all its threads, and until no more than
# LEFT programs of ours are held; 4 s for each, so that a late end has a figure, too. And whether
# what is left still runs.
ends() {
	_pid=$(step_pid "$1")
	now_cs
	_from=$NOW_CS
	kill "-$2" "$_pid"
	_look_until 0.02 'gone "$_pid"'
	result "$1_gone_cs" $((NOW_CS - _from))
	if gone "$_pid"; then
		step_wait "$1"
	else
		where_is "$_pid" "/results/$1.stuck"
	fi
	_left=$3
	_look_until 0.05 '[ "$(programs)" -le "$_left" ]'
	result "$1_hooks_cs" $((NOW_CS - _from))
	result "$1_programs_left" "$(programs)"
	result "$1_processes_left" "$(pidof vhostwatch | wc -w)"
	runs /tmp/runs-then
	_until=$((NOW_CS + 50))
	wait_for 5 'now_cs; [ $NOW_CS -gt $_until ]'
	runs /tmp/runs-now
	# Programs that ran in between; one that has gone by now is in the first list only.
	result "$1_still_run" "$(grep -vcxFf /tmp/runs-then /tmp/runs-now)"
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

# events_on: the events that analyze reads, by the kernel's own tracer, from now on.
events_on() {
	cd /sys/kernel/tracing || fail "no tracefs"
	echo mono >trace_clock
	echo 65536 >buffer_size_kb
	for _event in sched/sched_switch sched/sched_wakeup sched/sched_wakeup_new \
		sched/sched_migrate_task sched/sched_stat_runtime sched/sched_process_fork \
		sched/sched_process_exit irq/softirq_entry irq/softirq_exit \
		irq/irq_handler_entry irq/irq_handler_exit; do
		echo 1 >events/$_event/enable || fail "no event $_event"
	done
	echo 1 >tracing_on
	cd /
}

# events_off: no more events; those there are go through trace_pipe into the results. Not before:
# a reader beside the loads takes from them what the emulated CPU has.
events_off() {
	echo 0 >/sys/kernel/tracing/tracing_on
	cat /sys/kernel/tracing/trace_pipe >/results/pipe &
	_reader=$!
	wait_for 120 '! grep "^entries:" /sys/kernel/tracing/per_cpu/cpu*/stats | grep -qv " 0$"'
	kill "$_reader"
}

# quota_group NAME: a cgroup with the cpu controller: version 2, or 1 where workers are kernel
# threads, which the kernel puts into the owner's groups of version 1 only.
quota_group() {
	if [ -e /sys/module/vhost/parameters/fork_from_owner_default ]; then
		mount -t cgroup2 cgroup /sys/fs/cgroup || fail "no cgroup2"
		echo +cpu >/sys/fs/cgroup/cgroup.subtree_control || fail "no cpu controller"
		QUOTA_TOP=/sys/fs/cgroup
	else
		QUOTA_TOP=/sys/fs/cgroup/cpu,cpuacct
		mount -t tmpfs cgroup /sys/fs/cgroup
		mkdir $QUOTA_TOP
		mount -t cgroup -o cpu,cpuacct cgroup $QUOTA_TOP || fail "no cpu controller"
	fi
	QUOTA_GROUP=$QUOTA_TOP/$1
	mkdir "$QUOTA_GROUP" || fail "no cgroup"
}

# set_quota MS: of each 100 ms, all CPUs together.
set_quota() {
	if [ -e "$QUOTA_GROUP/cpu.max" ]; then
		echo "${1}000 100000" >"$QUOTA_GROUP/cpu.max"
	else
		echo "${1}000" >"$QUOTA_GROUP/cpu.cfs_quota_us"
	fi || fail "no quota"
}

# in_group COMMAND...: what it starts lives in the group.
in_group() {
	echo $$ >"$QUOTA_GROUP/cgroup.procs"
	"$@"
	echo $$ >"$QUOTA_TOP/cgroup.procs"
}

# quota_stat NAME: the group's counters; NAME_throttled and NAME_ms as values.
quota_stat() {
	while read -r _key _value; do
		case $_key in
		nr_throttled) result "$1_throttled" "$_value" ;;
		throttled_usec) result "$1_ms" $((_value / 1000)) ;;
		throttled_time) result "$1_ms" $((_value / 1000000)) ;;
		esac
	done <"$QUOTA_GROUP/cpu.stat"
}

_throttled() {
	sed -n 's/^nr_throttled //p' "$QUOTA_GROUP/cpu.stat"
}

# quota_rested: wait until the group runs periods without being throttled.
quota_rested() {
	_last=$(_throttled)
	_periods=$(sed -n 's/^nr_periods //p' "$QUOTA_GROUP/cpu.stat")
	wait_for 20 '[ "$(sed -n "s/^nr_periods //p" $QUOTA_GROUP/cpu.stat)" -gt $((_periods + 5)) ]'
	check '[ "$(_throttled)" -le $((_last + 1)) ]' "a quota of 400 % throttles"
}
