# SPDX-License-Identifier: Apache-2.0
"""The simulated GPU's own account beside the device records of the same run.

cupti_account.py LOG TRACE.csv [--calls CORRELATED.csv] [--facts FACTS.csv] [--nodes] [--dropped] [--lossy] [--killed MS] [--loose NS]
TRACE.csv is cuda_gpu_trace:mangled. --calls: the report `correlated`; each piece of work must be with the call that asked for it. --facts: the report `device_facts`;
allocations, frees and waits must be the account's. --nodes: graphs were recorded by their nodes. --dropped: as many may be missing as CUPTI
says it dropped. --lossy: any may be missing, and kernels may have lost their names. --killed: of the work that ended within MS before the last line of the account any may be missing. --loose:
times were on another clock, and may be off by as much. Prints what differs; status 1 if anything does."""
import argparse
import collections
import csv
import json
import sys

OPERATIONS = {'HtoD', 'DtoH', 'DtoD', 'HtoH', 'PtoP'}
PLACES = {'pageable': 'Pageable', 'pinned': 'Pinned', 'managed': 'Managed'}
KINDS = {1, 2, 3, 10, 22, 51}


def number(text):
    return int(float(text)) if text else 0


def read_log(path):
    events = []
    with open(path, encoding='utf-8') as file:
        for line in file:
            try:
                events.append(json.loads(line))
            except ValueError:
                pass  # the last line of a killed program
    return events


def wanted_work(events, nodes):
    """(key, start) of each piece of work; the key holds everything that must be equal."""
    done = {e['op']: e for e in events if e['ev'] == 'done'}
    for e in events:
        if e['ev'] == 'graph' and not nodes:
            yield ('graph', e['corr'], e['graph']), None, None
            continue
        if e['ev'] not in ('launch', 'memcpy', 'memset') or (e['graph'] and not nodes):
            continue
        end = done.get(e['op'])
        times = (end['start'], end['end']) if end else (None, None)
        duration = end['end'] - end['start'] if end else None
        if e['ev'] == 'launch':
            key = ('kernel', e['corr'], e['name'], tuple(e['grid']), tuple(e['block']), e['device'], e['stream'], duration)
        elif e['ev'] == 'memcpy':
            key = ('copy', e['corr'], '[CUDA memcpy %s]' % e['kind'], e['bytes'], PLACES.get(e['src'], 'Device'),
                   PLACES.get(e['dst'], 'Device'), e['stream'], duration)
        else:
            key = ('set', e['corr'], e['bytes'], e['stream'], duration)
        yield key, times[0], times[1]


def got_work(path):
    with open(path, newline='', encoding='utf-8') as file:
        for r in csv.DictReader(line for line in file if line.strip()):
            corr, duration, stream = int(r['CorrId']), int(r['Duration (ns)']), int(r['Strm'])
            if r['GrdX']:
                key = ('kernel', corr, r['Name'], tuple(int(r['Grd' + c]) for c in 'XYZ'), tuple(int(r['Blk' + c]) for c in 'XYZ'),
                       int(r['Device'].rpartition('(')[2].rstrip(')')), stream, duration)
            elif r['Name'].startswith('[CUDA graph'):
                key = ('graph', corr, int(r['Name'].split()[2].rstrip(']')))
            elif r['Name'] == '[CUDA memset]':
                key = ('set', corr, r['Bytes (MB)'], stream, duration)
            else:
                key = ('copy', corr, r['Name'], r['Bytes (MB)'], r['SrcMemKd'], r['DstMemKd'], stream, duration)
            yield key, int(r['Start (ns)'])


def as_shown(key):
    """Bytes as the table has them."""
    if key[0] == 'set':
        return key[:2] + ('%.3f' % (key[2] / 1e6),) + key[3:]
    if key[0] == 'copy':
        return key[:3] + ('%.3f' % (key[3] / 1e6),) + key[4:]
    return key


def check_calls(events, path, nodes, a):
    """Thread, name and id of each call with as many records as its work has."""
    work = collections.Counter(key[1] for key, _, _ in wanted_work(events, nodes))
    api = {e['corr']: e for e in events if e['ev'] == 'api'}
    problems, got = [], collections.Counter()
    with open(path, newline='', encoding='utf-8') as file:
        for r in csv.DictReader(line for line in file if line.strip()):
            if not r['CorrId']:
                continue
            corr, count = int(r['CorrId']), int(r['Device Records'])
            got[corr] += count
            if not r['Call']:
                if not a.dropped and a.killed is None:
                    problems.append(f'no call for correlation id {corr}')
            elif corr in api and (int(r['TID']), r['Call'].strip('_')) != (api[corr]['tid'], api[corr]['name'].strip('_')):
                problems.append(f"{corr} is with {r['TID']} {r['Call']}, not {api[corr]['tid']} {api[corr]['name']}")
    if not a.dropped and a.killed is None and got != work:
        problems.append(f'calls with other work: {list(((work - got) + (got - work)).items())[:10]}')
    if not got and not a.lossy:
        problems.append('no call has work')
    return problems


def check_facts(events, path, is_partial):
    """Allocations and frees by id, size and address, waits by id."""
    wanted, got = collections.Counter(), collections.Counter()
    for e in events:
        if e['ev'] in ('alloc', 'free') and e['kind'] != 'registered':
            wanted[({'alloc': 'allocate', 'free': 'free'}[e['ev']], e['corr'], e['bytes'], e['address'])] += 1
        elif e['ev'] == 'sync':
            wanted[('wait', e['corr'], 0, 0)] += 1
    with open(path, newline='', encoding='utf-8') as file:
        for r in csv.DictReader(line for line in file if line.strip()):
            if r['Kind'] in ('allocate', 'free', 'wait'):
                got[(r['Kind'], int(r['CorrId']), int(r['Bytes']), int(r['Address']))] += 1
    problems = [f'facts that were none: {k} {n}' for k, n in (got - wanted).items()]
    if not is_partial:
        problems += [f'facts missing: {k} {n}' for k, n in (wanted - got).items()]
    if not got and not is_partial:
        problems.append('no facts at all')
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('log')
    parser.add_argument('trace')
    parser.add_argument('--calls')
    parser.add_argument('--facts')
    parser.add_argument('--nodes', action='store_true')
    parser.add_argument('--dropped', action='store_true')
    parser.add_argument('--lossy', action='store_true')
    parser.add_argument('--killed', type=float)
    parser.add_argument('--loose', type=int, default=0)
    a = parser.parse_args()
    events = read_log(a.log)
    last = events[-1]['t'] if events else 0
    wanted, may_miss, starts = collections.Counter(), collections.Counter(), {}
    for key, start, end in wanted_work(events, a.nodes):
        key = as_shown(key)
        wanted[key] += 1
        starts.setdefault(key, []).append(start)
        if a.killed is not None and (end is None or end > last - a.killed * 1e6):
            may_miss[key] += 1
    got, offsets = collections.Counter(), []
    for key, start in got_work(a.trace):
        got[key] += 1
        if len(starts.get(key, [])) == 1 and starts[key][0] is not None:
            offsets.append(start - starts[key][0])
    if a.lossy:
        nameless = [k for k in got if k[0] == 'kernel' and k[2] == '(kernel without a name)']
        for key in nameless:
            for named in [w for w in wanted if w[:2] == key[:2] and w[3:] == key[3:]]:
                moved = min(got[key], wanted[named] - got[named])
                got[named] += moved
                got[key] -= moved
        may_miss = wanted
        a.dropped = True
    missing, extra = wanted - got - may_miss, got - wanted
    if a.killed is not None:  # not yet written down as done when it was killed
        extra = collections.Counter({k: n for k, n in extra.items() if k[:-1] not in {w[:-1] for w in wanted}})
    problems = [f'more than was done: {k} {n}' for k, n in extra.items()]
    dropped = sum(1 for e in events if e['ev'] == 'cupti_dropped' and e['kind'] in KINDS)
    if a.dropped and sum(missing.values()) == dropped and dropped:
        missing = {}
    problems += [f'missing: {k} {n}' for k, n in missing.items()]
    if offsets and max(offsets) - min(offsets) > a.loose:
        problems.append(f'starts are off by up to {max(offsets) - min(offsets)} ns')
    if not wanted or (not a.lossy and (not got or not offsets)):
        problems.append(f'nothing to compare: {len(wanted)} in the account, {len(got)} recorded')
    if a.calls:
        problems += check_calls(events, a.calls, a.nodes, a)
    if a.facts:
        problems += check_facts(events, a.facts, a.killed is not None or a.dropped)
    print('\n'.join(problems[:20]))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
