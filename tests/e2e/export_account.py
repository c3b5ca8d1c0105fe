#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export_account.py NAME: whether the exports of NAME say what its tables say, function by function.

NAME.sqlite NAME.json NAME.speedscope.json NAME.folded (of calls) NAME.pb.gz NAME.calls.pb.gz are the exports,
NAME.REPORT.csv the tables.
"""
import collections
import csv
import gzip
import json
import re
import sqlite3
import sys

name = sys.argv[1]
faults = []


def check(is_so, text):
    if not is_so:
        faults.append(text)


def table(report, key, total='Total Time (ns)', count='Num Calls'):
    """{name: (count, total)} of a report; {} if it has no rows."""
    with open(f'{name}.{report}.csv', encoding='utf-8', newline='') as f:
        rows = list(csv.DictReader(f))
    return {tuple(row[k] for k in key): (int(row[count]), int(row[total])) for row in rows}


def add(sums, key, value):
    count, total = sums.get(key, (0, 0))
    sums[key] = count + 1, total + value


def same(got, wanted, what):
    for key in sorted(set(got) | set(wanted)):
        check(got.get(key) == wanted.get(key), f'{what}: {key}: {got.get(key)}, wanted {wanted.get(key)}')


osrt = table('osrt_sum', ['Name'])
cuda = table('cuda_api_sum', ['Name'])
nvtx = table('nvtx_sum', ['Style', 'Range'], count='Instances')
kernels = table('cuda_gpu_kern_sum', ['Name'], count='Instances')
copies = table('cuda_gpu_mem_time_sum', ['Operation'], count='Count')
mpi = collections.defaultdict(lambda: (0, 0))
with open(f'{name}.mpi_sum.csv', encoding='utf-8', newline='') as f:
    for row in csv.DictReader(f):  # one row for each shape of a call
        count, total = mpi[row['Name'],]
        mpi[row['Name'],] = count + int(row['Num Calls']), total + int(row['Total Time (ns)'])
calls_total = sum(total for _, total in list(osrt.values()) + list(cuda.values()))
calls_count = sum(count for count, _ in list(osrt.values()) + list(cuda.values()))


def check_sqlite():
    db = sqlite3.connect(f'file:{name}.sqlite?mode=ro&immutable=1', uri=True)
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def sums(table, column='nameId'):
        if table not in tables:
            return {}
        return {(text,): (count, total) for text, count, total in db.execute(
            f'SELECT value, count(*), sum(end - start) FROM {table} JOIN StringIds ON id = {column} GROUP BY value')}

    check(db.execute('PRAGMA integrity_check').fetchone() == ('ok',), 'sqlite: damaged')
    same(sums('OSRT_API'), osrt, 'sqlite OSRT_API')
    same(sums('CUPTI_ACTIVITY_KIND_RUNTIME'), cuda, 'sqlite RUNTIME')
    got = {key: value for kind in ('P2P', 'COLLECTIVES', 'START_WAIT', 'OTHER')
           for key, value in sums(f'MPI_{kind}_EVENTS', 'textId').items()}
    same({key: count for key, (count, _) in got.items()}, {key: count for key, (count, _) in mpi.items()}, 'sqlite MPI')
    # The daemon that Open MPI starts for a single process outlives it: its end adds a reading of the clocks between
    # the two exports.
    for key, (count, total) in got.items():
        check(abs(total - mpi[key][1]) <= count + total / 1e6, f'sqlite MPI: {key}: {total}, wanted {mpi[key][1]}')
    same(sums('CUPTI_ACTIVITY_KIND_KERNEL', 'demangledName'), kernels, 'sqlite KERNEL')
    for kind in 'MEMCPY', 'MEMSET':
        rows = db.execute(f'SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_{kind}').fetchone() \
            if f'CUPTI_ACTIVITY_KIND_{kind}' in tables else (0, None)
        wanted = [v for (k,), v in copies.items() if kind.lower() in k]
        check(rows == (sum(c for c, _ in wanted), sum(t for _, t in wanted) if wanted else None),
            f'sqlite {kind}: {rows}')
    got = {}
    if 'NVTX_EVENTS' in tables:
        domains = {(pid, domain): text for text, pid, domain in db.execute(
            'SELECT text, globalTid >> 24, domainId FROM NVTX_EVENTS WHERE eventType = 75')}
        for kind, pid, domain, text, duration in db.execute(
                'SELECT eventType, globalTid >> 24, domainId, coalesce(text, value), end - start FROM NVTX_EVENTS '
                'LEFT JOIN StringIds ON id = textId WHERE eventType IN (59, 60) AND end NOT NULL'):
            add(got, ({59: 'PushPop', 60: 'StartEnd'}[kind], (domains[pid, domain] + ':' if domain else '') + text),
                duration)
    for key, (count, total) in got.items():  # unfinished ranges have no end in the database
        check(key in nvtx and count <= nvtx[key][0] and total <= nvtx[key][1],
            f'sqlite NVTX_EVENTS: {key}: {count}, {total}')
    if 'OSRT_CALLCHAINS' in tables:
        lost = db.execute('SELECT count(*) FROM OSRT_API WHERE callchainId != 0 AND callchainId NOT IN '
                          '(SELECT id FROM OSRT_CALLCHAINS)').fetchone()[0]
        check(lost == 0, f'sqlite: {lost} calls refer to stacks that are not there')


def ns(us):
    return round(us * 1000)


def check_chrome():
    with open(f'{name}.json', encoding='utf-8') as f:
        trace = json.load(f)
    got = collections.defaultdict(dict)
    lanes = collections.defaultdict(list)
    named = set()
    halves = collections.Counter()
    for e in trace['traceEvents']:
        if e['ph'] == 'M':
            named.add((e['pid'], e['tid']) if e['name'] == 'thread_name' else None)
        elif e['ph'] == 'X':
            check((e['pid'], e['tid']) in named, f'chrome: a thread without a name: {e["pid"]} {e["tid"]}')
            add(got[e['cat']], (e['name'],), ns(e['dur']))
            is_device = e['cat'].startswith(('kernel', 'gpu_'))
            check(is_device == ('stream' in e.get('args', {})), f'chrome: what has a stream is a device to HTA: {e}')
            lanes[is_device, e['pid'], e['tid']].append((ns(e['ts']), -ns(e['dur'])))
        elif e['ph'] in 'be':
            halves[e['id'], e['name']] += 1 if e['ph'] == 'b' else -1
    same(got['osrt'], osrt, 'chrome osrt')
    same({**got['cuda_runtime'], **got['cuda_driver']}, cuda, 'chrome CUDA')
    same({k: v for k, v in got['kernel'].items() if not k[0].startswith('[CUDA graph')}, kernels, 'chrome kernels')
    count = sum(c for sums in (got['gpu_memcpy'], got['gpu_memset']) for c, _ in sums.values())
    check(count == sum(c for c, _ in copies.values()), f'chrome: {count} copies')
    texts = collections.Counter()
    for (style, text), (count, _) in nvtx.items():
        texts[style] += count
    check(sum(c for c, _ in got['user_annotation'].values()) == texts['PushPop'], 'chrome: push/pop ranges')
    check(not any(halves.values()) and len(halves) == texts['StartEnd'], 'chrome: start/end ranges')


def folded():
    """[(frames, value)]"""
    with open(f'{name}.folded', encoding='utf-8') as f:
        lines = f.read().splitlines()
    for line in lines:
        check(re.fullmatch(r'[^;]+(;[^;]+){2,} \d+', line), f'folded: {line!r}')
    return [(line.rsplit(' ', 1)[0].split(';'), int(line.rsplit(' ', 1)[1])) for line in lines]


# A call made inside another is a frame below it, so each moment counts once.
calls_own = sum(value for _, value in folded())


def check_stacks():
    check(calls_own <= calls_total, f'folded: {calls_own}, more than {calls_total}')
    inside = collections.Counter()  # the width of all frames of a function: its value and those below it
    for frames, value in folded():
        for frame in frames[2:]:
            inside[frame] += value
    for (function,), (count, total) in (osrt | cuda).items():
        # The times of inner calls may exceed that of the outer one by 1 ns each, because each is rounded.
        check(abs(inside[function] - total) <= calls_count, f'folded: {function}: {inside[function]}, wanted {total}')
    with open(f'{name}.speedscope.json', encoding='utf-8') as f:
        file = json.load(f)
    check(file['$schema'] == 'https://www.speedscope.app/file-format-schema.json', 'speedscope: schema')
    for profile in file['profiles']:
        check(len(profile['samples']) == len(profile['weights']), 'speedscope: samples and weights')
        check(sum(profile['weights']) == profile['endValue'] - profile['startValue'], 'speedscope: the end')
        check(all(0 <= i < len(file['shared']['frames']) for sample in profile['samples'] for i in sample),
            'speedscope: frames')
    names = [profile['name'] for profile in file['profiles']]
    check(names[file['activeProfileIndex']] == ('CPU samples' if 'CPU samples' in names else names[0]),
        'speedscope: what it opens on')
    check(sum(sum(profile['weights']) for profile in file['profiles'] if
        profile['name'] == 'time in OS and CUDA calls') == calls_own, 'speedscope: total')


def fields(data):
    """(number, value) of each field of a message of Protocol Buffers; value: int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 2:
            size = varint()
            at += size
            check(at <= len(data), 'pprof: cut')
            yield key >> 3, data[at - size:at]
        else:
            check(key & 7 == 0, f'pprof: wire type {key & 7}')
            yield key >> 3, varint()


def packed(data):
    return [value for _, value in fields(b''.join(b'\x08' + bytes([b]) if last else bytes([b]) for b, last in zip(
        data, [True] + [b < 128 for b in data[:-1]])))]


def pprof(path):
    with gzip.open(path) as f:
        profile = list(fields(f.read()))
    strings = [value.decode() for number, value in profile if number == 6]
    samples = [dict(fields(value)) for number, value in profile if number == 2]
    locations = {dict(fields(value))[1] for number, value in profile if number == 4}
    functions = {dict(fields(value))[1]: strings[dict(fields(value))[2]] for number, value in profile if number == 5}
    check(strings[0] == '', 'pprof: the first string')
    check(all(set(packed(s[1])) <= locations for s in samples), 'pprof: locations')
    types = [strings[dict(fields(v))[1]] for n, v in profile if n == 1]
    default, = [strings[v] for n, v in profile if n == 14]
    return types, default, [(functions[packed(s[1])[0]], packed(s[2])) for s in samples]


def check_pprof():
    types, default, samples = pprof(f'{name}.pb.gz')
    check(default == ('cpu_time' if 'cpu_time' in types else 'time') and len(set(types)) == len(types),
        f'pprof: {types}, {default}')
    check(sum(v[types.index('time')] for _, v in samples) == calls_own if 'time' in types else not calls_own,
        'pprof: time in calls')
    check(all(sum(map(bool, v)) <= 1 for _, v in samples), 'pprof: a sample is of one metric')
    types, default, samples = pprof(f'{name}.calls.pb.gz')
    check([types, default] == [['calls', 'time'], 'time'], f'pprof --metric: {types}, {default}')
    values = [v for _, v in samples]
    check([sum(v[i] for v in values) for i in (0, 1)] == [calls_count, calls_own], f'pprof: {values}')
    leaves = {leaf for leaf, _ in samples}
    check(leaves == {k[0] for k in osrt} | {k[0] for k in cuda}, f'pprof: {leaves}')


check_sqlite()
check_chrome()
check_stacks()
check_pprof()
print('\n'.join(faults[:20]))
sys.exit(bool(faults))
