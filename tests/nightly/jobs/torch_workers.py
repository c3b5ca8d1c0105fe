#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_workers.py planted|clean: trains a bag-of-words classifier, with one loader worker.

Planted: collate pads the texts of a batch word by word in Python. Clean: with one tensor operation per batch."""
import sys

import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES, LENGTH, WORDS, BATCH = 4096, 400, 4000, 64


class Texts(Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(6)
        self.texts = [torch.randint(1, WORDS, (LENGTH - number % 50,), generator=generator)
            for number in range(SAMPLES)]

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.texts[index], index % 10


def pad_words(samples):
    batch = torch.zeros(len(samples), LENGTH, dtype=torch.long)
    for row, (text, _) in enumerate(samples):
        for column, word in enumerate(text):  # PLANT
            batch[row, column] = word  # PLANT
    return batch, torch.tensor([label for _, label in samples])


def pad_all(samples):
    batch = torch.nn.utils.rnn.pad_sequence([text for text, _ in samples], batch_first=True)
    return batch, torch.tensor([label for _, label in samples])


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    collate = pad_words if sys.argv[1] == "planted" else pad_all
    loader = DataLoader(Texts(), batch_size=BATCH, num_workers=1, collate_fn=collate)
    model = torch.nn.Sequential(torch.nn.EmbeddingBag(WORDS, 256), torch.nn.Linear(256, 1024), torch.nn.ReLU(),
        torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for batch, labels in loader:
        for repeat in range(2):
            loss = torch.nn.functional.cross_entropy(model(batch), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("loss %.2f" % loss.item())


main()
