#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Python package: its ranges reach pillion and Nsight Systems, it chooses what is recorded, and reads captures.
# PACKAGE_PYTHON: a Python that has Lightning, transformers, nbclient, ipykernel, pandas or pyarrow.
set -u
. "$(dirname "$0")/lib.sh"

jobs=$tests_dir/../targets/package
package=${tests_dir%/tests/*}/python
rich=${PACKAGE_PYTHON:-${PYTHON_TORCH:-python3}}
export PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8
unset NVTX_INJECTION64_PATH

tells() { # events|sqlite NAME: see python_package_account.py
	timeout "$patience" "${PYTHON:-python3}" "$tests_dir/python_package_account.py" "$@"
}

has() { # MODULE...: the rich Python can import them
	local module
	for module in "$@"; do
		"$rich" -c "import $module" 2>/dev/null || return
	done
}

files_of() { # FOLDER: its modules
	(cd "$1" && printf '%s\n' *.py | sort)
}

cat >wanted <<'END2'
push  outer
push dom inner ff0000 io -5
mark  plain
mark  half io 0.5
push  block
push  values {"step":3,"loss":0.25,"name":"zwölf","odd":"odd"}
push  square
push  numbers 123456
push  numbers 123456
push  numbers 123456
push  numbers 123456
push  failing
push  waiting
push  waiting
start  one 1
start  two
push  ?
push  odd
mark  wait
mark  wait
push pillion warm-up 2
mark  warm-up
start pillion active
push pillion step 3
mark  active
push pillion step 4
mark  active
mark  wait
push pillion warm-up 6
mark  warm-up
start pillion active
push pillion step 7
mark  active
push pillion step 8
mark  active
mark  wait
mark  wait
mark  wait
END2
sed -n '/active$\|pillion step/p' wanted >active

tried=0
all_pythons "${PYTHON:-python3}"
for python in "${pythons[@]}"; do
	tried=$((tried + 1))
	version=$("$python" -V 2>&1)
	timeout "$patience" "$python" "$jobs/ranges.py" >bare 2>err
	is "$? $(cat err)" '0 ' "$version: it runs without a profiler"
	like "$(cat bare)" '^1 7 thrown \[\]$' "$version: its functions return what they should"
	pillion -f -o ranges -t nvtx "$python" "$jobs/ranges.py" >out 2>err
	is "$? $(cat out)" "0 $(cat bare)" "$version: status and output are the same under pillion"
	is "$(tells events ranges)" "$(cat wanted)" "$version: ranges, marks and what they carry"
	is "$("$python" -c 'import sys, pillion; print(pillion.is_active(), "ctypes" in sys.modules)')" 'False False' \
		"$version: without a profiler it is not active and does not load ctypes"
done
[ "$tried" -gt 0 ] || skip_all 'no Python 3'
python=${PYTHON:-python3}
is "$(pillion -f -o active "$python" -c 'import pillion; print(pillion.is_active())' 2>err)" True \
	'under pillion it is active'
is "$(NVTX_INJECTION64_PATH=$work/none "$python" -c 'import pillion; print(pillion.is_active())')" False \
	'a tool that does not exist is none'
is "$("$python" -c 'import pillion; print(pillion.__version__)')" "$("$PILLION" --version | sed -n '1s/pillion //p')" \
	'its version is that of pillion'

# Steps in which nothing changes are only counted: the phases, and the calls of on_active, are those of a schedule of
# which only single steps are known.
cat >phases.py <<'END'
import itertools, pillion
def seen(schedule):
    found = []
    with pillion.Profiler(schedule, cuda=False, on_active=lambda p: found.append(("end", p.step_number))) as p:
        for step in range(20):
            found.append((p.step_number, p.phase))
            p.step()
    p.step()
    return found + [(p.step_number, p.phase)]
for wait, warmup, active, repeat, skip in itertools.product(range(3), range(3), (1, 2), range(3), (0, 3)):
    given = dict(wait=wait, warmup=warmup, active=active, repeat=repeat, skip_first=skip)
    schedule = pillion.schedule(**given)
    if seen(schedule) != seen(lambda step: schedule(step)):
        print(given, seen(schedule), seen(lambda step: schedule(step)))
if seen(None) != seen(lambda step: "active"):
    print(seen(None))
END
is "$("$python" phases.py 2>&1)" '' 'steps that are only counted'
like "$("$python" -c 'import pillion
pillion.Profiler((1, 1, 3))' 2>&1 | tail -n 1)" '^TypeError: schedule must be a function .*not \(1, 1, 3\)$' \
	'a tuple as a schedule is refused by the constructor'

# ---- what is recorded ----

pillion -f -o range -c nvtx -p active@pillion --capture-range-end=repeat "$python" "$jobs/ranges.py" >out 2>err
is "$(tells events range)" "$(cat active)" '-c nvtx: the active steps alone'
if nm -D --defined-only "$library" | grep -q ' cudaProfilerStart$'; then
	pillion -f -o range -c cudaProfilerApi --capture-range-end=repeat -t nvtx,osrt \
		"$python" "$jobs/ranges.py" >out 2>err
	is "$(tells events range)" "$(cat active)" '-c cudaProfilerApi: the active steps alone'
	cat >decorated.py <<-'END2'
		import pillion
		@pillion.CudaProfiler()
		def chosen():
		    pillion.mark("inside")
		pillion.mark("outside")
		chosen()
		pillion.mark("outside")
	END2
	pillion -f -o range -c cudaProfilerApi -t nvtx "$python" decorated.py 2>err
	is "$? $(tells events range)" '0 mark  inside' 'CudaProfiler as a decorator'
	sed -i 's/CudaProfiler()/CudaProfiler(__import__("os").environ["NVTX_INJECTION64_PATH"])/' decorated.py
	pillion -f -o range -c cudaProfilerApi -t nvtx "$python" decorated.py 2>err
	is "$? $(tells events range)" '0 mark  inside' 'CudaProfiler of the recorder, where there is no CUDA runtime'
	doubles=$PILLION_BUILD_DIR/tests/doubles
	finds='import ctypes, sys, pillion
if len(sys.argv) > 1: kept = ctypes.CDLL(sys.argv[1])
profiler = pillion.CudaProfiler()
print(profiler.start(), profiler.stop(), profiler.path)'
	is "$(LD_LIBRARY_PATH=$doubles "$python" -c "$finds" "$doubles/libcudart.so.12")" \
		"True True $doubles/libcudart.so.12" 'CudaProfiler uses the CUDA runtime that is loaded'
	like "$(LD_LIBRARY_PATH=$doubles "$python" -c "$finds")" '^True True libcudart\.so' \
		'CudaProfiler finds one by its name'
else
	skip 'CudaProfiler' 'built without CUDA headers'
fi
is "$(LD_LIBRARY_PATH='' "$python" -c 'import pillion
profiler = pillion.CudaProfiler("/nonexistent/libcudart.so")
print(profiler.start(), profiler.stop(), profiler.path)')" 'False False None' \
	'CudaProfiler without a CUDA runtime does nothing'

# ---- captures ----

reader=$python
! has pandas || reader=$rich
PYTHONPATH=$PYTHONPATH adopt "$reader" "$tests_dir/python_package_account.py" tables ranges
"$python" -c 'import pillion.magic
capture = pillion.magic.pillion("-t osrt", "import sys\nprint(6 * 7)\nprint(8, file=sys.stderr)\nsys.exit(3)")
print(len(capture["processes"]))' >out 2>err
is "$? $(tr '\n' ' ' <out)$(cat err)" '0 42 8 1 exit status 3' 'the cell magic: output, status and capture of a cell'
is "$("$python" -c 'import pillion.magic
capture = pillion.magic.pillion("-o named", "print(\"pillion: capture: open it with pillion view it\\x27s\")")
print(capture.paths[0])
output_of, said = pillion.magic.output_of, pillion.magic.CAPTURE
print(output_of(said + "it\x27s"), output_of(said))')" "pillion: capture: open it with pillion view it's
$work/named.pillion
None None" 'the cell magic: the last line that names a capture counts'
is "$("$python" -c 'import pillion.magic
print(pillion.magic.pillion("-f true -o kept", "").paths[0])') $(ls -d kept.pillion)" \
	"$work/kept.pillion kept.pillion" 'the cell magic: -o keeps the capture'

# ---- names of torch.profiler, and ranges without a name ----

cat >torch_names.py <<'END'
import time, pillion
from pillion import profile, record_function, ProfilerActivity, schedule, tensorboard_trace_handler
@pillion.annotate
def plain(): pass
@pillion.annotate()
def called(): pass
def block():
    with pillion.annotate(): pass
plain(), called(), block()
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=tensorboard_trace_handler("log"), record_shapes=True) as prof:
    for i in range(10):
        with record_function("work"): pass
        prof.step()
@profile(domain="jobs")
def decorated(): pass
@profile
def bare(): pass
decorated(), bare(), profile()(bare)()
print(len(prof.key_averages()), prof.key_averages().table(sort_by="count", row_limit=10))
END
"$python" torch_names.py >out 2>err
is "$? $(ls -d log 2>/dev/null) $(sed 's/,.*//' out)" \
	'0  0 pillion: this process is not recorded: start it as `pillion --pytorch=autograd-shapes-nvtx COMMAND`' \
	"torch.profiler's names: the table of a program that is not recorded says how to record it"
like "$(cat err)" 'RuntimeWarning: log/.*\.pt\.trace\.json is not written: pillion: this process is not recorded' \
	'and a file that is not written is named'
pillion -f -o names "$python" torch_names.py >out 2>err
is "$? $(sed 's/:.*\(are not recorded\).*/ \1/' out) $(cat log/*.pt.trace.json | grep -c '"name":"work"')" \
	'0 0 pillion are not recorded 4' \
	'on_trace_ready, tensorboard_trace_handler: the active steps of each series'
is "$(find log -name '*.pt.trace.json' | wc -l)" 2 'and a file for each of them'
is "$(report stats -q -r nvtx_sum -f csv names.pillion | grep -oE '(plain|called|block|work|jobs:decorated|bare)$' |
	sort | tr '\n' ' ')" \
	'bare block called jobs:decorated plain work ' 'annotate() without a message: the name of the function'

# ---- the line magic ----

if from_pypi IPYTHON_PYTHON ipython ipython; then
	cat >session.ipy <<-'END'
		%load_ext pillion
		x = []
		capture = %pillion import time; time.sleep(0.05); x.append(6 * 7)
		time.sleep(0.01)
		slept = [r["Num Calls"] for r in capture["osrt_sum"] if "sleep" in r["Name"]]
		print(x, slept, capture["nvtx_sum"]["Range"])
		print("OS calls" in capture._repr_html_())
	END
	PYTHONPATH=$package:$PYTHONPATH pillion -f -o kernel "$python" -m IPython --no-banner --colors=NoColor \
		session.ipy >out 2>err
	is "$(tr '\n' ' ' <out)" "[42] [1] ['notebook:line 1'] True " \
		'the line magic: the variables stay, and the capture has only the line'
	like "$(PYTHONPATH=$package:$PYTHONPATH "$python" -m IPython --no-banner --colors=NoColor session.ipy 2>&1)" \
		'this kernel is not recorded: start it under pillion' 'a kernel that is not recorded: what to do'
else
	skip 'the line magic' "$why"
fi
export PYTHONPATH=$package # as before, whatever IPython needed
python=${PYTHON:-python3}

# ---- installed ----

mkdir -p 'a prefix/share/pillion' 'a prefix/bin'
cp -r "$package" 'a prefix/share/pillion/python'
printf '#!/bin/sh\n' >'a prefix/bin/pillion'
chmod +x 'a prefix/bin/pillion'
is "$(PYTHONPATH="$work/a prefix/share/pillion/python" "$python" -c \
	'from pillion.capture import _command; print(_command())')" "$work/a prefix/bin/pillion" \
	'an installed package finds the pillion beside it'
rm -rf copy
cp -r "$package" copy
if has pip setuptools && "$rich" -c 'import setuptools, sys
sys.exit(int(setuptools.__version__.split(".")[0]) < 71)' 2>/dev/null; then
	PIP_ROOT_USER_ACTION=ignore timeout "$patience" "$rich" -m pip install -q --no-deps --no-build-isolation \
		--no-index --target site ./copy >out 2>&1
	is "$? $(cat out)$(cd / && PYTHONPATH=$work/site "$rich" -c 'import pillion; print(pillion.__file__)')" \
		"0 $work/site/pillion/__init__.py" 'pip installs it'
	is "$(files_of site/pillion)" "$(files_of "$package/pillion")" \
		'pip installs every file'
else
	skip 'pip installs it' 'no pip or no setuptools 71'
fi
is "$(sed -n "s@^ *'pillion/\(.*\.py\)',@\1@p" "$package/meson.build" | sort)" \
	"$(files_of "$package/pillion")" 'Meson installs every file'

# ---- Nsight Systems ----

executable=$("$python" -c 'import sys; print(sys.executable)')
if nsys_records theirs -t nvtx "$(command -v "$executable")" "$jobs/ranges.py"; then
	timeout -k 5 60 "$NSYS" export -t sqlite -f true -o theirs.sqlite theirs.nsys-rep >out 2>err
	why="nsys export: $(tail -n 1 err)"
fi
if [ -s theirs.sqlite ]; then
	# Nsight Systems 2022.4 does not know payloads with several values.
	is "$(tells sqlite theirs.sqlite)" "$(sed 's/ {.*}$//' wanted)" 'Nsight Systems records the same ranges'
else
	skip 'Nsight Systems records the same ranges' "$why"
fi

# ---- frameworks ----

if has torch lightning.pytorch; then
	pillion -f -o lightning -t nvtx "$rich" "$jobs/with_lightning.py" durations >out 2>err
	is "$? $(tail -n 1 out)" '0 True True' "Lightning: the rows of SimpleProfiler's table"
	adopt "$python" "$tests_dir/python_package_account.py" lightning lightning durations
	is "$(tells events lightning | grep -c '^push pillion step') $(tells events lightning |
		grep -c '^start pillion active')" '8 2' "Lightning: the callback's steps"
	# a program's own profiler and Lightning's advanced one, with Lightning and with the import changed
	cp "$jobs/with_lightning_profilers.py" theirs.py
	sed 's/^from lightning.pytorch.profilers import/from pillion.lightning import/' theirs.py >ours.py
	timeout "$patience" "$rich" theirs.py >wanted 2>err
	mv fit-advanced.txt theirs.txt
	pillion -f -o actions -t nvtx "$rich" ours.py >out 2>err
	is "$? $(cat out)" "0 $(cat wanted)" 'Lightning: the own and the advanced profiler'
	is "$(tells events actions | grep -c '^push lightning run_training_batch')" 30 \
		'Lightning: their actions are ranges'
	calls() { sed -n '/Model\.setup$/,/calls/s/ *\([0-9]*\) function calls.*/\1/p' "$1"; }
	is "$(calls fit-advanced.txt)" $(($(calls theirs.txt) + 1)) \
		'Lightning: the advanced profiler counts one call of ours in an action'
else
	skip 'Lightning' 'no torch and lightning; PACKAGE_PYTHON names a Python that has them'
fi
if has torch transformers accelerate; then
	pillion -f -o trainer -t nvtx "$rich" "$jobs/with_trainer.py" >out 2>err
	is "$?" 0 "Hugging Face's Trainer: status"
	tells events trainer | sed 's/ [0-9]*$//' | sort | uniq -c | sed 's/^ *//' >seen
	is "$(grep -E 'push|start' seen)" '2 push pillion step
2 push pillion warm-up
2 push transformers epoch
8 push transformers step
1 push transformers train
1 start pillion active' "Hugging Face's Trainer: ranges"
	like "$(cat seen)" '^8 mark transformers substep$' "Hugging Face's Trainer: marks"
else
	skip "Hugging Face's Trainer" 'no torch and transformers; PACKAGE_PYTHON names a Python that has them'
fi
if has nbclient ipykernel; then
	timeout "$patience" "$rich" "$jobs/in_notebook.py" >out 2>err
	is "$?" 0 'a notebook: status'
	like "$(cat out)" '^42$|^stream 42$' 'a notebook: the output of a recorded cell'
	like "$(cat out)" 'ZeroDivisionError' 'a notebook: its errors'
	like "$(cat out)" '<th>Command</th>' 'a notebook: a table'
	like "$(cat out)" "\[\{'one': 1\}\]" 'a notebook: a query'
else
	skip 'a notebook' 'no nbclient and ipykernel; PACKAGE_PYTHON names a Python that has them'
fi
done_testing
