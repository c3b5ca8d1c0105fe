#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that is written for PhysicsNeMo's profilers runs with one import changed, and leaves the same files: tables
# of line_profiler and torch.profiler, and a trace. PYTHON_TORCH: a Python that has torch, and physicsnemo to compare
# with.
set -u
. "$(dirname "$0")/lib.sh"

export PYTHONPATH=${tests_dir%/tests/*}/python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8 OMP_NUM_THREADS=1
python=${PYTHON:-python3}
command -v "$python" >/dev/null || skip_all 'no Python 3'

has_lines() { # PYTHON
	"$1" -c 'import sys; sys.exit(object.__basicsize__ != 16)'
}

# without_times FILE: line, hits and text.
without_times() {
	sed -E 's/^Total time: .*/Total time/; s/^( {0,5}[0-9]+ .{9}).{31}/\1/; s/ +$//' "$1"
}

# ---- without PyTorch ----

cat >plain.py <<'END'
import os, sys, threading
from pillion.modulus import Profiler, annotate, profile
class Work:
    @profile
    def loop(self):
        total = 0
        for i in range(10):
            total += i
        return total
    @staticmethod
    @profile
    def still():
        return 1
@profile
def before():
    # a comment

    return 3
@profile
def never():
    pass
reference, p = before, Profiler()
try:
    p.enable("nothing")
except KeyError as error:
    print("line_profiler" in str(error))
p.enable("line_profiler")
p.enable("line_profile")
p.output_dir("there")
Work().loop()
with Profiler() as same:
    print(same is p, before is reference)
    try:
        p.enable("line_profiler")
    except RuntimeError:
        print("too late")
    with annotate(domain="d", color="blue"):
        Work().loop()
    thread = threading.Thread(target=Work().loop)
    thread.start()
    thread.join()
    before(), Work.still()
    p.step()
sys.stdout.flush()
if not os.fork():
    before()
    sys.exit(0)
os.wait()
p.finalize()
before()
print(p.enabled)
END
printed='True
True True
too late'
"$python" plain.py >out 2>err
is "$? $(cat out)" "0 $printed
False" 'without pillion: the program runs'
# shellcheck disable=SC2016 # no expansion
is "$(grep -c 'this process is not recorded: start it as `pillion --lines-of=@profile COMMAND`' err) $(ls)" \
	"1 err
out
plain.py" 'without pillion: a warning says how to start it, and no file is written'
pillion -f -o unlisted "$python" plain.py >out 2>err
# shellcheck disable=SC2016
is "$? $(grep -c ': lines are not recorded: start the program as `pillion --lines-of=@profile COMMAND`' err)" '0 1' \
	'without the option: likewise'
pillion -f -o plain -t nvtx --lines-of=never_defined,@profile "$python" plain.py >out 2>err
status=$?
if has_lines "$python"; then
	is "$status $(cat out)" "0 $printed
True" 'recorded: the program runs'
	cat >wanted <<'END'
Timer unit: 1e-09 s

Total time
File: plain.py
Function: Work.loop at line 4

Line #      Hits  Line Contents
===============================
     4                @profile
     5                def loop(self):
     6         2          total = 0
     7        22          for i in range(10):
     8        20              total += i
     9         2          return total

Total time
File: plain.py
Function: Work.still at line 10

Line #      Hits  Line Contents
===============================
    10                @staticmethod
    11                @profile
    12                def still():
    13         1          return 1

Total time
File: plain.py
Function: before at line 14

Line #      Hits  Line Contents
===============================
    14            @profile
    15            def before():
    16                # a comment
    17
    18         1      return 3

END
	without_times there/line_profiler/profiler_stats.txt |
		sed -E 's,^File: .*/,File: ,; s/^(Line #      Hits).{31}/\1/
		s/^={62}$/===============================/' >seen
	is "$(cat seen)" "$(cat wanted)" \
		'the lines of decorated functions, from initialize() to finalize(), without those of a child'
else
	is "$status $(grep -c 'not recorded without the GIL' err)" '0 1' 'no GIL: a warning says so'
fi

# ---- profilers of the program's own ----

own_profilers() { # FILE: what the program has printed, and the files of its profilers
	cat "$1" there/calls/calls.txt there/counter/steps.txt
	rm -r there
}

with_pillion() { # FILE: the program with its imports changed
	sed -E 's/^from physicsnemo.utils.profiling(.core)? import/from pillion.modulus import/' "$1"
}

rm -rf there
cp "$tests_dir/../targets/package/modulus_profilers.py" own_theirs.py
with_pillion own_theirs.py >own.py
"$python" own.py >out 2>err
is "$? $(own_profilers out)" "0 this name is taken
True True
work 3
forward 3
[('Model.forward', 3), ('work', 4)] 3" "a program's own profilers in the registry"

# ---- a real PyTorch, and PhysicsNeMo ----

real=${PYTHON_TORCH:-}
[ -z "$real" ] && "$python" -c 'import torch.profiler' 2>/dev/null && real=$python
if [ -z "$real" ]; then
	skip "a program for PhysicsNeMo's profilers" 'no torch for python3; PYTHON_TORCH names one'
	done_testing
	exit
fi
cp "$tests_dir/../targets/package/modulus_workload.py" theirs.py
with_pillion theirs.py >ours.py
tools=torch
has_lines "$real" && tools='torch line_profiler'
mkdir ours theirs
outputs=physicsnemo_profiling_outputs
# shellcheck disable=SC2086 # a list
(cd ours && pillion -f -o run --pytorch=autograd-shapes-nvtx --memory=torch --lines-of=@profile "$real" \
	"$work/ours.py" $tools >../out 2>../err)
is "$? $(cat out)" '0 7 True True' 'a program for PhysicsNeMo with one import changed'
is "$(cd ours/$outputs && echo torch/*)" 'torch/cpu_time.txt torch/gpu_time.txt torch/trace.json' 'files of torch'
is "$("$real" -c 'import json, sys
names = [e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"]]
print(names.count("aten::linear"), names.count("workload"))' ours/$outputs/torch/trace.json)" '4 8' \
	'the trace has the operators of the block, and its ranges by the name of their function'
(cd ours && pillion -f -o several --pytorch=autograd-nvtx env RANK=3 WORLD_SIZE=4 "$real" "$work/ours.py" \
	torch >../out 2>../err)
is "$? $(ls ours/$outputs/torch/rank_3 | wc -l)" '0 3' 'a rank has files of its own'
if "$real" -c 'import physicsnemo.utils.profiling' 2>/dev/null; then
	timeout "$patience" "$real" own_theirs.py >out 2>err
	own_profilers out >theirs.txt
	"$real" own.py >out 2>err
	is "$(own_profilers out)" "$(cat theirs.txt)" "a program's own profilers, as with PhysicsNeMo"
	# shellcheck disable=SC2086
	(cd theirs && timeout "$patience" "$real" "$work/theirs.py" $tools >../out 2>../err)
	is "$? $(tail -n 1 out)" '0 7 True True' 'the same with PhysicsNeMo'
	is "$(timeout "$patience" "$real" "$tests_dir/python_modulus_account.py" theirs/$outputs ours/$outputs)" \
		'columns: equal
calls: equal' 'the tables of torch are the same'
	if [ "$tools" != torch ]; then
		without_times theirs/$outputs/line_profiler/profiler_stats.txt | sed 's/theirs.py/ours.py/' >theirs.txt
		without_times ours/$outputs/line_profiler/profiler_stats.txt >ours.txt
		is "$(cat ours.txt)" "$(cat theirs.txt)" 'the tables of lines are the same'
	fi
else
	skip 'the same with PhysicsNeMo' 'no physicsnemo; PYTHON_TORCH names a Python that has it'
fi
done_testing
