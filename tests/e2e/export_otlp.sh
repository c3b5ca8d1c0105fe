#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Profiles of OpenTelemetry: decoded with its own protocol definition they have pprof's stacks, counts and values.
# PyPI's opentelemetry-proto is fetched once per build directory, unless OTLP_PYTHON names a Python that has it.
set -u
. "$(dirname "$0")/lib.sh"

report export -t pprof -o x "$work" 2>&1 | grep -q zlib && skip_all 'this build has no zlib'
from_pypi OTLP_PYTHON otlp opentelemetry-proto || skip_all "$why"
"$python" -c 'from opentelemetry.proto.profiles.v1development import profiles_pb2 as p
p.ProfilesDictionary.DESCRIPTOR.fields_by_name["stack_table"]' 2>err ||
	skip_all 'this opentelemetry-proto has no table of stacks'
unset LD_PRELOAD

# agrees NAME METRIC: the exports of NAME.pillion have the same stacks
agrees() {
	report export -q -f true --metric "$2" -t pprof -o x.pb.gz "$1.pillion" 2>err &&
		report export -q -f true --metric "$2" -t otlp -o x.otlp "$1.pillion" 2>err &&
		"$python" "$tests_dir/export_otlp.py" x.otlp x.pb.gz >facts 2>&1
	local status=$?
	[ "$status" = 0 ] || diag "$(cat err facts)"
	return "$status"
}

"$PILLION_BUILD_DIR/tests/trace-writer" example example.pillion
"$PILLION_BUILD_DIR/tests/trace-writer" hostile hostile.pillion
"$PILLION_BUILD_DIR/tests/trace-writer" job job.pillion
ok 'the example capture' agrees example calls
like "$(cat facts)" '^[1-9][0-9]* stacks' 'with stacks'
ok 'hostile names' agrees hostile calls
ok 'CPU samples' agrees job cpu
like "$(cat facts)" 'unit nanoseconds' 'in nanoseconds'
ok 'device memory' agrees job alloc
like "$(cat facts)" 'unit bytes' 'in bytes'
pillion -o calls --osrt-threshold=0 --osrt-backtrace-threshold=0 "$targets/osrt" 20 >out 2>err
ok 'a program with stacks' agrees calls calls
! has_unwinder || like "$(cat facts)" '[1-9][0-9]* lines' 'with lines of source'
like "$(cat facts)" 'service osrt,' 'the resource has the name of the program'
report export -q -t otlp -o x.otlp.gz example.pillion
is "$(head -c 2 x.otlp.gz | od -An -tx1 | tr -d ' ')" 1f8b 'gzipped if the name ends so'
report export -q -t otlp example.pillion
ok 'the default name' test -s example.otlp
report export -q -t otlp --metric gpu -o none.otlp calls.pillion 2>err
is "$?" 1 'a capture without such data'
not_ok 'has no file' test -e none.otlp
like "$(report export --help | grep -A 1 '^  otlp' | tr -s ' \n' ' ')" 'OpenTelemetry \(v1development\), experimental' \
	'--help calls it experimental'
done_testing
