# SPDX-License-Identifier: Apache-2.0
# Keeps two kinds of objects in each step and frees a third; `python3 -m memory_profiler` measures the same function.
# The steps begin at equal distances, so that the memory also grows evenly if others use the CPUs.
# memory_job.py sampled: allocates, then waits until the launcher has looked at the resident memory.
import builtins
import glob
import os
import sys
import time

STEPS, STEP_S, DICTS = 120, 0.02, 2000
profile = getattr(builtins, 'profile', lambda function: function)


@profile
def job():
    kept, start = [], time.monotonic()
    for step in range(STEPS):
        time.sleep(max(0, start + step * STEP_S - time.monotonic()))
        kept.append(b'x' * 1000000)  # PLANTED block
        kept.append([{'step': step, 'number': number} for number in range(DICTS)])  # PLANTED small
        temporary = [b'y' * 100000 for _ in range(20)]  # PLANTED temporary
        del temporary
    return kept


def samples():
    return sum(os.path.getsize(path) for path in glob.glob(os.environ['PILLION_OUTPUT'] + '/*.usage'))


if sys.argv[1:] == ['sampled']:
    block, before = b'x' * 50000000, samples()
    while samples() < before + 1024:
        time.sleep(0.05)
    print('sampled')
else:
    print('done', len(job()))
