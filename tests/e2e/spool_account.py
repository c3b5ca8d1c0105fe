#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What killed_calls logged, compared with what the report has of it.

spool_account.py count LOG                the calls that have ended, by thread
spool_account.py complete LOG TRACE       every call that ended is in TRACE (csv: name, start, end), and at most the one
                                          in progress besides
spool_account.py until SINCE_NS LOG TRACE every call that ended before SINCE_NS (of the run's time) is in TRACE
"""
import csv
import mmap
import struct
import sys

NAMES = ("usleep", "poll", "nanosleep")
CALLS = 1 << 20
LOG_BYTES = 16 + 8 * CALLS


def logs(path):
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
        for i in range(len(NAMES)):
            begun, ended = struct.unpack_from("2Q", m, i * LOG_BYTES)
            yield begun, ended, struct.unpack_from(f"{ended}Q", m, i * LOG_BYTES + 16)


def recorded(path):
    ends = {name: [] for name in NAMES}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            if row["name"] in ends:
                ends[row["name"]].append(int(row["end"]))
    return [sorted(ends[name]) for name in NAMES]


def check(name, begun, need, have, failed):
    if not need <= have <= begun:
        failed.append(f"{name}: {have} recorded, {need} to {begun} expected")


def main():
    verb, words = sys.argv[1], sys.argv[2:]
    if verb == "count":
        print(*(ended for _, ended, _ in logs(words[0])))
        return 0
    since = int(words.pop(0)) if verb == "until" else None
    failed = []
    for name, (begun, ended, ends), have in zip(NAMES, logs(words[0]), recorded(words[1])):
        need = ended
        if since is not None:
            # Both have the calls in order. The log's time is a little later than the recorder's; the smallest
            # difference is that of the two clocks. One call may have ended and not been stored yet.
            shift = max((r - e for r, e in zip(have, ends)), default=0)
            need = max(sum(e + shift < since for e in ends) - 1, 0)
        check(name, begun, need, len(have), failed)
    print("\n".join(failed))
    return 1 if failed else 0


sys.exit(main())
