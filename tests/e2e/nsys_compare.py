# SPDX-License-Identifier: Apache-2.0
"""nsys_compare.py OURS.csv THEIRS.csv: one report by pillion stats and by nsys stats of our sqlite, row by row.

Ids that each tool makes up are left out, and the order of rows that compare equal. Fails if there are no rows."""
import collections
import csv
import sys

MADE_UP = {'RangeId', 'ParentId', 'RangeStack', 'T-Pri'}
# Both tools truncate or round bytes to a few digits.
ROUNDED = {'Bytes (MB)', 'Throughput (MB/s)', 'StcSMem (MB)', 'DymSMem (MB)', 'Throughput (MBps)'}


def read(path):
    with open(path, newline='') as f:
        text = [line for line in csv.reader(f) if line]
    head = text[0]
    keep = [i for i, title in enumerate(head) if title not in MADE_UP]

    def cell(i, value):
        value = value.strip()
        if value in ('', 'None'):
            return ''
        if value.startswith(':') and value.count(':') == 1:
            value = value[1:]  # the default domain, which older versions do not print
        try:
            number = float(value)
        except ValueError:
            return value
        if head[i] in ROUNDED:
            return '%.2f' % number
        return '%.3f' % number if '(MB)' in head[i] else '%.10g' % number  # ours have six decimals

    return [head[i] for i in keep], sorted([cell(i, row[i]) for i in keep] for row in text[1:])


def by_name(head, rows):
    """2022.4's gpukernsum has a row for each shape of a kernel, later ones' and ours one for each kernel."""
    sums = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        sums[row[head.index('Name')]][0] += float(row[head.index('Total Time (ns)')])
        sums[row[head.index('Name')]][1] += int(row[head.index('Instances')])
    return ['Name', 'Total Time (ns)', 'Instances'], sorted([name, *total] for name, total in sums.items())


(ours_head, ours), (theirs_head, theirs) = read(sys.argv[1]), read(sys.argv[2])
if 'GridXYZ' in theirs_head and 'GridXYZ' not in ours_head:
    (ours_head, ours), (theirs_head, theirs) = by_name(ours_head, ours), by_name(theirs_head, theirs)
failed = not ours or len(ours) != len(theirs) or len(ours_head) != len(theirs_head)
if failed:
    print(len(ours), 'rows of ours,', len(theirs), 'of theirs;', ours_head, theirs_head)
for mine, other in zip(ours, theirs):
    if mine != other:
        failed = True
        print('ours  ', mine)
        print('theirs', other)
sys.exit(failed)
