#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JAX: compilations, calls and operations of its functions, by --jax, by the ranges of XLA, and where neither is
# possible.
set -u
. "$(dirname "$0")/lib.sh"

jobs=$(cd "$tests_dir/../targets/python" && pwd)
interpreter=$(python3 -c 'import sys; print(sys.executable)') || skip_all 'no python3'
notes() { report stats -q -r ledger -f csv "$1.pillion" | sed -n 's/.*,note,1,//p' | tr -d '"' | sort -u; }

# ---- versions of JAX that are unlike those known ----

stub() { # DISPATCH PJIT: a package jax with these bodies
	rm -rf stub
	mkdir -p stub/jax/_src
	echo 'from jax._src import dispatch, pjit' >stub/jax/__init__.py
	: >stub/jax/_src/__init__.py
	printf '%s\n' "$1" >stub/jax/_src/dispatch.py
	printf '%s\n' "$2" >stub/jax/_src/pjit.py
}

of_stub() { # TEXT NOTES
	PYTHONPATH=stub "$interpreter" use.py >bare.out 2>bare.err
	PYTHONPATH=stub pillion -f -o stub --jax "$interpreter" use.py >out 2>err
	is "$? $(cat out) $(grep -v '^pillion: ' err)" "0 $(cat bare.out) $(cat bare.err)" \
		"$1: the program is as without us"
	is "$(notes stub | tr '\n' ';')" "$2" "$1: the ledger"
}

phases='import contextlib
@contextlib.contextmanager
def log_elapsed_time(fmt, fun_name, event=None):
    yield 7'
cat >use.py <<'END'
import jax
if hasattr(jax.dispatch, 'log_elapsed_time'):
    with jax.dispatch.log_elapsed_time('', 'jit(f)', event='/jax/core/compile/backend_compile_duration') as value:
        print(value)
    try:
        with jax.dispatch.log_elapsed_time('', fun_name=len, event='/jax/core/compile/jaxpr_trace_duration'):
            raise KeyError(3)
    except KeyError as error:
        print('caught', error)
    with jax.dispatch.log_elapsed_time('', 'other', '/jax/another'):
        pass
if hasattr(jax.pjit, '_cpp_pjit'):
    print(jax.pjit._cpp_pjit(len)('abc'))
END
stub "$phases" 'class Jitted:
    def __init__(self, f):
        self.f, self.__wrapped__, self.__name__ = f, f, "f"
    def __call__(self, *args):
        return self.f(*args)
def _cpp_pjit(f):
    return Jitted(f)'
of_stub 'functions of another kind' \
	'--jax: this version of JAX or Python has functions whose calls cannot be recorded;'
is "$(report stats -q -r nvtx_sum -f csv stub.pillion | awk -F, '/JAX:/ { print $3, $NF }' | sort | tr '\n' ';')" \
	'1 JAX:compile jit(f);1 JAX:trace ?;' 'functions of another kind: the phases are recorded'
like "$(report stats -q -r jax_sum -f csv stub.pillion)" ',1,0,0,,0,0,f,.*use.py:3' \
	'functions of another kind: a compilation with its line'
stub 'pass' 'def _cpp_pjit(f):
    return f'
of_stub 'no phases, functions without a name of their own' \
	'--jax: calls of a function are not recorded: AttributeError;'\
'--jax: nothing is recorded of jax._src.dispatch: AttributeError;'
stub "$phases
def compile_or_get_cached(text):
    return Executable(text)
class Executable:
    def __init__(self, text):
        self.hlo_modules = lambda: [self]
        self.to_string = lambda: text + 1 if text == 2 else text" 'pass'
cat >>use.py <<'END'
long = 'HloModule f\n' + 'x' * 100000 + '\n  %' + 'y' * 70000 + ' = f32[] add(), metadata={op_name="a\\'
for text in (1, 2, '\ud800', long):
    print(type(jax.dispatch.compile_or_get_cached(text=text)))
try:
    jax.dispatch.compile_or_get_cached()
except TypeError as error:
    print(error)
END
of_stub 'modules of another kind' \
	'--jax: a module of XLA has more than 64 MiB of text, or a line of more than 64 KiB: not all of its '\
'operations have scopes;'\
'--jax: executables without their memory: AttributeError;'\
'--jax: nothing is recorded of jax._src.pjit: AttributeError;'\
'--jax: operations of XLA without scopes: TypeError;'
cat >module.hlo <<'END'
HloModule jit_f, is_scheduled=true, entry_computation_layout={()}

%fused (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0), metadata={op_name="x"}
  ROOT %add.1 = f32[2]{0} add(%p, %p), metadata={op_name="jit(f)/a\"}b[x={1}]" source_line=7}, backend_config={"k":"}"}
}

FileNames
1 "/x/a.py"

ENTRY %main.9 (w: f32[2]) -> f32[2] {
  %copy = f32[2]{0} copy(%w), backend_config={"metadata={":1}
  %fusion = f32[2]{0} fusion(%w), kind=kLoop, calls=%fused, metadata={op_name="cut
  ROOT %loop = f32[2]{0} fusion(%w), kind=kLoop, calls=%fused
}
END
is "$("$interpreter" -c 'import sys
exec(open(sys.argv[1]).read())
print("".join(origins(open("module.hlo").read())), end="")' "$tests_dir/../../preload/python/annotate_jax.py")" \
	'HloModule jit_f
%fused {
  ROOT %add.1, metadata={op_name="jit(f)/a\"}b[x={1}]" source_line=7}
FileNames
1 "/x/a.py"
ENTRY %main.9 {
  %fusion, calls=%fused, metadata={op_name="cut
  ROOT %loop, calls=%fused' 'what is recorded of a module'
pillion -f -o none --jax "$interpreter" -c 'import json' >out 2>err
is "$? $(notes none) $(report stats -q -r nvtx_sum -f csv none.pillion | grep -c JAX)" '0  0' \
	'a program without JAX has nothing of it'

# ---- the real one, on the CPU ----

has_jax() { why='it cannot be imported' && timeout "$patience" "$python" -c 'import jax' 2>err; }
is_wanted() { why='scripts/test --long downloads it' && [ -n "${PYTHON_JAX:-}${PILLION_TESTS_LONG:-}" ]; }
if is_wanted && from_pypi PYTHON_JAX jax/site-packages jax && has_jax; then
	export JAX_PLATFORMS=cpu
	timeout "$patience" "$python" "$jobs/jax_steps.py" >bare.out 2>bare.err
	bare=$?
	pillion -o real --jax "$python" "$jobs/jax_steps.py" >out 2>err
	is "$? $(cat out) $(grep -v '^pillion: ' err)" "$bare $(cat bare.out) $(cat bare.err)" \
		'JAX: status, output and errors are as without us'
	is "$(notes real)" '' 'JAX: nothing is missing'
	pillion -o counted --jax "$python" "$jobs/jax_steps.py" counts.json >out 2>err
	report stats -q -r jax_sum -f json counted.pillion >ours.json
	is "$(python3 -c 'import json
ours, theirs, all = {}, {}, 0
for row in json.load(open("ours.json")):
    name = row["Function"].split(" (")[0]
    ours[name] = ours.get(name, 0) + row["Compilations"]
    all += row["Compilations"]
for name, count in json.load(open("counts.json")).items():
    theirs[name[4:-1]] = theirs.get(name[4:-1], 0) + count
if list(theirs) == [""]: # before 0.5 it has no names
    ours, theirs = all, theirs[""]
else:
    ours = {name: count for name, count in ours.items() if count}
print(ours == theirs or (ours, theirs))')" True 'JAX: compilations by function are those that JAX counts'
	report stats -q -r jax_sum -f csv real.pillion >sum
	is "$(awk -F, '$12 ~ /jax_steps.py/ { sub(/ .*/, "", $12); print $12, $6, $7 }' sum | sort | tr '\n' ';')" \
		'<lambda> 5 5;fails 0 3;method 1 3;stable 1 21;unstable 8 8;' \
		'JAX: compilations and calls of each function, in all threads, not those while another is traced'
	like "$(cat sum)" ',1,0,0,,0,0,ahead,' 'JAX: what is compiled ahead of time, whose calls are not recorded'
	line=$(sed -n '/line of the compilations/=' "$jobs/jax_steps.py")
	like "$(grep unstable sum)" "jax_steps.py:$line\)" 'JAX: the line that had it compiled'
	is "$(awk -F, 'NR > 1 && ($3 + $4 + $5 != $2 || $7 && !$8)' sum)" '' \
		'JAX: the phases add up, and calls take time'
	like "$(report analyze -r recompilation real.pillion)" \
		"JAX's function unstable \(jax_steps.py:[0-9]+\) is compiled 8 times, " 'JAX: rule recompilation'
	explains='from jax._src import config; config.explain_cache_misses'
	if "$python" -c "$explains" 2>err; then
		like "$(report analyze -r recompilation real.pillion)" 'for a change of x, (now|seen) f32\[' \
			'JAX: the argument that changed'
		like "$(report stats -q -r jax_sum -f csv real.pillion | grep unstable)" ',"?x, (now|seen) f32\[' \
			'JAX: likewise in jax_sum'
		# what JAX logs if the program wants it; times and ids differ
		logged() { sed -E 's/(costing|id=)[ 0-9.]*//; /^pillion: /,$d' "$1"; }
		JAX_EXPLAIN_CACHE_MISSES=1 timeout "$patience" "$python" "$jobs/jax_steps.py" >bare.out 2>bare.err
		JAX_EXPLAIN_CACHE_MISSES=1 pillion -o explained --jax "$python" "$jobs/jax_steps.py" >out 2>err
		is "$(logged err)" "$(logged bare.err)" 'JAX: its own explanations are logged as without us'
	else
		skip 'JAX: the argument that changed' 'this version explains nothing'
	fi
	like "$(report stats --summary real.pillion)" \
		'^JAX +unstable \(jax_steps.py:[0-9]+\): compiled 8 times, .*; 8 runs, .* of all [0-9]+ functions: ' \
		'JAX: the summary has compilation against runs'
	is "$(report stats -r jax_ops_sum real.pillion 2>&1 | grep -c 'neither ranges nor kernels here')" 1 \
		'JAX: there are no operations on the CPU, and the report says why'
	if [ -e "$targets/nvtx_text.so" ]; then
		scopes() { # NAME: with ranges for all of its operations
			pillion -f -o "$1" --jax "$python" "$jobs/jax_scopes.py" "$targets/nvtx_text.so" >"$1.out" \
				2>err || return
			report stats -q -r jax_ops_sum -f csv "$1.pillion" |
				awk -F, 'NR > 1 { print $6 "," $10 "," $11 }' | LC_ALL=C sort >"$1.scopes"
		}
		scopes compiled
		is "$? $(cat compiled.scopes)" "0 $(cat compiled.out)" \
			'JAX: scope and line of each operation are those of the compiled text'
		like "$(cat compiled.scopes)" "attention/.*jax_scopes.py:$(sed -n '/tanh/=' "$jobs/jax_scopes.py")$" \
			'JAX: an operation in a scope'
		export JAX_COMPILATION_CACHE_DIR=$PWD/cache JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 \
			JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1
		scopes written
		scopes cached
		is "$? $(cat cached.scopes)" "0 $(cat cached.out)" 'JAX: the same of what is read from its cache'
		unset JAX_COMPILATION_CACHE_DIR
	else
		skip 'JAX: scopes' "built without NVTX's headers"
	fi
	pillion -o without "$python" "$jobs/jax_steps.py" >out 2>err
	like "$(report stats --summary without.pillion)" '^next .* --jax' \
		'JAX: the summary of a run without it names --jax'
else
	skip 'a real JAX' "$why; PYTHON_JAX names a Python that has it"
fi
unset PYTHONPATH

# ---- XLA's ranges, on the simulated device ----

on_doubles
[ -e "$targets/nvtx_text.so" ] || { skip 'the ranges of XLA' "built without NVTX's headers"; done_testing; exit; }
pillion -o xla -t cuda,nvtx "$interpreter" "$jobs/xla.py" 6 "$targets/nvtx_text.so" >out 2>err
is "$? $(cat out)" '0 ' 'a program with the ranges of XLA'
is "$(report stats -q -r jax_ops_sum -f csv xla.pillion | awk -F, 'NR > 1 { print $3, $5, $6, $7, $9 }' | sort |
	tr '\n' ';')" \
	'0 6 command_buffer jit_step range;1 0 (not within a range of JAX or XLA)  outside;'\
'12 6 dot.2 jit_step range;6 0 copy_fusion jit_step kernel;6 0 loop_add_fusion jit_step command buffer;'\
'6 6 fusion.1 jit_step range;' 'kernels and ranges of each operation'
is "$(report stats -q -r jax_sum -f csv xla.pillion | awk -F, 'NR > 1 { print $6, $7, $11, $12 }')" '1 6 30 step' \
	'compilations, runs and kernels of a module'
gpu() { report stats -q -r "$1" -f csv xla.pillion | awk -F, -v column="$2" 'NR > 1 { n += $column } END { print n }'; }
is "$(gpu jax_ops_sum 2)" "$(gpu cuda_gpu_kern_sum 2)" 'the time of the operations is that of all kernels'
done_testing
