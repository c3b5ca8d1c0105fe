# SPDX-License-Identifier: Apache-2.0
"""operators.py PILLION ROUNDS [SECONDS]: what --pytorch adds to a step of a model, beside torch.profiler, in a Python
that has PyTorch. Each round runs a process of each kind in turn, and none begins after so many seconds; CPU time per
step in it, medians of the ratios to bare."""
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = {'dispatch': (16, 8, 60), 'large': (512, 128, 5)} # width, batch, steps for each reading
KINDS = {'bare': None, '--pytorch=autograd-nvtx': None, '--pytorch=autograd-shapes-nvtx': None, 'profiler': False,
         'profiler, shapes': True}


def measure(kind, width, batch, steps):
    import torch
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
    return statistics.median(times)


def once(pillion, kind):
    """Seconds of a step by size."""
    with tempfile.TemporaryDirectory() as place:
        prefix = [pillion, '-f', '-o', place + '/x', kind] if kind.startswith('--') else []
        out = subprocess.run(prefix + [sys.executable, __file__, '--measure', kind], capture_output=True,
                             text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines() if line.startswith('SECONDS')]
    return {size: float(seconds) for _, size, seconds in rows}


if __name__ == '__main__':
    if sys.argv[1] == '--measure':
        for size in SIZES:
            print('SECONDS', size, measure(sys.argv[2], *SIZES[size]))
        sys.exit()
    end = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 'inf')
    rounds = []
    while len(rounds) < int(sys.argv[2]) and time.monotonic() < end:
        rounds.append({kind: once(sys.argv[1], kind) for kind in KINDS})
    print(len(rounds), 'rounds')
    for size in SIZES:
        for kind in KINDS:
            ratios = sorted(r[kind][size] / r['bare'][size] for r in rounds)
            print('%-9s %-31s %8.1f us a step, %.3f of bare (%.3f to %.3f)' % (
                size, kind, statistics.median(r[kind][size] for r in rounds) * 1e6, statistics.median(ratios),
                ratios[len(ratios) // 4], ratios[len(ratios) * 3 // 4]))
