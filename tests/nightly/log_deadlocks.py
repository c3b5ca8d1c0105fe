# SPDX-License-Identifier: Apache-2.0
"""Programs of log.py whose threads or processes wait for each other."""
import os
import shutil
import subprocess
import sys

import log_deadlocks_in_c as in_c
import log_programs as programs

PYTHON_HEAD = """
import concurrent.futures, fcntl, logging, multiprocessing as mp, os, queue, socket, sqlite3, subprocess, sys
import threading, time
def ready():
    print("ready", flush=True)
def started(*functions):
    threads = [threading.Thread(target=f) for f in functions]
    for thread in threads:
        thread.start()
    ready()
    for thread in threads:
        thread.join()
def both(a, b):
    with a:
        time.sleep(0.3)
        with b:  # waits
            pass
"""
IN_PYTHON = {
    "locks": "a, b = threading.Lock(), threading.Lock()\nstarted(lambda: both(a, b), lambda: both(b, a))",
    "rlocks": "a, b = threading.RLock(), threading.RLock()\nstarted(lambda: both(a, b), lambda: both(b, a))",
    "lock_alone": "a = threading.Lock()\na.acquire()\nready()\na.acquire()  # waits",
    "condition": """
changed = threading.Condition()
def wait():
    with changed:
        changed.wait()  # waits
started(wait, wait)""",
    "event": """
one, two = threading.Event(), threading.Event()
def run(a, b):
    a.wait()  # waits
    b.set()
started(lambda: run(one, two), lambda: run(two, one))""",
    "queues": """
one, two = queue.Queue(), queue.Queue()
def run(a, b):
    b.put(a.get())  # waits
started(lambda: run(one, two), lambda: run(two, one))""",
    "queue_join": """
jobs = queue.Queue()
jobs.put(1)
def work():
    jobs.get()
threading.Thread(target=work).start()
ready()
jobs.join()  # waits""",
    "full_queue": """
results = queue.Queue(1)
def work():
    for i in range(3):
        results.put(i)  # waits
started(work)""",
    "py_joins": """
main = threading.current_thread()
def work():
    main.join()  # waits
worker = threading.Thread(target=work)
worker.start()
ready()
worker.join()  # waits""",
    "py_barrier": """
barrier = threading.Barrier(3)
def come():
    barrier.wait()  # waits
started(come, come)""",
    "py_semaphore": """
places = threading.BoundedSemaphore(1)
def enter():
    with places:
        with places:  # waits
            pass
started(enter)""",
    "executor": """
pool = concurrent.futures.ThreadPoolExecutor(1)
def outer():
    return pool.submit(int).result()  # waits
future = pool.submit(outer)
ready()
future.result()  # waits""",
    "mp_locks": """
if __name__ == "__main__":
    a, b = mp.Lock(), mp.Lock()
    children = [mp.Process(target=both, args=locks) for locks in ((a, b), (b, a))]
    for child in children:
        child.start()
    ready()
    for child in children:
        child.join()""",
    "mp_queue": """
def child(q):
    q.put(b"x" * 10_000_000)
if __name__ == "__main__":
    q = mp.Queue()
    p = mp.Process(target=child, args=(q,))
    p.start()
    ready()
    p.join()  # waits""",
    "mp_pipe": """
def child(c):
    c.send(b"x" * 1_000_000)  # waits
    c.recv()
if __name__ == "__main__":
    a, b = mp.Pipe()
    p = mp.Process(target=child, args=(b,))
    p.start()
    ready()
    child(a)""",
    "mp_event": """
def child(one, two):
    one.wait()  # waits
    two.set()
if __name__ == "__main__":
    one, two = mp.Event(), mp.Event()
    p = mp.Process(target=child, args=(one, two))
    p.start()
    ready()
    two.wait()  # waits
    one.set()""",
    "mp_pool": """
def work(i):
    with lock:
        return i
def begin(l):
    global lock
    lock = l
if __name__ == "__main__":
    lock = mp.Lock()
    with mp.Pool(2, begin, (lock,)) as pool:
        with lock:
            ready()
            pool.map(work, range(4))  # waits""",
    "forked_lock_py": """
lock = threading.Lock()
def hold():
    with lock:
        time.sleep(0.5)
threading.Thread(target=hold).start()
time.sleep(0.2)
child = os.fork()
if not child:
    with lock:  # waits
        os._exit(0)
ready()
os.waitpid(child, 0)""",
    "child_output": """
child = subprocess.Popen([sys.executable, "-c", "print('x' * 1000000)"], stdout=subprocess.PIPE)
ready()
child.wait()  # waits""",
    "child_input": """
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
ready()
child.stdout.read()  # waits""",
    "tcp": """
server = socket.create_server(("127.0.0.1", 0))
def client():
    with socket.create_connection(server.getsockname()) as c:
        c.recv(1)  # waits
p = mp.get_context("fork").Process(target=client)
p.start()
connection, _ = server.accept()
server.close()
ready()
connection.recv(1)  # waits""",
    "py_flocks": """
def enter(one, two):
    with open(one, "w") as f, open(two, "w") as g:
        fcntl.flock(f, fcntl.LOCK_EX)
        time.sleep(0.3)
        fcntl.flock(g, fcntl.LOCK_EX)  # waits
one, two = f"p{os.getpid()}", f"q{os.getpid()}"
child = os.fork()
ready()
enter(*((one, two) if child else (two, one)))""",
    "mp_barrier": """
def come(b):
    b.wait()  # waits
if __name__ == "__main__":
    b = mp.Barrier(3)
    children = [mp.Process(target=come, args=(b,)) for _ in "12"]
    for child in children:
        child.start()
    ready()
    for child in children:
        child.join()""",
    "mp_condition": """
def child(c):
    with c:
        c.wait()  # waits
if __name__ == "__main__":
    c = mp.Condition()
    p = mp.Process(target=child, args=(c,))
    p.start()
    ready()
    p.join()""",
    "mp_joinable": """
def child(q):
    q.get()
    q.get()  # waits
if __name__ == "__main__":
    q = mp.JoinableQueue()
    mp.Process(target=child, args=(q,)).start()
    q.put(1)
    ready()
    q.join()  # waits""",
    "process_pool": """
def hold():
    with lock:
        return 1
def begin(l):
    global lock
    lock = l
if __name__ == "__main__":
    lock = mp.Lock()
    lock.acquire()
    with concurrent.futures.ProcessPoolExecutor(1, mp.get_context("fork"), begin, (lock,)) as pool:
        ready()
        pool.submit(hold).result()  # waits""",
    "child_both": """
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdout.write('x' * 1000000); sys.stdin.read()"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
ready()
child.stdin.write(b"x" * 1000000)  # waits
child.communicate()""",
    "asyncio_locks": """
import asyncio
async def enter(a, b):
    async with a:
        await asyncio.sleep(0.2)
        async with b:  # waits
            pass
async def main():
    a, b = asyncio.Lock(), asyncio.Lock()
    ready()
    await asyncio.gather(enter(a, b), enter(b, a))
asyncio.run(main())""",
    "asyncio_futures": """
import asyncio
async def answer(one, two):
    one.set_result(await two)  # waits
async def main():
    one, two = (asyncio.get_running_loop().create_future() for _ in "12")
    ready()
    await asyncio.gather(answer(one, two), answer(two, one))
asyncio.run(main())""",
    "asyncio_queue": """
import asyncio
async def take(q):
    await q.get()  # waits
async def main():
    q = asyncio.Queue()
    task = asyncio.create_task(take(q))
    ready()
    await task
asyncio.run(main())""",
    "asyncio_event": """
import asyncio
async def main():
    event = asyncio.Event()
    ready()
    await event.wait()  # waits
asyncio.run(main())""",
    "asyncio_tasks": """
import asyncio
async def first():
    await asyncio.sleep(0.1)
    await tasks[1]  # waits
async def second():
    await tasks[0]  # waits
async def main():
    tasks.extend(asyncio.create_task(f()) for f in (first, second))
    ready()
    await asyncio.wait(tasks)
tasks = []
asyncio.run(main())""",
    "asyncio_semaphore": """
import asyncio
async def enter(places):
    async with places:
        async with places:  # waits
            pass
async def main():
    places = asyncio.Semaphore(1)
    ready()
    await enter(places)
asyncio.run(main())""",
    "sqlite": """
files = [f"{name}{os.getpid()}.db" for name in ("one", "two")]
for name in files:
    sqlite3.connect(name).execute("create table if not exists t (x)")
def enter(one, two):
    a, b = sqlite3.connect(one, timeout=1000), sqlite3.connect(two, timeout=1000)
    a.execute("begin immediate")
    time.sleep(0.3)
    b.execute("begin immediate")  # waits
started(lambda: enter(*files), lambda: enter(*files[::-1]))""",
}


def written(name, text):
    os.makedirs("deadlocks", exist_ok=True)
    return programs.write(os.path.join("deadlocks", name), text)


def compiled(compiler, name, head, source, comment):
    # the line numbers are those of a file of its own, which includes the rest
    path = written(name, f'#include "{head}"' + source)
    program = path.rsplit(".", 1)[0]
    subprocess.run([compiler, "-g", "-w", "-pthread", "-o", program, path], check=True)
    return programs.Kind([program], ("DEADLOCK",), (programs.places(name, f'#include "{head}"' + source, comment),),
                         False)


def kinds():
    ret = {}
    if shutil.which("gcc"):
        written("all.h", in_c.HEAD)
        for name, source in in_c.PROGRAMS.items():
            ret[name] = compiled("gcc", f"{name}.c", "all.h", source, "/* waits */")
    if shutil.which("g++"):
        written("all.hpp", in_c.CPP_HEAD)
        for name, source in in_c.CPP_PROGRAMS.items():
            ret[name] = compiled("g++", f"{name}.cpp", "all.hpp", source, "// waits")
    for name, source in IN_PYTHON.items():
        source = PYTHON_HEAD + source
        ret[name] = programs.Kind([sys.executable, written(f"{name}.py", source)], ("DEADLOCK",),
                                  (programs.places(f"{name}.py", source, "# waits"),), False)
    return ret
