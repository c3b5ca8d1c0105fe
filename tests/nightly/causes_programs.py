# SPDX-License-Identifier: Apache-2.0
"""The programs of causes.py: those with something to fix, each slow and fixed, and those without."""
import os

from causes_more import MORE

# The line that ends in the comment FIX is that of the fix, FIRST that of what saves most, if another. `fixed` is
# whether the program was repaired.
HEAD = "import os, sys, time, threading, subprocess, tempfile\nfixed = sys.argv[1] == 'fixed'\n"
SPIN = """
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:  # FIX
        pass
"""

# name: kind, program, edit with {line}
PROGRAMS = {
    "sleep": ("sleep", """
for i in range(10):
    if not fixed:
        time.sleep(0.05)  # FIX
    time.sleep(0.02)
""", "line~{line}=0"),
    "sleep_other_thread": ("sleep", """
def work():
    if not fixed:
        time.sleep(0.6)  # FIX
    time.sleep(0.1)
t = threading.Thread(target=work)
t.start()
time.sleep(0.3)
t.join()
""", "line~{line}=0"),
    "sleep_slack": ("sleep", """
def work():
    if not fixed:
        time.sleep(0.3)  # FIX
t = threading.Thread(target=work)
t.start()
time.sleep(0.6)  # FIRST
t.join()
""", "line~{line}=0"),
    "cpu_line": ("CPU", SPIN + """
for i in range(10):
    if not fixed:
        spin(0.06)  # FIX
    time.sleep(0.02)
""", "line~{file}:6=0"),
    "serial_children": ("serial", """
def start():
    return subprocess.Popen(['sleep', '0.3'])
children = []
for i in range(4):
    children.append(start())
    if not fixed:
        children[-1].wait()  # FIX
for child in children:
    child.wait()
""", "no-sync~{line}"),
    "child_slow": ("process", """
subprocess.run(['sleep', '0.05' if fixed else '0.55'])  # FIX
""", "call~clock_nanosleep|nanosleep=0"),
    "pipe_child": ("pipe", """
r, w = os.pipe()
if os.fork() == 0:
    for i in range(5):
        if not fixed:
            time.sleep(0.1)  # FIX
        os.write(w, b'x')
    os._exit(0)
for i in range(5):
    os.read(r, 1)
    time.sleep(0.02)
os.wait()
""", "line~{line}=0"),
    "queue_threads": ("queue", """
import queue
q = queue.Queue()
def produce():
    for i in range(5):
        if not fixed:
            time.sleep(0.1)  # FIX
        q.put(i)
threading.Thread(target=produce).start()
for i in range(5):
    q.get()
    time.sleep(0.02)
""", "line~{line}=0"),
    "lock_held": ("lock", """
lock = threading.Lock()
def work():
    for i in range(5):
        with lock:
            if not fixed:
                time.sleep(0.05)  # FIX
            time.sleep(0.01)
threads = [threading.Thread(target=work) for i in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
""", "line~{line}=0"),
    "multiprocessing_queue": ("process", """
import multiprocessing
def produce(q):
    for i in range(5):
        if not fixed:
            time.sleep(0.1)  # FIX
        q.put(i)
if __name__ == '__main__':
    q = multiprocessing.Queue()
    p = multiprocessing.Process(target=produce, args=(q,))
    p.start()
    for i in range(5):
        q.get()
    p.join()
""", "line~{line}=0"),
    "unequal_workers": ("imbalance", """
pids = []
for i in range(4):
    pid = os.fork()
    if pid == 0:
        time.sleep(0.25 if fixed else 0.7 if i == 3 else 0.1)  # FIX
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
""", None),
    "socket_server": ("socket", """
import socket
a, b = socket.socketpair()
if os.fork() == 0:
    for i in range(5):
        b.recv(1)
        if not fixed:
            time.sleep(0.1)  # FIX
        b.send(b'x')
    os._exit(0)
for i in range(5):
    a.send(b'x')
    a.recv(1)
os.wait()
""", "line~{line}=0"),
    "import_slow": ("import", """
with open('slow_module.py', 'w') as file:
    file.write('import time\\ntime.sleep(%s)\\n' % (0.02 if fixed else 0.52))
sys.path.insert(0, '.')
import slow_module  # FIX
""", "line~slow_module.py:2=0"),
    "fsync": ("I/O", """
fd = os.open('out', os.O_CREAT | os.O_WRONLY)
for i in range(3000):
    os.write(fd, b'x' * 4096)
    if not fixed:
        os.fsync(fd)  # FIX
time.sleep(0.1)
""", "line~{line}=0"),
    "small_writes": ("small writes", """
fd = os.open('/dev/null', os.O_WRONLY)
if fixed:
    os.write(fd, b'x' * 1600000)
else:
    for i in range(1600000):
        os.write(fd, b'x')  # FIX
time.sleep(0.1)
""", "line~{line}=0"),
    "import_computes": ("import", """
with open('tables.py', 'w') as file:
    file.write('table = [i * i %% 7 for i in range(%d)]\\n' % (1000 if fixed else 9000000))
sys.path.insert(0, '.')
import tables  # FIX
""", "line~tables.py:1=0"),
    "small_reads": ("small reads", """
fd = os.open('/dev/zero', os.O_RDONLY)
if fixed:
    os.read(fd, 1200000)
else:
    for i in range(1200000):
        os.read(fd, 1)  # FIX
time.sleep(0.1)
""", "line~{line}=0"),
    "opens": ("I/O", """
for i in range(200000):
    if not fixed or not i:
        os.close(os.open('/dev/null', os.O_WRONLY))  # FIX
time.sleep(0.1)
""", "line~{line}=0"),
    "serial_threads": ("serial", """
def work():
    time.sleep(0.2)  # FIRST
for i in range(4):
    threads = [threading.Thread(target=work) for k in range(4 if fixed else 1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()  # FIX
    if fixed:
        break
""", "no-sync~{line}"),
    "unequal_computing": ("imbalance", SPIN + """
pids = []
for i in range(2):
    pid = os.fork()
    if pid == 0:
        spin(0.5 if fixed else (0.1, 0.9)[i])  # FIX
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
""", None),
}
# of tests/targets: program, form, marks of the fix and of what saves most (several where they save the same), edit
TARGETS = [
    ("causes", "join", "slow worker", None, "line~{line}=0"),
    ("causes", "pipe", "slow message", None, "line~{line}=0"),
    ("causes", "serial", "one after another", "child", "no-sync~{line}"),
    ("causes", "slack", "slow worker", "longest", "line~{line}=0"),
    ("causes", "socket", "slow answer", None, "line~{line}=0"),
    ("causes", "queue", "slow producer", None, "line~{line}=0"),
    ("cuda_causes", "kernel", "slow kernel", None, "kernel~slow=0.5x"),
    ("cuda_causes", "item", "item", "item|prepare", "no-sync~{line}"),
    ("cuda_causes", "busy", "hidden", "busy kernel", "line~{line}=0"),
    ("cuda_causes", "loss", "loss", None, "no-sync~{line}"),
    ("cuda_causes", "fetch", "fetch", None, "line~{line}=0"),
    ("cuda_causes", "streams", "longer kernel", None, "kernel~slow=0.5x"),
    ("cuda_causes", "event", "event", None, "no-sync~{line}"),
    ("cuda_causes", "free", "free", None, "no-sync~{line}"),
    ("cuda_causes", "result", "result", None, "no-sync~{line}"),
    ("cuda_causes", "log", "log", None, "line~{line}=0"),
    ("mpi_causes", "straggler", "straggler", None, "line~{line}=0"),
    ("mpi_causes", "late", "late", None, "line~{line}=0"),
    ("mpi_causes", "slack", "slack", "critical rank", "line~{line}=0"),
    ("mpi_causes", "input", "input", None, "line~{line}=0"),
    ("mpi_causes", "pingpong", "answer", None, "line~{line}=0"),
    ("mpi_causes", "tail", "tail", None, "line~{line}=0"),
]

# PyTorch on the CPU. A model that is small beside what is planted.
TORCH = """
import torch
torch.set_num_threads(1)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def step(batch):
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    return loss
"""
TORCH_PROGRAMS = {
    "torch_dataset": ("PyTorch", TORCH + """
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 100
    def __getitem__(self, i):
        if not fixed:
            time.sleep(0.02)  # FIX
        return torch.zeros(64)
for batch in torch.utils.data.DataLoader(Data(), batch_size=10):
    step(batch)
""", "line~{line}=0"),
    "torch_workers": ("PyTorch", TORCH + """
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 100
    def __getitem__(self, i):
        if not fixed:
            time.sleep(0.02)  # FIX
        return torch.zeros(64)
for batch in torch.utils.data.DataLoader(Data(), batch_size=10, num_workers=1):
    step(batch)
""", "line~{line}=0"),
    "torch_matrix": ("PyTorch", TORCH + """
weights = torch.randn(1200, 1200)
for i in range(40):
    if not fixed:
        torch.mm(weights, weights)  # FIX
    step(torch.zeros(10, 64))
""", "line~{line}=0"),
    "torch_checkpoint": ("PyTorch", TORCH + """
for i in range(40):
    step(torch.zeros(10, 64))
    with open('checkpoint', 'wb') as file:
        if not fixed:
            torch.save(torch.randn(2000, 2000), file)  # FIX
""", "line~{line}=0"),
}
PROGRAMS.update(TORCH_PROGRAMS)
PROGRAMS.update(MORE)

# ---- without anything to fix ----

# ended by SIGTERM
SERVE = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
"""
NUMPY = "import numpy\na = numpy.random.default_rng(1).random((%s))\n"
# name: program, its command or None: Python runs it
CLEAN = {
    "numpy_product": NUMPY % "1500, 1500" + "for i in range(12):\n    b = a @ a\n",
    "numpy_sort": NUMPY % "6000000" + "for i in range(4):\n    b = numpy.sort(a)\n",
    "numpy_fft": NUMPY % "2000000" + "for i in range(12):\n    b = numpy.fft.fft(a)\n",
    "numpy_solve": NUMPY % "1200, 1200" + "for i in range(20):\n    b = numpy.linalg.solve(a, a)\n",
    "numpy_elements": NUMPY % "4000000" + "for i in range(40):\n    b = numpy.sqrt(a * a + a)\n",
    "server_http": SERVE + "import http.server\n"
        "http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler).serve_forever()\n",
    "server_threads": SERVE + "import socketserver\n"
        "socketserver.ThreadingTCPServer(('127.0.0.1', 0), socketserver.StreamRequestHandler).serve_forever()\n",
    "server_asyncio": SERVE + "import asyncio\nasync def serve():\n"
        "    server = await asyncio.start_server(lambda r, w: None, '127.0.0.1', 0)\n"
        "    await server.serve_forever()\nasyncio.run(serve())\n",
    "server_accept": SERVE + "import socket\ns = socket.create_server(('127.0.0.1', 0))\nwhile True:\n"
        "    s.accept()[0].close()\n",
    "server_pool": SERVE + "import multiprocessing\n"
        "with multiprocessing.Pool(2, signal.signal, (signal.SIGTERM, signal.SIG_DFL)) as pool:\n    signal.pause()\n",
    "python_computes": "n = 0\nfor i in range(15000000):\n    n += i * i % 7\n",
    "gcc": None, "gxx": None, "make": None, "xz": None, "sort": None, "compileall": None, "sqlite": None,
    "gpu_busy": None, "gpu_kernel": None,
}
COMMANDS = {
    "gcc": ["gcc", "-O3", "-c", "large.c", "-o", "large.o"],
    "gxx": ["g++", "-O2", "-c", "large.cpp", "-o", "large.o"],
    "make": ["make", "-s", "-f", "large.mk"],
    "xz": ["xz", "-9", "-T1", "-k", "-f", "large.txt"],
    "sort": ["sort", "-o", "sorted.txt", "large.txt"],
    "compileall": ["{python}", "-m", "compileall", "-q", "-f", "copies"],
    "sqlite": ["{python}", "-c", "import sqlite3\nc = sqlite3.connect(':memory:')\n"
        "c.execute('create table t (a, b)')\n"
        "c.executemany('insert into t values (?, ?)', ((i, i % 7) for i in range(900000)))\n"
        "c.execute('select b, sum(a) from t group by b').fetchall()\n"],
    "gpu_busy": ["{targets}/cuda_causes", "busy", "fixed"],
    "gpu_kernel": ["{targets}/cuda_causes", "streams", "slow"],
}


def make_files(directory):
    """What the clean programs read."""
    def write(name, text):
        os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)

    def c_text(count):
        return "".join("int f%d(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * %d + (a[i] >> %d); "
            "return s; }\n" % (i, i, i % 7) for i in range(count))
    write("large.c", c_text(1500))
    write("large.cpp", "#include <map>\n#include <regex>\n#include <string>\n" + "".join(
        "std::map<std::string, int> m%d; int g%d(std::string s) { return m%d[s] + "
        "std::regex_match(s, std::regex(s)); }\n" % (i, i, i) for i in range(4)))
    write("large.mk", "all: p0.o p1.o p2.o\n%.o: %.c\n\tgcc -O2 -c $< -o $@\n")
    for i in range(3):
        write("p%d.c" % i, c_text(400))
    write("large.txt", "".join("%d %d\n" % (i * 7919 % 1000003, i) for i in range(700000)))
    for i in range(60):
        write("copies/m%d.py" % i, "".join("def f%d(a):\n    return [a, %d, {'x': a}]\n" % (k, k) for k in range(500)))
