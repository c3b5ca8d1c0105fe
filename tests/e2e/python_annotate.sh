#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Annotations without changes to the script: imports, functions and PyTorch's operators have ranges with every CPython
# of this machine, and the script behaves as without pillion.
set -u
. "$(dirname "$0")/lib.sh"

jobs=$tests_dir/../targets/python
export NVTX_TEXT=$targets/nvtx_text.so

# ranges NAME DOMAIN: texts in NAME.pillion with their numbers of instances; the fields of operators are appended to the
# name as in the text that PyTorch pushed.
ranges() {
	report stats -q -r nvtx_pushpop_trace -f json "$1.pillion" | /usr/bin/python3 -c 'import collections, json, sys
counts = collections.Counter()
for row in json.load(sys.stdin):
    name = row["Name"]
    for title, field in ("Seq", "seq"), ("OpId", "op_id"), ("Sizes", "sizes"):
        if row.get(title) is not None:
            name += ", %s = %s" % (field, row[title])
    counts[name] += 1
for name, count in sorted(counts.items()):
    domain, _, text = name.partition(":")
    if domain not in ("python import", "TSL", "traced"): # then it is in the default domain, whose name is not shown
        domain, text = "", name
    if domain == sys.argv[1]:
        print(text, "=%d" % count, sep="")' "$2"
}
notes() { report stats -q -r ledger -f csv "$1.pillion" | sed -n 's/.*,note,1,//p' | tr -d '"' | sort -u; }
# NAME: number of intervals without operators
gaps() { report stats -q -r ledger -f csv "$1.pillion" | sed -n "s/.*,operators not recorded,\([0-9]*\),.*/\1/p"; }

# TEXT NAME OPTION... -- COMMAND...: status, output and errors are the same as without pillion.
same() {
	local text=$1 name=$2 options=() bare
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	timeout "$patience" "$@" >bare.out 2>bare.err
	bare=$?
	pillion -f -o "$name" "${options[@]}" "$@" >out 2>err
	is "$? $(cat out)" "$bare $(cat bare.out)" "$text: status and output"
	# USDT: messages of PyTorch, which contain times.
	is "$(grep -Ev '^(pillion|USDT): ?' err)" "$(grep -v '^USDT:' bare.err)" "$text: errors"
}

cat >told.py <<'END'
import torch
of_compiler = {"__name__": "torch._inductor.made", "torch": torch}
def is_enabled(space=globals()):
    return eval("torch.autograd.profiler._is_profiler_enabled", space)
told = [is_enabled(), is_enabled(of_compiler)]
with torch.autograd.profiler.profile():
    told.append(is_enabled())
print(*told, is_enabled())
END

imported() { # PYTHON: the modules of -X importtime, without those imported before recording can start
	"$1" -X importtime "${@:2}" 2>&1 >/dev/null | sed -n 's/^import time: *[0-9]* | *[0-9]* |//p' | tr -d ' ' |
		grep -Ev \
			'^(_frozen_importlib_external|_io|encodings|importedpackage|marshal|posix|nt|time|zipimport)$' |
		sort -u
}
cat >imports.py <<'END'
import email.message, importlib, json
importlib.import_module("wave")
try:
    import absent
except ImportError as error:
    print(error, error.__traceback__.tb_next is None)
from xml.etree import ElementTree
END
cat >threads.py <<'END'
import concurrent.futures, threading, time
def load(i):
    time.sleep(0.01)
threads = [threading.Thread(target=load, args=(i,), name="loader é%d" % i) for i in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
with concurrent.futures.ThreadPoolExecutor(1, "pool") as pool:
    print(pool.submit(load, 2).result())
END
cat >chain.py <<'END'
import broken
END
echo 'raise ValueError(1)' >broken.py

# TEXT: checks the ranges of operators.py in operators.pillion.
all_threads() {
	local name
	for name in main main_thread after child child_thread forked; do
		is "$(ranges operators '' |
			grep -cE "^$name(Backward0)?, seq = [0-9], sizes = \[\[2, 3\], \[3\]\]=1$")" 2 \
			"$1: $name, forward and backward"
	done
}

tried=0
all_pythons "${PYTHON:-/usr/bin/python3}"
for python in "${pythons[@]}"; do
	tried=$((tried + 1))
	one=$python
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')

	for flags in '' -I '-I -E -S'; do
		# shellcheck disable=SC2086
		same "$version $flags imports" imports --python-import-time=true -- "$python" $flags imports.py
		# shellcheck disable=SC2086
		like "$(ranges imports 'python import')" '^wave=1$' \
			"$version $flags: a module imported by importlib, which -X importtime omits"
		# shellcheck disable=SC2086
		is "$(comm -3 <(imported "$python" $flags imports.py) <(ranges imports 'python import' |
			sed 's/=.*//; /^wave$/d; /^nt$/d' | sort -u) | tr -d '\t' | tr '\n' ' ')" '' \
			"$version $flags: the modules of -X importtime"
	done
	report stats -q -r python_import_sum --sort=tree -f csv imports.pillion >tree
	is "$(grep -c 'json.scanner$' tree) $(awk -F, '/,  json.decoder$/ && $4 == 1' tree | wc -l)" '1 1' \
		"$version: a tree, each module below its importer"
	is "$(awk -F, 'NR > 1 && $1 > $2' tree | wc -l)" 0 \
		"$version: no module's own time exceeds its total time"
	same "$version: an import that fails" broken --python-import-time=true -- "$python" chain.py

	libpython=$("$python" -c 'import os, sysconfig
print(os.path.join(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME")))')
	if [ "${libpython%.so*}" != "$libpython" ] && [ -e "$libpython" ]; then
		export PYTHONHOME
		PYTHONHOME=$("$python" -c 'import sys; print(sys.base_prefix)')
		same "$version embedded in a program, initialized three times" embedded --python-import-time=true -- \
			"$targets/python_embed" "$libpython" 3
		unset PYTHONHOME
		is "$(ranges embedded 'python import' | grep '^json=')" json=3 \
			"$version: imports of each interpreter are recorded"
	fi

	same "$version functions" functions --python-functions-trace="$jobs/functions.json" -- "$python" \
		"$jobs/functions.py"
	is "$(ranges functions traced | tr '\n' ' ')" \
		'Thing.inherited=1 Thing.made=2 Thing.method=1 Thing.still=2 fails=1 plain=3 steps=6 waits=10 ' \
		"$version: each call, and each step of generators and coroutines"
	is "$(ranges functions '' | tr '\n' ' ')" 'dumps=1 ' \
		"$version: a function of the library, in the default domain"
	is "$(notes functions | tr '\n' ';')" \
		'--python-functions-trace: traced.absent: no such function;'\
'--python-functions-trace: traced.produces: not a function that can be wrapped;' \
		"$version: functions that were not traced are in the ledger"

	same "$version threads" threads --python-functions-trace="$jobs/functions.json" -- "$python" threads.py
	report export -t chrome -f true -o threads.json threads.pillion
	is "$(grep -o '"thread_name"[^}]*}' threads.json | grep -o '"name":"[lp]o[^[]*' | sort | tr '\n' ' ')" \
		'"name":"loader é0  "name":"loader é1  "name":"pool_0  ' \
		"$version: threads have their names in Python"

	if [ -e "$NVTX_TEXT" ]; then
		for method in fork spawn forkserver; do
			same "$version operators by $method" operators --pytorch=autograd-shapes-nvtx -- "$python" \
				"$jobs/operators.py" $method
			all_threads "$version $method"
		done
		is "$(report stats -q -r pytorch_sum -f csv operators.pillion |
			grep -cE ',1,(main|child|after)(Backward0)?,"\[\[2, 3\], \[3\]\]"$')" 6 \
			"$version: pytorch_sum has a row for each"
		like "$(ranges operators '')" '^own, seq = 1=1' \
			"$version: the program's own profiler works in its thread"
		is "$(gaps operators)" '1' "$version: the interval of its profiler is in the ledger"
		pillion -f -o plain --pytorch=autograd-nvtx "$python" "$jobs/operators.py" fork >/dev/null 2>err
		like "$(ranges plain '')" '^main, seq = 0=1' "$version: without shapes"
	fi

	export TORCH_STUBS=$targets/libtorch_cpu.so
	for method in fork spawn; do
		same "$version without NVTX, by $method" operators --pytorch=autograd-shapes-nvtx -- "$python" \
			"$jobs/operators.py" $method
		all_threads "$version without NVTX, $method"
		is "$(notes operators)" '' "$version without NVTX: nothing is missing"
	done
	for method in fork spawn; do
		TORCH_RECORD=2.5.1 same "$version recorded by our callback, by $method" operators \
			--pytorch=autograd-shapes-nvtx -- "$python" "$jobs/operators.py" $method
		names='(main|main_thread|after|child|child_thread|forked)'
		is "$(report stats -q -r pytorch_sum -f csv operators.pillion |
			grep -cE ",1,$names(Backward0)?,\"\[\[2, 3\], \[3\]\]\"$")" 12 \
			"$version recorded, $method: forward and backward in each thread and process"
		ranges operators '' | sed 's/, op_id = [0-9]*//' >texts
		is "$(grep -cE '^(main|after)(Backward0)?, seq = [02], sizes = \[\[2, 3\], \[3\]\]=1$' texts)" 4 \
			"$version recorded, $method: with its number"
		is "$(report stats -q -r nvtx_pushpop_trace -f csv operators.pillion |
			grep -cE ",$names(Backward0)?,.*\"\[float, float\]\"$")" 12 \
			"$version recorded, $method: with its arguments"
		is "$(grep -cE '^(own|by emit_nvtx)' texts) $(notes operators) $(gaps operators)" '0  1' \
			"$version recorded, $method: not by emit_nvtx, nor in the program's profiler"
	done
	TORCH_RECORD=2.5.1 same "$version recorded, a thread that ends within it" ends \
		--pytorch=autograd-shapes-nvtx -- "$python" "$jobs/ends.py"
	is "$(ranges ends '' | grep -c '^thread')" 2 \
		"$version recorded, a thread that ends within it: its operator, forward and backward"
	TORCH_RECORD=2.5 pillion -f -o plain --pytorch=autograd-nvtx "$python" "$jobs/operators.py" fork >out 2>err
	is "$(ranges plain '' | sed 's/, op_id = [0-9]*//' | grep '^main, ')" 'main, seq = 0=1' \
		"$version recorded: without shapes"
	is "$(PYTHONPATH=$jobs pillion -f -o told --stats=false --pytorch=autograd-nvtx "$python" told.py 2>err)" \
		'False True True False' "$version: whether a profiler is active, as bare; PyTorch's compilers see ours"
	TORCH_RECORD=2.99 pillion -f -o plain --pytorch=autograd-nvtx "$python" "$jobs/operators.py" fork >out 2>err
	like "$(notes plain) $(ranges plain '' | head -1)" \
		'emit_nvtx records the operators of PyTorch 2.99, .*by emit_nvtx' \
		"$version: a version whose type of callbacks is not known"
	export TORCH_ORDER=other
	same "$version without NVTX, its table in another order" operators --pytorch=autograd-nvtx -- "$python" \
		"$jobs/operators.py" fork
	is "$(ranges operators '')" '' "$version: a table of unknown layout is not used"
	like "$(notes operators)" 'compiled without CUDA' "$version: a table of unknown layout is in the ledger"
	is "$(PYTHONPATH=$jobs pillion -f -o operators --pytorch=autograd-nvtx "$python" -c 'import torch
print(torch._stubs.torch_is_registered())' 2>err)" 0 \
		"$version: PyTorch's own table is restored"
	is "$(TORCH_ORDER=elsewhere PYTHONPATH=$jobs \
		pillion -f -o operators --pytorch=autograd-nvtx "$python" -c 'import torch
print(torch._stubs.torch_is_registered())' 2>err)" 0 \
		"$version: a table of another library is kept"
	unset TORCH_STUBS TORCH_ORDER
done
python=${one:-}
[ "$tried" -gt 0 ] || skip_all 'no CPython'
[ -e "$NVTX_TEXT" ] || skip 'operators' 'built without the headers of NVTX'

if [ -e "$NVTX_TEXT" ]; then
	pillion -f -o jax "$python" -c 'import ctypes, os
xla = ctypes.CDLL(os.environ["NVTX_TEXT"])
for text in b"XlaModule:#hlo_module=jit_f,program_id=7#", b"Thunk:#hlo_op=fusion.1#", b"Thunk:#hlo_op=fusion.1#":
    xla.xla_step(text)' 2>err
	is "$? $(ranges jax TSL | tr '\n' ' ')" \
		'0 Thunk:#hlo_op=fusion.1#=2 XlaModule:#hlo_module=jit_f,program_id=7#=1 ' \
		"the ranges of XLA's domain are unchanged"
fi

pillion -f -o bare --trace=osrt "$python" -c 'import json' 2>err
is "$? $(ranges bare 'python import')" '0 ' 'no Python ranges unless selected'
PILLION_OUTPUT=$work/env.pillion PILLION_PYTHON_IMPORT_TIME=true LD_PRELOAD=$library "$python" -c 'import json' 2>err
like "$(ranges env 'python import')" '^json.decoder=1$' 'selected without the launcher'
pillion -f -o not --python-import-time=true /bin/sh -c 'cat /dev/null; : >file' 2>err
is "$? $(notes not)" '0 ' 'a program without Python is unchanged'

for old in "$HOME"/.pyenv/versions/{2.7,3.6,3.7}.*/bin/python; do
	[ -x "$old" ] || continue
	same "$old" old --python-import-time=true --pytorch=autograd-nvtx -- \
		"$old" -c 'import json; print(json.dumps([1]))'
	is "$(ranges old 'python import')" '' 'no Python ranges before 3.8'
done

# A real PyTorch; a CPU build lacks its NVTX interface, which torch_nvtx.cpp provides.
real=${PYTHON_TORCH:-}
[ -z "$real" ] && python3 -c 'import torch.autograd.profiler' 2>/dev/null && real=python3
if [ -z "$real" ]; then
	skip 'the operators of a real PyTorch' 'no torch for python3; PYTHON_TORCH names one'
	done_testing
fi
cat >train.py <<'END'
import threading, torch
model = torch.nn.Linear(4, 5)
optimizer = torch.optim.SGD(model.parameters())
def step():
    model(torch.ones(3, 4)).relu().sum().backward()
    optimizer.step()
step()
thread = threading.Thread(target=step)
thread.start()
thread.join()
with torch.autograd.profiler.profile() as p:
    step()
print(len(p.function_events) > 5, getattr(torch.autograd.profiler, "_is_profiler_enabled", None))
step()
END
# TEXT: checks the ranges of train.py in real.pillion.
trained() {
	same "$1" real --pytorch=autograd-shapes-nvtx -- "$real" train.py
	ranges real '' >texts
	is "$(grep -cE '^aten::addmm, seq = [0-9]+, (op_id = [0-9]+, )?'\
'sizes = \[\[5\], \[3, 4\], \[4, 5\], \[\], \[\]\]' \
		texts)" 3 "$1: forward in each thread, not while the program profiles"
	is "$(grep -cE '^AddmmBackward0, seq = [0-9]+, (op_id = [0-9]+, )?sizes = \[\[3, 5\]\]' texts)" 3 \
		"$1: backward"
	is "$(notes real)" '' "$1: nothing is missing"
	is "$(gaps real)" 1 "$1: the interval in which the program profiles is in the ledger"
	is "$(report stats -q -r nvtx_sum -f csv real.pillion | awk -F, '$NF == "aten::addmm" { print $3 }')" 3 \
		"$1: nvtx_sum has one row for an operator"
	like "$(report stats -q -r nvtx_pushpop_trace -f csv real.pillion)" \
		',aten::addmm,[0-9]+,.*,[0-9]+,[0-9]*,"\[\[5\], \[3, 4\], \[4, 5\], \[\], \[\]\]",'\
'"\[float, float, float, 1, 1\]"$' \
		"$1: the trace has the numbers, sizes and arguments in columns of their own"
	like "$(report stats -q -r pytorch_sum -f csv real.pillion)" \
		',[1-9][0-9]*,[1-9][0-9]*,[1-9][0-9.]*,[^,]*,3.6e-07,[^,]*,3,aten::addmm,"\[\[5\], \[3, 4\], '\
'\[4, 5\], \[\], \[\]\]"$' "$1: pytorch_sum has its calls and times"
}
trained 'a real PyTorch, unmodified'
cat >legacy.py <<'END'
import torch
try:
    from torch.autograd.profiler_legacy import profile
except ImportError: # not in this version
    profile = torch.autograd.profiler.profile
with profile() as p:
    torch.relu(torch.ones(2))
print(sorted({e.name for e in p.function_events}))
torch.relu(torch.ones(2))
with torch.profiler.profile(with_stack=True) as p:
    torch.relu(torch.ones(2))
print([e.key for e in p.key_averages() if "pillion" in e.key])
END
same "a real PyTorch: the profiler of before Kineto, and one with stacks" real --pytorch=autograd-nvtx -- \
	"$real" legacy.py
cat >inference.py <<'END'
import json, sys, torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
net = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.Conv2d(8, 8, (1, 3), groups=4, dilation=2),
                    nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
                    nn.Conv2d(6, 2, 3, padding="same"), nn.Dropout(0.25)).eval()
line = nn.Sequential(nn.Conv1d(2, 4, 3, dilation=2), nn.ConvTranspose1d(4, 2, 5, stride=3)).eval()
def work():
    y = net(torch.ones(2, 3, 16, 16))
    line(torch.ones(2, 2, 9).add_(0.5, alpha=3))
    nn.Conv3d(1, 2, 2)(torch.ones(1, 1, 4, 5, 6))
    return torch._foreach_add([y.half(), y.long()], 2), torch.cat([y, y]), y.bfloat16(), y > 1, y.double(), y.char()
with torch.no_grad():
    work()
    with torch.profiler.profile(record_shapes=True) as p:
        work()
    p.export_chrome_trace("theirs.json")
    with FlopCounterMode(display=False) as flops:
        work()
    with torch.profiler.record_function("counted"):
        work()
print(flops.get_total_flops())
END
flops=$(pillion -f -o real --stats=false --pytorch=autograd-shapes-nvtx "$real" inference.py 2>err)
is "$(report stats -q -r pytorch_sum -f csv --group-by=name real.pillion |
	awk -F, '$13 ~ /conv/ { sum += $10 } END { printf "%.0f", sum * 1e9 / 3 }')" "$flops" \
	"a real PyTorch: convolutions in inference have the FLOPs of PyTorch's own counter"
report export -t chrome -f true -o ours.json real.pillion
is "$("$real" -c 'import json, sys
def rows(name):
    events = [e for e in json.load(open(name))["traceEvents"] if e["ph"] == "X"]
    first, last = next(((e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] == "counted"), (0, 1e99))
    return sorted((e["name"], e["args"].get("Input type"), e["args"].get("Concrete Inputs")) for e in events
                  if e.get("cat") == "cpu_op" and first < float(e["ts"]) < last)
ours, theirs = rows("ours.json"), rows("theirs.json")
print(len(ours) > 50, [[row for row in a if row not in b][:3] for a, b in ((ours, theirs), (theirs, ours))])')" \
	'True [[], []]' \
	"a real PyTorch: types and values of arguments are those of PyTorch's profiler"
cat >nested.py <<'END'
import torch, warnings
warnings.simplefilter("ignore")
for layout in torch.strided, torch.jagged:
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=layout)
    print((nested * 2).dim())
END
same 'a real PyTorch, nested tensors' nested --pytorch=autograd-shapes-nvtx -- "$real" nested.py
include=$("$real" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
headers=$(sed -n 's/.*-isystem\([^ "]*\)".*/\1/p' "$PILLION_BUILD_DIR/compile_commands.json" | head -1)
if [ -d "$include/include" ] && g++ -std=c++20 -shared -fPIC -I"$include/include" -isystem \
	"${CUDA_HOME:-/usr/local/cuda}/include" ${headers:+-isystem "$headers"} \
	-o "$work/libtorch_nvtx.so" "$jobs/torch_nvtx.cpp" -L"$include/lib" -ltorch_cpu -lc10 2>/dev/null; then
	mkdir standin
	cp -r "$jobs"/torch_nvtx* standin
	export PYTHONPATH=$work/standin TORCH_NVTX=$work/libtorch_nvtx.so
	trained 'a real PyTorch with NVTX'
else
	skip 'a real PyTorch with NVTX' 'no headers of PyTorch'
fi
done_testing
