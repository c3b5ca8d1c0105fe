# SPDX-License-Identifier: Apache-2.0
"""Compares the simulated GPU's account with device records from pairs of CUDA events.

events_account.py LOG TRACE.csv CALLS.csv BARE-LOG [--driver] [--killed] [--loose NS]
TRACE.csv is cuda_gpu_trace:mangled, CALLS.csv the report `correlated`, BARE-LOG that of a run without pillion.
Each piece of work has one record, with its call's name and thread; a record holds its work's time, begins after the
event before it was recorded and ends before the event after it was (--loose: as far as the clocks were off); the driver
was asked nothing more but what never waits, and nothing of it went into a capture. --driver: calls are the driver's,
under whatever name, and some do not tell which way a copy goes. --killed: of what the device was not through with when
the last WITHIN pieces of work were asked for any may be missing. Prints what differs; status 1 if anything does."""
import argparse
import bisect
import collections
import sys

from account import read_log, read_table

OURS = {'cuStreamIsCapturing', 'cuStreamGetCtx', 'cuStreamGetId', 'cuStreamCreate', 'cuCtxGetId', 'cuCtxGetCurrent',
    'cuCtxGetDevice', 'cuCtxPushCurrent_v2', 'cuCtxPopCurrent_v2',
        'cuDeviceGetName', 'cuDevicePrimaryCtxGetState', 'cuThreadExchangeStreamCaptureMode', 'cuEventCreate',
        'cuEventRecord',
        'cuEventQuery', 'cuEventElapsedTime', 'cuFuncGetName', 'cuKernelGetName',
        'cuDeviceGetAttribute', 'cuDeviceTotalMem_v2', 'cuDeviceGetUuid_v2'}


WITHIN = 96 # the recorder queries events at every 32nd operation


class Recorded:
    """When each thread recorded events."""

    def __init__(self, events):
        self.calls = collections.defaultdict(list)
        for e in events:
            if e['ev'] == 'api' and e['name'] == 'cuEventRecord':
                self.calls[e['tid']].append((e['start'], e['end']))

    def around(self, tid, t):
        calls = self.calls[tid]
        i = bisect.bisect(calls, (t, t))
        return (calls[i - 1][0] if i else 0), (calls[i][1] if i < len(calls) else float('inf'))


def copy_key(name, size, stream, driver):
    return ('copy', None if driver else name, size, stream)


def through_with(events):
    """By stream, the last op whose successor was done, too, when there were WITHIN pieces of work left to ask for."""
    asked = [i for i, e in enumerate(events) if e['ev'] == 'graph'
        or (e['ev'] in ('launch', 'memcpy', 'memset') and not e['graph'])]
    done = collections.defaultdict(list)
    for e in events[:asked[-WITHIN]] if len(asked) > WITHIN else []:
        if e['ev'] == 'done':
            done[e['stream']].append(e['op'])
    return {stream: sorted(ops)[-2] for stream, ops in done.items() if len(ops) > 1}


def wanted_work(events, driver):
    """By key, in the order of asking: (start, end, earliest, latest, whether it must have been looked at before the
    last piece)."""
    done = {e['op']: e for e in events if e['ev'] == 'done'}
    recorded, graphs, wanted = Recorded(events), {}, collections.defaultdict(list)
    numbers, through = {}, through_with(events)
    for e in events:
        if e['ev'] == 'graph':
            key = ('graph', numbers.setdefault(e['graph'], len(numbers) + 1), e['stream'])
            graphs[e['corr']] = [None, None, *recorded.around(e['tid'], e['t']), False]
            wanted[key].append(graphs[e['corr']])
            continue
        if e['ev'] not in ('launch', 'memcpy', 'memset'):
            continue
        end = done.get(e['op'], {'start': None, 'end': None})
        is_sure = e['op'] <= through.get(e['stream'], 0)
        if e['graph']:
            whole = graphs[e['corr']]
            whole[0] = whole[0] or end['start']
            whole[1], whole[4] = end['end'], is_sure
            continue
        times = [end['start'], end['end'], *recorded.around(e['tid'], e['t']), is_sure]
        if e['ev'] == 'launch':
            key = ('kernel', e['name'], tuple(e['grid']), tuple(e['block']), e['device'], e['stream'])
        elif e['ev'] == 'memcpy':
            key = copy_key('[CUDA memcpy %s]' % e['kind'], '%.6f' % (e['bytes'] / 1e6), e['stream'], driver)
        else:
            key = ('set', '%.6f' % (e['bytes'] / 1e6), e['stream'])
        wanted[key].append(times)
    return wanted


def got_work(path, driver):
    got = collections.defaultdict(list)
    for r in read_table(path):
        start, stream = int(r['Start (ns)']), int(r['Strm'])
        if r['GrdX']:
            key = ('kernel', r['Name'], tuple(int(r['Grd' + c]) for c in 'XYZ'),
                tuple(int(r['Blk' + c]) for c in 'XYZ'),
                   int(r['Device'].rpartition('(')[2].rstrip(')')), stream)
        elif r['Name'].startswith('[CUDA graph'):
            key = ('graph', int(r['Name'].split()[2].rstrip(']')), stream)
        elif r['Name'] == '[CUDA memset]':
            key = ('set', r['Bytes (MB)'], stream)
        else:
            key = copy_key(r['Name'], r['Bytes (MB)'], stream, driver)
        got[key].append((start, start + int(r['Duration (ns)'])))
    return got


def check_times(pairs, loose):
    """The time axis of the records has an unknown origin: the range of offsets at which each record fits its work."""
    problems, low, high, outer_low, outer_high = [], [], [], [], []
    for key, (start, end), (work_start, work_end, earliest, latest, _) in pairs:
        if end - start + 1000 < work_end - work_start:
            problems.append(f'{key}: {end - start} ns, but the work took {work_end - work_start}')
        low.append(work_end - end)
        high.append(work_start - start)
        outer_low.append(earliest - start)
        outer_high.append(max(latest, work_end) - end)
    if max(low) > min(high) + loose:
        problems.append(f'records do not hold their work, by {max(low) - min(high)} ns')
    if max(outer_low) > min(outer_high) + loose:
        problems.append(f'records reach beyond their events, by {max(outer_low) - min(outer_high)} ns')
    return problems


def check_calls(events, path, driver):
    """Each record belongs to the call that requested it: launches and graphs are matched by thread and name."""
    def plain(name):
        return None if driver else name.strip('_').replace('_ptsz', '').replace('_ptds', '')

    asked = collections.Counter()
    api = {e['corr']: e for e in events if e['ev'] == 'api'}
    for e in events:
        if e['ev'] == 'graph' or (e['ev'] in ('launch', 'memcpy', 'memset') and not e['graph']):
            call = api.get(e['corr'])
            asked[(e['tid'], plain(call['name']) if call else None)] += 1
    got = collections.Counter()
    for r in read_table(path):
        if int(r['Device Records'] or 0):
            got[(int(r['TID'] or 0), plain(r['Call']))] += int(r['Device Records'])
    return [f'calls with other work: {list(((asked - got) + (got - asked)).items())[:10]}'] if asked != got else []


def check_driver(events, bare):
    def calls(log):
        return collections.Counter(e['name'] for e in log if e['ev'] == 'api')

    more = calls(events) - calls(bare)
    problems = [f'the driver was asked {more[name]} times more for {name}' for name in more if name not in OURS]
    for kind in ('sync', 'event_captured', 'unsafe', 'context'):
        n, m = (sum(1 for e in log if e['ev'] == kind) for log in (events, bare))
        if n != m:
            problems.append(f'{kind}: {n}, without us {m}')
    return problems


def main():
    parser = argparse.ArgumentParser()
    for name in ('log', 'trace', 'calls', 'bare'):
        parser.add_argument(name)
    parser.add_argument('--driver', action='store_true')
    parser.add_argument('--killed', action='store_true')
    parser.add_argument('--loose', type=int, default=0)
    a = parser.parse_args()
    events = read_log(a.log)
    wanted, got, pairs = wanted_work(events, a.driver), got_work(a.trace, a.driver), []
    problems = [f'more than was done: {k}' for k in got if len(got[k]) > len(wanted.get(k, []))]
    for key, work in wanted.items():
        records = sorted(got.get(key, []))
        must = [w for w in work if w[4] or not a.killed]
        if len(records) < len(must):
            problems.append(f'missing: {key}, {len(records)} of {len(must)}')
        pairs += [(key, r, w) for r, w in zip(records, work) if w[1] is not None]
    if not pairs or (a.killed and not any(w[4] for _, _, w in pairs)):
        problems.append('no records at all')
    elif len(problems) == 0:
        problems += check_times(pairs, a.loose)
    if not a.killed:
        problems += check_calls(events, a.calls, a.driver) + check_driver(events, read_log(a.bare))
    print('\n'.join(problems[:20]))
    sys.exit(bool(problems))


main()
