#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_job.py STEPS EXTRA: eight functions in each step; the parser has a loop of EXTRA rounds more."""
import json
import sys
import zlib

STEPS, EXTRA = int(sys.argv[1]), int(sys.argv[2])
WORK = 6000
TEXT = json.dumps({str(i): i * 3 for i in range(WORK // 6)})


def loop(count):
    total = 0
    for i in range(count):
        total += i * i
    return total


def parse():
    total = loop(WORK)
    for i in range(EXTRA):
        total += i * i  # PLANT
    return total


def tokenize():
    return sum(len(part) for _ in range(4) for part in TEXT.split(","))


def count():
    seen = {}
    for c in TEXT[:WORK]:
        seen[c] = seen.get(c, 0) + 1
    return seen


def sort():
    return sorted(((i * 7919) % 1000 for i in range(WORK // 2)), key=lambda x: -x)


def load():
    return json.loads(TEXT)


def pack():
    return zlib.compress(TEXT.encode() * 2)


def join():
    return "".join(str(i) for i in range(WORK // 2))


def fold():
    state = 1
    for i in range(WORK):
        state = state * 31 % 65521 ^ i
    return state


for step in range(STEPS):
    for stage in (parse, tokenize, count, sort, load, pack, join, fold):
        stage()
