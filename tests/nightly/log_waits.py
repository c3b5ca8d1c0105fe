# SPDX-License-Identifier: Apache-2.0
"""Programs of log.py that only wait long: something in the program or outside of it ends each of these waits."""
import sys

import log_deadlocks
import log_programs as programs

WAITS = {
    "server": """
import socket
s = socket.create_server(('127.0.0.1', 0))
print('ready', flush=True)
s.accept()""",
    "parent": """
import subprocess
print('ready', flush=True)
subprocess.run(['sleep', '20'])""",
    "asyncio": """
import asyncio
print('ready', flush=True)
asyncio.run(asyncio.sleep(20))""",
    "timer": """
import threading
e = threading.Event()
threading.Timer(20, e.set).start()
print('ready', flush=True)
e.wait()""",
    "pool": """
import multiprocessing, time
if __name__ == '__main__':
    with multiprocessing.Pool(2) as p:
        print('ready', flush=True)
        p.map(time.sleep, [20, 20])""",
    "caught": """
import time, traceback
try:
    raise ValueError('harmless')
except ValueError:
    traceback.print_exc()
print('ready', flush=True)
time.sleep(20)""",
    "http": """
import http.server
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), None)
ready()
server.serve_forever()""",
    "accepts": """
s = socket.create_server(('127.0.0.1', 0))
started(s.accept, s.accept)""",
    "datagrams": """
s = socket.socket(type=socket.SOCK_DGRAM)
s.bind(('127.0.0.1', 0))
ready()
s.recv(9)""",
    "stdin": """
a, b = os.pipe()
os.dup2(a, 0)
subprocess.Popen(['sleep', '20'], pass_fds=(b,))
os.close(b)
ready()
sys.stdin.read()""",
    "fifo": """
os.mkfifo(f'fifo.{os.getpid()}')
ready()
open(f'fifo.{os.getpid()}').read()""",
    "signal": """
import signal
ready()
signal.sigwait([signal.SIGUSR1])""",
    "handler": """
import signal
signal.signal(signal.SIGUSR1, lambda *_: None)
ready()
signal.pause()""",
    "held_lock": """
lock = threading.Lock()
lock.acquire()
def hold():
    time.sleep(20)
    lock.release()
started(hold, lock.acquire)""",
    "condition_timed": """
c = threading.Condition()
def wait():
    with c:
        c.wait(30)
started(wait, wait)""",
    "workers_idle": """
pool = concurrent.futures.ThreadPoolExecutor(3)
list(pool.map(int, '1234'))
ready()
time.sleep(20)""",
    "fed_queue": """
q = queue.Queue()
def feed():
    time.sleep(20)
    q.put(1)
started(q.get, feed)""",
    "computes": """
def spin():
    end = time.time() + 20
    while time.time() < end:
        pass
started(spin)""",
    "child_computes": """
ready()
subprocess.run([sys.executable, '-c', 'import time\\ne = time.time() + 20\\nwhile time.time() < e: pass'])""",
    "child_sleeps": """
def child(c):
    time.sleep(20)
    c.send(1)
a, b = mp.Pipe()
p = mp.get_context('fork').Process(target=child, args=(b,))
p.start()
ready()
a.recv()
p.join()""",
    "mp_idle": """
def child(q):
    q.get()
if __name__ == '__main__':
    q = mp.Queue()
    p = mp.Process(target=child, args=(q,))
    p.start()
    ready()
    time.sleep(20)
    q.put(1)""",
    "held_flock": """
f, g = [open(f'h{os.getpid()}', 'w') for _ in '12']
fcntl.flock(f, fcntl.LOCK_EX)
if os.fork() == 0:
    time.sleep(20)
    os._exit(0)
f.close()
ready()
fcntl.flock(g, fcntl.LOCK_EX)""",
    "asyncio_server": """
import asyncio
async def main():
    s = await asyncio.start_server(print, '127.0.0.1', 0)
    ready()
    await s.serve_forever()
asyncio.run(main())""",
    "asyncio_child": """
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec('sleep', '20')
    ready()
    await p.wait()
asyncio.run(main())""",
    "selects": """
import selectors
s = selectors.DefaultSelector()
s.register(socket.create_server(('127.0.0.1', 0)), 1)
ready()
s.select()""",
}
SHELL_WAITS = {
    "shell": "echo ready; sleep 20 & sleep 21 & wait",
    "pipeline": "echo ready; sleep 20 | cat | cat",
    "read": "echo ready; exec 3<>fifo.$$; read x <&3",
    "locked": "echo ready; flock l.$$ sleep 20 & sleep 0.2; flock l.$$ true",
}


def kinds():
    ret = {}
    for name, source in WAITS.items():
        path = log_deadlocks.written(f"waits_{name}.py", log_deadlocks.PYTHON_HEAD + source)
        ret[name] = programs.Kind([sys.executable, path], (), (), False)
    for name, source in SHELL_WAITS.items():
        ret["sh_" + name] = programs.Kind(["sh", "-c", source], (), (), False)
    return ret
