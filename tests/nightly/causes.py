#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""causes.py [--runs=N] [FIX]...: whether `pillion whatif` predicts what fixes save that are made in reality.

Each fix is a program in two forms, slow and fixed. The slow one is recorded, and the edit that stands for the fix is
replayed: predicted. Both forms also run without pillion, N times in turn (default 3): real is the difference of their
shortest times. Printed are both, the interval, whether real is in it, and whether FIX FIRST names the line of the fix.
Prints TAP: a prediction holds if it is wrong by at most 25 % of what is real and 50 ms, or real is in the interval with
50 ms to each side."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PILLION = os.path.join(ROOT, "scripts", "pillion")
BUILD = os.environ.get("PILLION_BUILD_DIR", os.path.join(ROOT, "build"))
PYTHON = os.environ.get("NIGHTLY_PYTHON", sys.executable)
NS_OF_50_MS = 50_000_000

# The line that ends in the comment FIX is that of the fix. `fixed` is whether the program was repaired.
HEAD = "import os, sys, time, threading, subprocess, tempfile\nfixed = sys.argv[1] == 'fixed'\n"
SPIN = """
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
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
time.sleep(0.6)
t.join()
""", "line~{line}=0"),
    "cpu_line": ("CPU", SPIN + """
for i in range(10):
    if not fixed:
        spin(0.06)
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
subprocess.run(['sleep', '0.05' if fixed else '0.55'])
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
import slow_module
""", "line~slow_module.py:2=0"),
    "fsync": ("I/O", """
fd = os.open('out', os.O_CREAT | os.O_WRONLY)
for i in range(200):
    os.write(fd, b'x' * 4096)
    if not fixed:
        os.fsync(fd)  # FIX
time.sleep(0.1)
""", "line~{line}=0"),
    "small_writes": ("small writes", """
fd = os.open('/dev/null', os.O_WRONLY)
if fixed:
    os.write(fd, b'x' * 400000)
else:
    for i in range(400000):
        os.write(fd, b'x')  # FIX
time.sleep(0.1)
""", "line~{line}=0"),
}
# of tests/targets: program, form, edit
TARGETS = [
    ("causes", "join", "slow worker", "line~{line}=0"), ("causes", "pipe", "slow message", "line~{line}=0"),
    ("causes", "serial", "one after another", "no-sync~{line}"), ("causes", "slack", "slow worker", "line~{line}=0"),
    ("causes", "socket", "slow answer", "line~{line}=0"), ("causes", "queue", "slow producer", "line~{line}=0"),
    ("cuda_causes", "kernel", None, "kernel~slow=0.5x"), ("cuda_causes", "item", "item", "no-sync~{line}"),
    ("cuda_causes", "busy", "hidden", "line~{line}=0"),
]


def environment():
    result = {name: value for name, value in os.environ.items() if not name.startswith("PILLION_")}
    result.update(PYTHONDONTWRITEBYTECODE="1", PILLION_BUILD_DIR=BUILD)
    result["LD_LIBRARY_PATH"] = os.path.join(BUILD, "tests/doubles")
    return result


def marked(path, mark):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if mark in line:
                return "%s:%d" % (os.path.basename(path), number)
    return None


def fixes():
    """name, kind, command without its form, edit, place of the fix"""
    for name, (kind, text, edit) in PROGRAMS.items():
        def prepare(directory, name=name, text=text, edit=edit):
            path = os.path.join(directory, name + ".py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + text)
            line = marked(path, "# FIX")
            return [PYTHON, path], edit and edit.format(line=line, file=name + ".py"), line
        yield name, kind, prepare
    for program, form, mark, edit in TARGETS:
        def prepare(_directory, program=program, form=form, mark=mark, edit=edit):
            source = os.path.join(ROOT, "tests/targets", program + ".c")
            line = marked(source, "/* " + mark + " */") if mark else None
            return [os.path.join(BUILD, "tests/targets", program), form], edit.format(line=line), line
        yield program + "_" + form, "GPU" if program.startswith("cuda") else "C", prepare


def wall(command, directory):
    start = time.monotonic()
    subprocess.run(command, cwd=directory, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        check=True)
    return (time.monotonic() - start) * 1e9


def predicted(edit, directory):
    text = subprocess.run([PILLION, "whatif", "--json", "slow.pillion", edit], cwd=directory, env=environment(),
        stdout=subprocess.PIPE, text=True, check=False).stdout
    rows = [row for row in json.loads(text).get("rows", []) if row["table"] == "whatif"]
    return (rows[0]["Saved (ns)"], rows[0]["Low (ns)"], rows[0]["High (ns)"]) if rows else None


def first(directory):
    """Saving, interval and text of FIX FIRST."""
    text = subprocess.run([PILLION, "analyze", "--json", "slow.pillion"], cwd=directory, env=environment(),
        stdout=subprocess.PIPE, text=True, check=False).stdout
    rows = [row for row in json.loads(text).get("rows", []) if row.get("Verdict") == "found"]
    if not rows:
        return None, ""
    row = rows[0]
    return (row["Saves (ns)"], row["Saves Low (ns)"], row["Saves High (ns)"]), "%s %s" % (row["Text"], row["Line"])


def measure(prepare, runs):
    with tempfile.TemporaryDirectory() as directory:
        command, edit, line = prepare(directory)
        times = {"slow": [], "fixed": []}
        for _ in range(runs):
            for form in times:
                times[form].append(wall(command + [form], directory))
        wall([PILLION, "--stats=false", "-o", "slow"] + command + ["slow"], directory)
        saving, text = first(directory)
        if edit:
            saving = predicted(edit, directory)
        place = line.replace(os.sep, "/") if line else ""
        return saving, min(times["slow"]) - min(times["fixed"]), bool(place) and place in text, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("fix", nargs="*")
    options = parser.parse_args()
    chosen = [fix for fix in fixes() if not options.fix or fix[0] in options.fix]
    errors, inside, named, count = [], 0, 0, 0
    print("1..%d" % len(chosen))
    for number, (name, kind, prepare) in enumerate(chosen, 1):
        if name.startswith("cuda") and not os.path.exists(os.path.join(BUILD, "tests/targets/cuda_causes")):
            print("ok %d - %s # SKIP built without CUDA headers" % (number, name))
            continue
        saving, real, is_named, text = measure(prepare, options.runs)
        if not saving:
            print("not ok %d - %s: cannot tell" % (number, name), flush=True)
            continue
        saved, low, high = saving
        is_inside = low - NS_OF_50_MS <= real <= high + NS_OF_50_MS
        error = abs(saved - real) / max(real, 1)
        holds = is_inside or abs(saved - real) <= real / 4 + NS_OF_50_MS
        count += 1
        inside += is_inside
        named += is_named
        if real > 2 * NS_OF_50_MS:
            errors.append(error)
        said = "named first" if is_named else "first: " + re.sub(r"\s+", " ", text)[:110]
        print("%s %d - %s (%s): predicted %.0f ms [%.0f, %.0f], real %.0f ms, %s" % ("ok" if holds else "not ok",
            number, name, kind, saved / 1e6, low / 1e6, high / 1e6, real / 1e6, said), flush=True)
    if errors:
        errors.sort()
        print("# %d fixes: real within the interval %d; median error %.1f %%, worst %.1f %%; named first %d" % (count,
            inside, 100 * errors[len(errors) // 2], 100 * errors[-1], named))


if __name__ == "__main__":
    main()
