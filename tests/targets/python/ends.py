# SPDX-License-Identifier: Apache-2.0
"""ends.py: a thread that ends in the middle, as those do that want the interpreter when it has ended."""
import ctypes
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch  # noqa: E402


def work():
    torch.operator('thread', '[[2, 3], [3]]')
    ctypes.CDLL(None).pthread_exit(None)


if __name__ == '__main__':
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while os.path.exists('/proc/self/task/%d' % thread.native_id):
        time.sleep(0.01)
    print('ended', flush=True)
    os._exit(3)
