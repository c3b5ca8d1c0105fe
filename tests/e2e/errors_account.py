#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""errors_account.py printed OUTPUT CSV: the failed calls of targets/errors, as it printed them, beside osrt_error_sum.
errors_account.py strace LOG CHROME: errors and flags by name, as strace has them, beside an export of type chrome.
Prints what differs; status 1 if anything does."""
import collections
import csv
import errno
import json
import re
import sys

# What is printed differs from what is recorded: a sum of two calls, and functions of another name in the headers.
FUNCTIONS = {"fflush": "fseek"}
# Of errors with two names.
NAMES = {**errno.errorcode, errno.EDEADLK: "EDEADLK", errno.EOPNOTSUPP: "EOPNOTSUPP", errno.EAGAIN: "EAGAIN"}
RETURN_ERRORS = re.compile(r"pthread_|posix_|clock_nanosleep")
# The system calls of a function. A libc may use either of several.
SYSTEM_CALLS = {
    "rename": "rename", "renameat": "rename", "renameat2": "rename", "mount": "mount", "umount2": "umount2",
    "nanosleep": "sleep", "clock_nanosleep": "sleep", "mkdir": "mkdir", "mkdirat": "mkdir", "chdir": "chdir",
    "dup": "dup", "socketpair": "socketpair", "pipe2": "pipe2", "kill": "kill", "munmap": "munmap", "mlock": "mlock",
    "msgget": "msgget", "shmat": "shmat", "fallocate": "fallocate", "posix_fallocate": "fallocate",
    "fadvise64": "fadvise", "posix_fadvise": "fadvise", "wait4": "wait", "waitpid": "wait",
    "timerfd_create": "timerfd_create", "timerfd_settime": "timerfd_settime", "timerfd_gettime": "timerfd_gettime",
    "inotify_init1": "inotify_init1", "inotify_add_watch": "inotify_add_watch",
    "inotify_rm_watch": "inotify_rm_watch", "eventfd": "eventfd", "eventfd2": "eventfd", "getrandom": "getrandom",
    "signalfd": "signalfd", "signalfd4": "signalfd", "epoll_create1": "epoll_create1",
}
# Which argument of a system call has flags.
FLAGS = {"timerfd_create": -1, "timerfd_settime": 1, "inotify_init1": -1, "inotify_add_watch": -1, "eventfd": -1,
         "getrandom": -1, "signalfd": -1, "epoll_create1": -1}


def plain(name):
    return re.sub(r"64$", "", name)


def printed(path):
    failed = collections.Counter()
    for line in open(path, encoding="utf-8"):
        call, result, error = re.fullmatch(r"(.*) = (-?\d+), errno (\d+)\n", line).groups()
        name = re.search(r"([a-z_0-9]+)\(", re.sub(r"^(\w+ = |\(intptr_t\))", "", call)).group(1)
        number = int(result) if RETURN_ERRORS.match(name) else int(error) if int(result) == -1 else 0
        if number:
            failed[FUNCTIONS.get(name, name), NAMES[number]] += 1
    return failed


def summed(path):
    failed = collections.Counter()
    for row in csv.DictReader(open(path, encoding="utf-8")):
        failed[plain(row["Name"]), row["Error"]] += int(row["Num Calls"])
    return failed


def traced(path):
    """Errors, and flags in the order of the calls. Calls that libc makes by itself have flags of 0, or 8 bytes."""
    failed, flags = collections.Counter(), []
    for line in open(path, encoding="utf-8", errors="replace"):
        found = re.match(r"(?:\d+ +)?(\w+)\((.*)\) += (?:-1 (\w+)|\S+)", re.sub(r" /\*.*?\*/", "", line))
        name = found and SYSTEM_CALLS.get(found.group(1))
        if not name:
            continue
        if found.group(3):
            failed[name, found.group(3)] += 1
        if name in FLAGS and found.group(2):
            words = re.sub(r"\{[^}]*\}+|\"[^\"]*\"|\[[^]]*\]", "_", found.group(2)).split(", ")
            if words[FLAGS[name]] != "0" and not (name == "getrandom" and words[1] != "32"):
                flags.append((name, frozenset(words[FLAGS[name]].split("|")), found.group(3)))
    return failed, flags


def exported(path):
    failed, flags = collections.Counter(), []
    events = [e for e in json.load(open(path, encoding="utf-8"))["traceEvents"] if e["ph"] == "X"]
    for event in sorted(events, key=lambda e: float(e["ts"])):
        name, words = SYSTEM_CALLS.get(plain(event["name"])), event.get("args", {})
        if not name:
            continue
        if "errno" in words:
            failed[name, words["errno"]] += 1
        if words.get("flags", "0") != "0":
            flags.append((name, frozenset(words["flags"].split("|")), words.get("errno")))
    return failed, flags


def compare(ours, theirs):
    if ours == theirs and ours:
        return True
    print("ours:", sorted(ours.items() - theirs.items()) if isinstance(ours, dict) else ours)
    print("theirs:", sorted(theirs.items() - ours.items()) if isinstance(theirs, dict) else theirs)
    return False


def main():
    if sys.argv[1] == "printed":
        return 0 if compare(summed(sys.argv[3]), printed(sys.argv[2])) else 1
    (failed, flags), (their_failed, their_flags) = exported(sys.argv[3]), traced(sys.argv[2])
    same = [compare(failed, their_failed), compare(flags, their_flags)]
    print(f"{sum(failed.values())} errors, {len(flags)} calls with flags")
    return 0 if all(same) else 1


sys.exit(main())
