# SPDX-License-Identifier: Apache-2.0
"""The simulated GPU's own account beside what the reports say of the same run.

cuda_account.py LOG EXPORTED API.csv LAUNCH.csv MEMORY.csv [--captured] [--slack N]
EXPORTED lists the functions that are hooked; the account has the others too. --captured: one graph of cuda_launches was
captured: its two launches, copy and memset were calls, but no work. --slack: calls in flight when the program was killed.
Prints what differs; status 1 if anything does."""
import collections
import csv
import json
import sys

KERNELS = {'_Z3addPfi': 'add(float*, int)', '_Z5scalePffi': 'scale(float*, float, int)'}
OPERATIONS = {'HtoD': '[CUDA memcpy HtoD]', 'DtoH': '[CUDA memcpy DtoH]', 'DtoD': '[CUDA memcpy DtoD]', 'memset': '[CUDA memset]'}


def triple(value):
    return ' '.join(str(n) for n in value) if isinstance(value, list) else str(value).replace(',', ' ')


def rows(path):
    with open(path, newline='', encoding='utf-8') as file:
        return list(csv.DictReader(line for line in file if line.strip()))


def account(log, exported):
    calls, launches, counts, sizes = (collections.Counter() for _ in range(4))
    for line in open(log, encoding='utf-8'):
        try:
            e = json.loads(line)
        except ValueError:
            continue  # the last line of a killed program
        event = e['ev']
        if event == 'api' and e['layer'] == 'runtime' and e['name'] in exported:
            calls[e['name']] += 1
        elif event in ('graph', 'host') and not (event == 'host' and e['graph']):
            launches['0 0 0', '0 0 0', ''] += 1
        elif event == 'launch' and not e['graph']:
            launches[triple(e['grid']), triple(e['block']), KERNELS[e['name']]] += 1
        elif event in ('memcpy', 'memset') and not e['graph']:
            operation = OPERATIONS[e.get('kind', 'memset')]
            counts[operation] += 1
            sizes[operation] += e['bytes']
    return calls, launches, counts, sizes


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith('--')]
    slack = int(arguments.pop()) if '--slack' in sys.argv else 0
    log, exported, api, launch, memory = arguments
    with open(exported, encoding='utf-8') as file:
        calls, launches, counts, sizes = account(log, {line.split('@')[0].strip() for line in file})
    if '--captured' in sys.argv:
        launches['16 1 1', '256 1 1', KERNELS['_Z3addPfi']] += 1
        launches['16 1 1', '256 1 1', KERNELS['_Z5scalePffi']] += 1
        for operation in ('DtoD', 'memset'):
            counts[OPERATIONS[operation]] += 1
            sizes[OPERATIONS[operation]] += 16384
    differences = []

    def compare(what, wanted, got, allowed):
        for key in sorted(set(wanted) | set(got), key=str):
            if abs(wanted[key] - got[key]) > allowed:
                differences.append(f'{what} {key}: recorded {got[key]}, the account has {wanted[key]}')

    recorded = collections.Counter({r['Name']: int(r['Num Calls']) for r in rows(api)})
    compare('calls of', calls, recorded, slack)
    recorded = collections.Counter()
    for r in rows(launch):
        name = '' if r['GridXYZ'] == '0 0 0' else r['Name']
        recorded[r['GridXYZ'], r['BlockXYZ'], name] += int(r['Num Launches'])
    compare('launches', launches, recorded, slack)
    table = rows(memory)
    compare('copies', counts, collections.Counter({r['Operation']: int(r['Count']) for r in table}), slack)
    compare('megabytes', {k: v / 1e6 for k, v in sizes.items()} if not slack else {},
            collections.Counter() if slack else collections.Counter({r['Operation']: float(r['Total (MB)']) for r in table}), 0.00051)
    if not calls or not launches or not counts:
        differences.append('the account is empty')
    print('\n'.join(differences))
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
