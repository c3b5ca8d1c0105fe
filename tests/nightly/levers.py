#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""levers.py [NAME]...: levers with locks, pools, sockets and several threads: whether the first finding names the
function to change, and its interval has what the repair saves.

Each program is slow, or repaired with the argument `fixed`; names after it are the functions that a person may change.
The slow one is recorded; both run three times in turn without pillion, and what is saved is the difference of the
shortest times. With 5 % and 50 ms to each side it must be in the interval. Prints TAP."""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PILLION = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "pillion")
ENVIRONMENT = ("cpu_starved", "cpu_oversubscribed", "import_time")
HEAD = """
import concurrent.futures as futures, copy, json, multiprocessing, queue, re, socket, subprocess, sys, threading, time
fixed = sys.argv[1:] == ['fixed']
def threads(count, *what):
    all_of_them = [threading.Thread(target=what[0], args=what[1:]) for i in range(count)]
    [t.start() for t in all_of_them]
    [t.join() for t in all_of_them]
def server(handle):
    s = socket.create_server(('127.0.0.1', 0))
    def accept():
        while True:
            threading.Thread(target=handle, args=(s.accept()[0],), daemon=True).start()
    multiprocessing.get_context('fork').Process(target=accept, daemon=True).start()
    return s.getsockname()
"""
PROGRAMS = {
    "lock around a wait": ("save", """
lock = threading.Lock()
def save():
    for i in range(10):
        if fixed:
            time.sleep(0.03)
            with lock: pass
        else:
            with lock: time.sleep(0.03)
threads(4, save)"""),
    "semaphore of one": ("fetch main", """
limit = threading.Semaphore(4 if fixed else 1)
def fetch():
    for i in range(8):
        with limit: time.sleep(0.03)
threads(4, fetch)"""),
    "pool of one": ("fetch main", """
def fetch(i):
    time.sleep(0.05)
def main():
    with futures.ThreadPoolExecutor(8 if fixed else 1) as pool: list(pool.map(fetch, range(24)))
main()"""),
    "result in the loop": ("main fetch", """
def fetch(i):
    time.sleep(0.05)
def main():
    with futures.ThreadPoolExecutor(8) as pool:
        if fixed: [f.result() for f in [pool.submit(fetch, i) for i in range(24)]]
        else: [pool.submit(fetch, i).result() for i in range(24)]
main()"""),
    "join after start": ("main fetch", """
def fetch():
    time.sleep(0.1)
def main():
    if fixed: return threads(10, fetch)
    for i in range(10):
        t = threading.Thread(target=fetch); t.start(); t.join()
main()"""),
    "polled queue": ("take", """
q = queue.Queue()
def give():
    for i in range(6): time.sleep(0.02); q.put(i); time.sleep(0.1)
def take():
    for i in range(6):
        while not fixed and q.empty(): time.sleep(0.25)
        q.get()
t = threading.Thread(target=give); t.start(); take(); t.join()"""),
    "condition without notify": ("take put", """
ready, items = threading.Condition(), []
def put(i):
    with ready:
        items.append(i)
        if fixed: ready.notify()
def take():
    with ready:
        while not items: ready.wait(0.1)
        items.pop()
for i in range(12):
    threading.Timer(0.01, put, [i]).start(); take()"""),
    "connection for each request": ("ask", """
def handle(c):
    time.sleep(0.04)
    while c.recv(1): c.sendall(b'y')
at = server(handle)
def ask(kept=[]):
    c = kept[0] if kept else socket.create_connection(at)
    if fixed and not kept: kept.append(c)
    c.sendall(b'x'); c.recv(1)
    return c
for i in range(25): ask()"""),
    "one request at a time": ("main ask", """
def handle(c):
    c.recv(1); time.sleep(0.05); c.sendall(b'y')
at = server(handle)
def ask(i=0):
    c = socket.create_connection(at); c.sendall(b'x'); c.recv(1)
def main():
    if fixed: threads(20, ask)
    else: [ask() for i in range(20)]
main()"""),
    "bytes of a socket": ("receive handle", """
def handle(c):
    c.sendall(bytes(700000)); c.close()
at = server(handle)
def receive():
    c = socket.create_connection(at); n = 0
    while True:
        data = c.recv(65536 if fixed else 1)
        n += len(data)
        if not data: return n
receive()"""),
    "awaited thread copies": ("work", """
state = [[i, str(i)] for i in range(400)]
def work():
    mine = copy.deepcopy(state)
    for i in range(1000): mine = state if fixed else copy.deepcopy(state)
t = threading.Thread(target=work); t.start(); t.join()"""),
    "worker parses again": ("setting work", """
text = json.dumps({str(i): list(range(50)) for i in range(400)})
parsed = json.loads(text)
def setting(i):
    return (parsed if fixed else json.loads(text))[str(i % 400)]
def work(part):
    return sum(len(setting(i)) for i in range(1500))
if __name__ == '__main__':
    with multiprocessing.Pool(2) as p: p.map(work, range(2), 1)"""),
    "one result of a pool at a time": ("convert main", """
def convert(i):
    time.sleep(0.06)
def main():
    with multiprocessing.Pool(6) as p:
        if fixed: p.map(convert, range(24), 1)
        else: [p.apply(convert, (i,)) for i in range(24)]
if __name__ == '__main__': main()"""),
    "many threads, one at a time": ("call main", """
gate = threading.Semaphore(8 if fixed else 1)
def call():
    with gate: time.sleep(0.04)
def main():
    threads(40, call)
main()"""),
    "client of its own server": ("main ask", """
import asyncio
async def handle(r, w):
    while await r.read(1): await asyncio.sleep(0.03); w.write(b'y')
    w.close()
async def ask(at):
    r, w = await asyncio.open_connection(*at)
    w.write(b'x'); await r.read(1); w.close()
async def serve():
    s = await asyncio.start_server(handle, '127.0.0.1', 0)
    at = s.sockets[0].getsockname()
    if fixed: await asyncio.gather(*(ask(at) for i in range(40)))
    else: [await ask(at) for i in range(40)]
    s.close(); await asyncio.sleep(0.05)
def main(): asyncio.run(serve())
main()"""),
    "worker for each task": ("set_up main", """
def set_up():
    import decimal, email.mime.text, http.client, unittest.mock, xml.dom.minidom
    sum(i * i for i in range(2000000))
def main():
    if fixed:
        with multiprocessing.get_context('spawn').Pool(1, set_up) as p: p.map(abs, range(5), 1)
    else:
        with multiprocessing.get_context('spawn').Pool(1, set_up, (), 1) as p: p.map(abs, range(5), 1)
if __name__ == '__main__': main()"""),
    "process for each item": ("convert", """
def convert(items):
    subprocess.run(['tr', 'a-z', 'A-Z'], input=items.encode(), stdout=subprocess.PIPE)
items = ['item %d' % i for i in range(250)]
if fixed: convert('\\n'.join(items))
else: [convert(i) for i in items]"""),
}


def seconds(command):
    start = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def measure(path):
    pairs = [(seconds([sys.executable, path]), seconds([sys.executable, path, "fixed"])) for i in range(3)]
    return min(p[0] for p in pairs) - min(p[1] for p in pairs)


def first_finding(path):
    subprocess.run([PILLION, "-f", "true", "-o", "run", sys.executable, path], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    answer = subprocess.run([PILLION, "analyze", "--json", "run.pillion"], stdout=subprocess.PIPE, check=True).stdout
    rows = [row for row in json.loads(answer)["rows"] if row.get("table") == "findings" and
            row["Verdict"] == "found" and row["Rule"] not in ENVIRONMENT]
    return rows[0] if rows else None


def function_at(text, line):
    """The function of the program that a line is in."""
    for before in reversed(text.split("\n")[:line]):
        if before.lstrip().startswith("def "):
            return before.split("def ")[1].split("(")[0]
    return ""


def judge(wanted, text, row, saved):
    if not row:
        return "nothing was found"
    names = {frame["Function"] for frame in row["Frames"] or []}
    for place in (row["Line"], row["Called From"]):
        path, _, line = str(place).rpartition(":")
        if path.endswith("lever.py"):
            names.add(function_at(text, int(line)))
    if not names & set(wanted.split()):
        return "names %s: %s" % (sorted(names), row["Text"])
    low, high = (row[column] / 1e9 for column in ("Saves Low (ns)", "Saves High (ns)"))
    if not low * 0.95 - 0.05 <= saved <= high * 1.05 + 0.05:
        return "saves %.2f s, said were %.2f to %.2f: %s" % (saved, low, high, row["Text"])
    return ""


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        names = sys.argv[1:] or list(PROGRAMS)
        for number, name in enumerate(names, 1):
            wanted, program = PROGRAMS[name]
            with open("lever.py", "w", encoding="utf-8") as file:
                file.write(HEAD + program)
            path = os.path.join(directory, "lever.py")
            why = judge(wanted, HEAD + program, first_finding(path), measure(path))
            failed += bool(why)
            print("%sok %d - %s%s" % ("not " if why else "", number, name, why and "\n# " + why), flush=True)
    print("1..%d" % len(names))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
