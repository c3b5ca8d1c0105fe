#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""regex_compile.py planted|clean: counts the lines of a log that mention each of 800 host names.

Planted: the pattern is made from the name for each line, and there are more names than the module re keeps compiled
patterns. Clean: the patterns are compiled once."""
import re
import sys

NAMES = ["node%d.%s" % (number, "abcdefgh"[number % 8]) for number in range(800)]
LINES = 200


def log():
    for number in range(LINES):
        hosts = " ".join(NAMES[(number * 31 + i * 7) % len(NAMES)] for i in range(60))
        yield "2026-11-22 12:%02d:%02d links: %s" % (number // 60 % 60, number % 60, hosts)


def count_by_text(line, counts):
    for name in NAMES:
        if re.search(r"\b%s\b" % name, line):  # PLANT
            counts[name] += 1


def count_compiled(line, counts, patterns):
    for name, pattern in patterns.items():
        if pattern.search(line):
            counts[name] += 1


def main():
    counts = dict.fromkeys(NAMES, 0)
    patterns = {name: re.compile(r"\b%s\b" % name) for name in NAMES}
    for line in log():
        if sys.argv[1] == "planted":
            count_by_text(line, counts)
        else:
            count_compiled(line, counts, patterns)
    print(sum(counts.values()), max(counts.values()))


main()
