# SPDX-License-Identifier: Apache-2.0
"""train_steps.py [TRACE]: a few steps of training on the CPU. TRACE: PyTorch's own profile of it is written there."""
import sys

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


def work():
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        x, y = torch.randn(16, 32), torch.randint(0, 8, (16,))
        optimizer.zero_grad()
        with torch.profiler.record_function("forward"):
            loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


if len(sys.argv) > 1:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profile:
        work()
    profile.export_chrome_trace(sys.argv[1])
else:
    work()
