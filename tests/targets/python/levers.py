# SPDX-License-Identifier: Apache-2.0
"""Programs of which the place to change is above the innermost function.

levers.py NAME SECONDS [NAME SECONDS]...: of CPU time, one after another."""
import copy
import gc
import json
import sys
import time


def until(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        yield


# A parser that copies its whole state to look whether a token is accepted.
class State:
    def __init__(self):
        self.stack = [[i, str(i)] for i in range(300)]

    def clone(self):
        return copy.deepcopy(self)


def accepts(state, token):
    return state.clone().stack[0][0] != token


def copies(seconds):
    state = State()
    return sum(accepts(state, n) for n, _ in enumerate(until(seconds)))


# The same text is parsed again for each item.
TEXT = json.dumps({str(i): list(range(20)) for i in range(300)})


def setting(name):
    return json.loads(TEXT).get(name)


def parse(seconds):
    return sum(len(setting("7")) for _ in until(seconds))


# One query for each row.
def price(shop, item):
    return shop.execute("select sum(price) from items where item = ?", (item,)).fetchone()


def queries(seconds):
    import sqlite3

    shop = sqlite3.connect(":memory:")
    shop.execute("create table items (item integer, price integer)")
    shop.executemany("insert into items values (?, 1)", [(i,) for i in range(5000)])
    return sum(bool(price(shop, i)) for i, _ in enumerate(until(seconds)))


# Garbage is collected at the end of each step.
def end_of_step():
    gc.collect()


def collects(seconds):
    kept = [[i] for i in range(100000)]
    return sum(end_of_step() or len(kept) for _ in until(seconds))


# A function that is called for each pair, where each calls another one that is short.
def weight(a, b):
    return (a * b) % 7


def row(a, others):
    total = 0
    for b in others:
        total = (total + weight(a, b)) % 1000003 + (a ^ b) % 5
    return total


def pairs(seconds):
    return sum(row(n, range(2000)) for n, _ in enumerate(until(seconds)))


# Three callees of equal size: none of them is the place, but what calls all of them.
def first(n):
    return sum(i for i in range(n))


def second(n):
    return sum(i for i in range(n))


def third(n):
    return sum(i for i in range(n))


def step(n):
    return first(n) + second(n) + third(n)


def branches(seconds):
    return sum(step(20000) for _ in until(seconds))


# A recursion, of which each stack has many frames.
def walk(depth):
    if depth == 0:
        return leaf()
    return walk(depth - 1) + 1


def leaf():
    return sum(range(20000))


def recursion(seconds):
    return sum(walk(30) for _ in until(seconds))


# A search for which most calls, but not all, have one caller.
PATHS = ["/%d/%d" % (i, i) for i in range(20000)]


def search(path):
    return [p for p in PATHS if p.startswith(path)]


def removes(seconds):
    return sum(len(search("/7/")) for _ in until(seconds))


def looks(seconds):
    return sum(len(search("/8/")) for _ in until(seconds))


# Many lines of equal size: a change is rather of one of them.
def lines(n):
    numbers = list(range(n))
    total = sum(i * i for i in numbers)
    total += sum(i * 3 for i in numbers)
    total += sum(i + 5 for i in numbers)
    total += sum(i % 7 for i in numbers)
    total += sum(i ^ 9 for i in numbers)
    total += sum(i | 8 for i in numbers)
    total += sum(i & 6 for i in numbers)
    total += sum(i - 4 for i in numbers)
    return total


def parts(seconds):
    return sum(lines(3000) for _ in until(seconds))


# What is freed only when the interpreter ends.
class Node:
    def __init__(self, n):
        self.parts = {"number": [n], "name": str(n)}


KEPT = []


def keep(n):
    for i in range(1000):
        KEPT.append(Node(n + i))


def keeps(seconds):
    gc.disable()
    return sum(keep(n) or 1 for n, _ in enumerate(until(seconds)))


if __name__ == "__main__":
    for name, seconds in zip(sys.argv[1::2], sys.argv[2::2]):
        globals()[name](float(seconds))
