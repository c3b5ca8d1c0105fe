#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_account.py STRACE FILES [PREFIX]: compares reads, writes and bytes of each file below PREFIX.

STRACE is the output of `strace -f -y` of one run, FILES the table `files` (csv) of another run of the same program.
Pipes are one file: how often a pipe is read depends on when it is written, so only its bytes are compared. So are the
names of temporary files. Prints a line for each difference, unless the row "(not seen)" has exactly the bytes that are
missing; none: nothing differs."""
import csv
import re
import sys

# By system call: the places of the descriptors that are read and written.
READS = {"read": 0, "pread64": 0, "readv": 0, "preadv": 0, "preadv2": 0}
WRITES = {"write": 0, "pwrite64": 0, "writev": 0, "pwritev": 0, "pwritev2": 0, "vmsplice": 0}
BOTH = {"sendfile": (1, 0), "copy_file_range": (0, 2), "splice": (0, 2), "tee": (0, 1)}
COLUMNS = ("Reads", "Read (bytes)", "Writes", "Written (bytes)")
DESCRIPTOR = re.compile(r"(?<![\w\"])-?\d+<((?:[^<>\\]|\\.|<[^<>]*>)*)>")


def name_of(path):
    path = re.sub(r"/tmp_obj_\w+$", "/tmp_obj_", path)  # of git
    return "pipe" if path.startswith("pipe:") else re.sub(r"/(\.[^/]+\.)\w{6}$", r"/\1", path)  # of rsync


def add(rows, path, column, bytes_moved):
    row = rows.setdefault(name_of(path), [0, 0, 0, 0])
    row[column] += 1
    row[column + 1] += max(bytes_moved, 0)


def lines_of(path):
    """The calls, those of which strace printed begin and end apart in one line."""
    begun = {}
    with open(path, errors="replace") as f:
        for line in f:
            match = re.match(r"(?:\[pid\s+)?(\d+)?\]?\s*(.*)", line.rstrip("\n"))
            pid, text = match[1], match[2]
            if text.endswith("<unfinished ...>"):
                begun[pid] = text[:-len("<unfinished ...>")]
                continue
            resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
            yield begun.pop(pid, "") + resumed[1] if resumed else text


def traced(path):
    rows = {}
    for line in lines_of(path):
        match = re.match(r"(\w+)\((.*)\)\s+= (-?\d+)", line)
        if not match:
            continue
        call, files, result = match[1], DESCRIPTOR.findall(match[2]), int(match[3])
        if call in READS and files:
            add(rows, files[0], 0, result)
        elif call in WRITES and files:
            add(rows, files[0], 2, result)
        elif call in BOTH and len(files) >= 2:
            first_reads = BOTH[call][0] == 0
            add(rows, files[0 if first_reads else 1], 0, result)
            add(rows, files[1 if first_reads else 0], 2, result)
    return rows


def recorded(path):
    rows = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            of = rows.setdefault(name_of(row["Path"]), [0, 0, 0, 0])
            for i, column in enumerate(COLUMNS):
                of[i] += int(row[column] or 0)
    return {k: v for k, v in rows.items() if any(v)}


def main():
    prefix = sys.argv[3] if len(sys.argv) > 3 else ""
    true, ours = traced(sys.argv[1]), recorded(sys.argv[2])
    not_seen = ours.pop("(not seen)", [0] * 4)
    missing, lines = [0, 0], []
    for path in sorted(set(true) | set(ours)):
        if not path.startswith(prefix) and path != "pipe":
            continue
        a, b = true.get(path, [0] * 4), ours.get(path, [0] * 4)
        if path == "pipe":
            a, b = [0, a[1], 0, a[3]], [0, b[1], 0, b[3]]
        missing = [missing[0] + a[1] - b[1], missing[1] + a[3] - b[3]]
        if a != b:
            lines.append("; ".join([path] + [f"{column}: {x} by strace, {y} recorded"
                                             for column, x, y in zip(COLUMNS, a, b) if x != y]))
    if missing != [not_seen[1], not_seen[3]]:
        lines.append(f"not seen: {missing} missing, {not_seen} in the row")
    elif any(missing):
        lines = []
    print(*lines, sep="\n", end="\n" if lines else "")


main()
