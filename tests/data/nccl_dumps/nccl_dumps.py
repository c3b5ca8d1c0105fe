#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes dumps of a job of four ranks, as PyTorch's flight recorder and NCCL's inspector plugin write them.

usage: nccl_dumps.py FOLDER

Flight recorder: pytorch/pytorch, torch/csrc/distributed/c10d/FlightRecorderDetail.hpp: dump_json() and, with frames
and numbers instead of texts in pg_status, getCollectiveTrace(), which is pickled. Inspector: NVIDIA/nccl,
plugins/profiler/inspector/inspector_json.cc. gloo_rank_*.json beside this file come from PyTorch 2.13 itself:
torch._C._distributed_c10d._dump_fr_trace_json() of two ranks after an all_reduce, a broadcast and a barrier on gloo,
while rank 1 had not left the barrier; only line breaks were added.

Planted: rank 2 does not enter collective 4 of the group of all ranks; ranks 0 and 1 call all_gather where rank 3 calls
reduce_scatter (collective 5); rank 2 is three times slower in large AllReduces, rank 1 the fastest.
"""
import json
import os
import pickle
import sys

RANKS = 4
LIBRARY = '/opt/venv/lib/python3.11/site-packages/torch/distributed/'


def frames(function, line):
    return [{'name': function, 'filename': LIBRARY + 'distributed_c10d.py', 'line': 3245},
            {'name': 'wrapper', 'filename': LIBRARY + 'c10d_logger.py', 'line': 83},
            {'name': 'step', 'filename': '/home/user/train.py', 'line': line},
            {'name': '<module>', 'filename': '/home/user/train.py', 'line': 90}]


class Recorder:
    """The flight recorder of one rank."""

    def __init__(self):
        self.entries = []
        self.seq = {}

    def call(self, group, function, line, state='completed', size=1024, p2p=False):
        count = self.seq[group, p2p] = self.seq.get((group, p2p), 0) + 1
        number = len(self.entries)
        created = 1_795_421_891_000_000_000 + number * 1_000_000
        self.entries.append({
            'frames': frames(function.split()[0], line), 'record_id': number, 'pg_id': int(group[0]),
            'process_group': list(group), 'thread_name': 'python', 'thread_id': '140105059142528',
            'collective_seq_id': 0 if p2p else count, 'p2p_seq_id': count if p2p else 0, 'op_id': number + 1,
            'profiling_name': 'nccl:' + function, 'time_created_ns': created, 'input_sizes': [[size, 2]],
            'input_dtypes': ['Float'], 'output_sizes': [[size, 2]], 'output_dtypes': ['Float'], 'state': state,
            'time_discovered_started_ns': None if state == 'scheduled' else created + 1000,
            'time_discovered_completed_ns': created + 9000 if state == 'completed' else None,
            'retired': state == 'completed', 'timeout_ms': 600000, 'is_p2p': p2p})


def status(recorder, group, state):
    reached = {'enqueued': ('scheduled', 'started', 'completed'), 'started': ('started', 'completed'),
               'completed': ('completed',)}[state]
    return max((e['collective_seq_id'] for e in recorder.entries
                if e['process_group'] == list(group) and not e['is_p2p'] and e['state'] in reached), default=-1)


def flight_dump(rank):
    world, pair = ('0', 'default_pg'), ('1', 'pair')
    recorder = Recorder()
    recorder.call(world, 'all_reduce', 10)
    recorder.call(world, 'broadcast', 20)
    if rank < 2:
        recorder.call(pair, 'all_reduce', 30, size=8)
        recorder.call(pair, 'send 0->1' if rank == 0 else 'recv 1<-0', 35, p2p=True)
    recorder.call(world, 'all_reduce', 40, 'started' if rank == 3 else 'completed')
    if rank != 2:
        recorder.call(world, 'all_reduce', 50, 'started' if rank == 0 else 'scheduled', size=4096)
        recorder.call(world, 'reduce_scatter' if rank == 3 else 'all_gather', 60, 'scheduled')
    groups = [(world, [0, 1, 2, 3])] + ([(pair, [0, 1])] if rank < 2 else [])
    return {
        'version': '2.10',
        'pg_config': {g[0]: {'name': g[0], 'desc': g[1], 'ranks': json.dumps(ranks)} for g, ranks in groups},
        'comm_lib_version': '2.27.5',
        'pg_status': {g[0]: {f'last_{state}_collective': status(recorder, g, state)
                             for state in ('enqueued', 'started', 'completed')} for g, _ in groups},
        'entries': recorder.entries}


def as_json(dump):
    """What dump_json() makes of it: no frames, 0 for no time, texts in pg_status, sorted keys."""
    dump = json.loads(json.dumps(dump))
    for entry in dump['entries']:
        del entry['frames']
        for key in ('time_discovered_started_ns', 'time_discovered_completed_ns'):
            entry[key] = entry[key] or 0
    for group in dump['pg_status'].values():
        group.update({key: str(value) for key, value in group.items()})
    return json.dumps(dump, sort_keys=True, separators=(',', ':'))


def inspector_line(rank, number, kind, operation, size, microseconds):
    algorithm = size / microseconds / 1000
    perf = {kind: operation, kind + '_sn': number, kind + '_msg_size_bytes': size,
            kind + '_exec_time_us': microseconds, kind + '_timing_source': 'kernel_gpu',
            kind + '_algobw_gbs': algorithm, kind + '_busbw_gbs': algorithm * (1.5 if kind == 'coll' else 1)}
    if kind == 'p2p':
        perf['p2p_peer'] = rank ^ 1
    return json.dumps({
        'header': {'id': '0x7f8c496ae9f661', 'comm_name': 'unknown', 'rank': rank, 'n_ranks': RANKS, 'nnodes': 1},
        'metadata': {'inspector_output_format_version': 'v4.0', 'git_rev': '', 'dump_timestamp_us': 1748030377748202,
                     'rec_mechanism': 'nccl_profiler_interface', 'hostname': 'node1', 'pid': 1000 + rank},
        kind + '_perf': perf}, separators=(',', ':'))


def inspector_dump(rank):
    large = {1: 500, 2: 3000}.get(rank, 1000)
    lines = [inspector_line(rank, i, 'coll', 'AllReduce', 3 << 20, large + 10 * i) for i in range(4)]
    lines += [inspector_line(rank, 4 + i, 'coll', 'AllReduce', 16384, 40) for i in range(2)]
    if rank < 2:
        lines.append(inspector_line(rank, 0, 'p2p', 'Recv' if rank else 'Send', 65536, 20))
    return ''.join(line + '\n' for line in lines)


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    os.chdir(sys.argv[1])
    for rank in range(RANKS):
        dump = flight_dump(rank)
        with open(f'nccl_trace_rank_{rank}', 'wb') as file:
            pickle.dump(dump, file, protocol=2)
        with open(f'framed_{rank}.json', 'w') as file:
            json.dump(dump, file)
        with open(f'plain_{rank}.json', 'w') as file:
            file.write(as_json(dump))
        with open(f'node1-pid{1000 + rank}.log', 'w') as file:
            file.write(inspector_dump(rank))


if __name__ == '__main__':
    main()
