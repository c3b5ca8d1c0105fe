# SPDX-License-Identifier: Apache-2.0
"""loader.py METHOD WORKERS: two epochs of PyTorch's DataLoader, with and without persistent workers, with and without
pinned memory: without a device PyTorch prints a warning for the latter."""
import hashlib
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.full((32, 32), float(i * i))


if __name__ == '__main__':
    method, workers = sys.argv[1], int(sys.argv[2])
    for persistent, pinned in ((False, False), (True, False), (False, True), (True, True)):
        if persistent and not workers:
            continue
        loader = DataLoader(Squares(), batch_size=8, num_workers=workers, persistent_workers=persistent,
            pin_memory=pinned,
                            multiprocessing_context=method if workers else None)
        digest = hashlib.sha256()
        for epoch in range(2):
            for batch in loader:
                digest.update(batch.numpy().tobytes())
        print(persistent, pinned, digest.hexdigest())
