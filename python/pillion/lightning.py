# SPDX-License-Identifier: Apache-2.0
"""PyTorch Lightning: its profilers, whose actions are ranges, too, and a callback that has a schedule.

    Trainer(profiler=SimpleProfiler(), callbacks=[PillionCallback(pillion.schedule(wait=10, active=5))])"""
import functools
import threading

try:
    from lightning.pytorch import Callback
    from lightning.pytorch import profilers
except ImportError:  # the older name of the package
    from pytorch_lightning import Callback
    from pytorch_lightning import profilers

from pillion import profiler
from pillion.ranges import range_pop, range_push

DOMAIN = "lightning"


_here = threading.local()  # its `actions`: those in progress on this thread


def _start(begin, action_name):
    begin(action_name)
    range_push(action_name, domain=DOMAIN)
    _here.__dict__.setdefault("actions", []).append((id(begin.__self__), action_name))


def _stop(end, action_name):
    actions, action = _here.__dict__.get("actions", []), (id(end.__self__), action_name)
    # Those inside it that an exception has left end with it.
    while action in actions:
        range_pop(DOMAIN)
        if actions.pop() == action:
            break
    end(action_name)


class _Actions:
    """A profiler of Lightning's, or a program's class derived from one, whose actions are also ranges."""

    def __getattribute__(self, name):
        """A derived class has its own start() and stop(), which may call those of its base."""
        value = super().__getattribute__(name)
        around = {"start": _start, "stop": _stop}.get(name)
        return functools.partial(around, value) if around else value


class Profiler(_Actions, profilers.Profiler):
    """Lightning's Profiler, from which a program's own one is derived."""


class SimpleProfiler(_Actions, profilers.SimpleProfiler):
    """Lightning's SimpleProfiler: a table of the actions."""


class AdvancedProfiler(_Actions, profilers.AdvancedProfiler):
    """Lightning's AdvancedProfiler: cProfile's table of each action."""


PillionProfiler = SimpleProfiler


class PillionCallback(Callback):
    """Makes the capture range of a pillion.Profiler of training batches. The arguments are those of Profiler."""

    def __init__(self, *args, **kwargs):
        self._profiler = functools.partial(profiler.Profiler, *args, **kwargs)
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
