# SPDX-License-Identifier: Apache-2.0
"""Compares the simulated GPU's account with the device records of the same run.

cupti_account.py [--nodes] [--dropped] [--lossy] [--broken] [--killed MS] [--loose NS] [--driver] DIRECTORY...
Each directory has an account, `log`, and in `tables` the reports cuda_gpu_trace:mangled, correlated, device_facts and
ledger as CSV: work with its times, each with the call that asked for it; allocations, frees and waits; and what CUPTI
lost. --nodes: graphs were recorded by their nodes. --dropped: as many may be missing as CUPTI says it dropped. --lossy:
any may be missing, and nodes of graphs may have lost their names. --broken: the same where the ledger says that a
buffer could not be read. --killed: buffers were handed over every MS, and of the work that had not been told before the
last time any may be missing. --loose: times were on another clock, and may be off by as much. --driver: calls are the
driver's, under whatever name. Prints what differs, and how many buffers could not be read; status 1 if anything
differs."""
import argparse
import collections
import os
import sys

from account import read_log, read_tables

OPERATIONS = {'HtoD', 'DtoH', 'DtoD', 'HtoH', 'PtoP'}
PLACES = {'pageable': 'Pageable', 'pinned': 'Pinned', 'managed': 'Managed'}
KINDS = {1, 2, 3, 10, 22, 51}


def wanted_work(events, nodes):
    """(key, start, op) of each piece of work; the key holds everything that must be equal."""
    done = {e['op']: e for e in events if e['ev'] == 'done'}
    for e in events:
        if e['ev'] == 'graph' and not nodes:
            yield ('graph', e['corr'], e['graph']), None, None
            continue
        if e['ev'] not in ('launch', 'memcpy', 'memset') or (e['graph'] and not nodes):
            continue
        end = done.get(e['op'])
        duration = end['end'] - end['start'] if end else None
        if e['ev'] == 'launch':
            key = ('kernel', e['corr'], e['name'], tuple(e['grid']), tuple(e['block']), e['device'], e['stream'],
                duration)
        elif e['ev'] == 'memcpy':
            key = ('copy', e['corr'], '[CUDA memcpy %s]' % e['kind'], e['bytes'], PLACES.get(e['src'], 'Device'),
                   PLACES.get(e['dst'], 'Device'), e['stream'], duration)
        else:
            key = ('set', e['corr'], e['bytes'], e['stream'], duration)
        yield key, end['start'] if end else None, e['op']


def got_work(rows):
    for r in rows:
        corr, duration, stream = int(r['CorrId']), int(r['Duration (ns)']), int(r['Strm'])
        if r['GrdX']:
            key = ('kernel', corr, r['Name'], tuple(int(r['Grd' + c]) for c in 'XYZ'),
                tuple(int(r['Blk' + c]) for c in 'XYZ'),
                   int(r['Device'].rpartition('(')[2].rstrip(')')), stream, duration)
        elif r['Name'].startswith('[CUDA graph'):
            key = ('graph', corr, int(r['Name'].split()[2].rstrip(']')))
        elif r['Name'] == '[CUDA memset]':
            key = ('set', corr, r['Bytes (MB)'], stream, duration)
        else:
            key = ('copy', corr, r['Name'], r['Bytes (MB)'], r['SrcMemKd'], r['DstMemKd'], stream, duration)
        yield key, int(r['Start (ns)'])


def as_shown(key):
    """Bytes in the format of the table."""
    if key[0] == 'set':
        return key[:2] + ('%.6f' % (key[2] / 1e6),) + key[3:]
    if key[0] == 'copy':
        return key[:3] + ('%.6f' % (key[3] / 1e6),) + key[4:]
    return key


def check_calls(events, rows, a, is_partial):
    """Thread, name and id of each call with as many records as its work has."""
    work = collections.Counter(key[1] for key, _, _ in wanted_work(events, a.nodes))
    work -= collections.Counter(e['corr'] for e in events if e['ev'] == 'cupti_unfinished')
    api = {e['corr']: e for e in events if e['ev'] == 'api'}
    problems, got = [], collections.Counter()
    for r in rows:
        if not r['CorrId']:
            continue
        corr, count = int(r['CorrId']), int(r['Device Records'])
        got[corr] += count
        if not r['Call']:
            if not is_partial:
                problems.append(f'no call for correlation id {corr}')
        elif corr in api and (int(r['TID']) != api[corr]['tid'] or not a.driver
            and r['Call'].strip('_') != api[corr]['name'].strip('_')):
            problems.append(f"{corr} is with {r['TID']} {r['Call']}, not {api[corr]['tid']} {api[corr]['name']}")
    if not is_partial and got != work:
        problems.append(f'calls with other work: {list(((work - got) + (got - work)).items())[:10]}')
    return problems


def check_facts(events, rows, is_partial):
    """Allocations and frees by id, size and address, waits by id."""
    wanted, got = collections.Counter(), collections.Counter()
    for e in events:
        if e['ev'] in ('alloc', 'free') and e['kind'] != 'registered':
            wanted[({'alloc': 'allocate', 'free': 'free'}[e['ev']], e['corr'], e['bytes'], e['address'])] += 1
        elif e['ev'] == 'sync':
            wanted[('wait', e['corr'], 0, 0)] += 1
    for r in rows:
        if r['Kind'] in ('allocate', 'free', 'wait'):
            got[(r['Kind'], int(r['CorrId']), int(r['Bytes']), int(r['Address']))] += 1
    problems = [f'facts that were none: {k} {n}' for k, n in (got - wanted).items()]
    if not is_partial:
        problems += [f'facts missing: {k} {n}' for k, n in (wanted - got).items()]
    if not got and not is_partial:
        problems.append('no facts at all')
    return problems


def check_ledger(events, ledger, is_broken):
    """The ledger has exactly the records that CUPTI lost."""
    count = collections.Counter(e['ev'] for e in events)
    wanted = {'lost': 0, 'device records dropped': count['cupti_dropped'],
        'device records without times': count['cupti_odd'] + count['cupti_unfinished'],
              'device buffers unreadable': 0}
    if is_broken:
        wanted = {'lost': 0, 'device records dropped': 0}
    return [f'the ledger has {fact} {ledger[fact]}, not {n}' for fact, n in wanted.items() if ledger[fact] != n]


def forgive_names(events, wanted, got):
    """Nameless kernels of graphs match kernels that are equal except for the name; others have the names of their
    calls."""
    nodes = {e['corr'] for e in events if e['ev'] == 'launch' and e['graph']}
    for key in [k for k in got if k[0] == 'kernel' and k[1] in nodes and k[2] == '(kernel without a name)']:
        for named in [w for w in wanted if w[:2] == key[:2] and w[3:] == key[3:]]:
            moved = min(got[key], wanted[named] - got[named])
            got[named] += moved
            got[key] -= moved


def handed_over(events):
    """The ops of work that the client had been given before it was killed. A device tells of one after the other: all
    but the last."""
    since = max((e['since'] for e in events if e['ev'] == 'cupti_flushed'), default=0)
    told = [e['op'] for e in events if e['ev'] == 'done' and e['t'] < since]
    return set(told[:-1])


def check_period(events, ms):
    periods = {e['period'] for e in events if e['ev'] == 'cupti_flushed'}
    return [] if periods == {int(ms * 1e6)} else [f'buffers were handed over every {periods} ns']


def check_work(events, rows, a, is_lossy):
    sure = handed_over(events)
    unfinished = {e['op'] for e in events if e['ev'] == 'cupti_unfinished'}
    wanted, may_miss, starts = collections.Counter(), collections.Counter(), {}
    for key, start, op in wanted_work(events, a.nodes):
        key = as_shown(key)
        wanted[key] += 1
        starts.setdefault(key, []).append(start)
        if (a.killed is not None and op not in sure) or op in unfinished:
            may_miss[key] += 1
    got, offsets = collections.Counter(), []
    for key, start in got_work(rows):
        got[key] += 1
        if len(starts.get(key, [])) == 1 and starts[key][0] is not None:
            offsets.append(start - starts[key][0])
    if is_lossy:
        forgive_names(events, wanted, got)
        may_miss = wanted
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
    if not wanted or (not is_lossy and (not got or not offsets)):
        problems.append(f'nothing to compare: {len(wanted)} in the account, {len(got)} recorded')
    return problems


def check(directory, a):
    """The problems found, and how many buffers could not be read."""
    events, rows = read_log(os.path.join(directory, 'log')), {'Fact': [], 'GrdX': [], 'Device Records': [],
        'Address': []}
    for columns, table in read_tables(os.path.join(directory, 'tables')):
        rows.update((column, table) for column in rows if column in columns)
    ledger = collections.Counter()
    for r in rows['Fact']:
        ledger[r['Fact']] += int(r['Count'])
    unreadable = ledger['device buffers unreadable']
    is_lossy = a.lossy or (a.broken and unreadable > 0)
    is_partial = is_lossy or a.dropped or a.killed is not None
    problems = [] if ledger else ['no ledger']
    problems += check_work(events, rows['GrdX'], a, is_lossy)
    problems += check_calls(events, rows['Device Records'], a, is_partial)
    problems += check_facts(events, rows['Address'], is_partial)
    problems += check_ledger(events, ledger, a.broken)
    problems += check_period(events, a.killed) if a.killed is not None else []
    return problems, unreadable


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('directories', nargs='+')
    for option in ('--nodes', '--dropped', '--lossy', '--broken', '--driver'):
        parser.add_argument(option, action='store_true')
    parser.add_argument('--killed', type=float)
    parser.add_argument('--loose', type=int, default=0)
    a = parser.parse_args()
    is_wrong, broken = False, 0
    for directory in a.directories:
        problems, unreadable = check(directory, a)
        broken += unreadable
        is_wrong |= bool(problems)
        for problem in problems[:20]:
            print(f'{directory}: {problem}')
    print(f'{broken} buffers could not be read')
    return 1 if is_wrong else 0


if __name__ == '__main__':
    sys.exit(main())
