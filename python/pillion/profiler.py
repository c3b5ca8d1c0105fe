# SPDX-License-Identifier: Apache-2.0
"""A capture range over chosen steps of a loop."""
import enum
import os
import sys

from pillion import ranges
from pillion.capture import Capture, Table
from pillion.cuda import CudaProfiler

WAIT, WARMUP, ACTIVE = "wait", "warm-up", "active"
DOMAIN = "pillion"


class _Schedule:
    """The phase of each step, and how long it lasts."""
    __slots__ = ("wait", "warmup", "cycle", "first", "end")

    def __init__(self, wait, warmup, active, repeat, skip_first):
        self.wait, self.warmup, self.cycle = wait, wait + warmup, wait + warmup + active
        self.first, self.end = skip_first, skip_first + self.cycle * repeat if repeat else sys.maxsize

    def __call__(self, step):
        if not self.first <= step < self.end:
            return WAIT
        step = (step - self.first) % self.cycle
        return WAIT if step < self.wait else WARMUP if step < self.warmup else ACTIVE

    def phase_end(self, step):
        """A later step; all before it have the phase of this one."""
        if step < self.first:
            return self.first
        if step >= self.end:
            return sys.maxsize
        place = (step - self.first) % self.cycle
        return step - place + (self.wait if place < self.wait else self.warmup if place < self.warmup else self.cycle)


class _Always:
    """The schedule in which each step is active."""

    def __call__(self, step):
        return ACTIVE

    def phase_end(self, step):
        return sys.maxsize


def schedule(*, wait=0, warmup=0, active=1, repeat=0, skip_first=0):
    """The phase of each step: after `skip_first` steps, cycles of `wait`, `warmup` and `active` steps, `repeat` times
    (0: until the end), as torch.profiler.schedule has them."""
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError("active must be at least 1, the other numbers of steps at least 0")
    return _Schedule(wait, warmup, active, repeat, skip_first)


class Profiler:
    """Opens a capture range during the active steps of a schedule.

        with pillion.Profiler(pillion.schedule(wait=10, warmup=2, active=5, repeat=2)) as profiler:
            for batch in loader:
                train(batch)
                profiler.step()

    Each step is a range of this name in the domain "pillion" with the step's number as its payload, in the warm-up
    "warm-up"; there is none in steps that wait. Consecutive active steps are the range "active" in the same domain, and
    between cudaProfilerStart and cudaProfilerStop. So one of these records them alone:

        pillion -c cudaProfilerApi --capture-range-end=repeat COMMAND
        pillion -c nvtx -p active@pillion --capture-range-end=repeat COMMAND

    Without a schedule each step is active. A schedule may be any function that returns "wait", "warm-up" or "active"
    for a step's number. `cuda=False` leaves the CUDA runtime alone; `on_active` is called with the profiler after each
    series of active steps, and so is `on_trace_ready`, which is torch.profiler's name for it."""

    def __init__(self, schedule=None, name="step", cuda=True, on_active=None, on_trace_ready=None):
        if schedule is not None and not callable(schedule):
            raise TypeError("schedule must be a function of the step's number, such as what pillion.schedule() returns,"
                f" not {schedule!r}")
        self._schedule = _Always() if schedule is None else schedule
        # Before this step, step() has nothing to do but to count. Schedules of others may change with each step.
        self._busy_step, self._phase_end = 0, getattr(self._schedule, "phase_end", lambda step: step + 1)
        self._name, self._on_active = name, on_active or on_trace_ready
        self._active = 0  # series of active steps
        self._cuda = CudaProfiler() if cuda else None
        self._is_open, self._window = False, None
        self.step_number, self.phase = 0, None

    def start(self):
        """Begins step 0."""
        if self.phase is None:
            self._enter_phase(self._schedule(self.step_number))

    def step(self):
        """Ends a step and begins the next one; the first call begins step 0 if start() has not."""
        number = self.step_number + 1
        if number < self._busy_step:
            self.step_number = number
        elif self.phase is None:
            self.start()
        else:
            self._change_step(number)

    def _change_step(self, number):
        self._leave_step()
        last, self.step_number = self.phase, number
        phase = self._schedule(number)
        # A schedule without pauses has one cycle after the other in one capture range.
        if last == ACTIVE != phase:
            self._close()
        self._enter_phase(phase)

    def stop(self):
        """Ends the last step, and the capture range."""
        if self.phase is None:
            return
        self._leave_step()
        self.phase, self._busy_step = None, 0
        if self._is_open:
            self._close()

    def _enter_phase(self, phase):
        if phase == ACTIVE and not self._is_open:
            self._open()
        self.phase = phase
        if phase != WAIT:
            ranges.range_push(self._name if phase == ACTIVE else WARMUP, payload=self.step_number, domain=DOMAIN)
        if phase == WAIT or not ranges.is_active():
            self._busy_step = self._phase_end(self.step_number)

    def _leave_step(self):
        if self.phase != WAIT:
            ranges.range_pop(DOMAIN)

    def _open(self):
        self._is_open = True
        if self._cuda:
            self._cuda.start()
        self._window = ranges.range_start(ACTIVE, domain=DOMAIN)

    def _close(self):
        self._is_open = False
        ranges.range_end(self._window, DOMAIN)
        if self._cuda:
            self._cuda.stop()
        self._active += 1
        if self._on_active:
            self._on_active(self)

    def capture(self):
        """The last series of active steps in the capture of this run, while it goes on; None without pillion."""
        output = os.environ.get("PILLION_OUTPUT")
        if not output or not ranges.is_active() or not self._active:
            return None
        return Capture(output, filter_nvtx=f"{ACTIVE}@{DOMAIN}/{self._active - 1}")

    def export_chrome_trace(self, path):
        """Writes the last series of active steps for chrome://tracing, Perfetto or TensorBoard."""
        capture = self.capture()
        if capture:
            capture.export("chrome", path)

    def key_averages(self, **ignored):
        """PyTorch's operators in them, a Table; it has rows with `pillion --pytorch=autograd-nvtx`."""
        capture = self.capture()
        return capture.table("pytorch_sum") if capture else Table("pytorch_sum", [])

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, traceback):
        self.stop()


# ---- names of torch.profiler ----

class ProfilerActivity(enum.Enum):
    """What is recorded is said on pillion's command line."""
    CPU, CUDA, XPU = range(3)


class profile(Profiler):
    """torch.profiler.profile. Its other arguments (activities, record_shapes, profile_memory, with_stack, ...) are
    options of the command line here: `pillion --pytorch=autograd-shapes-nvtx --memory=all COMMAND`."""

    def __init__(self, *, schedule=None, on_trace_ready=None, **of_the_command_line):
        super().__init__(schedule, on_trace_ready=on_trace_ready)


def record_function(name, args=None):
    """torch.profiler.record_function: a range around a `with` block or each call of a function."""
    return ranges.annotate(name)


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """torch.profiler.tensorboard_trace_handler: for on_trace_ready; a file for each series of active steps."""
    def handler(profiler):
        import socket
        import time
        capture = profiler.capture()
        if not capture:
            return
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        capture.export("chrome", os.path.join(dir_name, name))
    return handler
