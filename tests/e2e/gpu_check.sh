#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/gpu-check on the simulated GPU: its checks run, find the values of the double, and give a reason for each
# skip; a wrong count and a missing build make it fail.
set -u
. "$(dirname "$0")/lib.sh"

root=$tests_dir/../..
command -v python3 >/dev/null || skip_all 'no python3'
[ -e "$PILLION_BUILD_DIR/tests/doubles/libcuda.so.1" ] || skip_all 'built without CUDA headers'
command -v cc >/dev/null || skip_all 'no compiler'

gpu_check() {
	timeout 800 python3 "$root/scripts/gpu-check" --doubles --build "$PILLION_BUILD_DIR" --out "$work/out" \
		"$@" >out.txt 2>err.txt
}

# titles OUTCOME: of the checks that passed ('ok') or failed ('not ok') in the last run, without skipped ones
titles() {
	sed -n "/# SKIP/d; s/^$1 [0-9]* - //p" out.txt | sort
}

gpu_check --minutes 12
is "$? $(cat err.txt)" '0 ' 'all checks: status'
like "$(tail -n 1 out.txt)" '^[0-9]+ passed, 0 failed, [0-9]+ skipped$' 'the last line'
is "$(grep -A 3 '^not ok' out.txt)" '' 'none failed'
unlike "$(grep '# SKIP' out.txt)" '# SKIP *$' 'each skip says why'
is "$(grep -c '^ok' out/results.tap) $(python3 -c 'import json
print(len(json.load(open("out/results.json"))["checks"]))')" \
	"$(grep -c '^ok' out.txt) $(grep -c '^ok' out.txt)" 'TAP and JSON have all checks'
is "$(grep -c '| passed, \|| skipped, ' out/results.md)" "$(grep -c '^ok' out.txt)" 'the table has all checks'

titles ok >passed
is "$(grep -c '^| check | outcome | seen |$' out/results.md) $(grep -c '^|---' out/results.md)" '1 1' 'one table'

# A missing tool causes a skip.
mkdir bin
ln -s "$(python3 -c 'import sys; print(sys.executable)')" bin/python3
for tool in cc gcc as ld sh bash env timeout grep awk sed readlink mktemp cat; do
	ln -s "$(command -v $tool)" bin/$tool
done
PATH=$work/bin CUDA_HOME=/nonexistent gpu_check --minutes 5 --only exit
is "$?" 0 'without nvcc on PATH: the rest runs'

if [ -n "${PILLION_TESTS_LONG:-}" ]; then
	# A pillion that records nothing does not pass.
	mkdir -p broken/preload broken/runtime broken/report broken/tests
	cp "$PILLION_BUILD_DIR/runtime/pillion-launch" broken/runtime
	cp "$PILLION_BUILD_DIR/report/pillion-report" broken/report
	ln -s "$PILLION_BUILD_DIR/tests/doubles" broken/tests/doubles
	printf '' >empty.c && cc -shared -fPIC -o broken/preload/libpillion.so empty.c
	gpu_check --build "$work/broken" --minutes 12
	is "$?" 1 'a pillion that records nothing: status'
	titles 'not ok' >failed

	# A CUPTI that does not work: the probes and costs that do not need pillion.
	export PILLION_SIMCUPTI=notinit
	gpu_check --minutes 12 --only probe --only correlation
	is "$?" 1 'a CUPTI that does not work: status'
	unset PILLION_SIMCUPTI
	titles 'not ok' | sort -u - failed >failed_at_all
	is "$(comm -23 passed failed_at_all)" '' 'each check that passed can fail'
else
	skip 'whether each check can fail' 'scripts/test --long runs them against a pillion that records nothing'
fi

# More subscribers than one, and the hardware event system.
export PILLION_SIMCUPTI=layout=13.5,blackwell
gpu_check --minutes 5 --only hardware --only several --only subscription
is "$? $(titles ok | wc -l)" '0 4' 'CUPTI 13.5 and a Blackwell GPU: status'
like "$(grep -A 2 'a profiler with a subscription' out.txt)" 'beside: both record' 'CUPTI 13.5: both record'
like "$(cat out.txt)" 'records_of_the_first 200, records_of_the_second 200' 'CUPTI 13.5: two subscribers'
like "$(cat out.txt)" 'device times are from hardware events' 'a Blackwell GPU: hardware events'
unset PILLION_SIMCUPTI

timeout "$patience" python3 "$root/scripts/gpu-check" --doubles --build "$work" --out "$work/out" >out.txt 2>err.txt
is "$? $(grep -c 'has not been built' err.txt)" '2 1' 'no build: status 2, one line'
done_testing
