# SPDX-License-Identifier: Apache-2.0
"""modulus_profilers.py: a program for PhysicsNeMo's profilers with profilers of its own in the registry."""
import cProfile
import functools
import os
import pstats

from physicsnemo.utils.profiling import Profiler, ProfileRegistry, profile
from physicsnemo.utils.profiling.core import PhysicsNeMoProfilerWrapper, _Profiler_Singleton

FILE = os.path.basename(__file__)


class Calls(PhysicsNeMoProfilerWrapper, metaclass=_Profiler_Singleton):
    """A context."""
    _name = "calls"

    def __init__(self):
        self._is_context, self._is_decorator = True, False

    def _standup(self):
        self._profiler = cProfile.Profile()
        self.initialized = True

    def __enter__(self):
        self._profiler.enable()
        return self

    def __exit__(self, *error):
        self._profiler.disable()

    def finalize(self, output_top):
        if not self.enabled or not self.initialized or self.finalized:
            return
        with open(self.output_dir(output_top) / "calls.txt", "w") as file:
            stats = pstats.Stats(self._profiler).stats
            for (path, _, name), values in sorted(stats.items()):
                if os.path.basename(path) == FILE and name in ("forward", "work"):
                    print(name, values[0], file=file)
        self.finalized = True


class Counter(PhysicsNeMoProfilerWrapper, metaclass=_Profiler_Singleton):
    """A decorator whose result is another function."""
    _name = "counter"
    _is_decorator = True

    def __init__(self):
        self.calls, self.steps = {}, 0

    def _standup(self):
        self.initialized = True

    def __call__(self, function):
        @functools.wraps(function)
        def counted(*args, **kwargs):
            self.calls[function.__qualname__] = self.calls.get(function.__qualname__, 0) + 1
            return function(*args, **kwargs)
        return counted

    def step(self):
        self.steps += 1

    def finalize(self, output_top):
        if not self.finalized:
            (self.output_dir(output_top) / "steps.txt").write_text(f"{sorted(self.calls.items())} {self.steps}\n")
        self.finalized = True


ProfileRegistry.register_profiler("calls", Calls)
ProfileRegistry.register_profiler("counter", Counter)
ProfileRegistry.register_profiler("count", Counter)
try:
    ProfileRegistry.register_profiler("counter", Calls)
except KeyError:
    print("this name is taken")


@profile
def work(n):
    return sum(range(n))


class Model:
    @profile
    def forward(self):
        return work(1000)


p = Profiler()
for name in ("calls", "counter", "count"):
    p.enable(name)
print(p.get("counter") is Counter(), ProfileRegistry.get_profiler("calls").is_context)
p.output_path = "there"
p.initialize()
model = Model()
with p:
    for _ in range(3):
        model.forward()
        p.step()
work(3)
