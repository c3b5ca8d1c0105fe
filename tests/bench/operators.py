# SPDX-License-Identifier: Apache-2.0
"""operators.py PILLION ROUNDS: what --pytorch adds to a step of a model, beside torch.profiler, in a Python that has
PyTorch. Each round runs a process of each kind in turn; CPU time per step in it, medians of the ratios to bare."""
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = {'dispatch': (16, 8, 60), 'large': (512, 128, 5)} # width, batch, steps for each reading
KINDS = {'bare': None, '--pytorch=autograd-nvtx': None, '--pytorch=autograd-shapes-nvtx': None, 'profiler': False,
         'profiler, shapes': True}


def measure(kind, size):
    import torch
    width, batch, steps = SIZES[size]
    torch.set_num_threads(1)
    layers = [layer for _ in range(10) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    batch = torch.randn(batch, width)
    times = []

    def step():
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

    context = contextlib.nullcontext()
    if KINDS[kind] is not None:
        context = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=KINDS[kind])
    for _ in range(10):
        step()
    with context:
        step()
        for _ in range(8):
            begin = time.process_time()
            for _ in range(steps):
                step()
            times.append((time.process_time() - begin) / steps)
    print('SECONDS', statistics.median(times))


def once(pillion, kind, size):
    with tempfile.TemporaryDirectory() as place:
        prefix = [pillion, '-f', '-o', place + '/x', kind] if kind.startswith('--') else []
        out = subprocess.run(prefix + [sys.executable, __file__, '--measure', kind, size], capture_output=True,
                             text=True, check=True).stdout
    return float(next(line.split()[1] for line in out.splitlines() if line.startswith('SECONDS')))


if __name__ == '__main__':
    if sys.argv[1] == '--measure':
        measure(*sys.argv[2:])
        sys.exit()
    for size in SIZES:
        rounds = [{kind: once(sys.argv[1], kind, size) for kind in KINDS} for _ in range(int(sys.argv[2]))]
        for kind in KINDS:
            ratios = sorted(r[kind] / r['bare'] for r in rounds)
            print('%-9s %-31s %8.1f us a step, %.3f of bare (%.3f to %.3f)' % (
                size, kind, statistics.median(r[kind] for r in rounds) * 1e6, statistics.median(ratios),
                ratios[len(ratios) // 4], ratios[len(ratios) * 3 // 4]), flush=True)
