# SPDX-License-Identifier: Apache-2.0
"""with_lightning_profilers.py: Lightning with a profiler of the program's own, one derived from SimpleProfiler and the
advanced profiler. Prints what each has of its actions."""
import collections
import copy
import logging
import pickle
import warnings

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as lightning  # noqa: E402
import torch  # noqa: E402
from lightning.pytorch.profilers import AdvancedProfiler, Profiler, SimpleProfiler  # noqa: E402


class ActionCountProfiler(Profiler):
    def __init__(self, dirpath=None, filename=None):
        super().__init__(dirpath=dirpath, filename=filename)
        self.counts = collections.Counter()

    def start(self, action_name):
        self.counts[action_name] += 1

    def stop(self, action_name):
        pass

    def summary(self):
        return "\n".join(f"{action}: {count}" for action, count in sorted(self.counts.items()))


class Renamed(SimpleProfiler):
    def start(self, action_name):
        super().start(action_name)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, index):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


def train(profiler):
    data = torch.utils.data.DataLoader(torch.ones(20, 8), batch_size=2)
    lightning.Trainer(max_epochs=1, accelerator="cpu", profiler=profiler, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False).fit(Model(), data)
    again = pickle.loads(pickle.dumps(profiler)), copy.deepcopy(profiler)
    print(*(type(other).__name__ for other in again))


own, simple = ActionCountProfiler(), Renamed()
advanced = AdvancedProfiler(dirpath=".", filename="advanced", line_count_restriction=5)
train(own)
print(own.summary())
train(simple)
print(len(simple.recorded_durations), sum(map(len, simple.recorded_durations.values())))
train(advanced)
with open("fit-advanced.txt", encoding="utf-8") as file:
    print("\n".join(sorted(line for line in file.read().splitlines() if line.startswith("Profile stats"))))
