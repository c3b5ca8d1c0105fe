#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ddp_straggler.py planted|clean: trains a recurrent tagger on two ranks with DistributedDataParallel over gloo.

Planted: the sequences are sorted by length and cut in two, so that rank 1 has the long ones. Clean: they are dealt in
turn."""
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

BATCHES, BATCH, WIDTH = 30, 16, 128


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(WIDTH, WIDTH)
        self.head = torch.nn.Linear(WIDTH, 8)

    def forward(self, batch):
        state = torch.zeros(batch.shape[0], WIDTH)
        for position in range(batch.shape[1]):
            state = self.cell(batch[:, position], state)  # PLANT
        return self.head(state)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(2)
    torch.set_num_threads(1)
    lengths = sorted(6 + (number * 37 % 80) ** 2 // 30 for number in range(2 * BATCHES))
    own = lengths[rank * BATCHES:(rank + 1) * BATCHES] if sys.argv[1] == "planted" else lengths[rank::2]
    model = DistributedDataParallel(Tagger())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    count = 0
    for length in own:
        batch = torch.randn(BATCH, length, WIDTH)
        target = torch.arange(BATCH) % 8
        loss = torch.nn.functional.cross_entropy(model(batch), target)
        optimizer.zero_grad()
        loss.backward()  # PLANT
        optimizer.step()
        count += BATCH * length
    total = torch.tensor([float(count)])
    dist.all_reduce(total)
    if rank == 0:
        print("positions %d" % total.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    main()
