# SPDX-License-Identifier: Apache-2.0
# Rank 2 trains on data whose reading takes longer than a step; a worker process of its DataLoader reads it.
import sys
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, delay):
        self.delay = delay

    def __len__(self):
        return int(sys.argv[1])

    def __getitem__(self, index):
        time.sleep(self.delay)  # late: in the worker
        return torch.full((256,), float(index))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    slow = dist.get_rank() == 2
    loader = DataLoader(Images(0.05 if slow else 0.001), batch_size=None, num_workers=1, prefetch_factor=2)
    weights = torch.zeros(256)
    for batch in loader:  # late
        gradient = (weights - batch) * 0.01
        dist.all_reduce(gradient)
        weights -= gradient
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
