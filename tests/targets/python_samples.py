# SPDX-License-Identifier: Apache-2.0
# python_samples.py busy SECONDS: runs, in the main thread and another, functions that call each other in known ways only; then says how
# much CPU time it used. python_samples.py stress: threads that run and are still running when the interpreter ends, while it forks.
import os
import sys
import threading
import time


def leaf(n):
    x = 0
    for i in range(n):
        x += i * i
    return x


def generator(n):
    for i in range(n):
        yield leaf(i)


def recursion(n):
    return leaf(400) if n == 0 else recursion(n - 1)


class Key:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return leaf(self.n) < leaf(other.n)


def in_c():
    return sorted(range(3000, 0, -1), key=str)


def round_():
    leaf(2000)
    sum(generator(30))
    recursion(12)
    sorted([Key(i) for i in range(20, 0, -1)])
    in_c()
    exec("leaf(1000)")


def run(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        round_()


def busy(seconds):
    thread = threading.Thread(target=run, args=(seconds,))
    thread.start()
    run(seconds)
    thread.join()
    print("done")


def forever(stop):
    while not stop:
        round_()
        new = {}
        exec("import time\ndef made(n):\n    return made(n - 1) if n else time.sleep(0)\nmade(20)", new)  # code that comes and goes


def stress():
    stop = []
    for _ in range(6):
        threading.Thread(target=forever, args=(stop,), daemon=True).start()
    for i in range(4):
        child = os.fork()
        if child == 0:
            run(0.02)
            (os._exit if i % 2 else sys.exit)(7)
        run(0.02)
        assert os.waitpid(child, 0)[1] == 7 << 8
    print("done", flush=True)


if __name__ == "__main__":
    stress() if sys.argv[1] == "stress" else busy(float(sys.argv[2]))
