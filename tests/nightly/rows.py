#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rows.py [PART...]: what readers of public guides do with other tools, beside the tool, as a table: lines, memory,
shares, flops, arguments. NIGHTLY_LINES: Pythons that have line_profiler and memory_profiler, with colons between them;
NIGHTLY_SCALENE: one that has Scalene; NIGHTLY_PYTHON: one that has PyTorch. A part whose Python is not named is left
out. The status is 1 if hits, FLOPs, types or values differ, or increments by more than 0.5 MiB and 5 %; times and
shares are shown only, because they depend on what else the machine does."""
import collections
import csv
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PILLION = os.path.join(ROOT, 'scripts', 'pillion')
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1', PYTHONDONTWRITEBYTECODE='1')
# says to stderr how long each of its calls of time.sleep took in the mean, by its own clock
SLEEPS = """import atexit, sys, time
slept = []
def measured(seconds, sleep=time.sleep, clock=time.perf_counter):
    begin = clock()
    sleep(seconds)
    slept.append(clock() - begin)
time.sleep = measured
atexit.register(lambda: slept and print("CLOCK", sum(slept) / len(slept), file=sys.stderr))
"""
LINES = {
    'compute': """
def bare(n):
    total = 0
    for i in range(n):
        if i % 3:
            total += i
    return total
@profile
def work(n):
    total = 0
    for i in range(n):
        if i % 3:
            total += i
    return total
work(10)
times = []
for _ in range(9):
    begin = time.perf_counter()
    bare(20000)
    times.append(time.perf_counter() - begin)
    work(20000)
print("CLOCK", sorted(times)[4] * 9, file=sys.stderr)
""",
    'loop': """
@profile
def work(n):
    total = 0
    for i in range(n):
        if i % 3:
            total += i
    time.sleep(0.05)
    return total
work(3000)
work(5)
""",
    'generator': """
@profile
def squares(n):
    for i in range(n):
        time.sleep(0.001)
        yield i * i
    return
print(sum(squares(20)), next(squares(3)))
""",
    'coroutine': """
import asyncio
@profile
async def wait(n):
    for i in range(n):
        await asyncio.sleep(0.002)
        time.sleep(0.001)
    return n
async def both():
    await asyncio.gather(wait(5), wait(9))
asyncio.run(both())
""",
    'threads': """
import threading
@profile
def work(n):
    for i in range(n):
        time.sleep(0.001)
        x = [k
             for k in range(5)]
    return x
threads = [threading.Thread(target=work, args=(10 + i,)) for i in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
""",
    'recursion': """
@profile
def depth(n):
    if n == 0:
        time.sleep(0.02)
        return 0
    return 1 + depth(n - 1)
print(depth(40), depth(3))
""",
    'exceptions': """
@profile
def work(n):
    lost = 0
    for i in range(n):
        try:
            time.sleep(0.001)
            if i % 2:
                raise ValueError(i)
        except ValueError:
            lost += 1
            continue
        finally:
            lost += 2
    return lost
print(work(21))
""",
    'decorated': """
import functools
def twice(f):
    @functools.wraps(f)
    def inner(*args):
        return f(*args), f(*args)
    return inner
@twice
@profile
def work(text):
    with open("/dev/null", "w") as out:
        for word in text.split():
            out.write(word)
            time.sleep(0.001)
    return len(text)
class Model:
    @profile
    def step(self, n):
        while n:
            n -= 1
        return self
print(work("a b c d"))
Model().step(7).step(2)
""",
}
MEMORY = {
    'lists': 'a = [0] * 2000000\n    b = [1] * 4000000\n    del b\n    return a',
    'bytes': 'a = bytearray(30 << 20)\n    a = None\n    b = bytearray(9 << 20)\n    return b',
    'loop': 'kept = []\n    for i in range(4):\n        kept.append(bytearray(5 << 20))\n    return kept',
    'strings': 'a = "x" * (20 << 20)\n    b = a + a\n    del a\n    return b',
    'numpy': 'a = numpy.ones(3000000)\n    b = a * 2\n    del a\n    return b',
    'mapped': 'm = mmap.mmap(-1, 12 << 20)\n    m.write(bytes(12 << 20))\n    m.close()',
}
FLOPS = """
import sys, torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
torch.backends.mha.set_fastpath_enabled(False) # which the counter does not see
groups = 2 if sys.argv[2] == 'inference' else 1 # whose gradients the counter counts once for each group
attention = nn.MultiheadAttention(32, 4, batch_first=True)
nets = {
    'cnn': (nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2, groups=groups)),
            (2, 3, 16, 16)),
    'transposed': (nn.Sequential(nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1, groups=groups)),
                   (2, 4, 8, 8)),
    'volumes': (nn.Sequential(nn.Conv3d(2, 4, 2, dilation=2), nn.Conv3d(4, 2, 1)), (1, 2, 6, 6, 6)),
    'sequences': (nn.Sequential(nn.Conv1d(4, 8, 5, padding=2), nn.ConvTranspose1d(8, 4, 2, stride=2)), (3, 4, 20)),
    'mlp': (nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)), (5, 7, 16)),
    'attention': (attention, (2, 6, 32)),
}
net, shape = nets[sys.argv[1]]
x = torch.randn(*shape, requires_grad=sys.argv[2] == 'training')
def work():
    y = net(x, x, x, need_weights=True)[0] if net is attention else net(x)
    if sys.argv[2] == 'training':
        y.sum().backward()
net.train(sys.argv[2] == 'training')
torch.set_grad_enabled(sys.argv[2] == 'training')
with FlopCounterMode(display=False) as flops:
    work()
print(flops.get_total_flops())
"""
NETS = ('cnn', 'transposed', 'volumes', 'sequences', 'mlp', 'attention')
PRODUCTS = re.compile(r'conv|^aten::(mm|addmm|bmm|baddbmm|matmul|linear|_scaled_dot)')
# what is imported, data, and three functions: what each of them does outside of the system, and its body
SHARES = {
    'mix': ('hashlib', 'data = bytes(1 << 20)',
            ('Python', 'total = sum(i * i for i in range(1500000))'),
            ('Native', 'for _ in range(40):\n        hashlib.sha256(data).digest()'),
            ('Native', 'time.sleep(0.2)')),
    'files': ('', 'data = bytes(1 << 20)',
              ('Native', 'for _ in range(100):\n        open("x", "wb", 0).write(data)'),
              ('Native', 'for _ in range(20):\n        open("x", "rb", 0).read()'),
              ('Python', 'x = 0\n    for i in range(1500000):\n        x += i % 7')),
    'arrays': ('numpy as np', 'data = np.random.rand(500, 500)\nbig = np.random.rand(3000000)',
               ('Native', 'for _ in range(8):\n        data @ data'),
               ('Native', 'for _ in range(20):\n        big.copy()'),
               ('Python', 's = 0.0\n    for i in range(800000):\n        s += i * 0.5')),
    'words': ('re', 'data = " ".join("word%d" % (i % 977) for i in range(60000))',
              ('Native', 'for _ in range(4):\n        re.findall(r"\\w+\\d+", data)'),
              ('Python', 'c = 0\n    for i in range(900000):\n        c += i == 4'),
              ('Native', 'sorted(data.split())')),
    'compress': ('zlib', 'data = os.urandom(300000)',
                 ('Native', 'for _ in range(10):\n        zlib.compress(data)'),
                 ('Python', 'x = 1\n    for i in range(900000):\n        x = x * 5 & 1023'),
                 ('Native', 'time.sleep(0.15)')),
    'sqlite': ('sqlite3', 'rows = [(i,) for i in range(60000)]\ndata = sqlite3.connect(":memory:")\n'
               'data.execute("create table t(a)")',
               ('Native', 'data.executemany("insert into t values(?)", rows)'),
               ('Native', 'data.execute("select max(a), sum(a) from t").fetchall()'),
               ('Python', 'out = 0\n    for i in range(900000):\n        out ^= i')),
}
# prints Python, Native and System in percent: user times of the functions, and the rest of the clock
MEASURED = """
import os, resource, sys, time
of = {'Python': 0, 'Native': 0, 'all': 0}
def measure(kind, work):
    user, begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()
    work()
    of[kind] += resource.getrusage(resource.RUSAGE_SELF).ru_utime - user
    of['all'] += time.perf_counter() - begin
"""


def run(*command, **more):
    return subprocess.run(command, env=ENVIRONMENT, text=True, capture_output=True, check=True, **more).stdout


def report(name, *options):
    return json.loads(run(PILLION, 'stats', '-q', '-f', 'json', '-r', *options, name + '.pillion'))


def version(python):
    return run(python, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])').strip()


def clock(text):
    """What the program itself has measured."""
    return float(re.search(r'^CLOCK (\S+)', text, re.M)[1])


def deviation(profile, name, measured):
    """How far a line that sleeps, or the sum of lines that compute, is from the program's clock, as a part of it."""
    if name == 'compute':
        return abs(sum(hits * per_hit for hits, per_hit, _ in profile.values()) / measured - 1)
    return max(abs(per_hit / measured - 1) for _, per_hit, source in profile.values() if 'time.sleep' in source)


def lines(python):
    """Hits of each line, and how far the times of lines are from the program's own clock in the same run."""
    differ, count, left_out = [], 0, ''
    sleeps, computes = ([], []), ([], [])
    for name, text in LINES.items():
        with open('p.py', 'w') as file:
            file.write(SLEEPS + text)
        source = (SLEEPS + text).splitlines()
        said = subprocess.run([python, '-m', 'kernprof', '-l', '-o', 'p.lprof', 'p.py'], capture_output=True,
                              env=ENVIRONMENT, text=True, check=True).stderr
        if 'line_profiler' in said:
            left_out += ', in which line_profiler raised: ' + name
            continue
        theirs = json.loads(run(python, '-c', 'import json, line_profiler; s = line_profiler.load_stats("p.lprof"); '
                                'print(json.dumps([[l, h, t * s.unit] for v in s.timings.values() for l, h, t in v]))'))
        theirs = {line: (hits, seconds / hits, source[line - 1]) for line, hits, seconds in theirs}
        here = subprocess.run([PILLION, '-f', '-o', 'p', '--stats=false', '--lines-of=@profile', python, 'p.py'],
                              capture_output=True, env=ENVIRONMENT, text=True, check=True).stderr
        ours = {row['Line']: (row['Hits'], row['Per Hit (ns)'] / 1e9, row['Source'])
                for row in report('p', 'line_profile')}
        count += len(theirs)
        differ += ['%s:%d' % (name, line) for line in set(ours) | set(theirs)
                   if ours.get(line, [0])[0] != theirs.get(line, [0])[0]]
        for away, profile, text in zip(computes if name == 'compute' else sleeps, (theirs, ours), (said, here)):
            away.append(100 * deviation(profile, name, clock(text)))
    return not differ, ('%d programs, %d lines: hits %s; lines that sleep: line_profiler within %.1f %% of the clock, '
                        'ours within %.1f %%; lines that compute: %.0f %%, %.0f %%%s' % (
                            len(LINES), count, 'equal' if not differ else 'differ at ' + ', '.join(sorted(differ)),
                            *map(max, sleeps), *map(max, computes), left_out))


def memory(python):
    differ, worst, count = [], 0, 0
    for name, body in MEMORY.items():
        with open('p.py', 'w') as file:
            file.write('import mmap%s\n@profile\ndef work():\n    %s\nx = work()\n' %
                       (', numpy' if name == 'numpy' else '', body))
        table = run(python, '-m', 'memory_profiler', 'p.py')
        theirs = {int(m[1]): float(m[2]) for m in re.finditer(r'^ *(\d+) +[-\d.]+ MiB +([-\d.]+) MiB', table, re.M)}
        run(PILLION, '-f', '-o', 'p', '--stats=false', '--lines-of=@profile', '--memory=all', python, 'p.py')
        ours = {row['Line #']: row['Increment (MiB)'] for row in report('p', 'line_memory')}
        for line in sorted(theirs)[1:]: # the first one has what the interpreter uses
            away = abs(ours.get(line, 0) - theirs[line])
            count += 1
            worst = max(worst, away)
            if away > 0.5 and away > 0.05 * abs(theirs[line]):
                differ.append('%s:%d (%s, %s)' % (name, line, ours.get(line), theirs[line]))
    return not differ, '%d programs, %d lines: increments within %.2f MiB%s' % (
        len(MEMORY), count, worst, '' if not differ else ', at ' + ', '.join(differ))


def by_clock(said):
    values = [float(x) for x in re.search('^CLOCK (.*)', said, re.M)[1].split()]
    return values + [100 - sum(values)]


def shares_of(python, command):
    """Python, native and system time of p.py in percent by Scalene or by us, and by the program's clock."""
    said = subprocess.run(command, env=ENVIRONMENT, text=True, capture_output=True, check=True).stderr
    if command[0] == PILLION:
        rows = [row for row in report('p', 'line_shares') if re.search(r'p\.py:\d+$', row['Line'] or '')]
        values = [sum(row[key] or 0 for row in rows) for key in ('Python (%)', 'Native (%)', 'System (%)')]
    else:
        with open('p.json') as file:
            files = json.load(file)['files']
        rows = [line for path in files if path.endswith('p.py') for line in files[path]['lines']]
        values = [sum(line[key] for line in rows)
                  for key in ('n_cpu_percent_python', 'n_cpu_percent_c', 'n_sys_percent')]
    return [100 * x / (sum(values) or 1) for x in values], by_clock(said)


def shares(python):
    """Three runs beside Scalene, and beside the clock in each of them; the largest of the three distances."""
    texts = []
    for name, (module, data, *functions) in SHARES.items():
        with open('p.py', 'w') as file:
            file.write(MEASURED + (module and 'import %s\n' % module) + data)
            for i, (_, body) in enumerate(functions):
                file.write('\ndef work%d():\n    %s\n' % (i, body))
            file.write('for _ in range(8):\n' + ''.join('    measure("%s", work%d)\n' % (kind, i)
                                                        for i, (kind, _) in enumerate(functions)))
            file.write('print("CLOCK", *(100 * of[x] / of["all"] for x in ("Python", "Native")), file=sys.stderr)\n')
        away, median = [], []
        for command in ([python, '-m', 'scalene', 'run', '--cpu-only', '-o', 'p.json', 'p.py'],
                        [PILLION, '-f', '-o', 'p', '-s', 'cpu', '--sampling-frequency=499', '--stats=false', python,
                         'p.py']):
            runs = [shares_of(python, command) for _ in range(3)]
            away.append([max(abs(x - y) for x, y in zip(*values)) for values in runs])
            median += [statistics.median(column) for column in zip(*(values for values, _ in runs))],
            median += [statistics.median(column) for column in zip(*(values for _, values in runs))],
        texts.append('%s: %s (clock %s), away %s; ours %s (clock %s), away %s' % (
            name, *(text for i in (0, 1) for text in (*(', '.join('%.0f' % x for x in v) for v in median[2*i:2*i+2]),
                                                    ', '.join('%.0f' % x for x in away[i])))))
    return True, '<br>'.join(texts)


def flops(python):
    differ = []
    with open('p.py', 'w') as file:
        file.write(FLOPS)
    for kind in ('inference', 'training'):
        for net in NETS:
            theirs = int(run(PILLION, '-f', '-o', 'p', '--stats=false', '--pytorch=autograd-shapes-nvtx', python,
                             'p.py', net, kind))
            text = run(PILLION, 'stats', '-q', '-f', 'csv', '-r', 'pytorch_sum', '--group-by=name', 'p.pillion')
            ours = sum(float(row['GFLOPs'] or 0) * 1e9 for row in csv.DictReader(io.StringIO(text))
                       if PRODUCTS.search(row['Operator']))
            if round(ours) != theirs:
                differ.append('%s in %s (%.0f, %d)' % (net, kind, ours, theirs))
    return not differ, '%d networks in inference and in training: %s' % (
        len(NETS), 'products and convolutions equal' if not differ else 'differ: ' + ', '.join(differ))


PARTS = collections.OrderedDict((
    ('lines', (lines, 'NIGHTLY_LINES', 'line_profiler', '--lines-of=@profile, -r line_profile')),
    ('memory', (memory, 'NIGHTLY_LINES', 'memory_profiler', '--memory=all --lines-of=@profile, -r line_memory')),
    ('shares', (shares, 'NIGHTLY_SCALENE', 'Scalene', '-s cpu, -r line_shares')),
    ('flops', (flops, 'NIGHTLY_PYTHON', 'torch.utils.flop_counter', '--pytorch=autograd-shapes-nvtx, -r pytorch_sum')),
))


def main():
    failed = 0
    print('| part | beside | command | Python | result |\n|---|---|---|---|---|')
    for part in sys.argv[1:] or PARTS:
        compare, variable, tool, command = PARTS[part]
        for python in filter(None, os.environ.get(variable, '').split(':')):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                is_good, text = compare(python)
                os.chdir(ROOT)
            failed += not is_good
            print('| %s | %s | `%s` | %s | %s |' % (part, tool, command, version(python), text), flush=True)
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main())
