#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One edit has one price: in FIX FIRST, `analyze`, `whatif` and `whatif --rank`. On captures of programs of each kind.
set -u
. "$(dirname "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

capture() { # NAME [OPTION]... COMMAND...
	local name=$1
	shift
	LD_LIBRARY_PATH=$PILLION_BUILD_DIR/tests/doubles pillion -f -o "$name" --stats=false "$@" >/dev/null 2>&1
}

for form in join pipe serial slack socket queue pool opens; do
	capture "causes_$form" "$targets/causes" "$form" slow
done
if [ -x "$targets/cuda_causes" ]; then
	for form in kernel item busy loss fetch streams event free result log overlap input; do
		capture "cuda_$form" "$targets/cuda_causes" "$form" slow
	done
fi
if [ -x "$targets/mpi_causes" ] && command -v mpirun >/dev/null; then
	for form in straggler late slack input pingpong tail; do
		capture "mpi_$form" -t osrt,mpi mpirun --oversubscribe --allow-run-as-root -n 2 \
			"$targets/mpi_causes" "$form" slow
	done
fi
python3 - "$tests_dir/../nightly" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from causes_programs import HEAD, PROGRAMS
for name, (_, text, _) in PROGRAMS.items():
    if not name.startswith("torch"):
        with open("program_%s.py" % name, "w", encoding="utf-8") as file:
            file.write(HEAD + text)
END
for program in program_*.py; do
	capture "${program%.py}" python3 "$program" slow
done
for program in first bench loader; do
	capture "$program" python3 "$tests_dir/../../examples/tutorials/$program.py"
done
# Its wait for input is below the function that computes.
cat >waits_for_input.py <<'END'
import sys
sys.stdin.readline()
n = 0
while n < 4000000:
    n += 1
END
(sleep 0.5; echo) | capture waits_for_input python3 waits_for_input.py

python3 "$tests_dir/prices.py" "$PILLION_BUILD_DIR/report/pillion-report" ./*.pillion >out 2>err
is "$? $(tail -1 out | sed 's/.*edits, //')" '0 0 differ' 'an edit has the same price everywhere'
diag "$(tail -5 out)$(cat err)"
ok 'on many edits' test "$(tail -1 out | sed -E 's/.*captures, ([0-9]+) edits.*/\1/')" -ge 60
done_testing
