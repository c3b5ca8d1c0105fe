# SPDX-License-Identifier: Apache-2.0
"""python_parallel_account.py VERSION SCRIPT FOLDED: whether each stack of the script's threads is one that it can have:
each frame's line calls the next one's function."""
import collections
import re
import sys

# The functions of the script that one calls, and the marked lines where it does.
CALLS = {"generators": ("steps",), "steps": ("shared",), "exceptions": ("throws",), "throws": ("shared",),
    "awaited": ("shared",), "coroutines": ("gathered", "awaited"), "collections": ("made", "shared"),
    "work": ("generators", "exceptions", "coroutines", "collections")}


def functions(source):
    """First and last line of each function."""
    lines = source.split("\n")
    found = {}
    for i, line in enumerate(lines, 1):
        match = re.match(r"(?:async )?def (\w+)", line)
        if match:
            last = next((n for n in range(i, len(lines)) if lines[n] and not lines[n].startswith(" ")), len(lines))
            found[match[1]] = i, last
    return found


def main():
    version, script, folded = sys.argv[1:]
    with open(script, encoding="utf-8") as file:
        source = file.read()
    marks = collections.defaultdict(set)
    for i, line in enumerate(source.split("\n"), 1):
        match = re.search(r"# (\w+) (?:calls|sums|runs)$", line)
        if match:
            marks[match[1]].add(i)
    extent = functions(source)
    stacks, inner, wrong = 0, collections.Counter(), []
    for line in open(folded, encoding="utf-8"):
        stack, count = line.rsplit(" ", 1)
        frames = [(n, int(l)) for n, l in re.findall(r"(\w+) \([^;]*python_parallel\.py:(\d+)\)", stack)
            if n in extent]
        if not frames or frames[0][0] != "work":
            continue
        stacks += 1
        inner[frames[-1][0]] += 1
        for (name, at), following in zip(frames, frames[1:] + [None]):
            first, last = extent[name]
            if not first <= at <= last:
                wrong.append(f"{name} is not at line {at}")
            elif following and (following[0] not in CALLS.get(name, ()) or marks[name] and at not in marks[name]):
                wrong.append(f"{name} at line {at} does not call {following[0]}")
    shared = {int(l) for line in open(folded, encoding="utf-8")
        for l in re.findall(r"\bshared \([^;]*python_parallel\.py:(\d+)\)", line)}
    loop = next(i for i, line in enumerate(source.split("\n"), 1) if line.endswith("# shared loop"))
    print("ok -" if stacks >= 20 and not wrong else "not ok -",
        f"{version}: the lines of stacks agree with the calls that they make")
    for text in [f"{stacks} different stacks"] + wrong[:5]:
        print("#", text)
    print("ok -" if loop in shared and shared <= set(range(*extent["shared"])) | {extent["shared"][1]} else "not ok -",
        f"{version}: the function that all threads call is seen at its loop")
    print("#", sorted(shared), dict(inner))


main()
