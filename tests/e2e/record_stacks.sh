#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A call over the threshold has its stack, with the caller's function, file and line; one under it has none.
set -u
. "$(dirname "$0")/lib.sh"

"$PILLION" --version | grep -q 'native stacks' || skip_all 'built without the unwinder'
pillion -f -o stacks --osrt-backtrace-threshold=40000000 "$targets/stacks" >out 2>err
is $? 0 'runs'
stacks=$(report stats -r stacks_sum -f csv stacks.pillion)
like "$stacks" 'usleep.*long_sleep \([^)]*stacks\.c:[0-9]+\) <- caller_of_long_sleep \([^)]*stacks\.c:[0-9]+\)' 'over: innermost frames are the caller, with file and line'
unlike "$stacks" 'short_sleep' 'under: none'
like "$stacks" 'main' 'down to main'
is "$(printf '%s\n' "$stacks" | grep -c long_sleep)" 1 'one stack, however often'
pillion -f -o depth --osrt-backtrace-threshold=40000000 --backtrace-depth=1 "$targets/stacks" >out 2>err
unlike "$(report stats -r stacks_sum -f csv depth.pillion)" 'caller_of_long_sleep' '--backtrace-depth is kept'
done_testing
