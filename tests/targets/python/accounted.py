# SPDX-License-Identifier: Apache-2.0
"""accounted.py MODULE RECORDS PLAN: as tests/targets/accounted.c, whose module writes the records."""
import ctypes
import os
import select
import signal
import sys
import threading
import time

module = ctypes.CDLL(sys.argv[1])
module.account_now.restype = ctypes.c_longlong
module.account_begin.argtypes = [ctypes.c_longlong] * 4
module.account_burned.argtypes = [ctypes.c_longlong]
module.account_sleep.argtypes = [ctypes.c_longlong]
lock = threading.Lock()


def behind_group(plan, at):
    depth = 0
    while True:
        depth += (plan[at] in "[(") - (plan[at] in ")]")
        at += 1
        if not depth:
            return at


def behind_process(plan, at):
    at = behind_group(plan, at)
    return behind_process(plan, at + 1) if plan[at] == "x" else at + 1


def burn(seconds):
    end, x = time.thread_time() + seconds, 1.0
    while time.thread_time() < end:
        for _ in range(500):
            x = x * 1.0000001 + 1e-9
    module.account_burned(int(seconds * 1e9))


def locked(seconds):
    with lock:
        time.sleep(seconds)


def wait_condition(seconds):
    condition = threading.Condition()
    with condition:
        condition.wait(seconds)


OPERATIONS = {
    "b": burn,
    "s": time.sleep,
    "p": lambda seconds: select.poll().poll(seconds * 1000),
    "c": wait_condition,
    "l": locked,
    "r": lambda seconds: module.account_sleep(int(seconds * 1e9)),
}


def run_child(plan, at):
    global lock
    before = module.account_now()
    pid = os.fork()
    if not pid:
        lock = threading.Lock()  # another thread may have held it
        module.account_begin(before, 0, 0, 0)
        run_process(plan, at)
    module.account_child(pid)
    os.waitpid(pid, 0)


def run_operations(plan, at):
    at += 1
    while plan[at] != "]":
        letter = plan[at]
        at += 1
        if letter == "f":
            run_child(plan, at)
            at = behind_process(plan, at)
            continue
        end = at
        while plan[end].isdigit():
            end += 1
        OPERATIONS[letter](int(plan[at:end]) / 1000)
        at = end


def run_thread(plan, at, born_after):
    module.account_begin(born_after, 0, 0, 0)
    run_operations(plan, at)
    module.account_end()


def execute(plan):
    words = ctypes.create_string_buffer(256)
    module.account_words(words, ctypes.c_size_t(len(words)))
    os.execv(sys.executable, [sys.executable, *sys.argv[:3], plan, words.value.decode()])


def run_process(plan, at):
    own, at, threads = at + 1, behind_group(plan, at + 1), []
    while plan[at] == "[":
        threads.append(threading.Thread(target=run_thread, args=(plan, at, module.account_now())))
        threads[-1].start()
        at = behind_group(plan, at)
    run_operations(plan, own)
    for thread in threads:
        thread.join()
    at += 1
    if plan[at] == "x":
        execute(plan[at + 1:])
    if plan[at] == "k":
        os.kill(os.getpid(), signal.SIGKILL)
    module.account_end()
    if plan[at] == "_":
        os._exit(0)
    # as exit(), but a child of fork has no frames to return through
    module.account_exit()


module.account_open(ctypes.c_char_p(sys.argv[2].encode()))
if len(sys.argv) > 4:
    module.account_begin(*map(int, sys.argv[4].split()))
else:
    module.account_begin_program()
run_process(sys.argv[3], 0)
