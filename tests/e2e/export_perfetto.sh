#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exports in Perfetto's own format: counts and times equal the reports', flows lead from calls to device operations,
# and along the critical path.
# PyPI's perfetto, which has the protocol definition, is fetched once per build directory, unless PERFETTO_PYTHON names
# a Python that has it.
set -u
. "$(dirname "$0")/lib.sh"

report export -t perfetto -o x "$work" 2>&1 | grep -q zlib && skip_all 'this build has no zlib'
from_pypi PERFETTO_PYTHON perfetto perfetto || skip_all "$why"
unset LD_PRELOAD

# agrees NAME REPORT...: NAME.pillion, exported, has what the reports have
agrees() {
	local name=$1 tables=()
	shift
	for table; do
		report stats -q -r "$table" -f csv "$name.pillion" >"$name.$table.csv"
		tables+=("$name.$table.csv")
	done
	report export -q -f true -t perfetto "$name.pillion" &&
		"$python" "$tests_dir/export_perfetto.py" "$name.perfetto-trace" "${tables[@]}" >facts 2>&1
	local status=$?
	[ "$status" = 0 ] || diag "$(cat facts)"
	return "$status"
}

pillion -o calls --osrt-threshold=0 --osrt-backtrace-threshold=0 "$targets/osrt" 20 >out 2>err
ok 'calls of several threads: counts and times are those of osrt_sum' agrees calls osrt_sum
! has_unwinder || like "$(head -1 facts)" '^[0-9]{3,} slices, 0 flows, [0-9]+ points, [0-9]{2,} with stacks' \
	'their stacks are call stacks'

"$PILLION_BUILD_DIR/tests/trace-writer" example example.pillion
ok 'the example capture: NVTX ranges, graphs, hostile names' agrees example osrt_sum cuda_api_sum
is "$(report export -q -t perfetto -o - example.pillion | head -c 2 | od -An -tx1 | tr -d ' ')" 1f8b \
	'the export is gzipped'

on_doubles
pillion -o cuda "$doubles/cuda_launches" 2 >out 2>err
ok 'a CUDA program: counts and times are those of the reports' agrees cuda cuda_api_sum cuda_gpu_kern_sum
like "$(head -1 facts)" ' [1-9][0-9]* flows, [1-9][0-9]* points' 'with flows to the device and memory in use'
pillion -o join "$targets/causes" join >out 2>err
report export -q -f true -t perfetto --critical-path join.pillion
ok 'the critical path: its arrows lead from one stretch to the next' \
	"$python" "$tests_dir/export_perfetto.py" join.perfetto-trace
like "$("$python" "$tests_dir/export_perfetto.py" join.perfetto-trace)" ', [1-9][0-9]* stretches of the path, [1-9]' \
	'there are some'
done_testing
