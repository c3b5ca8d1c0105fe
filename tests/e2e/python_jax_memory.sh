#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JAX: live buffers by line and shape, hits and misses of its compilation cache, memory of executables.
set -u
. "$(dirname "$0")/lib.sh"

jobs=$(cd "$tests_dir/../targets/python" && pwd)
interpreter=$(python3 -c 'import sys; print(sys.executable)') || skip_all 'no python3'
notes() { report stats -q -r ledger -f csv "$1.pillion" | sed -n 's/.*,note,1,//p' | tr -d '"' | sort -u; }
live() {
	report stats -q -r jax_live_sum -f json "$1.pillion" | "$interpreter" -c 'import json, sys
for row in json.load(sys.stdin):
    function, line = row["Line"].split(" (")[0].split(".<locals>")[0], row["Line"].rstrip(")").split(":")[-1]
    print(row["Array"], row["Device"], row["Buffers"], round(row["In Use At Peak (MB)"] * 1e6), function + ":" + line)
' | LC_ALL=C sort
}

# ---- a package that has what is used of JAX, with arrays on several devices ----

mkdir -p stub/jax/_src
echo 'from jax._src import pjit, xla_bridge' >stub/jax/__init__.py
: >stub/jax/_src/__init__.py
cat >stub/jax/_src/pjit.py <<'END'
def _cpp_pjit(f):
    def made(*args):
        return f(*args)
    made.__wrapped__, made.__name__ = f, f.__name__
    return made
END
cat >stub/jax/_src/xla_bridge.py <<'END'
class Client:
    def __init__(self):
        self.arrays, self.before = [], None
    def live_arrays(self):
        if self.before:
            self.before()
        return self.arrays
_backends = {'gpu': Client()}
END
cat >use.py <<'END'
import signal, sys, time
import jax
from jax._src.xla_bridge import _backends

class Device:
    def __init__(self, platform, id):
        self.platform, self.id = platform, id
class Sharding:
    def __init__(self, ids, parts, kind='device'):
        self.addressable_devices = {Device('gpu', i) for i in ids}
        self.parts, self.memory_kind = parts, kind
    def shard_shape(self, shape):
        return (shape[0] // self.parts,) + shape[1:]
class Kind:
    itemsize = 2
    def __str__(self):
        return 'bfloat16'
class Trace:
    def __init__(self):
        self.frame = sys._getframe(2)
        self.place = self.frame.f_lasti
    def raw_frames(self):
        return [self.frame.f_code], [self.place]
class Array:
    def __init__(self, shape, sharding, deleted=False):
        self.shape, self.dtype, self.sharding, self.deleted = shape, kind, sharding, deleted
        self.traceback = Trace()
    def is_deleted(self):
        return self.deleted

kind, client = Kind(), _backends['gpu']
jitted = jax.pjit._cpp_pjit(lambda x: x + 1)
def call(): # C calls the function by its pointer for calls
    time.sleep(0.003)
    return next(map(jitted, [1]))
def main():
    split, whole, held = Sharding((0, 1, 2, 3), 4), Sharding((2, 5), 1), Sharding((1,), 1, 'pinned_host')
    print(call())
    client.arrays += [Array((8, 4), split), Array((8, 4), whole), Array((3,), held), Array((9,), held, True)]
    client.arrays += [Array((8, 4), split) for i in range(100)]
    client.arrays += [Array((i,), held) for i in range(1, 201)]
    print(call())
    del client.arrays[3:]
    print(call())

    def handler(*unused):
        raise TimeoutError('of the program')
    signal.signal(signal.SIGUSR1, handler)
    client.before = lambda: signal.raise_signal(signal.SIGUSR1)
    try:
        print('not reached' if looks else 'of the program', call() if looks else '')
    except TimeoutError as error:
        print(error, '')
    def broken():
        raise KeyError
    broken.__code__ = broken.__code__.replace(co_filename=jax.__file__)
    client.before = broken
    print(call(), call())
looks = len(sys.argv) > 1
main()
END
PYTHONPATH=stub "$interpreter" use.py >bare.out 2>bare.err
PYTHONPATH=stub pillion -f -o stub --jax-live=1 "$interpreter" use.py looks >out 2>err
is "$? $(cat out) $(grep -v '^pillion: ' err)" "0 $(cat bare.out) $(cat bare.err)" \
	"a look: the program is as without us, and gets its handler's exception"
is "$(notes stub)" '--jax: live buffers that are not recorded: KeyError' 'a look that fails: the ledger'
live stub >live
is "$(grep -c . live) $(awk '{ n += $(NF - 2); b += $(NF - 1) } END { print n, b }' live)" \
	"204 303 $((101 * 64 + 2 * 64 + 6 + 2 * 200 * 201 / 2))" \
	'all arrays but the one that is deleted, in several parts'
is "$(grep -F '[8,4]' live)" \
	"bfloat16[8,4] gpu:0-3 1 64 main:$(sed -n '/Array((8, 4), whole)/=' use.py)
bfloat16[8,4] gpu:0-3 100 6400 main:$(sed -n '/in range(100)/=' use.py)
bfloat16[8,4] gpu:2,5 1 128 main:$(sed -n '/Array((8, 4), whole)/=' use.py)" 'arrays by shape, devices and line'
like "$(cat live)" 'bfloat16\[3\] gpu:1 pinned_host 1 6 main:' 'the kind of memory'
is "$(report stats -q -r jax_live_trace -f csv stub.pillion | awk -F, 'NR > 1 { print $5, $6 * 1e6 }' | tr '\n' ';')" \
	'0 0;303 46798;3 198;' 'buffers and bytes at each look'
PYTHONPATH=stub pillion -f -o hour --jax-live=3600000 "$interpreter" use.py >out 2>err
is "$? $(cat out) $(report stats -q -r jax_live_trace -f csv hour.pillion | wc -l)" "0 $(cat bare.out) 2" \
	'an interval that the program does not reach: JAX is asked once'
PYTHONPATH=stub pillion -f -o off "$interpreter" use.py >out 2>err
is "$? $(cat out)" "0 $(cat bare.out)" 'without --jax nobody asks'
like "$(report stats -r jax_live_sum off.pillion 2>&1)" 'was not asked for its live buffers' 'the report says so'

# ---- while it runs ----

cat >loop.py <<'END'
import os
import runpy
sizes = runpy.run_path('use.py', run_name='use')
sizes['client'].arrays += [sizes['Array']((5, 3), sizes['Sharding']((0,), 1)) for i in range(7)]
while not os.path.exists('loop.end'):
    sizes['call']()
END
sed -i 's/^main()$/if __name__ == "__main__":\n    main()/' use.py
PYTHONPATH=stub pillion -f -o loop --jax "$interpreter" loop.py >out 2>err &
launcher=$!
in_top() { # TABLE COLUMN WANTED: a cell of the last row of the table
	"$PILLION" top --once --json --interval=100ms loop >top.json 2>top.err || return
	[ "$("$interpreter" -c 'import json, sys
rows = [row for row in json.load(open("top.json"))["rows"] if row["table"] == sys.argv[1]]
print(rows[-1][sys.argv[2]])' "$1" "$2")" = "$3" ]
}
ok 'top: live buffers of the last seconds' eventually in_top jax_live Buffers 7
ok 'top: their lines' eventually in_top jax_lines Buffers 7
line=$(sed -n '/lambda x/=' use.py)
ok 'top: functions of the last seconds' eventually in_top jax Function "<lambda> (use.py:$line)"
: >loop.end
wait $launcher
is "$? $(cat out)" '0 ' 'top: the program is as without it'

# ---- the real one, on the CPU ----

has_jax() { why='it cannot be imported' && timeout "$patience" "$python" -c 'import jax' 2>err; }
is_wanted() { why='scripts/test --long downloads it' && [ -n "${PYTHON_JAX:-}${PILLION_TESTS_LONG:-}" ]; }
if ! { is_wanted && from_pypi PYTHON_JAX jax/site-packages jax && has_jax; }; then
	skip 'a real JAX' "$why; PYTHON_JAX names a Python that has it"
	done_testing
	exit
fi
export JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=4
timeout "$patience" "$python" "$jobs/jax_memory.py" bare.json >bare.out 2>bare.err
bare=$?
pillion -o real --jax-live=1 "$python" "$jobs/jax_memory.py" real.json >out 2>err
is "$? $(cat out) $(grep -v '^pillion: ' err)" "$bare $(cat bare.out) $(cat bare.err)" \
	'JAX: status, output and errors are as without us'
is "$(notes real)" '' 'JAX: nothing is missing'

cat >compare.py <<'END'
import json, subprocess, sys
def rows(report):
    command = sys.argv[3:] + ['stats', '-q', '-r', report, '-f', 'json', sys.argv[1] + '.pillion']
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
theirs = json.load(open(sys.argv[1] + '.json'))
def compare(what, ours, expected):
    print('same' if ours == expected else '%s: %r, not %r' % (what, ours, expected))
if sys.argv[2] == 'live':
    ours = [[row['Buffers'], round(row['Live (MB)'] * 1e6)] for row in rows('jax_live_trace')]
    compare('steps', ours[-len(theirs['steps']):], theirs['steps'])
    shapes = {}
    for row in rows('jax_live_sum'):
        if row['Buffers']:
            known = shapes.setdefault(row['Array'], [0, 0])
            known[0] += row['Buffers']
            known[1] += round(row['In Use At Peak (MB)'] * 1e6)
    compare('shapes', shapes, theirs['shapes'])
    ours = {row['HLO Module']: [round(row[c + ' (MB)'] * 1e6) for c in ('Arguments', 'Outputs', 'Temporary')]
            for row in rows('jax_exec_sum')}
    compare('memory', {name: ours.get(name) for name in theirs['memory']}, theirs['memory'])
else:
    def event(name):
        return theirs['events'].get('/jax/compilation_cache/' + name, 0)
    ours = rows('jax_cache_sum')
    sums = [sum(row[c] for row in ours) for c in ('Cache Hits', 'Cache Misses', 'Cache Writes')]
    hits = event('cache_hits')
    compare('cache', sums, [hits, event('compile_requests_use_cache') - hits, event('cache_misses')])
    step = [row for row in ours if row['Function'].startswith('step (jax_memory.py:')]
    print(*[row[c] for row in step for c in ('Cache Hits', 'Cache Misses', 'Cache Writes', 'Compilations')])
END
compare() { "$interpreter" compare.py "$1" "$2" "$PILLION_BUILD_DIR/report/pillion-report" | tr '\n' ';'; }
is "$(compare real live)" 'same;same;same;' \
	'JAX: live arrays after each step, by type and shape at the peak, memory of executables: as JAX says'
live real >live
line=$(sed -n '/line of what is kept/=' "$jobs/jax_memory.py")
is "$(grep ":$line" live)" "float32[64,64] cpu:0 10 163840 main:$line" 'JAX: what is kept has its line'
like "$(cat live)" "cpu:0 3 49152 make[^ ]*:$(sed -n '/line of the parameters/=' "$jobs/jax_memory.py")" \
	'JAX: likewise the parameters'
like "$(cat live)" 'float32\[40,8\] cpu:0-3 1 1280 main' 'JAX: an array in parts on four devices'
like "$(cat live)" 'float32\[5,5\] cpu:0-3 1 400 main' 'JAX: an array with a copy on each of them'

if ! grep -q compile_requests_use_cache real.json; then
	skip 'JAX: its compilation cache' 'this version tells nothing of it'
	done_testing
	exit
fi
export JAX_COMPILATION_CACHE_DIR=$PWD/cache JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 \
	JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1
pillion -o written --jax "$python" "$jobs/jax_memory.py" written.json >out 2>err
is "$(compare written cache)" 'same;0 1 1 1;' 'JAX: misses and writes of the cache: as JAX counts them'
JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=3600 pillion -o cached --jax "$python" "$jobs/jax_memory.py" cached.json \
	>out 2>err
is "$(compare cached cache)" 'same;1 0 0 1;' 'JAX: hits of the cache'
export JAX_COMPILATION_CACHE_DIR=$PWD/other JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=3600
pillion -o missed --jax "$python" "$jobs/jax_memory.py" missed.json >out 2>err
is "$(compare missed cache)" 'same;0 1 0 1;' 'JAX: what is not worth a place in the cache'
unset JAX_COMPILATION_CACHE_DIR
like "$(report stats -r jax_cache_sum real.pillion 2>&1)" "no compilation asked JAX's persistent cache" \
	'JAX: a run without a cache'
done_testing
