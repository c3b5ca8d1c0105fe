# SPDX-License-Identifier: Apache-2.0
"""graph_account.py LOG OUT LINES OPERATORS RANGES [PERCENT NODES]: compares the device time of lines, operators and
ranges (tables in CSV of `lines`, `pytorch_sum` and `nvtx_kern_sum`) with that of the nodes which cuda_graphs.py (its output: OUT) made there, as the
simulated GPU's LOG has it. With PERCENT, for estimates, they may differ by four times as much, and lines that made no
node may have 0.1 % of all. Prints how many nodes were replayed; with NODES (`cuda_graph_node_sum`) also how many lines it
has, how many of them differ by more than their stated error, and how many lines and operators differ by more than
PERCENT: the simulated GPU waits in real time, so that a busy machine disturbs single launches."""
import collections
import csv
import json
import sys

log, out, lines, operators, ranges = sys.argv[1:6]
tolerance = float(sys.argv[6]) / 100 if len(sys.argv) > 6 else 0
events = [json.loads(line) for line in open(log)]
made = [line.rstrip('\n').split('\t')[1:] for line in open(out) if line.startswith('made')]
KERNEL, COPY, SET = range(3)
OUTER = {'aten::forward', 'aten::mm'}  # operators that contain others, to whose ranges all kernels within belong

nodes = [e['origin'] for e in events if e['ev'] == 'node' and e['kind'] in (KERNEL, COPY, SET)]
assert len(nodes) == len(made), f'{len(nodes)} nodes, {len(made)} made'
where = dict(zip(nodes, made))
kernels = {e['origin'] for e in events if e['ev'] == 'node' and e['kind'] == KERNEL}
done = {e['op']: e['end'] - e['start'] for e in events if e['ev'] == 'done'}
replayed = [e for e in events if e.get('graph') and e.get('origin')]
wanted = collections.Counter()
for e in replayed:
    line, operator = where[e['origin']]
    wanted['line ' + line] += done[e['op']]
    if operator:
        wanted['operator ' + operator] += done[e['op']]
    if operator and operator not in OUTER and not tolerance and e['origin'] in kernels:
        wanted['range ' + operator] += done[e['op']]


def rows(path):
    return csv.DictReader(text for text in open(path) if text.strip())


got = collections.Counter()
for row in rows(lines):
    if row['Line'].count('cuda_graphs.py:') and int(row['GPU Time (ns)']):
        got['line ' + row['Line'].split(':')[-1]] += int(row['GPU Time (ns)'])
for row in rows(operators):
    if int(row['GPU Self (ns)']):
        got['operator ' + row['Operator']] += int(row['GPU Self (ns)'])
for row in rows(ranges) if not tolerance else []:
    if 'range ' + row['NVTX Range'] in wanted:
        got['range ' + row['NVTX Range']] += int(row['Total Time (ns)'])
total = sum(time for key, time in wanted.items() if key.startswith('line'))
far = 0
for key in sorted(wanted | got):
    allowed = 4 * tolerance * wanted[key] if key in wanted or not tolerance else total / 1000
    far += key in wanted and abs(got[key] - wanted[key]) > tolerance * wanted[key]
    assert abs(got[key] - wanted[key]) <= allowed, f'{key}: {got[key]} ns, not {wanted[key]}'
if not tolerance:
    print(len(replayed))
    sys.exit()

estimated, errors = collections.Counter(), collections.Counter()
for row in rows(sys.argv[7]):
    line = 'line ' + row['Line'].rstrip(')').split(':')[-1]
    estimated[line] += int(row['Total Time (ns)'])
    errors[line] += int(row['Error (ns)'])
outside = sum(abs(estimated[line] - wanted[line]) > errors[line] for line in estimated)
print(len(replayed), len(estimated), outside, far)
