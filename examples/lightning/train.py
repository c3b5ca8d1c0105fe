#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains with PyTorch Lightning. Lightning is unchanged; PillionProfiler (python/README.md) would name its actions."""
import logging
import warnings

import lightning
import torch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Line(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(32, 1)

    def training_step(self, batch, _):
        inputs, targets = batch
        return torch.nn.functional.mse_loss(self.layer(inputs), targets)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    lightning.seed_everything(0)
    inputs = torch.randn(256, 32)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
    trainer = lightning.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                                enable_model_summary=False)
    trainer.fit(Line(), torch.utils.data.DataLoader(data, batch_size=32))
    print(f"{trainer.global_step} steps in {trainer.current_epoch} epochs")


main()
