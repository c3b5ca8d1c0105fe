#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# export --critical-path: in chrome, the stretches of the path add up to the run, and arrows lead to those that waited.
# export_perfetto.sh has the same for perfetto.
set -u
. "$(dirname "$0")/lib.sh"

agrees() { # NAME
	report critical -q -f csv "$1.pillion" >"$1.csv" &&
		report export -q -f true -t chrome --critical-path -o "$1.json" "$1.pillion" &&
		python3 "$tests_dir/export_critical.py" "$1.json" "$1.csv" >facts 2>&1
	local status=$?
	[ "$status" = 0 ] || diag "$(cat facts)"
	return "$status"
}

pillion -o join "$targets/causes" join >out 2>err
ok 'a thread that is joined: the stretches are those of the report' agrees join
like "$(head -1 facts)" '^[1-9][0-9]* stretches, [1-9][0-9]* arrows$' 'with arrows'
pillion -o pipe "$targets/causes" pipe >out 2>err
ok 'messages through a pipe' agrees pipe
like "$(head -1 facts)" '^[1-9][0-9]* stretches, ([2-9]|[1-9][0-9]+) arrows$' 'with arrows to the child and back'
if [ -x "$targets/cuda_causes" ]; then
	LD_LIBRARY_PATH=$PILLION_BUILD_DIR/tests/doubles pillion -o item "$targets/cuda_causes" item >out 2>err
	ok 'a device' agrees item
	like "$(cat item.json)" '"thread_name",.*"args":\{"name":"device 0 stream [0-9]+"\}' 'the stream has a row'
fi
report export -q -f true -t chrome -o without.json join.pillion
unlike "$(cat without.json)" 'critical' 'not without the option'

report export -t folded --critical-path join.pillion >out 2>err
is "$? $(cat err)" '2 pillion export: --critical-path does not apply to folded' 'not in other formats'
report export -t chrome --critical-path --split-time=1s join.pillion >out 2>err
is "$? $(cat err)" \
	'2 pillion export: --critical-path is of the whole run: leave out --split-time and --split-size' 'not in parts'
done_testing
