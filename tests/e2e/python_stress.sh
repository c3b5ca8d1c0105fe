#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# OS runtime calls with stacks, CPU samples and a simulated device in one Python process with 32 threads, forks and
# signals, which exits while they run: the results are the same and pillion prints nothing. Each round uses the next
# CPython of this machine.
set -u
. "$(dirname "$0")/lib.sh"
rounds=${PILLION_STRESS_ROUNDS:-10}

has_unwinder || skip_all 'built without the unwinder'
script=$tests_dir/../targets/python_stress.py
doubles=$PILLION_BUILD_DIR/tests/doubles
[ -e "$doubles/libcudart.so.13" ] && export STRESS_CUDART="$doubles/libcudart.so.13" LD_LIBRARY_PATH=$doubles
export PYTHONWARNINGS=ignore

all_pythons "${PYTHON:-/usr/bin/python3}"
[ "${#pythons[@]}" -gt 0 ] || skip_all 'no CPython'
wanted="0 $(timeout "$patience" "${pythons[0]}" "$script" 2>&1) 0"
like "$wanted" '^0 \[[0-9, ]{30,}\] True 0$' 'the job computes a result without pillion'

failures=
for ((i = 0; i < rounds; i++)); do
	python=${pythons[i % ${#pythons[@]}]}
	pillion -f true -o stress -s cpu --sampling-frequency=1000 --osrt-threshold=0 --osrt-backtrace-threshold=0 \
		--cudabacktrace=all:0 \
		--cuda-launch-stacks=true "$python" "$script" >said 2>err
	got="$? $(cat said) $(grep -vc '^pillion: capture' err)"
	[ "$got" = "$wanted" ] || failures="$failures round $i, $python: $got $(head -5 err);"
	report stats -q -r ledger -f csv stress.pillion >ledger 2>&1 ||
		failures="$failures round $i, $python: $(head -3 ledger);"
done
is "$failures" '' "$rounds rounds: the same results as without pillion"

# Stacks of each kind were recorded.
report stats -q -r lines -f csv stress.pillion >lines
for name in leaf call_system generate ${STRESS_CUDART:+work}; do
	is "$(($(grep -cE "python_stress\.py:[0-9]*,(Device\.)?$name\$" lines) > 0))" 1 "and $name is in the report"
done
done_testing
