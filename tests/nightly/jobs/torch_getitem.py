#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_getitem.py planted|clean: trains a classifier of sensor traces with a DataLoader.

Planted: __getitem__ parses the text of a trace anew each time it is asked for. Clean: the traces are parsed once."""
import sys

import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES, LENGTH = 512, 1024


def text_of(index):
    return " ".join("%.4f" % ((index * 37 + i * i) % 1009 / 1009) for i in range(LENGTH))


class Traces(Dataset):
    def __init__(self, planted):
        self.planted = planted
        self.texts = [text_of(index % 32) for index in range(SAMPLES)]
        self.traces = None if planted else torch.stack([self.parse(text) for text in self.texts])

    def parse(self, text):
        return torch.tensor([float(word) * 2 - 1 for word in text.split()])

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        if self.planted:
            trace = torch.tensor([float(word) * 2 - 1 for word in self.texts[index].split()])  # PLANT
        else:
            trace = self.traces[index]
        return trace, index % 4


def main():
    torch.manual_seed(1)
    torch.set_num_threads(2)
    loader = DataLoader(Traces(sys.argv[1] == "planted"), batch_size=64, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(LENGTH, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(20):
        for traces, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(traces), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("loss %.3f" % loss.item())


main()
