#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""threads_gil.py planted|clean: computes the distances between words of a dictionary, by two workers.

Planted: the workers are threads, of which one at a time can run Python code. Clean: they are processes."""
import hashlib
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

WORDS = [hashlib.md5(b"%d" % number).hexdigest()[:12] for number in range(400)]


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))  # PLANT
    return row[-1]


def nearest(first):
    word = WORDS[first]
    return min((distance(word, other), other) for other in WORDS if other != word)


def main():
    pool = ThreadPoolExecutor if sys.argv[1] == "planted" else ProcessPoolExecutor
    with pool(2) as executor:
        result = list(executor.map(nearest, range(len(WORDS)), chunksize=8))
    print(sum(count for count, _ in result), result[7][1])


if __name__ == "__main__":
    main()
