#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export_perfetto.py TRACE STATS.csv...: decodes an export of `-t perfetto` with Perfetto's own protocol definition
(PyPI perfetto), pairs begins and ends as Perfetto does, and compares counts and times by name with reports. Prints the
number of slices, and each difference."""
import collections
import csv
import gzip
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

trace = Trace()
trace.ParseFromString(gzip.open(sys.argv[1]).read())
faults = []
names, functions, frames, stacks, tracks, categories = {}, {}, {}, {}, {}, {}
events = []
for position, packet in enumerate(trace.packet):
    data = packet.interned_data
    names.update((n.iid, n.name) for n in data.event_names)
    categories.update((c.iid, c.name) for c in data.event_categories)
    functions.update((f.iid, f.str.decode()) for f in data.function_names)
    frames.update((f.iid, functions[f.function_name_id]) for f in data.frames)
    stacks.update((c.iid, [frames[f] for f in c.frame_ids]) for c in data.callstacks)
    if packet.HasField('track_descriptor'):
        tracks[packet.track_descriptor.uuid] = packet.track_descriptor
    if packet.HasField('track_event'):
        events.append((packet.timestamp, position, packet.track_event))
    if packet.trusted_packet_sequence_id != 1:
        faults.append(f'packet {position} has no sequence')

for uuid, track in tracks.items():
    if track.parent_uuid and track.parent_uuid not in tracks:
        faults.append(f'track {uuid} has no parent')

open_slices = collections.defaultdict(list)
count, total = collections.Counter(), collections.Counter()
begun, ended, with_stack, points = set(), set(), 0, 0
path = []  # of the critical path: the begin of a stretch, its track, the flows that begin and end there
for time, _, event in sorted(events, key=lambda e: e[:2]):
    if event.track_uuid not in tracks:
        faults.append(f'event at {time} has no track')
    with_stack += event.callstack_iid in stacks
    if event.callstack_iid and event.callstack_iid not in stacks:
        faults.append(f'event at {time} has an unknown stack')
    if event.type == TrackEvent.TYPE_SLICE_BEGIN:
        open_slices[event.track_uuid].append((time, names[event.name_iid]))
        begun.update(event.flow_ids)
        ended.update(event.terminating_flow_ids)
        if 'critical_path' in (categories.get(c) for c in event.category_iids):
            path.append((time, event.track_uuid, list(event.flow_ids), list(event.terminating_flow_ids)))
    elif event.type == TrackEvent.TYPE_SLICE_END:
        start, name = open_slices[event.track_uuid].pop()
        count[name] += 1
        total[name] += time - start
    elif event.type == TrackEvent.TYPE_COUNTER:
        points += 1
        if not tracks[event.track_uuid].HasField('counter'):
            faults.append(f'counter at {time} is on another track')
if any(open_slices.values()):
    faults.append('slices remain open')
if ended - begun:
    faults.append(f'{len(ended - begun)} flows have no beginning')

for before, after in zip(path, path[1:]):
    is_arrow = before[1] != after[1]
    if len(before[2]) != is_arrow or before[2] != after[3]:
        faults.append(f'no arrow, or a wrong one, from the stretch at {before[0]} to the one at {after[0]}')
    if tracks[tracks[after[1]].parent_uuid].name != 'critical path':
        faults.append(f'the stretch at {after[0]} is on another track')

for table in sys.argv[2:]:
    for row in csv.DictReader(line for line in open(table, encoding='utf-8') if line.strip()):
        name = row.get('Name') or row['Operation']
        calls = int(row.get('Num Calls') or row.get('Instances') or row['Count'])
        if count[name] != calls:
            faults.append(f'{name}: {count[name]} slices, {calls} in {table}')
        elif total[name] != int(row['Total Time (ns)']):
            faults.append(f'{name}: {total[name]} ns, {row["Total Time (ns)"]} in {table}')
print(f'{sum(count.values())} slices, {len(ended)} flows, {points} points, {with_stack} with stacks, '
      f'{len(path)} stretches of the path, {sum(bool(p[2]) for p in path)} arrows')
print('\n'.join(faults[:20]))
sys.exit(bool(faults))
