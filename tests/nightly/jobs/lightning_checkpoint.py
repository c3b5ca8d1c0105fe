#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lightning_checkpoint.py planted|clean: fits an autoencoder with Lightning and keeps checkpoints.

Planted: a callback saves a checkpoint after each batch. Clean: after each epoch."""
import logging
import sys
import warnings

import lightning
import torch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Autoencoder(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(1024, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 1024))

    def training_step(self, batch, index):
        return torch.nn.functional.mse_loss(self.layers(batch[0]), batch[0])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


class Keep(lightning.Callback):
    def __init__(self, every_batch):
        self.every_batch = every_batch

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        if self.every_batch:
            trainer.save_checkpoint("last.ckpt")  # PLANT

    def on_train_epoch_end(self, trainer, module):
        if not self.every_batch:
            trainer.save_checkpoint("last.ckpt")


def main():
    lightning.seed_everything(5, verbose=False)
    torch.set_num_threads(2)
    data = torch.utils.data.TensorDataset(torch.randn(16 * 64, 1024))
    loader = torch.utils.data.DataLoader(data, batch_size=64)
    trainer = lightning.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[Keep(sys.argv[1] == "planted")])
    trainer.fit(Autoencoder(), loader)
    print("steps", trainer.global_step)


main()
