#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A capture on a FUSE file system: launcher and program are killed at any moment. Everything is recovered from the
# spool, or the report states from when on records are missing. Needs /dev/fuse and a mount namespace.
set -u
if [ -z "${SPOOL_KILLED_INSIDE:-}" ]; then
	export SPOOL_KILLED_INSIDE=yes
	unshare --mount true 2>/dev/null && exec unshare --mount bash "$0"
	unshare --user --map-root-user --mount true 2>/dev/null && exec unshare --user --map-root-user --mount bash "$0"
fi
. "$(dirname "$0")/lib.sh"
unset TMPDIR RANK PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK SLURM_JOB_ID SLURM_STEP_ID SLURM_PROCID
mkdir real net spools
export TMPDIR=$work/spools

setsid "$targets/fuse_mirror" real net >mounted 2>err &
mirror=$!
has_answered() { [ -s mounted ] || ! kill -0 "$mirror" 2>/dev/null; }
eventually has_answered
[ -s mounted ] || skip_all "a FUSE file system cannot be mounted: $(cat err)"
trap 'umount -l "$work/net"; rm -rf "$work"' EXIT
report query net 'SELECT 1' 2>&1 | grep -q sqlite && skip_all 'no sqlite'

# begin NAME OPTION...: starts killed_calls in a process group of its own, and waits until it has made some calls.
begin() {
	local name=$1
	shift
	PILLION_STATS=false setsid "$PILLION" --osrt-threshold 0 "$@" -o "net/$name" \
		"$targets/killed_calls" "log.$name" 2>"err.$name" &
	launcher=$!
	least=$((RANDOM % 40 + 2))
	eventually has_called "$name" "$least"
}
calls() { python3 "$tests_dir/spool_account.py" count "log.$1" 2>/dev/null; }
has_called() { # NAME LEAST: by the slowest of its threads
	local counts
	read -ra counts <<<"$(calls "$1")"
	[ "${counts[2]:-0}" -ge "$2" ]
}
kill_all() { # the launcher, the program and everything else in their group
	kill -KILL -- "-$launcher"
	wait "$launcher" 2>/dev/null
}
trace() { # CAPTURE...: its calls as csv, in ./trace
	report query -f csv "$@" 'SELECT s.value AS name, start, end FROM OSRT_API JOIN StringIds s ON s.id = nameId' \
		>trace 2>trace.err
}
has_in_capture() { # NAME LEAST
	trace "net/$1.pillion" && [ "$(grep -c '^nanosleep,' trace)" -ge "$2" ]
}
account() { python3 "$tests_dir/spool_account.py" "$@"; }
spools_of() { ls -d "$TMPDIR"/pillion-* 2>/dev/null; }
missing_since() { # NAME: the time that its ledger states, in ns
	report info "net/$1.pillion" 2>/dev/null | sed -n 's/.*recorded after \([0-9]*\)\.\([0-9]*\) s .*/\1\2000000/p'
}

for try in 1 2 3; do
	begin "all$try" --spool-interval $((try * try * 50))
	kill_all
	report info "net/all$try.pillion" >info 2>info.err
	is $? 1 "killed, $try: info states that something is missing"
	like "$(cat info)" 'spool not moved .*/pillion-.* recorded after [0-9]+\.[0-9]{3} s is not in the capture' \
		"killed, $try: info names the spool and the time"
	like "$(report stats --summary "net/all$try.pillion" 2>/dev/null)" \
		'^missing .*1 spool not moved: records after [0-9.]+ s are missing' "killed, $try: so does the summary"
	trace "net/all$try.pillion" "$(spools_of)"
	ok "killed, $try: capture and spool are read as one" account complete "log.all$try" trace
	mv trace both
	trace "$(spools_of)" "net/all$try.pillion"
	ok "killed, $try: in either order" cmp trace both
	trace "net/all$try.pillion"
	ok "killed, $try: before that time nothing is missing" account until "$(missing_since "all$try")" \
		"log.all$try" trace
	ok "killed, $try: recover" report recover "net/all$try.pillion"
	trace "net/all$try.pillion"
	ok "killed, $try: everything is recovered" account complete "log.all$try" trace
	ok "killed, $try: as capture and spool were read" cmp trace both
	is "$(spools_of)" '' "killed, $try: the spool is removed"
	report info "net/all$try.pillion" >info 2>info.err
	is $? 0 "killed, $try: info states that nothing is missing"
	is "$(sort net/all$try.pillion/*.index | uniq -d)" '' "killed, $try: no line of the index is there twice"
done
like "$(report recover net/all1.pillion 2>&1)" 'all spools were moved' 'recover once more does nothing'

# The spool is lost with its node. The interval bounds what is missing.
for try in 1 2; do
	begin "lost$try" --spool-interval 50
	ok "lost, $try: calls are in the capture while the program runs" eventually has_in_capture "lost$try" 100
	kill_all
	rm -r "$(spools_of)"
	since() { [ -n "$(missing_since "lost$try")" ]; }
	ok "lost, $try: the ledger states from when on" eventually since
	trace "net/lost$try.pillion"
	ok "lost, $try: before that time nothing is missing" account until "$(missing_since "lost$try")" \
		"log.lost$try" trace
	report info "net/lost$try.pillion" >info 2>info.err
	like "$(cat info)" 'is lost: the directory does not exist' "lost, $try: the ledger states that it is lost"
	is "$(grep -c . info.err)" 1 "lost, $try: nothing else is missing or damaged"
done

# SIGTERM: everything up to it is moved at once, not only when the interval is over.
begin term --spool-interval 3600000
eventually has_called term 100 # more than the first chunk of a thread has room for
read -ra before <<<"$(calls term)"
kill -TERM "$launcher"
ok 'SIGTERM: what was recorded is moved at once' eventually has_in_capture term "${before[2]}"
kill_all
ok 'SIGTERM: recover' report recover net/term.pillion
trace net/term.pillion
ok 'SIGTERM: everything is recovered' account complete log.term trace

# The launcher alone is killed: the program goes on.
begin orphan --spool-interval 100
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null
report recover net/orphan.pillion 2>err
is $? 1 'a program that goes on: recover moves what there is'
like "$(cat err)" 'its processes are still running' 'a program that goes on: recover states that'
: >log.orphan.stop
program_gone() { ! grep -qs "log[.]orphan" /proc/[0-9]*/cmdline; }
eventually program_gone
ok 'a program that has ended: recover' report recover net/orphan.pillion
trace net/orphan.pillion
ok 'a program that has ended: everything is recovered' account complete log.orphan trace

# Ranks of one node: the launcher that is left moves the spool of the one that was killed.
rank() {
	export PMIX_NAMESPACE=step PMIX_RANK=$1 OMPI_COMM_WORLD_RANK=$1
}
rank 0
PILLION_STATS=false setsid "$PILLION" --osrt-threshold 0 -o net/ranks "$targets/killed_calls" log.left 2>err.left &
left=$!
eventually has_called left 2
rank 1
PILLION_STATS=false setsid "$PILLION" --osrt-threshold 0 -o net/ranks "$targets/killed_calls" log.dead 2>err.dead &
launcher=$!
eventually has_called dead 20
kill_all
: >log.left.stop
wait "$left"
is $? 0 'ranks: the one that is left ends'
is "$(spools_of)" '' 'ranks: no spool is left'
trace net/ranks.pillion
report stats -r processes -f csv net/ranks.pillion >processes 2>/dev/null
is "$(grep -o 'log[.][a-z]*' processes | sort | tr '\n' ' ')" 'log.dead log.left ' 'ranks: both are in the capture'
is "$(report info net/ranks.pillion 2>/dev/null | grep -c 'spool not moved')" 0 'ranks: nothing is missing'
sums() { # the calls of both logs, as many as were begun at most
	local a b
	read -ra a <<<"$(calls left)"
	read -ra b <<<"$(calls dead)"
	[ "$(grep -c '^nanosleep,' trace)" -ge "$((a[2] + b[2]))" ]
}
ok 'ranks: the calls of both are in the capture' sums
done_testing
