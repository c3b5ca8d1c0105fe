# SPDX-License-Identifier: Apache-2.0
"""chains.py DEPTH WAY: the main thread waits on an event for the first helper, which waits on a queue for the second,
which, if DEPTH is 3, joins the third. The last of them sleeps or reads from a slow pipe for two seconds, or computes
for one. Another thread waits for nothing."""
import os
import queue
import sys
import threading
import time

depth, way = int(sys.argv[1]), sys.argv[2]
done, results = threading.Event(), queue.Queue()


def compute():
    while time.thread_time() < 1:
        sum(range(1000))


def slow_read():
    with os.popen("sleep 2; echo") as pipe:
        pipe.read()


def work():
    if way == "sleep":
        time.sleep(2)
    elif way == "read":
        slow_read()
    else:
        compute()


def second():
    if depth > 2:
        third = threading.Thread(target=work)
        third.start()
        third.join()
    else:
        work()
    results.put(1)


def first():
    results.get()
    done.set()


threading.Thread(target=queue.Queue().get, daemon=True).start()
threading.Thread(target=first).start()
threading.Thread(target=second).start()
done.wait()
