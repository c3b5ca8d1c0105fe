#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples and the program's own signals: it receives exactly its own signals, and its calls return the same results.
. "$(dirname -- "$0")/lib.sh"
seconds=${PILLION_SAMPLE_SECONDS:-3}
rounds=${PILLION_SAMPLE_ROUNDS:-1}
stress=${PILLION_SAMPLE_STRESS:-10}

# same TEXT ARG...: output and status of samples ARG... are the same with and without -s cpu; the capture is CAPTURE.
same() {
	text=$1
	shift
	timeout "$patience" "$targets/samples" "$@" >plain 2>/dev/null
	plain_status=$?
	pillion -s cpu --sampling-frequency=10000 -f true -o own "$targets/samples" "$@" >own 2>own_err
	own_status=$?
	is "$own_status $(cat own) $(grep -v '^pillion: capture' own_err)" "$plain_status $(cat plain) " "$text"
}

note() {
	report stats -r ledger -f csv own.pillion | grep -c "$1"
}

pillion -s cpu --sampling-frequency=10000 -o never "$targets/never_restarted" "$seconds" >out 2>err
is "$? $(cat out)" '0 0 interrupted' 'no call returns EINTR because of samples'
like "$(report stats -r ledger -f csv never.pillion)" 'CPU samples,[0-9]{2,}' 'samples were taken during the calls'

pillion -s cpu --sampling-frequency=10000 -o masked "$targets/masked_waits" "$((seconds * 100000))" >out 2>err
is "$? $(cat out)" '0 0 returned before the handler had run' \
	'a signal that ends a wait is handled before the wait returns'
like "$(report stats -r ledger -f csv masked.pillion)" 'CPU samples,[0-9]{2,}' 'samples were taken during these waits'

"$targets/rings" syscall 0.01 >out
if [ $? -ne 77 ]; then
	pillion -s cpu --sampling-frequency=10000 -o rings "$targets/rings" syscall "$seconds" >out 2>err
	is "$? $(cat out)" '0 0 early' 'no wait of io_uring ends early because of samples'
	like "$(report stats -r ledger -f csv rings.pillion)" 'CPU samples,[0-9]{2,}' 'samples are taken all the same'
	for sample in auto cpu; do
		pillion -s "$sample" -f -o aside "$targets/rings" aside 1 >out 2>err
		is "$? $(cat out)" '0 0 early' "a thread that waits in io_uring beside one that computes, -s $sample"
		like "$(report stats -r ledger -f csv aside.pillion)" 'CPU samples,[0-9]{2,}' \
			"both are sampled, -s $sample"
	done
	pillion -s cpu --sampling-frequency=10000 -f -o rings "$targets/rings" own "$seconds" >out 2>err
	like "$? $(cat out)" '^0 [01] early$' 'system calls of its own: at most the first'
	like "$(report stats -r ledger -f csv rings.pillion)" 'none from here on, the program uses io_uring' \
		'the ledger says that there are no more samples'
else
	skip 'waits of io_uring' 'the kernel has none'
fi
pillion -s cpu --sampling-frequency=10000 -o cleared "$targets/samples" cleared >out 2>err
is "$? $(cat out)" '0 ' 'a program executed after sigsetmask(0) ends as without samples'
like "$(report stats -r ledger -f csv cleared.pillion)" 'CPU samples,[0-9]{2,}' \
	'it is sampled: it has not inherited our signal as blocked'

round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	same 'SIGPROF and its timer belong to the program' profiled
	is "$(note 'another')" 0 'SIGPROF of the program is no reason to move to another signal'
	same 'all queued signals arrive' queued 34
	same 'all queued signals with our number arrive' queued 59
	is "$(note 'moved to another')" 1 'the ledger says that samples use another signal'
	same 'sigwait for a signal with our number' waited 59
	same 'sigwait for a signal with another number' waited 58
	same 'the view of signals and masks is unchanged' view
	for what in jumps contexts handlers inherits; do
		same "masks that change without sigprocmask: $what" "$what"
		is "$(note 'moved to another')" 0 "$what: samples keep their signal"
		like "$(report stats -r ledger -f csv own.pillion)" 'CPU samples,[1-9]' "$what: samples are taken"
	done
	same 'masks of single signals' single
	like "$(report stats -r ledger -f csv own.pillion)" 'CPU samples,[1-9]' \
		'masks of single signals: samples are taken'
	same 'a signal with our number ends the program' killed 59
	same 'SIGPROF ends the program' killed 27
	same 'a handler without SA_RESTART ends a read' ended 1
	same 'a handler with SA_RESTART does not end a read' ended 2
	same 'seccomp'\''s strict mode' confined
	same 'a seccomp filter that fails' alternate 2
	like "$(report stats -r ledger -f csv own.pillion)" 'CPU samples,[0-9]{2,}' \
		'after a seccomp filter that fails, samples are taken'
done

round=0
failures=
while [ "$round" -lt "$stress" ]; do
	round=$((round + 1))
	pillion -s cpu --sampling-frequency=10000 -f true -o own "$targets/samples" stress 32 >own 2>own_err
	[ "$? $(cat own) $(grep -v '^pillion: capture' own_err)" = '0 64 children ended, 256 signals ' ] ||
		failures="$failures round $round: $(cat own own_err)"
done
is "$failures" '' "32 threads that fork, load and signal, $stress rounds"

if command -v python3 >/dev/null 2>&1; then
	pillion -s cpu --sampling-frequency=999 -o py python3 -c '
import signal, time
assert signal.getsignal(59) == signal.SIG_DFL
before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
assert 59 in signal.pthread_sigmask(signal.SIG_BLOCK, [])
signal.pthread_sigmask(signal.SIG_SETMASK, before)
assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
n = 0
def count(*_):
    global n
    n += 1
signal.signal(signal.SIGPROF, count)
signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
end = time.process_time() + 0.5
while time.process_time() < end:
    pass
signal.setitimer(signal.ITIMER_PROF, 0)
assert 10 <= n <= 150, n
' 2>err
	is "$?" 0 'Python keeps its signals'
else
	skip 'Python keeps its signals' 'no python3'
fi
done_testing
