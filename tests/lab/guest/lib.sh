# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154
# Helpers for scenario scripts. Times are guest times; every wait has a deadline.
# Expects settings.sh: LAB_MARK, LAB_LOADS, LAB_READY_<i> and a function lab_load_<i> per load.

fail_init() {
	echo "lab: $*" >/dev/console
	reboot -n -f
}

# fail MESSAGE...: end the scenario as failed.
fail() {
	echo "$*" >>/results/failed
	echo "lab: failed: $*" >/dev/console
	exit 1
}

# Sets NOW_CS, hundredths of a second since boot; without a fork, which a starved guest feels.
now_cs() {
	read -r NOW_CS _ </proc/uptime
	NOW_CS=${NOW_CS%.*}${NOW_CS#*.}
}

# wait_for SECONDS 'CONDITION': poll until the condition holds, or fail the scenario.
# The condition may use set --, so nothing here relies on the positional parameters later.
wait_for() {
	_wait_s=$1
	_wait_until=$2
	now_cs
	_wait_end=$((NOW_CS + _wait_s * 100))
	until eval "$_wait_until"; do
		now_cs
		[ "$NOW_CS" -lt "$_wait_end" ] || fail "not within $_wait_s s: $_wait_until"
		sleep 0.1 # between two looks
	done
}

# check 'CONDITION' [MESSAGE]: fail the scenario unless the condition holds.
check() {
	eval "$1" || fail "check: ${2:-$1}"
}

# result NAME VALUE...: a named value for results.json.
result() {
	_name=$1
	shift
	printf '%s\t%s\n' "$_name" "$*" >>/results/values
}

# record_preempt: the mode in force, which need not be the one on the command line.
record_preempt() {
	[ -d /sys/kernel/debug/sched ] || mount -t debugfs debug /sys/kernel/debug
	[ -e /sys/kernel/tracing/trace ] || mount -t tracefs trace /sys/kernel/tracing 2>/dev/null
	_mode=fixed
	[ -e /sys/kernel/debug/sched/preempt ] &&
		_mode=$(sed 's/.*(\(.*\)).*/\1/' /sys/kernel/debug/sched/preempt)
	# A kernel in lockdown does not open debugfs files.
	echo "${_mode:-unknown}" >/results/preempt
}

# step NAME COMMAND...: run it; output and exit code go to the results. Returns its exit code.
step() {
	_step=$1
	shift
	echo "lab: step $_step" >/dev/console
	"$@" </dev/null >"/results/step-$_step.out" 2>"/results/step-$_step.err"
	_rc=$?
	echo "$_rc" >"/results/step-$_step.rc"
	return "$_rc"
}

# step_bg NAME COMMAND...: the same in the background; end it with step_wait or step_stop.
# The shell starts it with SIGINT ignored, so only a program with its own handler sees that.
step_bg() {
	_step=$1
	shift
	echo "lab: step $_step in the background" >/dev/console
	"$@" </dev/null >"/results/step-$_step.out" 2>"/results/step-$_step.err" &
	eval "STEP_PID_$_step=\$!"
}

# step_pid NAME: the process id of a background step.
step_pid() {
	eval "echo \$STEP_PID_$1"
}

# step_wait NAME: wait until a background step ends by itself. Returns its exit code.
step_wait() {
	wait "$(step_pid "$1")"
	_rc=$?
	echo "$_rc" >"/results/step-$1.rc"
	return "$_rc"
}

# step_stop NAME [SIGNAL]: send SIGTERM, or the signal given, and wait for the end.
step_stop() {
	kill "-${2:-TERM}" "$(step_pid "$1")" 2>/dev/null
	step_wait "$1"
}

_loads_ready() {
	_i=1
	while [ "$_i" -le "$LAB_LOADS" ]; do
		[ ! -s "/results/load-$_i.err" ] || fail "load $_i: $(head -n 1 "/results/load-$_i.err")"
		_want=
		eval "_want=\$LAB_READY_$_i"
		[ "$(grep -c '^ready ' "/results/load-$_i.out")" = "$_want" ] || return 1
		_i=$((_i + 1))
	done
}

# start_loads: start all loads, paused, with their workers there and pinned.
start_loads() {
	LAB_PIDS=
	_i=1
	while [ "$_i" -le "$LAB_LOADS" ]; do
		"lab_load_$_i" </dev/null >"/results/load-$_i.out" 2>"/results/load-$_i.err" &
		eval "LAB_PID_$_i=\$!"
		LAB_PIDS="$LAB_PIDS $!"
		_i=$((_i + 1))
	done
	wait_for 120 _loads_ready
	grep -h '^ready ' /results/load-*.out >/tmp/ready
	# shellcheck disable=SC2034 # for the scenario's script
	LAB_WORKERS=$(sed 's/.* worker=\([0-9]*\) .*/\1/' /tmp/ready)
}

# go_loads: release all loads together.
go_loads() {
	# shellcheck disable=SC2086 # a list of pids
	kill -USR1 $LAB_PIDS
}

# wait_loads: wait until all loads have ended; one that failed fails the scenario.
wait_loads() {
	_i=1
	while [ "$_i" -le "$LAB_LOADS" ]; do
		eval "wait \$LAB_PID_$_i"
		_rc=$?
		echo "$_rc" >"/results/load-$_i.rc"
		[ "$_rc" = 0 ] || fail "load $_i ended with $_rc: $(head -n 1 "/results/load-$_i.err")"
		_i=$((_i + 1))
	done
}

# end_load N: tell a running load to end before its time, with a report; wait_loads waits for it.
# Its last act is to close the device, which waits until its worker has run once more.
end_load() {
	eval "kill \$LAB_PID_$1"
}

# run_loads: start, release and wait.
run_loads() {
	start_loads
	go_loads
	wait_loads
}

# pid_of NAME, worker_of NAME: of a load's guest; with count the names are NAME-1, NAME-2...
pid_of() {
	sed -n "s/^ready pid=\([0-9]*\) .* name=$1\$/\1/p" /tmp/ready
}

worker_of() {
	sed -n "s/^ready .* worker=\([0-9]*\) .* name=$1\$/\1/p" /tmp/ready
}

# workers: one line per vhost worker: tid, comm, owner's pid, task or kthread.
workers() {
	for _comm in /proc/[0-9]*/task/[0-9]*/comm; do
		read -r _text <"$_comm" 2>/dev/null || continue
		case $_text in
		vhost-[0-9]*) ;;
		*) continue ;;
		esac
		_tid=${_comm%/comm}
		_pid=${_tid%/task/*}
		_kind=kthread
		[ "${_pid##*/}" = "${_text#vhost-}" ] && _kind=task
		echo "${_tid##*/} $_text ${_text#vhost-} $_kind"
	done
}

# schedstat TID: run_ns wait_ns slices voluntary involuntary state.
schedstat() {
	read -r _sched <"/proc/$1/schedstat" || return 1
	_state='' _vol='' _invol=''
	while read -r _key _value _; do
		case $_key in
		State:) _state=$_value ;;
		voluntary_ctxt_switches:) _vol=$_value ;;
		nonvoluntary_ctxt_switches:) _invol=$_value ;;
		esac
	done <"/proc/$1/status"
	echo "$_sched $_vol $_invol $_state"
}
