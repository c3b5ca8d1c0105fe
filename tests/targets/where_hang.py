# SPDX-License-Identifier: Apache-2.0
"""Hangs: two threads take a Lock and an RLock in opposite order, one computes, the main thread reads from a pipe."""
import os
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


for function in forward, backward, computer:
    threading.Thread(target=function, daemon=True).start()
print("ready", flush=True)
ends = os.pipe()
os.read(ends[0], 1)
