# SPDX-License-Identifier: Apache-2.0
"""Deadlocks of two threads: deadlock.py with|acquire|rlock."""
import sys
import threading

locks = [threading.RLock() if sys.argv[1] == "rlock" else threading.Lock() for _ in range(2)]
both = threading.Barrier(2)


def enter(first, second):
    with first:
        both.wait()
        with second:  # enter waits
            pass


def acquire(first, second):
    with first:
        both.wait()
        second.acquire()  # acquire waits


function = acquire if sys.argv[1] == "acquire" else enter
threads = [threading.Thread(target=function, args=order) for order in (locks, locks[::-1])]
print("ready", flush=True)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
