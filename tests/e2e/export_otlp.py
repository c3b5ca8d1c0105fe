#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export_otlp.py FILE.otlp FILE.pb.gz: decodes an export of `-t otlp` with OpenTelemetry's protocol definition, checks
what the definition demands of its tables, and compares stacks, counts and values with the export of `-t pprof`. Prints
facts, and each difference."""
import collections
import gzip
import sys

from opentelemetry.proto.profiles.v1development import profiles_pb2

faults = []


def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def packed(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def pprof(path):
    profile = list(fields(gzip.open(path).read()))
    texts = [value.decode() for number, value in profile if number == 6]
    functions = {f[1]: (texts[f[2]], texts[f.get(4, 0)]) for f in (dict(fields(v)) for n, v in profile if n == 5)}
    locations = {}
    for location in (dict(fields(v)) for n, v in profile if n == 4):
        line = dict(fields(location[4]))
        locations[location[1]] = (*functions[line[1]], line.get(2, 0))
    stacks = collections.Counter()
    for sample in (dict(fields(v)) for n, v in profile if n == 2):
        count, value = packed(sample[2])
        stacks[tuple(locations[i] for i in packed(sample[1])), count, value] += 1
    types = [tuple(texts[t] for t in dict(fields(v)).values()) for n, v in profile if n == 1]
    plain = dict(profile)
    return stacks, types, plain[9], plain[10]


data = profiles_pb2.ProfilesData()
data.ParseFromString(open(sys.argv[1], 'rb').read())
tables = data.dictionary
for name in ('mapping', 'location', 'function', 'link', 'attribute', 'stack'):
    table = getattr(tables, name + '_table')
    if not table or table[0] != type(table[0])():
        faults.append(f'{name}_table[0] is not the zero value')
    if name in ('function', 'stack') and len({e.SerializeToString() for e in table}) != len(table):
        faults.append(f'{name}_table has duplicates')
if tables.string_table[0] or len(set(tables.string_table)) != len(tables.string_table):
    faults.append('string_table has duplicates, or does not begin with ""')


def frame(index):
    line, = tables.location_table[index].lines
    function = tables.function_table[line.function_index]
    return (tables.string_table[function.name_strindex], tables.string_table[function.filename_strindex], line.line)


(resource,) = data.resource_profiles
(scope,) = resource.scope_profiles
attributes = {a.key: a.value.string_value for a in resource.resource.attributes}
values, counts = scope.profiles
stacks = collections.Counter()
for value, count in zip(values.samples, counts.samples, strict=True):
    if value.stack_index != count.stack_index or not value.stack_index:
        faults.append(f'sample of stack {value.stack_index}, {count.stack_index}')
    indices = tables.stack_table[value.stack_index].location_indices
    if not all(indices):
        faults.append(f'stack {value.stack_index} has no location')
    stacks[tuple(map(frame, indices)), count.values[0], value.values[0]] += 1
types = [tuple(tables.string_table[i] for i in (t.type_strindex, t.unit_strindex))
         for t in (counts.sample_type, values.sample_type)]
theirs = pprof(sys.argv[2])
for stack in (stacks - theirs[0]) + (theirs[0] - stacks):
    faults.append(f'different: {stack}')
if (types, values.time_unix_nano, values.duration_nano) != theirs[1:]:
    faults.append(f'{types}, {values.time_unix_nano}, {values.duration_nano}; pprof: {theirs[1:]}')
if scope.scope.name != 'pillion':
    faults.append('no scope')
lines = sum(bool(location.lines and location.lines[0].line) for location in tables.location_table)
print(f'{sum(stacks.values())} stacks, {lines} lines, unit {types[1][1]}, service {attributes["service.name"]},')
print('\n'.join(faults[:20]))
sys.exit(bool(faults) or not stacks)
