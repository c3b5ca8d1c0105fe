# SPDX-License-Identifier: Apache-2.0
"""A capture range over chosen steps of a loop."""
from pillion import ranges
from pillion.cuda import CudaProfiler

WAIT, WARMUP, ACTIVE = "wait", "warm-up", "active"
DOMAIN = "pillion"


def schedule(*, wait=0, warmup=0, active=1, repeat=0, skip_first=0):
    """The phase of each step: after `skip_first` steps, cycles of `wait`, `warmup` and `active` steps, `repeat` times
    (0: until the end), as torch.profiler.schedule has them."""
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError("active must be at least 1, the other numbers of steps at least 0")
    cycle = wait + warmup + active

    def phase(step):
        step -= skip_first
        if step < 0 or (repeat and step >= cycle * repeat):
            return WAIT
        step %= cycle
        return WAIT if step < wait else WARMUP if step < wait + warmup else ACTIVE

    return phase


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

    Without a schedule each step is active. `cuda=False` leaves the CUDA runtime alone; `on_active` is called with the
    profiler after each series of active steps."""

    def __init__(self, schedule=None, name="step", cuda=True, on_active=None):
        self._schedule = schedule or (lambda step: ACTIVE)
        self._name, self._on_active = name, on_active
        self._cuda = CudaProfiler() if cuda else None
        self._is_open, self._window = False, None
        self.step_number, self.phase = 0, None

    def start(self):
        """Begins step 0."""
        if self.phase is None:
            self._enter_phase(self._schedule(self.step_number))

    def step(self):
        """Ends a step and begins the next one; the first call begins step 0 if start() has not."""
        if self.phase is None:
            self.start()
            return
        self._leave_step()
        last, self.step_number = self.phase, self.step_number + 1
        phase = self._schedule(self.step_number)
        # A schedule without pauses has one cycle after the other in one capture range.
        if last == ACTIVE != phase:
            self._close()
        self._enter_phase(phase)

    def stop(self):
        """Ends the last step, and the capture range."""
        if self.phase is None:
            return
        self._leave_step()
        self.phase = None
        if self._is_open:
            self._close()

    def _enter_phase(self, phase):
        if phase == ACTIVE and not self._is_open:
            self._open()
        self.phase = phase
        if phase != WAIT:
            ranges.range_push(self._name if phase == ACTIVE else WARMUP, payload=self.step_number, domain=DOMAIN)

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
        if self._on_active:
            self._on_active(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, traceback):
        self.stop()
