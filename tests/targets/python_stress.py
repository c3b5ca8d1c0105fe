# SPDX-License-Identifier: Apache-2.0
# All at once: 32 threads that compute, call the system, launch on the simulated device of STRESS_CUDART and run code
# that comes and goes, signals, forks, and the interpreter's end while half of the threads are still running. Prints
# what it has computed.
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import lines_job

rounds = 4
stop = []
results = []


def leaf(n):
    return sum(i * i % 7 for i in range(n))


def compute(i):
    return leaf(2000 + i)


def call_system(i):
    with tempfile.TemporaryFile(buffering=0) as f:
        f.write(b"x" * 1000 * (i + 1))
        f.seek(0)
        time.sleep(0.0005)
        return len(f.read())


def generate(i):
    names = {"leaf": leaf}
    exec("def made(n):\n    return made(n - 1) if n else leaf(100)\nresult = made(%d)" % (i + 5), names)
    return names["result"]


class Device:
    def __init__(self, path):
        self.cuda = ctypes.CDLL(path)
        self.cuda.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.cuda.cudaLaunchKernel.argtypes = [ctypes.c_void_p, lines_job.Dim3, lines_job.Dim3, ctypes.c_void_p,
            ctypes.c_size_t, ctypes.c_void_p]
        self.kernel, self.keep = lines_job.register_kernel(self.cuda)
        self.items = ctypes.c_void_p()
        assert self.cuda.cudaMalloc(ctypes.byref(self.items), ctypes.c_size_t(4096)) == 0

    def work(self, i):
        host = ctypes.create_string_buffer(4096)
        status = self.cuda.cudaMemcpy(self.items, host, 4096, 1)
        status += self.cuda.cudaLaunchKernel(self.kernel, lines_job.Dim3(1, 1, 1), lines_job.Dim3(32, 1, 1), None, 0,
            None)
        return status + self.cuda.cudaDeviceSynchronize()


def some(work):
    results.append(sum(work(i) for i in range(rounds)))


def forever(work):
    while not stop:
        work(1)


def in_child(i):
    threads = [threading.Thread(target=some, args=(w,)) for w in (compute, call_system, generate)]
    [t.start() for t in threads]
    if i % 2:
        [t.join() for t in threads]
        os._exit(7)
    sys.exit(7)  # which joins them


def main():
    sys.setswitchinterval(0.0005)
    signals, next_alarm = [], 0.002

    def on_alarm(*_):
        # One at a time: on a busy machine they would come faster than they are done with, each in the midst of the one
        # before.
        signals.append(compute(1))
        signal.setitimer(signal.ITIMER_REAL, next_alarm)

    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    path = os.environ.get("STRESS_CUDART")
    works = [compute, call_system, generate, Device(path).work if path else compute]
    for i in range(16):
        threading.Thread(target=forever, args=(works[i % 4],), daemon=True).start()
    threads = [threading.Thread(target=some, args=(works[i % 4],)) for i in range(16)]
    [t.start() for t in threads]
    for i in range(4):
        child = os.fork()
        if child == 0:
            in_child(i)
        assert subprocess.call(["true"]) == 0
        assert os.waitpid(child, 0)[1] == 7 << 8
    [t.join() for t in threads]
    # CPython says so ("ignored due to race condition") if the handler goes while an alarm is on its way to it: it
    # stays.
    next_alarm = 0
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(sorted(results), len(signals) > 0, flush=True)


main()
