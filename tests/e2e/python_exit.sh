#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A rank that SystemExit ends has the line of the program at which it was raised, in each version of CPython: one that
# is caught, or whose status is 0, is not said.
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
all_pythons python3
[ "${#pythons[@]}" -gt 0 ] || skip_all 'no python3'

cat >leaves.py <<'END'
import argparse, os, sys, time

class Own(SystemExit):
    pass

def check(how):
    if how == "number":
        sys.exit(3) # number
    if how == "minus":
        sys.exit(-1) # minus
    if how == "text":
        sys.exit("no input") # text
    if how == "true":
        sys.exit(True) # true
    if how == "raise":
        raise SystemExit(4) # raise
    if how == "own":
        raise Own(5) # own
    if how == "usage":
        argparse.ArgumentParser().parse_args(["--unknown"]) # usage
    if how == "again":
        try:
            sys.exit(6)
        except SystemExit:
            print("caught")
        sys.exit(7) # again
    if how == "deep":
        return check("number") if len(sys.argv) > 400 else deep(400)
    if how == "caught":
        try:
            sys.exit(8)
        except SystemExit:
            os._exit(8) # caught
    sys.exit(0)

def deep(left):
    if left:
        deep(left - 1)
    sys.exit(9) # deep

check(sys.argv[1] if os.environ["SLURM_PROCID"] == "1" else "zero")
END

# of_ranks NAME HOW PYTHON: what is said of two ranks, without a launcher, as by srun --pillion
of_ranks() {
	local rank
	for rank in 0 1; do
		(export LD_PRELOAD="$library" PILLION_OUTPUT="$work/$1.pillion" SLURM_PROCID=$rank SLURM_JOB_ID=7 \
			SLURM_STEP_ID=0 && exec "$3" leaves.py "$2") >"$1.out.$rank" 2>"$1.err.$rank"
		status=$?
	done
	report stats --summary "$1.pillion" >"$1.summary"
}
number=0
for python in "${pythons[@]}"; do
	number=$((number + 1))
	for row in number:3 minus:255 text:1 true:1 raise:4 own:5 usage:2 again:7 deep:9 caught:8; do
		how=${row%:*}
		of_ranks "$how$number" "$how" "$python"
		is "$status" "${row#*:}" "$python, $how: the status"
		line=$(grep -n "# $how\$" leaves.py | cut -d: -f1)
		like "$(cat "$how$number.summary")" "^DIED FIRST rank 1 on .*: exit ${row#*:} at leaves.py:$line " \
			"$python, $how: the line at which it exits"
	done
	is "$(cat "text$number.err.1")" 'no input' "$python: what it writes"
	of_ranks "zero$number" zero "$python"
	unlike "$(cat "zero$number.summary")" 'DIED FIRST' "$python: status 0"
done
done_testing
