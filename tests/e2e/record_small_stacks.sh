#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recorded call with its stack uses little of its caller's stack, the first time as well as later; threads with the
# smallest stacks survive. Symbols are bound at the start: the loader's own binding takes 3 KB of the caller's stack.
. "$(dirname -- "$0")/lib.sh"

bound=1024 # bytes, the frame of the calling function included
export LD_BIND_NOW=1

has_unwinder || skip_all 'built without the unwinder'
[ "$(uname -m)" = x86_64 ] || skip_all 'spare stacks are for x86-64'

run=(-t osrt --osrt-threshold=0 --osrt-backtrace-threshold=0)
pillion "${run[@]}" -o painted "$targets/stack_use" >out 2>err
is "$? $(head -1 out)" '0 measured' 'a painted stack: status and output'
is "$(grep -c '\.[0-3] ' out)" 20 'all calls are measured'
awk -v bound=$bound '/\./ && $2 > bound' out >above
is "$(cat above)" '' "no call uses more than $bound bytes of its caller's stack"
like "$(report stats -r stacks_sum -f csv painted.pillion)" 'nanosleep,.*call_sleep .*measure_all' \
	'the stacks are recorded'

is "$("$targets/stack_use" small 200)" 200 'threads with stacks of 16 KiB, bare'
pillion "${run[@]}" -o small "$targets/stack_use" small 200 >out 2>err
is "$? $(cat out)" '0 200' 'threads with stacks of 16 KiB: status and output'
is "$(num_calls small nanosleep)" 800 'each call is recorded'
lost=$(report stats -r ledger -f csv small.pillion | awk -F, '$3 == "stacks lost" { n += $4 } END { print n + 0 }')
is "$lost" 0 'and no stack is lost'

# ---- signals and forks while stacks are taken ----
pillion "${run[@]}" -o signals "$targets/stack_use" signals >out 2>err
is "$? $(cat out)" '0 done' 'new stacks under signals, siglongjmp and forks: status and output'
calls=$(num_calls signals write)
ok "every call is recorded, except those that a handler left ($calls)" test "$calls" -ge 115000

# ---- a debugger on a spare stack ----
if command -v gdb >/dev/null; then
	gdb -q -nx -batch -ex 'set breakpoint pending on' -ex 'break measure_all' \
		-ex "set environment LD_PRELOAD $library" -ex "set environment PILLION_OUTPUT $work/gdb.pillion" \
		-ex 'set environment PILLION_OSRT_THRESHOLD 0' \
		-ex 'set environment PILLION_OSRT_BACKTRACE_THRESHOLD 0' -ex 'set startup-with-shell off' \
		-ex run -ex 'break module_write thread 2' -ex continue -ex backtrace "$targets/stack_use" >out 2>&1
	like "$(tr '\n' ' ' <out)" '#0 .*module_write.*spare_stack_run.* call_sleep .* measure_all ' \
		'gdb unwinds through a spare stack'
else
	skip 'gdb unwinds through a spare stack' 'no gdb'
fi

# ---- address space ----
space() {
	awk '$1 == "VmPeak:" { print $2 }' "$1"
}
grep VmPeak /proc/self/status >bare
pillion -s none -t osrt --osrt-threshold=0 --osrt-backtrace-threshold=3600000000000 -o unwalked \
	grep VmPeak /proc/self/status >recorded
is "$?" 0 'address space: status'
limit=$(($(space recorded) + 600))
more=$(($(space recorded) - $(space bare)))
# Some 1,800 KiB of it are the text of libpillion.so.
ok "a process has at most 2,280 KiB more address space ($more)" test "$more" -le 2280
pillion -f true -t osrt --osrt-threshold=0 --osrt-backtrace-threshold=3600000000000 -o unwalked \
	grep VmPeak /proc/self/status >sampled
more=$(($(space sampled) - $(space bare)))
ok "a process that is sampled has at most 2,420 KiB more ($more)" test "$more" -le 2420
pillion -s none "${run[@]}" -o walked grep VmPeak /proc/self/status >recorded
more=$(($(space recorded) - $(space bare)))
ok "a process that records stacks has at most 3,960 KiB more ($more)" test "$more" -le 3960

# The cache of unwind rules, 1 MiB, is mapped before the first walk.
pillion -s none "${run[@]}" -o limited bash -c "ulimit -v $limit; exec grep -c VmPeak /proc/self/status" >recorded
is "$? $(cat recorded)" '0 1' 'no address space for unwind rules: status and output'
like "$(report stats -r ledger limited.pillion)" 'note .*no memory for the cache of unwind rules' \
	'no address space for unwind rules: the ledger says why there are no stacks'

# ---- private data, which RLIMIT_DATA limits ----

data() {
	awk '$1 == "VmData:" { print $2 }' "$1"
}
grep VmData /proc/self/status >bare
pillion -s none -t osrt --osrt-threshold=0 --osrt-backtrace-threshold=3600000000000 -o data \
	grep VmData /proc/self/status >recorded
more=$(($(data recorded) - $(data bare)))
ok "a process has at most 450 KiB more private data ($more)" test "$more" -le 450
(ulimit -d 2000 && exec "$PILLION" -o scarce grep -c VmData /proc/self/status) >recorded 2>err
is "$? $(cat recorded)" '0 1' 'a limit of 2 MB on private data: status and output'
like "$(report stats -q -r processes -f csv scarce.pillion)" 'grep -c VmData' \
	'a limit of 2 MB on private data: it is recorded'
(ulimit -d 2000 && exec "$PILLION" "${run[@]}" -o stackless grep -c VmData /proc/self/status) >recorded 2>err
is "$? $(cat recorded)" '0 1' 'a limit of 2 MB on private data and a stack for each call: status and output'
like "$(report stats -r ledger stackless.pillion)" 'note .*no memory for the cache of unwind rules' \
	'a limit of 2 MB on private data: the ledger says why there are no stacks'
done_testing
