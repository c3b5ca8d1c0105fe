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


class _Here(threading.local):
    """Of a thread: the actions in progress, and whether a method of a profiler is running that may call its base's."""
    is_inside = False

    def __init__(self):
        self.actions = []


_here = _Here()


def _starting(begin):
    @functools.wraps(begin)
    def start(self, action_name):
        if _here.is_inside:
            return begin(self, action_name)
        _here.actions.append((id(self), action_name))
        range_push(action_name, domain=DOMAIN)
        _here.is_inside = True
        try:
            return begin(self, action_name) # no call after it: AdvancedProfiler would count it
        except BaseException:
            _here.actions.pop()
            range_pop(DOMAIN)
            raise
        finally:
            _here.is_inside = False
    return start


def _stopping(end):
    @functools.wraps(end)
    def stop(self, action_name):
        if _here.is_inside:
            return end(self, action_name)
        _here.is_inside = True
        try:
            return end(self, action_name) # no call before it
        finally:
            _here.is_inside = False
            # Those inside it that an exception has left end with it.
            while (id(self), action_name) in _here.actions:
                range_pop(DOMAIN)
                if _here.actions.pop() == (id(self), action_name):
                    break
    return stop


class _Actions:
    """A profiler of Lightning's, or a program's class derived from one, whose actions are also ranges."""

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        for name, around in (("start", _starting), ("stop", _stopping)):
            if name in vars(cls) or _Actions in cls.__bases__:
                setattr(cls, name, around(getattr(cls, name)))


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
