# SPDX-License-Identifier: Apache-2.0
# Rank 0 has the longest sequences of each batch: its model computes longer than that of its peers.
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.ReLU(),
                                                    torch.nn.Linear(512, 128)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
length = 4096 if dist.get_rank() == 0 else 128
for step in range(int(sys.argv[1])):
    batch = torch.randn(length, 128)
    optimizer.zero_grad()
    loss = model(batch).square().mean()  # late
    loss.backward()  # late
    optimizer.step()
dist.destroy_process_group()
