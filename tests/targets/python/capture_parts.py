# SPDX-License-Identifier: Apache-2.0
"""capture_parts.py cuda|nvtx|launcher ROUNDS DIRECTORY: known amounts of work inside of capture ranges, which the
program marks or the launcher opens, and more of other work around them. A thread waits from within the first range
until after it. Prints what was done inside: {"wall": ns, "cpu": ns, "slept": ns, "delayed": ns, "written": bytes};
"delayed" is the part of "slept" in which the thread waited for a CPU."""
import glob
import json
import os
import struct
import subprocess
import sys
import threading
import time

MODE, ROUNDS, DIRECTORY = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def outside():
    end = time.thread_time_ns() + 600_000_000
    while time.thread_time_ns() < end:
        pass  # OUTSIDE COMPUTES
    time.sleep(0.7)  # OUTSIDE SLEEPS
    with open(os.path.join(DIRECTORY, "outside"), "ab", buffering=0) as file:
        for _ in range(40):
            file.write(b"x" * 8192)
            os.fsync(file.fileno())
        for _ in range(6000):
            file.write(b"y")
    for _ in range(20):
        subprocess.run(["true"], check=True)
    thread = threading.Thread(target=time.sleep, args=(0.3,), name="outside")
    thread.start()
    thread.join()


def inside_compute():
    end = time.thread_time_ns() + 40_000_000
    while time.thread_time_ns() < end:
        pass  # INSIDE COMPUTES


def inside_sleep():
    time.sleep(0.06)  # INSIDE SLEEPS


def inside_write():
    with open(os.path.join(DIRECTORY, "inside"), "ab", buffering=0) as file:
        return file.write(b"z" * 65536)


def run_delay():
    """How long this thread has waited for a CPU, in ns."""
    with open("/proc/thread-self/schedstat", "rb", buffering=0) as file:
        return int(file.read(100).split()[1])


def wait_long(event):
    event.wait()  # LASTS LONGER


class Ranges:
    """Starts and ends the capture range, or knows whether the launcher has opened it."""

    def __init__(self):
        if MODE == "cuda":
            import pillion
            self.cuda = pillion.CudaProfiler()
        elif MODE == "nvtx":
            import pillion
            self.nvtx = pillion

    def start(self):
        if MODE == "cuda":
            self.cuda.__enter__()
        elif MODE == "nvtx":
            self.range = self.nvtx.annotate("step")
            self.range.__enter__()
        else:
            while not self.is_open():
                sum(range(100_000))  # AT THE EDGE

    def stop(self):
        if MODE == "cuda":
            self.cuda.__exit__(None, None, None)
        elif MODE == "nvtx":
            self.range.__exit__(None, None, None)
        else:
            while self.is_open():
                time.sleep(0.01)  # INSIDE POLLS

    def is_open(self):
        path, = glob.glob(os.path.join(os.environ["PILLION_OUTPUT"], "*.range"))
        with open(path, "rb") as file:
            return struct.unpack_from("I", file.read(20), 16)[0] != 0


def main():
    ranges, done, event = Ranges(), dict.fromkeys(("wall", "cpu", "slept", "delayed", "written"), 0), threading.Event()
    lasting = threading.Thread(target=wait_long, args=(event,), name="lasting")
    if MODE != "launcher":  # which opens the range at a time that the program does not know
        outside()
    for number in range(ROUNDS):
        ranges.start()
        wall, cpu = time.monotonic_ns(), time.thread_time_ns()
        if not number:
            lasting.start()
        for _ in range(10):
            inside_compute()
            delayed, slept = run_delay(), time.monotonic_ns()
            inside_sleep()
            done["slept"] += time.monotonic_ns() - slept
            done["delayed"] += run_delay() - delayed
            done["written"] += inside_write()
        ranges.stop()
        done["cpu"] += time.thread_time_ns() - cpu
        done["wall"] += time.monotonic_ns() - wall
        outside()
        event.set()
    lasting.join()
    print(json.dumps(done))


main()
