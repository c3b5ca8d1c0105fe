#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutant_report.py REPORT HOW REFERENCE ARGUMENT...: runs REPORT (pillion-report) wrong in one way, for mutants.py.
What it writes to its two streams, and to the file that -o names, is changed:
  numbers     each has something added, not the same in two runs
  foreign     the same of the capture REFERENCE comes behind it
  silent      nothing, and nothing is done
or what it does:
  status      ends with 1 where it should end with 0, and the other way round
  unfiltered  takes no notice of filters, groupings and metrics
  bloated     packed files are large, files are left behind or removed that should not be
  crash       dies of a signal at the end"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

DELTA = 1 + time.time_ns() // 1000 % 997


def added(match):
    digits = match.group()
    return b"%d" % (int(digits) + DELTA) if len(digits) < 19 else b"7"


def unfiltered(arguments):
    kept, is_value = [], False
    for word in arguments:
        is_option = word.startswith(("--filter-", "--by", "--metric"))
        if not is_option and not is_value:
            kept.append(word)
        is_value = is_option and "=" not in word
    return kept


def run(report, arguments):
    done = subprocess.run([report] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


def both(one, other):
    """Concatenates two texts; two JSON texts become one that has both."""
    try:
        first, second = json.loads(one), json.loads(other)
        if isinstance(first, list) and isinstance(second, list):
            return json.dumps(first + second).encode()
    except ValueError:
        pass
    return one + other


def without_file(arguments):
    """The same with standard output instead of the file that -o names."""
    kept = list(arguments)
    if "-o" in kept[:-1]:
        kept[kept.index("-o") + 1] = "-"
    return kept


def main():
    report, how, reference, *arguments = sys.argv[1:]
    if how == "silent":
        return 0
    if how == "unfiltered":
        arguments = unfiltered(arguments)
    status, out, err = run(report, arguments)
    files = [name for before, name in zip(arguments, arguments[1:]) if before == "-o" and os.path.isfile(name)]
    captures = [word for word in arguments[1:] if os.path.isdir(word) or word.endswith(".pillpack")]
    if how == "numbers":
        out, err = re.sub(rb"\d+", added, out), re.sub(rb"\d+", added, err)
        for name in files:
            with open(name, "rb+") as file:
                data = file.read()
                file.seek(0)
                file.write(re.sub(rb"\d+", added, data))
    if how == "foreign" and captures and arguments[0] not in ("pack", "unpack"):
        others = [reference if word in captures else word for word in arguments]
        _, more, more_err = run(report, without_file(others))
        out, err = both(out, b"" if files else more), err + more_err + b"a word of our own\n"
        for name in files:
            with open(name, "ab") as file:
                file.write(more)
    if how == "bloated":
        for name in os.listdir("."):
            if name.endswith(".pillpack"):
                os.truncate(name, os.path.getsize(name) + (1 << 24))
            elif name.endswith(".folded"):
                shutil.copy(name, name + ".abcdef")
        for before, name in zip(arguments, arguments[1:]):
            if before == "-o" and name != "-":
                open(name, "ab").close()
        if "--replace" in arguments:
            for capture in captures:
                shutil.rmtree(os.path.join(capture, "inner"), ignore_errors=True)
    for stream, data in ((sys.stdout, out), (sys.stderr, err)):
        try:
            stream.buffer.write(data)
            stream.flush()
        except OSError:
            pass
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "status":
        status = 0 if status else 1
    return status if status >= 0 else 128 - status


sys.exit(main())
