# SPDX-License-Identifier: Apache-2.0
"""Threads that wait for each other in chains of locks, queues, events and conditions. Prints, for each link,
"KIND WAITER WAKER": the native TIDs of the thread that waits and of the one that ends the wait."""
import queue
import sys
import threading
import time

LINKS = 4


def until_asleep(thread):
    """Until the thread sleeps in the kernel, in this and in the next 4 ms."""
    calm = 0
    while calm < 2:
        time.sleep(0.004)
        with open(f"/proc/self/task/{thread.native_id}/stat") as f:
            calm = calm + 1 if f.read().rsplit(")", 1)[1].split()[0] == "S" else 0


def locks():
    made = [threading.Lock() for _ in range(LINKS + 1)]
    for lock in made:
        lock.acquire()
    return lambda i: made[i].acquire(), lambda i: made[i].release()


def queues():
    made = [queue.SimpleQueue() for _ in range(LINKS + 1)]
    return lambda i: made[i].get(), lambda i: made[i].put(i)


def full_queues():
    made = [queue.Queue() for _ in range(LINKS + 1)]
    return lambda i: made[i].get(), lambda i: made[i].put(i)


def events():
    made = [threading.Event() for _ in range(LINKS + 1)]
    return lambda i: made[i].wait(), lambda i: made[i].set()


def chain(name, wait, wake):
    threads = []

    def link(i):
        wait(i)
        if i + 1 < LINKS:
            until_asleep(threads[i + 1])
        wake(i + 1)

    for i in range(LINKS):
        threads.append(threading.Thread(target=link, args=(i,)))
    for thread in threads:
        thread.start()
    until_asleep(threads[0])
    wake(0)
    for thread in threads:
        thread.join()
    before = threading.main_thread()
    for thread in threads:
        print(name, thread.native_id, before.native_id)
        before = thread


for make in (locks, queues, full_queues, events):
    chain(make.__name__, *make())
sys.stdout.flush()
