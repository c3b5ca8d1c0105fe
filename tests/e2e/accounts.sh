#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time_sum has the lives of threads as these account for them: four programs made from a seed.
. "$(dirname -- "$0")/lib.sh"

for mode in default none signals perf strace; do
	timeout "$((patience * 4))" python3 -B "$tests_dir/accounts.py" --seed 1 --programs 4 --modes "$mode" \
		>seen 2>err
	if grep -q '# SKIP' seen; then
		skip "$mode: accounts of generated programs" "$(sed -n 's/.*# SKIP //p' seen)"
		continue
	fi
	like "$(cat seen err)" '^ok 1 .*, [1-9][0-9]* cells, 0 wrong$' "$mode: accounts of generated programs"
	sed -n 's/^ok 1 - /# /p' seen
done

# Each system call of a traced process is a wait for a CPU: none but the end of this reading follows that of the wait.
if command -v strace >/dev/null && strace -o /dev/null true 2>err; then
	strace -E PILLION_OUTPUT="$work/traced.pillion" -E LD_PRELOAD="$library" -o calls true >out 2>err
	like "$(grep -c schedstat calls)" '^[1-9]' 'a traced process reads how long it waited for a CPU'
	is "$(awk '/schedstat/ { n = 0 } /openat\(|getrusage\(/ { n++ } END { print n }' calls)" 1 \
		'and reads nothing after it'
else
	skip 'what a traced process reads last' 'no strace'
fi
done_testing
