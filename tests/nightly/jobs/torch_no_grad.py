#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_no_grad.py planted|clean: scores batches with a trained model and reports the quantiles of the scores.

Planted: the scores are kept with the graph and the activations that they were computed from, so that memory grows by
24 MB per batch. Clean: under no_grad there is no graph, and the scores are copied into one tensor. A list of them would
keep small blocks between the freed ones of malloc, so that memory grew there, too."""
import sys

import torch

BATCHES, BATCH, WIDTH = 110, 8192, 256


def main():
    torch.manual_seed(4)
    torch.set_num_threads(2)
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh(), torch.nn.Linear(WIDTH, WIDTH),
        torch.nn.Tanh(), torch.nn.Linear(WIDTH, 1))
    data = torch.randn(BATCH, WIDTH)
    if sys.argv[1] == "planted":
        scores = []
        for number in range(BATCHES):
            scores.append(model(data.roll(number, 1)))  # PLANT
        scores = torch.cat(scores)
    else:
        scores = torch.empty(BATCHES, BATCH, 1)
        with torch.no_grad():
            for number in range(BATCHES):
                scores[number] = model(data.roll(number, 1))
    scores = scores.flatten()
    print("median %.4f, highest %.4f" % (scores.median().item(), scores.max().item()))


main()
