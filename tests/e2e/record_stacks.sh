#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A call above the threshold has a stack with the caller's function, file and line; a call below it has none.
set -u
. "$(dirname "$0")/lib.sh"

sum_of_calls() { # PATTERN of rows in $stacks
	printf '%s\n' "$stacks" | grep "$1" | awk -F, '{ n += $3 } END { print n + 0 }'
}

has_unwinder || skip_all 'built without the unwinder'
pillion -f -o stacks --osrt-backtrace-threshold=40000000 "$targets/stacks" >out 2>err
is $? 0 'runs'
stacks=$(report stats -r stacks_sum -f csv stacks.pillion)
like "$stacks" 'usleep.*long_sleep \([^)]*stacks\.c:[0-9]+\) <- caller_of_long_sleep \([^)]*stacks\.c:[0-9]+\)' \
	'above the threshold: the innermost frames are the callers, with file and line'
ok 'below the threshold: no stacks, except of calls that the machine delayed' test "$(sum_of_calls short_sleep)" -lt 10
like "$stacks" 'main' 'a stack reaches main'
is "$(printf '%s\n' "$stacks" | grep -c long_sleep)" 1 'one row for repeated calls of a stack'
pillion -f -o none --osrt-backtrace-threshold=60000000000 "$targets/stacks" >out 2>err
unlike "$(report stats -r stacks_sum -f csv none.pillion)" '_sleep' 'a threshold above all calls: no stacks'
pillion -f -o depth --osrt-backtrace-threshold=40000000 --backtrace-depth=1 "$targets/stacks" >out 2>err
unlike "$(report stats -r stacks_sum -f csv depth.pillion)" 'caller_of_long_sleep' '--backtrace-depth limits the depth'
folded() { # NAME
	report export -q -t folded --metric calls -o - "$1.pillion"
}
is "$(folded depth | grep ';usleep ' | grep 'long_sleep' | cut -d';' -f3 | sort -u)" '(cut)' \
	'a stack that it has cut has one root below its thread'
like "$(report stats -r ledger -f csv depth.pillion | cut -d, -f3-)" '^stacks cut,[1-9]' 'the ledger counts such stacks'
unlike "$(folded stacks; report stats -r ledger -f csv stacks.pillion)" 'cut[),]' 'complete stacks are not cut'

# The recorder starts in the constructor of another library.
pillion -f -o early --osrt-threshold=0 --osrt-backtrace-threshold=0 "$targets/library_early" >out 2>err
is $? 0 'a call in the constructor of another library: status'
like "$(report stats -r stacks_sum -f csv early.pillion)" 'usleep,.*late_sleep .*<- main ' \
	'later calls of the main thread have stacks'
lost() { # CAPTURE: the ledger's rows of lost stacks
	report stats -r ledger -f csv "$1.pillion" | cut -d, -f3- | grep -i 'stacks.* lost'
}
is "$(lost early | cut -d, -f1,2)" '' 'and none is lost'
pillion -f -o alternate --osrt-threshold=0 --osrt-backtrace-threshold=0 "$targets/library_early" alternate >out 2>err
like "$(lost alternate)" 'a signal handler ran on an alternate stack' 'the ledger has the reason of lost stacks'

# A library loaded at the addresses of an earlier one: the same addresses belong to other functions.
pillion -f -o plugins --osrt-threshold=0 --osrt-backtrace-threshold=0 "$targets/stacks_plugin" \
	"$targets/stacks_first.so" "$targets/stacks_other.so" \
	"$targets/stacks_first.so" "$targets/stacks_first.so" "$targets/stacks_other.so" >out 2>err
is $? 0 'plugins loaded one after another: status'
stacks=$(report stats -q -r stacks_sum -f csv plugins.pillion)
is "$(sum_of_calls 'usleep,.*first_sleeper')" 3 'calls of the first plugin have its functions'
is "$(sum_of_calls 'usleep,.*other_sleeper')" 2 'calls of the second plugin have its functions'

# The loader knows these by one relative path, and the program leaves the directory of the first.
mkdir one other
cp "$targets/stacks_first.so" one/relative.so
cp "$targets/stacks_other.so" other/relative.so
for how in ./relative.so relative.so; do
	LD_LIBRARY_PATH=. pillion -f -o relative --osrt-threshold=0 --osrt-backtrace-threshold=0 \
		"$targets/stacks_plugin" one "$how" ../other "$how" .. >out 2>err
	is $? 0 "$how in two directories: status"
	stacks=$(cd / && report stats -q -r stacks_sum -f csv "$work/relative.pillion")
	is "$(sum_of_calls 'usleep,.*first_sleeper') $(sum_of_calls 'usleep,.*other_sleeper')" '1 1' \
		"$how in two directories: calls have the functions of both"
done

# Functions that were inlined are frames, and a line of the user's own is not hidden by one of a header.
pillion -f -o inlined --osrt-backtrace-threshold=10000000 "$targets/inlined" >out 2>err
is $? 0 'inlined functions: status'
place() { # TEXT: the line with it
	printf 'inlined.cpp:%s' "$(grep -n "$1" "$tests_dir/../targets/inlined.cpp" | head -n 1 | cut -d: -f1)"
}
wait="waits_inlined\(?\)? \([^)]*$(place 'line of the wait')\)"
call="holds_the_inlined\(\) \([^)]*$(place 'line of the call')\)"
like "$(report stats -q -r stacks_sum -f csv inlined.pillion)" "sleep_for.* \([^)]*\) <- $wait <- $call" \
	'inlined functions are frames, with the lines of their calls'
like "$(report stats -q -r lines -f csv inlined.pillion)" "$(place 'line of the wait'),waits_inlined" \
	'lines: that of the program, not of the header'
# One in 16 short calls has its stack recorded; the estimate agrees with the counts but for the calls before the first
# trace file and those after the last stack.
head -c 4096 /dev/zero >input
pillion -f -o short -t osrt --osrt-threshold=100000 --osrt-short-sampling=16 "$targets/short_io" 20000 input output \
	>out 2>&1
is "$?" 137 'stacks of short calls: status'
counted=$(report stats -q -r osrt_short_sum -f csv short.pillion | awk -F, '$5 ~ /^pread/ { n += $3 } END { print n }')
report stats -q -r osrt_short_line_sum -f csv short.pillion >short.csv
estimated=$(awk -F, '$5 ~ /^pread/ && $6 ~ /read_all/ { n += $3 } END { print n }' short.csv)
ok "stacks of short calls: estimate $estimated of $counted calls of one function" \
	test "$estimated" -gt $((counted - 2000)) -a "$estimated" -lt $((counted + 2000))
is "$(awk -F, 'NR > 1 && NF { print $NF }' short.csv | sort -u | paste -sd' ')" 16 'stacks of short calls: their weight'
report stats -q -r osrt_short_line_sum short.pillion --filter-time=0/1s >out 2>&1
like "$(cat out)" 'a filter does not apply' 'stacks of short calls have no time'

done_testing
