#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs whose system calls, or whose number of signals, are restricted: they end as without pillion, by default,
# with -s cpu and with -s none, and are sampled where nothing speaks against it.
. "$(dirname -- "$0")/lib.sh"
unset PILLION_SAMPLE
export PILLION_SAMPLING_SOURCE=signal

reasons() { # NAME: "COUNT REASON" of the ledger
	report stats -q -r ledger -f csv "$1.pillion" |
		sed -n 's/^,,samples not taken,\([0-9]*\),"*processes: \(.*[^"]\)"*$/\1 \2/p'
}

pillion -o probe "$targets/samples" shares 0.3 >out 2>err
[ "$(ledger probe 'CPU samples')" -gt 0 ] || skip_all 'signals take no samples here'

# ---- the kernel dispatches system calls to the program ----

dispatch=$targets/altstack_dispatch
[ -x "$dispatch" ] && timeout "$patience" "$dispatch" libc >out 2>err
if [ ! -x "$dispatch" ] || [ $? -eq 77 ]; then
	skip 'system call user dispatch' 'not on this architecture or kernel'
else
	for what in libc all fork off thread refused; do
		wanted="0 $(timeout "$patience" "$dispatch" "$what")"
		for sample in auto cpu none; do
			pillion -s "$sample" -f true -o "$what$sample" "$dispatch" "$what" >out 2>err
			is "$? $(cat out)" "$wanted" "$what: the handler gets the program's own calls alone, -s $sample"
		done
		is "$(ledger "${what}none" 'events lost')" 0 "$what: no event is lost"
	done
	like "$(reasons allcpu)" '^1 while a thread of the program uses system call user dispatch$' \
		'the ledger says why there are no samples'
	is "$(reasons refusedcpu)" '' 'a call that fails changes nothing'
	for what in off refused; do
		like "$(ledger "${what}cpu" 'CPU samples')" '^[0-9]{2,}$' "$what: samples are taken again"
	done
	is "$(report stats -q -r processes -f csv forkcpu.pillion | grep -c altstack_dispatch)" 2 \
		'a forked child begins without dispatch and is recorded'
fi

# ---- seccomp filters ----

filtered=$targets/filtered
declare -A numbers=([timer_create]=222 [timer_settime]=223 [timer_delete]=226 [sigaltstack]=131 [rt_sigpending]=127
	[process_vm_readv]=310)
harmless=169 # reboot

# under NUMBERS ACTION ARG...: pillion ARG... under a filter.
under() {
	local filter=("$filtered" "$1" "$2")
	shift 2
	timeout -k 10 "$patience" "${filter[@]}" "$PILLION" "$@"
}

if [ "$(uname -m)" != x86_64 ] || ! timeout "$patience" "$filtered" "$harmless" errno true; then
	skip 'seccomp filters' 'not on this architecture or kernel'
else
	under "$harmless" kill -f true -o around "$targets/samples" shares 0.5 >out 2>err
	is $? 0 'a filter that forbids nothing of ours, around pillion'
	like "$(ledger around 'CPU samples')" '^[0-9]{2,}$' 'it keeps its samples'
	for name in "${!numbers[@]}"; do
		for action in kill errno; do
			under "${numbers[$name]}" "$action" -f true -o around "$targets/samples" shares 0.1 >out 2>err
			is $? 0 "a filter with $action for $name, around pillion"
			like "$(reasons around)" 'a seccomp filter may forbid' \
				"$name, $action: the ledger says why there are no samples"
		done
	done
	for sample in auto cpu; do
		pillion -s "$sample" -f true -o inside "$filtered" "${numbers[timer_create]}" kill \
			"$targets/samples" shares 0.1 >out 2>err
		is $? 0 "a filter within the command kills for timer_create, -s $sample"
	done
	LD_PRELOAD=$library PILLION_OUTPUT=$work/alone.pillion "$filtered" "${numbers[timer_create]}" kill \
		"$targets/samples" shares 0.1 >out 2>err
	is $? 0 'without a launcher, a filter kills for timer_create'
	like "$(reasons alone)" 'a seccomp filter' 'the ledger says why'
	for how in prctl seccomp; do
		for sample in auto cpu none; do
			pillion -s "$sample" -f true -o own "$filtered" own "$how" >out 2>err
			is "$? $(cat out)" '3 alive' \
				"a filter by a system call of its own ($how) kills for those of samples, -s $sample"
		done
		pillion -s cpu -f true -o own "$filtered" own "$how" >out 2>err
		like "$(reasons own)" '^1 from here on, the program has installed a seccomp filter by a system call' \
			"a filter by a system call of its own ($how): the ledger says why samples end"
	done
fi

# ---- RLIMIT_SIGPENDING, which all processes of a user share ----

user=54321 # nobody else's
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null 2>&1 || ! python3 -c '' 2>/dev/null; then
	skip 'RLIMIT_SIGPENDING' 'needs root, setpriv and python3'
else
	mkdir -m 777 user && chmod 755 "$work"
	cp "$targets/queued_signals" user
	for limit in 64 128 512; do
		for sample in auto none; do
			(cd user && setpriv --reuid $user --regid $user --clear-groups env HOME="$PWD" bash -c \
				"ulimit -i $limit; exec \"\$@\"" bash timeout -k 10 "$patience" "$PILLION" \
				--stats=false -s $sample -f true -o s ./queued_signals 12 24) >out 2>err
			is "$? $(cat out)" '0 12 of 12 processes have a timer' \
				"12 processes with 25 threads and ulimit -i $limit, -s $sample"
		done
	done
fi
done_testing
