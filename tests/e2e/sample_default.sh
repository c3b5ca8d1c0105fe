#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The default, -s auto: samples are taken, but not in a process that could notice them; the ledger says why not.
. "$(dirname -- "$0")/lib.sh"
unset PILLION_SAMPLE

# The reasons in the ledger, which has a row for each: "COUNT REASON".
reasons() { # NAME
	report stats -q -r ledger -f csv "$1.pillion" |
		sed -n 's/^,,samples not taken,\([0-9]*\),"*processes: \([^"]*\)"*$/\1 \2/p'
}

pillion -o run "$targets/samples" shares 0.3 >out 2>err
case $(reasons run) in
*'none on this architecture'* | *'none before Linux'* | *'none with glibc before'*)
	skip_all 'signals take no samples here'
	;;
esac
like "$(report stats -r ledger -f csv run.pillion)" 'CPU samples,[0-9]{2}' 'samples are taken without an option'
is "$(reasons run)" '' 'the ledger has no reason against them'
pillion -s none -o none "$targets/samples" shares 0.3 >out 2>err
is "$(ledger none 'CPU samples')" 0 '-s none takes none'
is "$(reasons none)" '' '-s none needs no reason'

# timers AUTO CPU REASON WHAT: what sample_auto prints by default, with -s cpu, with -s none and bare, and the reason
# that the ledger has by default; -: none.
timers() {
	local what=$4 reason=$3
	[ "$reason" = - ] && reason='' || reason="1 $reason"
	pillion -f true --sampling-source=signal -o auto "$targets/sample_auto" "$what" >out 2>err
	is "$? $(cat out)" "0 $1" "$what: by default"
	is "$(reasons auto)" "$reason" "$what: the reason in the ledger"
	pillion -f true -s cpu -o cpu "$targets/sample_auto" "$what" >out 2>err
	is "$? $(cat out)" "0 $2" "$what: with -s cpu"
	pillion -f true -s none -o none "$targets/sample_auto" "$what" >out 2>err
	is "$? $(cat out)" "0 $(timeout "$patience" "$targets/sample_auto" "$what")" "$what: with -s none"
}

if [ -e /proc/self/timers ]; then
	gone='before 1, after 0'
	kept='before 1, after 1'
	for what in profiling-timer virtual-timer process-clock thread-clock some-process-clock profiling-handler \
		virtual-handler; do
		timers "$gone" "$kept" 'from here on, the program uses CPU timers or their signals' $what
	done
	for what in handler blocked; do
		timers "$gone" "$kept" 'from here on, the program uses the signal that takes them' $what
	done
	timers "$gone" "$gone" 'from here on, the program has installed a seccomp filter' filter
	for what in real-timer monotonic-clock other-handler; do
		timers "$kept" "$kept" - $what
	done

	if command -v strace >/dev/null 2>&1; then
		pillion -f true --sampling-source=signal -o traced strace -o /dev/null "$targets/sample_auto" \
			other-handler >out 2>err
		is "$? $(cat out)" '0 before 0, after 0' 'under strace'
		like "$(reasons traced)" '^1 the process is traced' 'under strace: the reason in the ledger'
	else
		skip 'under strace' 'no strace'
	fi
	if echo 'int io_uring_queue_init(void) { return 0; }' | cc -shared -fPIC -o liburing.so -x c - 2>err; then
		LD_PRELOAD=$PWD/liburing.so pillion -f true --sampling-source=signal -o ring "$targets/sample_auto" \
			other-handler >out 2>err
		is "$? $(cat out)" '0 before 0, after 0' 'linked to liburing'
		like "$(reasons ring)" '^[0-9]+ the program is linked to liburing' 'linked to liburing: the ledger'
	else
		skip 'linked to liburing' 'no compiler'
	fi
else
	skip 'timers of the process' 'the kernel has no /proc/self/timers'
fi

pillion -f true --sampling-source=signal -o many sh -c 'i=0
	while [ $((i += 1)) -le 3 ]; do "$0" handler; "$0" profiling-timer; done' "$targets/sample_auto" >out 2>err
is "$(reasons many | sort)" '3 from here on, the program uses CPU timers or their signals
3 from here on, the program uses the signal that takes them' 'processes are counted by reason'
like "$(report stats -r ledger many.pillion | tail -n 1)" \
	'no CPU samples of sample_auto \(3 processes\)( after [0-9.]+ s)?: the program uses CPU timers' \
	'so they are in the last line'
done_testing
