# SPDX-License-Identifier: Apache-2.0
"""A capture range over chosen steps of a loop."""
import enum
import os
import sys

from pillion import ranges
from pillion.averages import Averages
from pillion.capture import Capture, PillionError
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

    def is_last(self, step):
        """Whether a cycle ends with this step."""
        return self.first <= step < self.end and (step - self.first) % self.cycle == self.cycle - 1

    def phase_end(self, step):
        """A later step; all before it have the phase of this one."""
        if step < self.first:
            return self.first
        if step >= self.end:
            return sys.maxsize
        place = (step - self.first) % self.cycle
        return step - place + (self.wait if place < self.wait else self.warmup if place < self.warmup else self.cycle)


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

    _torch_step = None  # a range beside the operators around each active step

    def __init__(self, schedule=None, name="step", cuda=True, on_active=None, on_trace_ready=None):
        if schedule is not None and not callable(schedule):
            raise TypeError("schedule must be a function of the step's number, such as what pillion.schedule() returns,"
                f" not {schedule!r}")
        self._schedule = _Schedule(0, 0, sys.maxsize, 0, 0) if schedule is None else schedule
        # Before this step, step() has nothing to do but to count. Schedules of others may change with each step.
        self._busy_step, self._phase_end = 0, getattr(self._schedule, "phase_end", lambda step: step + 1)
        self._name, self._on_active = name, on_active or on_trace_ready
        self._number = None  # of the last series of active steps in this process
        self._cuda = CudaProfiler() if cuda else None
        self._is_open, self._window, self._shows_flops = False, None, False
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
        if last == ACTIVE and (phase != ACTIVE or self._ends_series(number - 1)):
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

    def _ends_series(self, step):
        """A schedule without pauses has one cycle after the other in one capture range."""
        return False

    def _enter_phase(self, phase):
        if phase == ACTIVE and not self._is_open:
            self._open()
        self.phase = phase
        if phase != WAIT:
            ranges.range_push(self._name if phase == ACTIVE else WARMUP, payload=self.step_number, domain=DOMAIN)
            if phase == ACTIVE and self._torch_step:
                ranges.range_push(self._torch_step)
        if phase == WAIT or not ranges.is_active():
            self._busy_step = self._phase_end(self.step_number)

    def _leave_step(self):
        if self.phase != WAIT:
            if self.phase == ACTIVE and self._torch_step:
                ranges.range_pop()
            ranges.range_pop(DOMAIN)

    def _open(self):
        self._is_open = True
        if self._cuda:
            self._cuda.start()
        self._window = ranges.range_start(ACTIVE, domain=DOMAIN)
        self._number = _series.opened()

    def _close(self):
        self._is_open = False
        ranges.range_end(self._window, DOMAIN)
        if self._cuda:
            self._cuda.stop()
        if self._on_active:
            self._on_active(self)

    def capture(self):
        """The last series of active steps in what this process has recorded, while it goes on; None without
        pillion."""
        output = os.environ.get("PILLION_OUTPUT")
        if not output or not ranges.is_active() or self._number is None:
            return None
        # From the end: series before the beginning of the recording are not in it.
        return Capture(*(own_traces() or [output]), filter_nvtx=f"{ACTIVE}@{DOMAIN}/{self._number - _series.count}")

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """The operators of the last series of active steps."""
        capture = self.capture()
        if not capture or not _records_operators():
            return Averages([], _what_is_missing())
        group = "shape" if group_by_input_shape else f"stack:{group_by_stack_n}" if group_by_stack_n else "name"
        try:
            return Averages(capture.table("pytorch_sum", group_by=group), _what_is_missing(), self._shows_flops)
        except PillionError as error:
            return Averages([], str(error))

    def _export(self, type, path, **options):
        capture = self.capture()
        why = None if capture else _what_is_missing()
        try:
            if capture:
                capture.export(type, path, **options)
        except PillionError as error:
            why = str(error)
        if why:
            import warnings
            warnings.warn(f"{os.fspath(path)} is not written: {why}", RuntimeWarning, stacklevel=3)

    def export_chrome_trace(self, path):
        """Writes the last series of active steps for chrome://tracing, Perfetto or TensorBoard."""
        self._export("chrome", path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes folded stacks: of CPU samples, or of what the devices executed."""
        self._export("folded", path, metric="cpu" if "cpu" in metric else "gpu")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, traceback):
        self.stop()


# ---- what it reads ----

OPERATORS = "--pytorch=autograd-shapes-nvtx"


def _records_operators():
    return ranges.is_active() and os.environ.get("PILLION_PYTORCH", "none") != "none"


def _what_is_missing():
    """How to start the program so that its operators are recorded."""
    environment = "PILLION_PYTORCH=autograd-shapes-nvtx in its environment"
    if ranges.is_active() and os.environ.get("PILLION_OUTPUT"):
        return (f"pillion: PyTorch's operators are not recorded: start the program as `pillion {OPERATORS} COMMAND`, "
            f"or with {environment}")
    return (f"pillion: this process is not recorded: start it as `pillion {OPERATORS} COMMAND`, or with LD_PRELOAD=the "
        f"path of libpillion.so, PILLION_OUTPUT=DIRECTORY and {environment}")


class _Series:
    """Counts the series of active steps of this process, whose trace a forked child does not share."""

    def __init__(self):
        self.process, self.count = os.getpid(), 0

    def opened(self):
        if self.process != os.getpid():
            self.__init__()
        self.count += 1
        return self.count - 1


_series = _Series()


def own_traces():
    """The trace of this process, which may be in a spool: numbers of ranges are then those of this process."""
    own = f".{os.getpid()}."
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            places = [line.rstrip("\n").split(None, 5) for line in maps if line.endswith(".trace\n")]
    except OSError:
        return []
    return sorted({place[5] for place in places if own in os.path.basename(place[5])})


# ---- names of torch.profiler ----

class ProfilerActivity(enum.Enum):
    """What is recorded is said on pillion's command line."""
    CPU, CUDA, XPU, MTIA, HPU, PrivateUse1 = range(6)


def supported_activities():
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA}


class profile(Profiler):
    """torch.profiler.profile. The arguments that say what is recorded (activities, record_shapes, profile_memory,
    with_stack, ...) are options of the command line here: `pillion --pytorch=autograd-shapes-nvtx COMMAND`.

    As a decorator, `@profile` or `@profile(name=, color=, category=, domain=)`, it is a range around each call."""

    def __new__(cls, function=None, **options):
        if function is not None or not options.keys().isdisjoint(("name", "color", "category", "domain")):
            return ranges.profile(function, **options)
        return super().__new__(cls)

    def __init__(self, *, schedule=None, on_trace_ready=None, with_flops=False, **of_the_command_line):
        super().__init__(schedule, on_trace_ready=on_trace_ready)
        self._shows_flops = with_flops
        if schedule is not None:
            self._torch_step = "ProfilerStep*, op_id = 0"  # a row of torch's tables, in the form of an operator's range

    def __call__(self, function):
        return ranges.profile(function)

    @property
    def step_num(self):
        return self.step_number

    def _ends_series(self, step):
        """torch.profiler calls on_trace_ready at the end of each cycle."""
        is_last = getattr(self._schedule, "is_last", None)
        return is_last is not None and is_last(step)

    def add_metadata(self, key, value):
        """A mark with this payload."""
        ranges.mark("metadata", payload={str(key): value}, domain=DOMAIN)

    add_metadata_json = preset_metadata_json = add_metadata


def record_function(name, args=None):
    """torch.profiler.record_function: a range around a `with` block or each call of a function. Where operators are
    recorded, it is PyTorch's own, so that it is one of them."""
    torch = sys.modules.get("torch.autograd.profiler")
    return torch.record_function(name, args) if torch and _records_operators() else ranges.annotate(name)


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """torch.profiler.tensorboard_trace_handler: for on_trace_ready; a file for each series of active steps."""
    def handler(profiler):
        import socket
        import time
        if profiler.capture():
            os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        profiler.export_chrome_trace(os.path.join(dir_name, name))
    return handler
