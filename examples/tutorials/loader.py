# SPDX-License-Identifier: Apache-2.0
"""A training loop whose batches come from worker processes, as those of a DataLoader: loader.py [WORKERS]"""
import multiprocessing
import sys
import time

STEPS = 40


def load(index):
    time.sleep(0.06)  # the disk, and the decoding of a picture
    return bytes(100000)


def work(indices, batches):
    while (index := indices.get()) is not None:
        batches.put(load(index))


def step(batch):
    time.sleep(0.01)  # the device computes
    return len(batch)


def main():
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    context = multiprocessing.get_context("fork")
    indices, batches = context.Queue(), context.Queue(2 * workers)
    processes = [context.Process(target=work, args=(indices, batches)) for _ in range(workers)]
    for process in processes:
        process.start()
    for index in range(STEPS):
        indices.put(index)
    for _ in processes:
        indices.put(None)
    total = 0
    for _ in range(STEPS):
        batch = batches.get()
        total += step(batch)
    for process in processes:
        process.join()
    print(f"{STEPS} steps, {total} bytes")


if __name__ == "__main__":
    main()
