#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every share, rule and view is of the capture ranges: a program does known amounts of work inside and more outside of
# them, in each of the ways to set ranges.
set -u
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all 'no python3'
has_unwinder || skip_all 'no native stacks in this build'
python=$(python3 -c 'import sys; print(sys.executable)')
export PYTHONPATH=$tests_dir/../../python
program=$tests_dir/targets/python/capture_parts.py
[ -e "$program" ] || program=$tests_dir/../targets/python/capture_parts.py

# way NAME KIND ROUNDS OPTIONS...
way() {
	local name=$1 kind=$2 rounds=$3
	shift 3
	mkdir "$name"
	pillion -f -o "$name" -s cpu "$@" "$python" "$program" "$kind" "$rounds" "$name" >"$name/truth" 2>err
	is "$? $(grep -c wall "$name/truth")" '0 1' "$name: the program ends"
	like "$(report stats --summary "$name.pillion" 2>/dev/null)" "in $rounds capture range" "$name: $rounds ranges"
	is "$(python3 -B "$tests_dir/capture_account.py" "$PILLION_BUILD_DIR/report/pillion-report" "$name.pillion" \
		"$name/truth" "$program" 2>&1)" '' "$name: what was done inside, and nothing else"
}

way profiler cuda 1 -c cudaProfilerApi
way again cuda 2 -c cudaProfilerApi --capture-range-end=repeat
way nvtx nvtx 2 -c nvtx -p step --capture-range-end=repeat
way launcher launcher 1 --delay 4 --duration 8 --kill none
done_testing
