# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's Trainer with the package's callback: 2 epochs of 4 steps, each of 2 batches."""
import tempfile

import torch
from transformers import Trainer, TrainingArguments

import pillion
from pillion.transformers import PillionCallback


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x=None, labels=None):
        return {"loss": (self.layer(x) - labels).pow(2).mean()}


data = [{"x": torch.ones(4), "labels": torch.ones(1)} for _ in range(32)]
with tempfile.TemporaryDirectory() as directory:
    arguments = TrainingArguments(output_dir=directory, num_train_epochs=2, per_device_train_batch_size=4,
        gradient_accumulation_steps=2, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no")
    Trainer(model=Model(), args=arguments, train_dataset=data,
        callbacks=[PillionCallback(pillion.schedule(wait=2, warmup=1, active=2))]).train()
