# SPDX-License-Identifier: Apache-2.0
"""Compares the simulated GPU's account with the reports of the same run.

cuda_account.py LOG EXPORTED API.csv LAUNCH.csv MEMORY.csv [--captured] [--slack N] [--driver | --work]
--driver: the program calls the driver; what it asks the runtime is not compared. --work: its calls cannot be compared,
for those of a static runtime have other names, and its copies may go between unified addresses; its allocations are
compared. EXPORTED lists the functions that are hooked; the account has the others too. --captured: one graph of
cuda_launches was captured: its two launches, copy and memset were calls, but no work; given twice: of two. --slack:
calls in flight when the program was killed. Prints what differs; status 1 if anything does."""
import collections
import sys

from account import read_log, read_table

KERNELS = {'_Z3addPfi': 'add(float*, int)', '_Z5scalePffi': 'scale(float*, float, int)', '_Z3addPii': 'add(int*, int)',
           '_Z5add_nPii': 'add_n(int*, int)', '_Z5add_lPii': 'add_l(int*, int)'}
OPERATIONS = {'HtoD': '[CUDA memcpy HtoD]', 'DtoH': '[CUDA memcpy DtoH]', 'DtoD': '[CUDA memcpy DtoD]',
    'memset': '[CUDA memset]'}
# Kinds of memory in the account and the functions that allocate them.
ALLOCATIONS = {
    'device': ('cuMemAlloc_v2', 'cuMemAllocPitch_v2', 'cudaMalloc', 'cudaMallocPitch', 'cudaMalloc3D'),
    'managed': ('cuMemAllocManaged', 'cudaMallocManaged'),
    'pool': ('cuMemAllocAsync', 'cuMemAllocFromPoolAsync', 'cudaMallocAsync'),
    'pinned': ('cuMemHostAlloc', 'cuMemAllocHost_v2', 'cudaHostAlloc', 'cudaMallocHost'),
    'registered': ('cuMemHostRegister_v2', 'cudaHostRegister'), 'vmm': ('cuMemMap',)}


def triple(value):
    return ' '.join(str(n) for n in value) if isinstance(value, list) else str(value).replace(',', ' ')


def account(log, exported):
    calls, launches, counts, sizes, allocations = (collections.Counter() for _ in range(5))
    for e in read_log(log):
        event = e['ev']
        if event == 'api' and (e['layer'] == 'driver' or '--driver' not in sys.argv) and e['name'] in exported:
            calls[e['name']] += 1
        elif event == 'alloc':
            allocations[e['kind']] += 1
        elif event in ('graph', 'host') and not (event == 'host' and e['graph']):
            launches['0 0 0', '0 0 0', ''] += 1
        elif event == 'launch' and not e['graph']:
            launches[triple(e['grid']), triple(e['block']), KERNELS[e['name']]] += 1
        elif event in ('memcpy', 'memset') and not e['graph']:
            operation = OPERATIONS[e.get('kind', 'memset')]
            counts[operation] += 1
            sizes[operation] += e['bytes']
    return calls, launches, counts, sizes, allocations


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith('--')]
    slack = int(arguments.pop()) if '--slack' in sys.argv else 0
    log, exported, api, launch, memory = arguments
    with open(exported, encoding='utf-8') as file:
        calls, launches, counts, sizes, allocations = account(log, {line.split('@')[0].strip() for line in file})
    for _ in range(sys.argv.count('--captured')):
        launches['16 1 1', '256 1 1', KERNELS['_Z3addPfi']] += 1
        launches['16 1 1', '256 1 1', KERNELS['_Z5scalePffi']] += 1
        for operation in ('DtoD', 'memset'):
            counts[OPERATIONS[operation]] += 1
            sizes[OPERATIONS[operation]] += 16384
    differences = []

    def compare(what, wanted, got, allowed):
        for key in sorted(set(wanted) | set(got), key=str):
            if abs(wanted.get(key, 0) - got[key]) > allowed:
                differences.append(f'{what} {key}: recorded {got[key]}, the account has {wanted.get(key, 0)}')

    recorded = collections.Counter({r['Name']: int(r['Num Calls']) for r in read_table(api)})
    if '--work' not in sys.argv:
        compare('calls of', calls, recorded, slack)
    plain = collections.Counter()
    for name, n in recorded.items():
        plain[name.removesuffix('_ptsz')] += n
    compare('allocations', allocations,
            collections.Counter({kind: sum(plain[n] for n in names) for kind, names in ALLOCATIONS.items()}), slack)
    recorded = collections.Counter()
    for r in read_table(launch):
        name = '' if r['GridXYZ'] == '0 0 0' else r['Name']
        recorded[r['GridXYZ'], r['BlockXYZ'], name] += int(r['Num Launches'])
    compare('launches', launches, recorded, slack)
    table = read_table(memory)
    if '--work' in sys.argv:
        for r in table:
            r['Operation'] = r['Operation'] if 'memset' in r['Operation'] else 'copy'
        for counter in (counts, sizes):
            for key in [k for k in counter if 'memcpy' in k]:
                counter['copy'] += counter.pop(key)
    number, megabytes = collections.Counter(), collections.Counter()
    for r in table:
        number[r['Operation']] += int(r['Count'])
        megabytes[r['Operation']] += float(r['Total (MB)'])
    compare('copies', counts, number, slack)
    if not slack:
        compare('megabytes', {k: v / 1e6 for k, v in sizes.items()}, megabytes, 0.00051
            * (len(table) if '--work' in sys.argv else 1))
    if not calls or not launches or not counts:
        differences.append('the account is empty')
    print('\n'.join(differences))
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
