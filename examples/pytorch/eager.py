#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network operator by operator, on the GPU if there is one.

    python3 eager.py [--compile]      --compile: the same through torch.compile"""
import sys

import torch

STEPS, BATCH, WIDTH = 20, 64, 256


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU(), torch.nn.Linear(WIDTH, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    if "--compile" in sys.argv:
        model = torch.compile(model)
    inputs = torch.randn(BATCH, WIDTH, device=device)
    targets = inputs.sum(dim=1, keepdim=True) / WIDTH ** 0.5
    first = None
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        first = first or loss.item()
    print(f"{STEPS} steps: the loss has {'fallen' if loss.item() < first else 'risen'}")


main()
