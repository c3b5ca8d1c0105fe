# SPDX-License-Identifier: Apache-2.0
"""Compares a recording of a real GPU with the records of its replay.

replay_account.py cut COUNT FILE.xz          prints the recording's first COUNT calls and their device records; 0: all
replay_account.py records STRETCH RECORDING TABLES
    each device record once, with its call, thread and duration; calls without one as many as in the recording.
    TABLES has cuda_gpu_trace:mangled, correlated, ledger as CSV
replay_account.py idle RECORDING TABLES...
    busy and idle times of the device add up to the wall time, and as many gaps have each cause as in the recording, in
    each run. TABLES have gpu_idle, cuda_gpu_trace:mangled, processes as CSV
Prints what differs; status 1 if anything does."""
import collections
import lzma
import sys

from account import read_tables

CALLS = {1: 'cudaLaunchKernel', 2: 'cudaMemcpyAsync', 3: 'cudaMemsetAsync', 4: 'cudaLaunchKernelExC'}
COPIES = {'1': 'HtoD', '2': 'DtoH', '8': 'DtoD', '10': 'PtoP'}

Call = collections.namedtuple('Call', 'start end thread corr kind')
Record = collections.namedtuple('Record', 'start end corr stream what')


def read_recording(path):
    calls, records = {}, []
    with open(path, encoding='utf-8') as file:
        for line in file:
            w = line.split()
            if w[0] == 'A':
                call = Call(*map(int, w[1:6]))
                calls[call.corr] = call
                continue
            if w[0] == 'K':
                what = ('kernel', w[13], tuple(w[7:10]), tuple(w[10:13]))
            elif w[0] == 'C':
                what = ('copy', '[CUDA memcpy %s]' % COPIES[w[7]], '%.6f' % (int(w[8]) / 1e6))
            else:
                what = ('set', '%.6f' % (int(w[8]) / 1e6))
            records.append(Record(int(w[1]), int(w[2]), int(w[6]), int(w[5]), what))
    return calls, records


def cut(count, path):
    with lzma.open(path, 'rt') as file:
        lines = file.readlines()
    starts = sorted(int(line.split()[1]) for line in lines if line[0] == 'A')
    last = starts[count - 1] if count else starts[-1]
    ids = {line.split()[4] for line in lines if line[0] == 'A' and int(line.split()[1]) <= last}
    sys.stdout.writelines(line for line in lines if line.split()[4 if line[0] == 'A' else 6] in ids)
    return []


def tables_of(path):
    """The tables, each identified by a column that only it has."""
    found = {}
    for columns, table in read_tables(path):
        for column in ('GrdX', 'Device Records', 'Fact', 'Cause', 'PPID'):
            if column in columns:
                found[column] = table
    return found


def row_what(r):
    if r['GrdX']:
        return ('kernel', r['Name'], tuple(r['Grd' + c] for c in 'XYZ'), tuple(r['Blk' + c] for c in 'XYZ'))
    if r['Name'] == '[CUDA memset]':
        return ('set', r['Bytes (MB)'])
    return ('copy', r['Name'], r['Bytes (MB)'])


def check_records(stretch, recording, path):
    calls, records = read_recording(recording)
    tables = tables_of(path)
    wanted = collections.Counter((r.corr, r.stream, r.what, (r.end - r.start) * stretch) for r in records)
    got = collections.Counter((int(r['CorrId']), int(r['Strm']), row_what(r), int(r['Duration (ns)']))
                              for r in tables['GrdX'])
    problems = [f'missing: {k} {n}' for k, n in (wanted - got).items()]
    problems += [f'more than was recorded: {k} {n}' for k, n in (got - wanted).items()]
    total = sum(int(r['Duration (ns)']) for r in tables['GrdX'])
    if total != sum(r.end - r.start for r in records) * stretch:
        problems.append(f'{total} ns of device time')
    threads = {}
    work = collections.Counter(r.corr for r in records)
    for r in tables['Device Records']:
        if not r['CorrId'] or not int(r['Device Records']):
            continue
        call = calls[int(r['CorrId'])]
        if r['Call'] != CALLS[call.kind] or threads.setdefault(call.thread, r['TID']) != r['TID']:
            problems.append(f'{call} is with {r["Call"]} of thread {r["TID"]}')
        if int(r['Device Records']) != work.pop(call.corr, 0):
            problems.append(f'{call} has {r["Device Records"]} device records')
    if work or len(set(threads.values())) != len(threads):
        problems.append(f'{len(work)} device records are with no call, threads are {threads}')
    ledger = collections.Counter()
    for r in tables['Fact']:
        ledger[r['Fact']] += int(r['Count'])
    idle = sum(1 for c in calls.values() if c.kind in CALLS) - len({r.corr for r in records})
    wanted_facts = {'device records': len(records), 'unmatched calls': idle, 'unmatched device records': 0, 'lost': 0}
    problems += [f'the ledger has {fact} {ledger[fact]}, not {n}' for fact, n in wanted_facts.items()
                 if ledger[fact] != n]
    return problems


def union_gaps(spans):
    """Busy time, and the gaps between spans with the span that ends each."""
    busy, end, gaps = 0, None, []
    for start, last, what in sorted(spans, key=lambda s: s[:2]):
        if end is None or start > end:
            if end is not None:
                gaps.append((end, start, what))
            busy, end = busy + last - start, last
        elif last > end:
            busy, end = busy + last - end, last
    return busy, gaps


def recorded_causes(calls, records):
    """Gaps that were mostly before the call that ended them began, and the others."""
    _, gaps = union_gaps((r.start, r.end, r.corr) for r in records)
    host = sum(1 for a, b, corr in gaps if max(calls[corr].start - a, 0) > (b - a) / 2)
    return {'host computing': host, 'launch latency': len(gaps) - host}


def check_idle(recording, path, problems):
    wanted = recorded_causes(*read_recording(recording))
    tables = tables_of(path)
    busy, _ = union_gaps((int(r['Start (ns)']), int(r['Start (ns)']) + int(r['Duration (ns)']), None)
                         for r in tables['GrdX'])
    idle = sum(int(r['Idle Time (ns)']) for r in tables['Cause'])
    wall = int(tables['PPID'][0]['Duration (ns)']) + int(tables['PPID'][0]['Start (ns)'])
    if busy + idle != wall:
        problems.append(f'{path}: busy {busy} + idle {idle} is not {wall}')
    got = collections.Counter()
    for r in tables['Cause']:
        got[r['Cause']] += int(r['Gaps'])
    for cause in set(wanted) | set(got) - {'process not started', 'process ended'}:
        if abs(got[cause] - wanted.get(cause, 0)) > wanted.get(cause, 0) * 0.1 + 3:
            problems.append(f'{path}: {got[cause]} gaps of {cause}, {wanted.get(cause, 0)} in the recording')
    return got


def main():
    problems = []
    if sys.argv[1] == 'cut':
        cut(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == 'records':
        problems = check_records(int(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        runs = [check_idle(sys.argv[2], path, problems) for path in sys.argv[3:]]
        print('gaps by cause:', *(dict(run) for run in runs), sep='\n')
    for problem in problems[:20]:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
