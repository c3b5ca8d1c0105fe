#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_graph_kept.py planted|clean: trains a model with a penalty and reports the mean loss.

Planted: the sum of the losses keeps the graph of each step alive, so that memory grows. Clean: it is a number."""
import sys

import torch

STEPS, BATCH, WIDTH = 250, 1024, 512


def main():
    torch.manual_seed(4)
    torch.set_num_threads(2)
    planted = sys.argv[1] == "planted"
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh(), torch.nn.Linear(WIDTH, WIDTH),
        torch.nn.Tanh(), torch.nn.Linear(WIDTH, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    total = 0
    for step in range(STEPS):
        inputs = torch.randn(BATCH, WIDTH)
        output = model(inputs)  # PLANT
        error = ((output - inputs.mean(1, keepdim=True)) ** 2).mean()
        roughness = (output ** 2).mean().sqrt()
        optimizer.zero_grad()
        error.backward(retain_graph=planted)
        optimizer.step()
        loss = error + 0.01 * roughness
        total += loss if planted else loss.item()  # PLANT
    print("mean loss %.3f" % (float(total) / STEPS))


main()
