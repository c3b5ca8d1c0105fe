# SPDX-License-Identifier: Apache-2.0
"""Programs of log.py that only wait long: something in the program or outside of it ends each of these waits."""
import os
import shutil
import subprocess
import sys

import log_deadlocks
import log_deadlocks_in_c
import log_programs as programs
import log_waits_in_c

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
    "socketserver": """
import socketserver
server = socketserver.ForkingTCPServer(('127.0.0.1', 0), socketserver.BaseRequestHandler)
threading.Thread(target=server.serve_forever).start()
ready()
server.serve_forever()""",
    "wsgi": """
import wsgiref.simple_server
ready()
wsgiref.simple_server.make_server('127.0.0.1', 0, None).handle_request()""",
    "reloader": """
ready()
subprocess.call([sys.executable, '-c', 'import socket; socket.create_server(("127.0.0.1", 0)).accept()'])""",
    "prefork": """
s = socket.create_server(('127.0.0.1', 0))
for _ in range(2):
    if os.fork() == 0:
        s.accept()
        os._exit(0)
ready()
os.wait()""",
    "client": """
s = socket.create_server(('127.0.0.1', 0))
if os.fork() == 0:
    socket.create_connection(s.getsockname()).recv(1)
    os._exit(0)
c, _ = s.accept()
ready()
import select
select.select([s, c], [], [])""",
    "unix_server": """
s = socket.socket(socket.AF_UNIX)
s.bind(f's{os.getpid()}')
s.listen()
ready()
s.accept()""",
    "asyncio_producer": """
import asyncio
async def main():
    q = asyncio.Queue()
    task = asyncio.create_task(q.get())
    ready()
    await asyncio.sleep(20)
    q.put_nowait(1)
    await task
asyncio.run(main())""",
    "asyncio_lock": """
import asyncio
async def enter(lock):
    async with lock:
        await asyncio.sleep(10)
async def main():
    lock = asyncio.Lock()
    ready()
    await asyncio.gather(enter(lock), enter(lock))
asyncio.run(main())""",
    "asyncio_thread": """
import asyncio
async def main():
    ready()
    await asyncio.get_running_loop().run_in_executor(None, time.sleep, 20)
asyncio.run(main())""",
    "asyncio_later": """
import asyncio
async def main():
    future = asyncio.get_running_loop().create_future()
    threading.Timer(20, lambda: future.get_loop().call_soon_threadsafe(future.set_result, 1)).start()
    ready()
    await future
asyncio.run(main())""",
    "asyncio_signal": """
import asyncio, signal
async def main():
    event = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, event.set)
    ready()
    await event.wait()
asyncio.run(main())""",
    "asyncio_stdin": """
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec('sleep', '20', stdout=subprocess.PIPE)
    ready()
    await asyncio.gather(p.stdout.read(), p.wait())
asyncio.run(main())""",
    "manager": """
def feed(q):
    time.sleep(20)
    q.put(1)
if __name__ == '__main__':
    q = mp.Manager().Queue()
    mp.Process(target=feed, args=(q,)).start()
    ready()
    q.get()""",
    "mp_barrier": """
def come(b, s):
    time.sleep(s)
    b.wait()
if __name__ == '__main__':
    b = mp.Barrier(3)
    children = [mp.Process(target=come, args=(b, s)) for s in (0, 0, 20)]
    for child in children:
        child.start()
    ready()
    for child in children:
        child.join()""",
    "processes": """
if __name__ == '__main__':
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        ready()
        list(pool.map(time.sleep, (20, 20)))""",
    "processes_idle": """
if __name__ == '__main__':
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(abs, (1, 2)))
        ready()
        time.sleep(20)""",
    "py_barrier": """
b = threading.Barrier(2)
def late():
    time.sleep(20)
    b.wait()
started(b.wait, late)""",
    "queue_timeout": """
q = queue.Queue()
def get():
    try:
        q.get(timeout=20)
    except queue.Empty:
        pass
started(get)""",
    "sqlite": """
file = f'w{os.getpid()}.db'
a = sqlite3.connect(file)
a.execute('create table t (x)')
def hold():
    b = sqlite3.connect(file)
    b.execute('begin immediate')
    time.sleep(20)
started(hold, lambda: (time.sleep(0.5), sqlite3.connect(file, timeout=60).execute('begin immediate')))""",
    "terminal": """
import pty
a, b = pty.openpty()
if os.fork() == 0:
    os.read(b, 1)
    os._exit(0)
ready()
time.sleep(20)
os.write(a, b'1\\n')
os.wait()""",
    "sched": """
import sched
s = sched.scheduler()
s.enter(20, 1, print)
ready()
s.run()""",
    "rpc": """
import xmlrpc.server
ready()
xmlrpc.server.SimpleXMLRPCServer(('127.0.0.1', 0)).serve_forever()""",
    "logs": """
import logging.handlers
q = queue.Queue()
logging.handlers.QueueListener(q).start()
ready()
time.sleep(20)""",
}
JAVA = """
import java.util.concurrent.*;
public class Waits {
	public static void main(String[] how) throws Exception {
		System.out.println("ready");
		if (how[0].equals("sleeps"))
			Thread.sleep(20000);
		if (how[0].equals("accepts"))
			new java.net.ServerSocket(0).accept();
		ExecutorService pool = Executors.newFixedThreadPool(3);
		pool.submit(() -> 1).get();
		pool.awaitTermination(20, TimeUnit.SECONDS);
	}
}
"""
# a rank that comes late
COMES = """
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank)
		write(1, "ready\\n", 6);
	if (rank == 1)
		sleep(20);
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
"""
SHELL_WAITS = {
    "shell": "echo ready; sleep 20 & sleep 21 & wait",
    "pipeline": "echo ready; sleep 20 | cat | cat",
    "read": "echo ready; exec 3<>fifo.$$; read x <&3",
    "locked": "echo ready; flock l.$$ sleep 20 & sleep 0.2; flock l.$$ true",
    "xargs": "echo ready; printf '20\\n21\\n' | xargs -P 2 -n 1 sleep",
    "make": "echo ready; printf 'all: a b\\na b:\\n\\tsleep 20\\n' | make -sj2 -f - all",
    "follow": "echo ready; tail -f /dev/null",
    "timeout": "echo ready; timeout 30 sh -c 'sleep 20; true'",
    "python": "echo ready; sleep 20 | python3 -iq",
    "terminal": "echo ready; sleep 20 | script -qc 'python3 -q' /dev/null",
    "session": "echo ready; sleep 20 | sh -i",
    "restarts": "echo ready; while :; do sh -c 'sleep 9'; done",
    "trap": "trap : USR1; echo ready; sleep 20 & wait $!; wait",
    "substitution": "echo ready; x=$(sleep 20; echo 1)",
    "node": "echo ready; exec node -e 'setTimeout(() => 0, 20000)'",
    "node_server": "echo ready; exec node -e 'require(`http`).createServer().listen(0)'",
    "ruby": "echo ready; exec ruby -e 'q = Queue.new; Thread.new { sleep 20; q << 1 }; q.pop'",
    "perl": "echo ready; exec perl -e 'if (!fork) { sleep 20; exit } wait'",
    "redis": "echo ready; exec redis-server --port 0 --unixsocket $PWD/redis.$$ --save '' >/dev/null",
}


def kinds():
    ret = {}
    for name, source in WAITS.items():
        path = log_deadlocks.written(f"waits_{name}.py", log_deadlocks.PYTHON_HEAD + source)
        ret[name] = programs.Kind([sys.executable, path], (), (), False)
    if shutil.which("gcc"):
        log_deadlocks.written("all.h", log_deadlocks_in_c.HEAD)
        for name, source in log_waits_in_c.PROGRAMS.items():
            ret[name] = log_deadlocks.compiled("gcc", f"{name}.c", "all.h", source, "")._replace(words=())
    for name, source in SHELL_WAITS.items():
        if all(shutil.which(word) for word in ("node", "ruby", "perl", "redis-server") if f"exec {word} " in source):
            ret["sh_" + name] = programs.Kind(["sh", "-c", source], (), (), False)
    if shutil.which("javac"):
        path = log_deadlocks.written("Waits.java", JAVA)
        subprocess.run(["javac", "-d", os.path.dirname(path), path], check=True)
        for name in ("sleeps", "accepts", "idle"):
            ret["java_" + name] = programs.Kind(["java", "-cp", os.path.dirname(path), "Waits", name], (), (), False)
    for flavour in ("mpich", "openmpi"):
        if shutil.which("mpicc." + flavour):
            launcher = ["mpirun." + flavour, "-n", "3"]
            if flavour == "openmpi":
                launcher += ["--oversubscribe", "--allow-run-as-root"]
            path = os.path.abspath("comes." + flavour)
            subprocess.run(["mpicc." + flavour, "-g", "-w", "-o", path, programs.write("comes.c", COMES)], check=True)
            ret["comes_" + flavour] = programs.Kind([*launcher, path], (), (), False)
    return ret
