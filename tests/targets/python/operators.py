# SPDX-License-Identifier: Apache-2.0
"""operators.py METHOD: a job with `torch` in threads and in processes; prints what a program could see of a tracer."""
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
before = threading.Thread.run
import torch  # noqa: E402


def work(name):
    torch.operator(name, '[[2, 3], [3]]')


def child(name):
    work(name)
    thread = threading.Thread(target=work, args=(name + '_thread',))
    thread.start()
    thread.join()


if __name__ == '__main__':
    import multiprocessing
    child('main')
    with torch.autograd.profiler.profile():
        work('own')
    work('after')
    process = multiprocessing.get_context(sys.argv[1]).Process(target=child, args=('child',))
    process.start()
    process.join()
    pid = os.fork()
    if pid == 0:
        work('forked')
        os._exit(0)
    os.waitpid(pid, 0)
    print(process.exitcode, torch.cuda.contexts, threading.Thread.run is before)
    print(sorted(name for name in sys.modules if 'pillion' in name or 'annotate' in name), len(sys.meta_path),
        len(sys.path_hooks))
    print(sorted(name for name in dir(__import__('builtins')) if 'pillion' in name), sys.flags.isolated)
