# SPDX-License-Identifier: Apache-2.0
"""with_lightning.py FILE: Lightning with its SimpleProfiler and the package's profiler in one run. Writes the
durations that each has by action."""
import json
import logging
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as lightning  # noqa: E402
import torch  # noqa: E402
from lightning.pytorch.profilers import Profiler, SimpleProfiler  # noqa: E402

import pillion  # noqa: E402
from pillion.lightning import PillionCallback, PillionProfiler  # noqa: E402


class Both(Profiler):
    def __init__(self):
        super().__init__()
        self.ours, self.theirs = PillionProfiler(), SimpleProfiler()

    def start(self, action_name):
        self.ours.start(action_name)
        self.theirs.start(action_name)

    def stop(self, action_name):
        self.theirs.stop(action_name)
        self.ours.stop(action_name)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, index):
        time.sleep(0.02)
        return self.layer(batch).pow(2).mean()

    def validation_step(self, batch, index):
        time.sleep(0.02)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


both = Both()
data = torch.utils.data.DataLoader(torch.ones(40, 8), batch_size=2)
callback = PillionCallback(pillion.schedule(wait=5, warmup=1, active=4, repeat=2))
lightning.Trainer(max_epochs=2, accelerator="cpu", profiler=both, logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False, callbacks=[callback]).fit(Model(), data, data)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump([both.theirs.recorded_durations, both.ours.recorded_durations], file)
rows = [[line.split("|")[1].strip() for line in p.summary().splitlines() if line.startswith("|")]
    for p in (both.theirs, both.ours)]
print(sorted(rows[0]) == sorted(rows[1]), len(rows[0]) > 20)
