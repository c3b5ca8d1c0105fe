#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on the CPU, or on the GPU if there is one, with a DataLoader of forked workers.

    python3 train.py [EPOCHS]      2 epochs by default; prints the same losses on every run of one machine"""
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import ranges  # noqa: E402

WORKERS, SAMPLES, BATCH = 4, 512, 32


class Pictures(Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        with ranges.range("load sample"):
            time.sleep(0.0005)  # the disk
            source = torch.Generator().manual_seed(index)
            label = index % 10
            picture = torch.randn(3, 32, 32, generator=source) + label / 5
        return picture, label


def make_model():
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(4),
        torch.nn.Flatten(), torch.nn.Linear(16 * 8 * 8, 10))


def train_epoch(model, loader, optimizer, device):
    total = 0.0
    batches = iter(loader)
    for _ in range(len(loader)):
        with ranges.range("wait for data"):
            pictures, labels = next(batches)
        with ranges.range("step"):
            optimizer.zero_grad()
            with ranges.range("forward"):
                loss = torch.nn.functional.cross_entropy(model(pictures.to(device)), labels.to(device))
            with ranges.range("backward"):
                loss.backward()
            optimizer.step()
            total += loss.item()
    return total / len(loader)


def main():
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    torch.manual_seed(0)
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = make_model().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    # Persistent: the same four processes serve all epochs.
    loader = DataLoader(Pictures(), batch_size=BATCH, num_workers=WORKERS, persistent_workers=True,
                        multiprocessing_context="fork")
    for epoch in range(epochs):
        with ranges.range(f"epoch {epoch}"):
            loss = train_epoch(model, loader, optimizer, device)
        print(f"epoch {epoch}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
