#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A data pipeline: worker processes load, decode and store chunks, the main process sums up. A second or two.

    python3 job.py [WORKERS [CHUNKS]]      4 workers and 40 chunks by default"""
import hashlib
import multiprocessing
import os
import random
import sys
import tempfile
import time
import zlib

import ranges

CHUNK_BYTES = 1 << 20


def make_chunk(path, number):
    with open(path, "wb") as file:
        file.write(random.Random(number).randbytes(CHUNK_BYTES // 2).hex().encode())


def load(path):
    with ranges.range("load"), open(path, "rb", buffering=0) as file:
        parts = []
        while part := file.read(65536):
            parts.append(part)
        time.sleep(0.002)  # a store that is not on this machine
        return b"".join(parts)


def decode(data):
    with ranges.range("decode"):
        return zlib.compress(data, 6)


def store(path, data):
    with ranges.range("store"), open(path, "wb") as file:
        file.write(data)
        os.fsync(file.fileno())


def work(task):
    directory, number = task
    path = os.path.join(directory, f"chunk{number}")
    with ranges.range("chunk"):
        packed = decode(load(path))
        store(path + ".z", packed)
    return number, len(packed), hashlib.sha256(packed).hexdigest()


def main():
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    chunks = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    # fork, as DataLoader does on Linux, whatever this Python's default is.
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as directory:
        with ranges.range("make"):
            for number in range(chunks):
                make_chunk(os.path.join(directory, f"chunk{number}"), number)
        total = hashlib.sha256()
        packed = 0
        with ranges.range("work"), context.Pool(workers) as pool:
            tasks = [(directory, number) for number in range(chunks)]
            for number, size, digest in pool.imap(work, tasks):
                packed += size
                total.update(digest.encode())
                if number % 10 == 9:
                    ranges.mark(f"{number + 1} chunks")
            pool.close()
            pool.join()
    print(f"{chunks} chunks by {workers} workers: {chunks * CHUNK_BYTES} bytes packed to {packed}, "
          f"{total.hexdigest()[:16]}")


if __name__ == "__main__":
    main()
