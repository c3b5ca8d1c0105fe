# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's Trainer: a callback whose ranges are those of the training loop, with a schedule.

    Trainer(..., callbacks=[PillionCallback(pillion.schedule(wait=10, active=5))])"""
import functools

from transformers import TrainerCallback

from pillion.profiler import Profiler
from pillion.ranges import mark, range_pop, range_push

DOMAIN = "transformers"


class PillionCallback(TrainerCallback):
    """Ranges "train", "epoch" and "step" (one update of the weights) in the domain "transformers", marks "substep" (a
    backward pass of gradient accumulation), "log", "save" and "evaluate", and the capture range of a pillion.Profiler
    of the steps. The arguments are those of Profiler."""

    def __init__(self, *args, **kwargs):
        self._profiler = functools.partial(Profiler, *args, **kwargs)
        self.profiler, self._open = None, []

    def _begin(self, name, number=None):
        range_push(name, payload=number, domain=DOMAIN)
        self._open.append(name)

    def _end(self, name):
        while name in self._open:
            range_pop(DOMAIN)
            if self._open.pop() == name:
                break

    def on_train_begin(self, args, state, control, **kwargs):
        self._begin("train")
        self.profiler = self._profiler()

    def on_epoch_begin(self, args, state, control, **kwargs):
        self._begin("epoch", int(state.epoch or 0))

    def on_step_begin(self, args, state, control, **kwargs):
        self.profiler.step()
        self._begin("step", state.global_step)

    def on_substep_end(self, args, state, control, **kwargs):
        mark("substep", payload=state.global_step, domain=DOMAIN)

    def on_step_end(self, args, state, control, **kwargs):
        self._end("step")

    def on_epoch_end(self, args, state, control, **kwargs):
        self._end("epoch")

    def on_train_end(self, args, state, control, **kwargs):
        self.profiler.stop()
        self._end("train")

    def on_log(self, args, state, control, **kwargs):
        mark("log", payload=state.global_step, domain=DOMAIN)

    def on_save(self, args, state, control, **kwargs):
        mark("save", payload=state.global_step, domain=DOMAIN)

    def on_evaluate(self, args, state, control, **kwargs):
        mark("evaluate", payload=state.global_step, domain=DOMAIN)
