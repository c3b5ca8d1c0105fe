# SPDX-License-Identifier: Apache-2.0
# python_samples.py busy SECONDS: runs, in the main thread and another, functions that call each other in known ways
# only.
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


if __name__ == "__main__":
    busy(float(sys.argv[2]))
