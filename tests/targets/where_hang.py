# SPDX-License-Identifier: Apache-2.0
"""Hangs: two threads take a Lock and an RLock in opposite order, one computes, the main thread reads from a pipe.
With the argument `nested`: both threads take two Locks in nested `with` statements."""
import os
import sys
import threading

lock, rlock = threading.Lock(), threading.RLock()
both = threading.Barrier(2)


def forward():
    with lock:
        both.wait()
        with rlock:  # forward waits
            pass


def backward():
    with rlock:
        both.wait()
        lock.acquire()  # backward waits


def computer():
    while True:
        pass


def nested(first, second):
    with first:
        both.wait()
        with second:
            pass


if sys.argv[1:] == ["nested"]:
    locks = threading.Lock(), threading.Lock()
    threads = [threading.Thread(target=nested, args=order) for order in (locks, locks[::-1])]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    for thread in threads:
        thread.join()
for function in forward, backward, computer:
    threading.Thread(target=function, daemon=True).start()
print("ready", flush=True)
ends = os.pipe()
os.read(ends[0], 1)
