# SPDX-License-Identifier: Apache-2.0
"""PyTorch Lightning: a profiler whose actions are ranges, and a callback that has a schedule.

    Trainer(profiler=PillionProfiler(), callbacks=[PillionCallback(pillion.schedule(wait=10, active=5))])"""
import functools
import threading

try:
    from lightning.pytorch import Callback
    from lightning.pytorch.profilers import SimpleProfiler
except ImportError:  # the older name of the package
    from pytorch_lightning import Callback
    from pytorch_lightning.profilers import SimpleProfiler

from pillion.profiler import Profiler
from pillion.ranges import range_pop, range_push

DOMAIN = "lightning"


class PillionProfiler(SimpleProfiler):
    """Lightning's SimpleProfiler, whose actions are also ranges in the domain "lightning"."""

    def __init__(self, *args, **kwargs):
        self._open = threading.local()
        super().__init__(*args, **kwargs)

    def _stack(self):
        if not hasattr(self._open, "actions"):
            self._open.actions = []
        return self._open.actions

    def start(self, action_name):
        super().start(action_name)
        range_push(action_name, domain=DOMAIN)
        self._stack().append(action_name)

    def stop(self, action_name):
        actions = self._stack()
        # Those inside it that an exception has left end with it.
        while action_name in actions:
            range_pop(DOMAIN)
            if actions.pop() == action_name:
                break
        super().stop(action_name)

    def __getstate__(self):
        """A strategy that spawns processes pickles the trainer."""
        return {k: v for k, v in self.__dict__.items() if k != "_open"}

    def __setstate__(self, state):
        self.__dict__.update(state, _open=threading.local())


class PillionCallback(Callback):
    """Makes the capture range of a pillion.Profiler of training batches. The arguments are those of Profiler."""

    def __init__(self, *args, **kwargs):
        self._profiler = functools.partial(Profiler, *args, **kwargs)
        self.profiler = None

    def on_train_start(self, trainer, pl_module):
        self.profiler = self._profiler()

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        self.profiler.step()

    def on_train_end(self, trainer, pl_module):
        self.profiler.stop()

    def on_exception(self, trainer, pl_module, exception):
        if self.profiler:
            self.profiler.stop()
