# SPDX-License-Identifier: Apache-2.0
"""More programs of causes.py: pools, locks of processes, servers, pipes, loaders, collectives, repeated computing."""

SERVER = """
import http.server, http.client, socketserver
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if DELAY:
            time.sleep(DELAY)  # FIX
        self.send_response(200)
        self.send_header('Content-Length', '1')
        self.end_headers()
        self.wfile.write(b'x')
    def log_message(self, *args):
        pass
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads, request_queue_size = True, 64
r, w = os.pipe()
child = os.fork()
if child == 0:
    server = Server(('127.0.0.1', 0), Handler)
    os.write(w, b'%d ' % server.server_address[1])
    server.serve_forever()
port = int(os.read(r, 10))
def get():
    connection = http.client.HTTPConnection('127.0.0.1', port)
    connection.request('GET', '/')
    connection.getresponse().read()
    connection.close()
"""
BURN = """
def burn(n):
    x = 1
    for i in range(n):
        x = x * 3 % 1000003
    return x
"""

# name: kind, program, edit with {line} and {file}
MORE = {
    "pool_one_slow": ("pool", """
import multiprocessing
def work(i):
    time.sleep(0.1 if fixed or i else 0.9)  # FIX
if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(2) as pool:
        pool.map(work, range(4), 1)
""", None),
    "pool_imap": ("pool", """
import multiprocessing
def work(i):
    if not fixed:
        time.sleep(0.06)  # FIX
    return i
if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(2) as pool:
        for i in pool.imap(work, range(24)):
            time.sleep(0.005)
""", "line~{line}=0"),
    "executor_threads": ("pool", """
import concurrent.futures
def work(i):
    if not fixed:
        time.sleep(0.08)  # FIX
    time.sleep(0.02)
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    list(pool.map(work, range(24)))
""", "line~{line}=0"),
    "executor_processes": ("pool", """
import concurrent.futures, multiprocessing
def work(i):
    if not fixed:
        time.sleep(0.08)  # FIX
    time.sleep(0.02)
if __name__ == '__main__':
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context('fork')) as pool:
        list(pool.map(work, range(16)))
""", "line~{line}=0"),
    "process_lock": ("lock", """
import multiprocessing
lock = multiprocessing.Lock()
def work():
    for i in range(5):
        with lock:
            if not fixed:
                time.sleep(0.06)  # FIX
            time.sleep(0.01)
if __name__ == '__main__':
    all = [multiprocessing.get_context('fork').Process(target=work) for i in range(3)]
    for p in all:
        p.start()
    for p in all:
        p.join()
""", "line~{line}=0"),
    "process_semaphore": ("lock", """
import multiprocessing
room = multiprocessing.BoundedSemaphore(2)
def work():
    for i in range(4):
        with room:
            if not fixed:
                time.sleep(0.07)  # FIX
            time.sleep(0.01)
if __name__ == '__main__':
    all = [multiprocessing.get_context('fork').Process(target=work) for i in range(4)]
    for p in all:
        p.start()
    for p in all:
        p.join()
""", "line~{line}=0"),
    "thread_semaphore": ("lock", """
room = threading.Semaphore(2)
def work():
    for i in range(5):
        with room:
            if not fixed:
                time.sleep(0.06)  # FIX
            time.sleep(0.01)
threads = [threading.Thread(target=work) for i in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
""", "line~{line}=0"),
    "two_locks": ("lock", """
a, b = threading.Lock(), threading.Lock()
def work():
    for i in range(6):
        with a:
            if not fixed:
                time.sleep(0.04)  # FIX
            time.sleep(0.01)
        with b:
            time.sleep(0.01)
threads = [threading.Thread(target=work) for i in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
""", "line~{line}=0"),
    "joinable_queue": ("queue", """
import multiprocessing
def consume(q):
    while True:
        q.get()
        if not fixed:
            time.sleep(0.06)  # FIX
        q.task_done()
if __name__ == '__main__':
    q = multiprocessing.JoinableQueue()
    p = multiprocessing.get_context('fork').Process(target=consume, args=(q,), daemon=True)
    p.start()
    for i in range(12):
        q.put(i)
    q.join()
""", "line~{line}=0"),
    "prefetch": ("loader", """
import queue
q = queue.Queue(1)
def load():
    for i in range(10):
        if not fixed:
            time.sleep(0.08)  # FIX
        q.put(i)
threading.Thread(target=load).start()
for i in range(10):
    q.get()
    time.sleep(0.03)
""", "line~{line}=0"),
    "condition": ("queue", """
ready, items = threading.Condition(), []
def produce():
    for i in range(8):
        if not fixed:
            time.sleep(0.09)  # FIX
        with ready:
            items.append(i)
            ready.notify()
threading.Thread(target=produce).start()
for i in range(8):
    with ready:
        ready.wait_for(lambda: items)
        items.pop()
    time.sleep(0.01)
""", "line~{line}=0"),
    "event": ("queue", """
go = threading.Event()
def prepare():
    if not fixed:
        time.sleep(0.7)  # FIX
    go.set()
    time.sleep(0.05)
threading.Thread(target=prepare).start()
go.wait()
time.sleep(0.2)
""", "line~{line}=0"),
    "barrier_threads": ("collective", """
barrier = threading.Barrier(3)
def work(rank):
    for i in range(8):
        time.sleep(0.02)
        if rank == 1 and not fixed:
            time.sleep(0.08)  # FIX
        barrier.wait()
threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
""", "line~{line}=0"),
    "barrier_processes": ("collective", """
import multiprocessing
barrier = multiprocessing.Barrier(3)
def work(rank):
    for i in range(8):
        time.sleep(0.02)
        if rank == 1 and not fixed:
            time.sleep(0.08)  # FIX
        barrier.wait()
if __name__ == '__main__':
    all = [multiprocessing.get_context('fork').Process(target=work, args=(i,)) for i in range(3)]
    for p in all:
        p.start()
    for p in all:
        p.join()
""", "line~{line}=0"),
    "http_slow": ("HTTP", "DELAY = 0 if fixed else 0.06\n" + SERVER + """
for i in range(12):
    get()
    time.sleep(0.01)
os.kill(child, 9)
""", "line~{line}=0"),
    "http_serial": ("HTTP", "DELAY = 0.06\n" + SERVER.replace("  # FIX", "  # FIRST") + """
if fixed:
    threads = [threading.Thread(target=get) for i in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
else:
    for i in range(12):
        get()  # FIX
os.kill(child, 9)
""", None),
    "pipe_program": ("pipe", """
child = subprocess.Popen([sys.executable, '-c', '''import time
for i in range(8):
    time.sleep(%s)
    print(i, flush=True)''' % (0 if fixed else 0.1)], stdout=subprocess.PIPE)
for line in child.stdout:  # FIX
    time.sleep(0.01)
child.wait()
""", "call~clock_nanosleep=0"),
    "rows_committed": ("database", """
import sqlite3
if os.path.exists('rows.db'):
    os.remove('rows.db')
db = sqlite3.connect('rows.db')
db.execute('create table t (a)')
for i in range(300):
    db.execute('insert into t values (?)', (i,))
    if not fixed:
        db.commit()  # FIX
db.commit()
""", "line~{line}=0"),
    "flushed_lines": ("I/O", """
with open('log', 'w') as file:
    for i in range(1000):
        file.write('line %d' % i)
        file.flush()
        if not fixed:
            os.fdatasync(file.fileno())  # FIX
time.sleep(0.1)
""", "line~{line}=0"),
    "config_again": ("repeated", BURN + """
import json
with open('c.json', 'w') as file:
    json.dump({str(i): [i] * 10 for i in range(20000)}, file)
def config():
    with open('c.json') as file:
        return json.load(file)  # FIX
known = config()
for i in range(20):
    c = known if fixed else config()
    burn(20000)
""", "line~{line}=0"),
    "sorted_again": ("repeated", BURN + """
import random
random.seed(1)
data = [random.random() for i in range(300000)]
known = sorted(data)
for i in range(6):
    s = known if fixed else sorted(data)  # FIX
    burn(100000)
""", "line~{line}=0"),
    "copied_again": ("repeated", BURN + """
import copy
data = {i: [i] * 5 for i in range(15000)}
for i in range(8):
    c = data if fixed else copy.deepcopy(data)  # FIX
    burn(100000)
""", "line~{line}=0"),
    "processes_started": ("process", """
for i in range(60 if not fixed else 1):
    subprocess.run(['/bin/sleep', '0.01'])  # FIX
time.sleep(0.2)
""", None),
    "imports_anew": ("import", """
with open('slow_module.py', 'w') as file:
    file.write('import time\\ntime.sleep(%s)\\n' % (0 if fixed else 0.15))
for i in range(6):
    subprocess.run([sys.executable, '-c', 'import slow_module'])  # FIX
""", "line~slow_module.py:2=0"),
    "heartbeat": ("helper", """
def beat():
    while True:
        time.sleep(0.1)
threading.Thread(target=beat, daemon=True).start()
for i in range(8):
    if not fixed:
        time.sleep(0.1)  # FIX
    time.sleep(0.02)
""", "line~{line}=0"),
    "server_beside": ("helper", """
child = os.fork()
if child == 0:
    while True:
        time.sleep(0.1)
for i in range(8):
    if not fixed:
        time.sleep(0.1)  # FIX
    time.sleep(0.02)
os.kill(child, 15)
os.wait()
""", "line~{line}=0"),
    "left_behind": ("helper", """
if os.fork() == 0:
    os.setsid()
    for i in range(20):
        time.sleep(0.1)
    os._exit(0)
for i in range(8):
    if not fixed:
        time.sleep(0.1)  # FIX
    time.sleep(0.02)
""", "line~{line}=0"),
    "polled_file": ("poll", """
if os.path.exists('done'):
    os.remove('done')
if os.fork() == 0:
    if not fixed:
        time.sleep(0.7)  # FIX
    open('done', 'w').close()
    os._exit(0)
while not os.path.exists('done'):
    time.sleep(0.02)
time.sleep(0.1)
""", "line~{line}=0"),
    "coroutines_block": ("asyncio", """
import asyncio
async def ask(i):
    if fixed:
        await asyncio.sleep(0.1)
    else:
        time.sleep(0.1)  # FIX
async def main():
    await asyncio.gather(*[ask(i) for i in range(8)])
asyncio.run(main())
""", None),
    "retries": ("sleep", """
def attempt(i):
    return i % 3 == 2
for i in range(15):
    if not attempt(i) and not fixed:
        time.sleep(0.06)  # FIX
    time.sleep(0.01)
""", "line~{line}=0"),
    "packed": ("process", """
with open('data', 'w') as file:
    for i in range(300000):
        file.write('%d %d ' % (i * 7919 % 1000003, i))
subprocess.run(['gzip', '-1' if fixed else '-9', '-kf', 'data'])  # FIX
""", None),
    "daemon_thread": ("helper", """
def clean():
    while True:
        time.sleep(0.3)
threading.Thread(target=clean, daemon=True).start()
def work():
    for i in range(6):
        if not fixed:
            time.sleep(0.1)  # FIX
        time.sleep(0.02)
t = threading.Thread(target=work)
t.start()
t.join()
""", "line~{line}=0"),
}
