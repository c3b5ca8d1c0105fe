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
done_testing
