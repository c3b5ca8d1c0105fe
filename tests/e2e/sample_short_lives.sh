#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads and processes that live for less than the kernel's tick have their share of the samples, and the ledger names
# CPU time that has none.
. "$(dirname -- "$0")/lib.sh"
unset PILLION_SAMPLE

pillion -s cpu --sampling-source=signal -o probe "$targets/samples" shares 0.3 >out 2>err
[ "$(ledger probe 'CPU samples')" -gt 0 ] || skip_all 'signals take no samples here'

# Of 1,000 lives of 2 ms, some 198 samples are expected at 99 Hz, with a deviation of 13, but fewer where other programs
# use the CPUs: what has waited for a CPU begins at a tick then, and ends before the next one (two thirds at a load of
# 12). None of them would be sampled a whole period after its beginning.
for what in threads abreast forks; do
	pillion -s cpu --sampling-source=signal -f true -o short "$targets/short_lives" "$what" 1000 >out 2>err
	is $? 0 "1,000 lives of 2 ms, $what"
	used=$(cat out) sampled=$(ledger short 'CPU time sampled')
	diag "$what: $used us used, $sampled us sampled"
	ok "$what: their time is sampled" test "$sampled" -gt $((used / 4))
	ok "$what: each sample stands for one period" test "$sampled" -lt $((used * 3 / 2))
	all=$(ledger short 'CPU time used') missing=$(ledger short 'CPU time not sampled')
	ok "$what: their time is that of all, $all us" test "$all" -gt $((used * 4 / 5))
	gap=$((all - sampled)) # the periods are 10.1 ms long
	if [ $((gap * 20)) -gt "$all" ] && [ $((gap * gap)) -gt $((9 * 10200 * all)) ]; then
		is "$missing" $gap "$what: what is not sampled is named"
		like "$(report stats -q -r ledger -f csv short.pillion)" \
			'CPU time not sampled.*--sampling-source=perf' "$what: and what would sample it"
	fi
	if has_unwinder; then
		like "$(report stats -q -r sample_sum -f csv short.pillion)" '(^|,)live,' \
			"$what: the function that computes has a row"
	else
		skip "$what: the function that computes has a row" 'no native stacks'
	fi
done
done_testing
