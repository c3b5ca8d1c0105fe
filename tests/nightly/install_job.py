# SPDX-License-Identifier: Apache-2.0
"""Four worker processes that write files; for Python 3.5 and newer, which examples/python/job.py is not."""
import os
import tempfile


def work(directory, number):
    with open(os.path.join(directory, str(number)), "wb", buffering=0) as file:
        for _ in range(100):
            file.write(os.urandom(65536))
        os.fsync(file.fileno())


with tempfile.TemporaryDirectory() as directory:
    workers = []
    for number in range(4):
        pid = os.fork()
        if pid == 0:
            work(directory, number)
            os._exit(0)
        workers.append(pid)
    for pid in workers:
        os.waitpid(pid, 0)
    print(sorted(os.listdir(directory)))
