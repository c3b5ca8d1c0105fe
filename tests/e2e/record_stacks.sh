#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A call over the threshold has its stack, with the caller's function, file and line; one under it has none.
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
	'over: innermost frames are the caller, with file and line'
ok 'under: none, but where the machine made them as long' test "$(sum_of_calls short_sleep)" -lt 10
like "$stacks" 'main' 'down to main'
is "$(printf '%s\n' "$stacks" | grep -c long_sleep)" 1 'one stack, however often'
pillion -f -o none --osrt-backtrace-threshold=60000000000 "$targets/stacks" >out 2>err
unlike "$(report stats -r stacks_sum -f csv none.pillion)" '_sleep' 'over all of them: none'
pillion -f -o depth --osrt-backtrace-threshold=40000000 --backtrace-depth=1 "$targets/stacks" >out 2>err
unlike "$(report stats -r stacks_sum -f csv depth.pillion)" 'caller_of_long_sleep' '--backtrace-depth is kept'

# Another library where one lay before: the same addresses are other functions.
pillion -f -o plugins --osrt-threshold=0 --osrt-backtrace-threshold=0 "$targets/stacks_plugin" \
	"$targets/stacks_first.so" "$targets/stacks_other.so" \
	"$targets/stacks_first.so" "$targets/stacks_first.so" "$targets/stacks_other.so" >out 2>err
is $? 0 'plugins in turn'
stacks=$(report stats -q -r stacks_sum -f csv plugins.pillion)
is "$(sum_of_calls 'usleep,.*first_sleeper')" 3 'each call is its own library'"'"'s'
is "$(sum_of_calls 'usleep,.*other_sleeper')" 2 'and no other one'"'"'s'
done_testing
