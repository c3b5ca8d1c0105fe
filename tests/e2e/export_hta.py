#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export_hta.py TRACE KERNELS OPERATIONS: whether HolisticTraceAnalysis finds in TRACE (-t chrome) what the tables
KERNELS and OPERATIONS (csv of cuda_gpu_kern_sum, cuda_gpu_mem_time_sum) have."""
import csv
import logging
import os
import sys
import warnings

warnings.filterwarnings('ignore')
logging.disable()
from hta.trace_analysis import TraceAnalysis  # noqa: E402

trace, kernels, operations = sys.argv[1:]
faults = []


def rows(path):
    with open(path, encoding='utf-8', newline='') as f:
        return list(csv.DictReader(f))


analysis = TraceAnalysis(trace_files={0: trace}, trace_dir=os.path.dirname(trace) or '.')
_, by_name = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=1000)
counts = {name: int(sum(group['sum (us)'])) for name, group in by_name.groupby('name')}
wanted = {row['Name']: int(row['Total Time (ns)']) for row in rows(kernels)}
memory = {name: us for name, us in counts.items() if name.startswith('Mem')}
others = {name: us for name, us in counts.items() if not name.startswith(('Mem', '[CUDA graph'))}

# HTA truncates both ends of each to whole us.
instances = {row['Name']: int(row['Instances']) for row in rows(kernels)}
if set(others) != set(wanted):
    faults.append(f'kernels: {sorted(others)}, wanted {sorted(wanted)}')
for name in set(others) & set(wanted):
    if abs(others[name] - wanted[name] / 1000) > 2 * instances[name]:
        faults.append(f'{name}: {others[name]} us, wanted {wanted[name]} ns')
if bool(memory) != bool(rows(operations)):
    faults.append(f'copies: {memory}')
stats = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
if len(stats) == 0 or (stats['correlation'] < 0).any():
    faults.append(f'launches: {len(stats)}, without a correlation {(stats["correlation"] < 0).sum()}')
for name, table in (('temporal', analysis.get_temporal_breakdown(visualize=False)),
                    ('idle', analysis.get_idle_time_breakdown(visualize=False)[0])):
    if len(table) == 0:
        faults.append(f'{name}: no rows')
print('\n'.join(faults))
sys.exit(bool(faults))
