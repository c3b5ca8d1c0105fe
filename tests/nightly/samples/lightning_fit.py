# SPDX-License-Identifier: Apache-2.0
"""Lightning: a Trainer with a DataLoader of two worker processes."""
import logging
import warnings

import lightning
import torch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
        self.values = []

    def training_step(self, batch, _):
        x, y = batch
        value = torch.nn.functional.mse_loss(self.layers(x), y)
        self.values.append(value.item())
        return value

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def main():
    lightning.seed_everything(1, verbose=False)
    x = torch.randn(512, 16)
    data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
    model = Regression()
    trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=32, num_workers=2))
    print(len(model.values), model.values[-1] < model.values[0], f"{model.values[-1]:.3f}")


if __name__ == "__main__":
    main()
