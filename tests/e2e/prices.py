#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prices.py PILLION CAPTURE...: whether one edit has one price wherever it is printed.

Of each capture: each edit of `analyze --json` and of `stats --summary --json` has the saving and the interval that
`whatif EDIT` and `whatif --rank` print; analyze has each edit of `whatif --rank` that saves 2 % of the run and 100 ms;
low <= saved <= high <= the run. In a sentence of the summary no part is larger than its whole, and no saving than
the largest time that it states. Prints a line for each that differs, and then how many edits were compared."""
import json
import re
import subprocess
import sys

LEAST_NS, LEAST_PART = 100_000_000, 0.02


def rows(pillion, *arguments):
    text = subprocess.run([pillion, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=False).stdout
    return json.loads(text).get("rows", []) if text.strip() else []


def priced(found, table):
    """Edit -> (saved, low, high), of findings and of FIX FIRST."""
    return {row["Edit"]: tuple(row["Saves%s (ns)" % word] for word in ("", " Low", " High"))
        for row in found if row["table"] == table and row.get("Edit")}


TIME = r"([\d.]+) (us|ms|s)\b"
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1}
SAVES = r" saves (?:at most )?(?:[\d.]+(?: us| ms| s)? to )?" + TIME
ROUNDED = 1.006  # three digits


def seconds(match):
    return float(match[0]) * UNITS[match[1]]


def sentences(pillion, capture):
    """What is wrong in those about what to fix."""
    text = subprocess.run([pillion, "stats", "-q", "--summary", capture], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, check=False).stdout
    wrong = []
    for found in re.finditer(r"^(?:FIX FIRST|then) .*(?:\n .*)*", text, re.M):
        words = " ".join(found[0].split())
        stated = re.sub(SAVES, "", words)
        wholes = [seconds(m) for m in re.findall(TIME, stated)]
        high = [seconds(m) for m in re.findall(SAVES, words)]
        parts = re.findall(TIME + " of " + TIME, stated)
        if any(seconds(m[:2]) > seconds(m[2:]) * ROUNDED for m in parts) or (
                wholes and high and high[0] > max(wholes) * ROUNDED):
            wrong.append("%s: %s" % (capture, words))
    return wrong


def compare(pillion, capture):
    """The edits, and what is wrong."""
    found = priced(rows(pillion, "analyze", "--json", capture), "findings")
    first = priced(rows(pillion, "stats", "--summary", "--json", capture), "fix_first")
    ranked, run_ns, wrong = {}, 0, sentences(pillion, capture)
    for row in rows(pillion, "whatif", "--json", "--rank", capture):
        ranked[row["Edit"]] = (row["Saved (ns)"], row["Low (ns)"], row["High (ns)"])
        run_ns = row["Before (ns)"]
    edits = list({**found, **first, **ranked})
    asked = {row["Edit"]: (row["Saved (ns)"], row["Low (ns)"], row["High (ns)"])
        for row in rows(pillion, "whatif", "--json", capture, *edits)} if edits else {}
    for edit, saved in asked.items():
        for name, prices in (("analyze", found), ("FIX FIRST", first), ("--rank", ranked)):
            if edit in prices and prices[edit] != saved:
                wrong.append("%s: %s, whatif: %s, %s: %s" % (capture, edit, saved, name, prices[edit]))
        if not saved[1] <= saved[0] <= saved[2] or (run_ns and saved[2] > run_ns):
            wrong.append("%s: %s: %s of %d" % (capture, edit, saved, run_ns))
    wrong += ["%s: whatif does not take %s" % (capture, edit) for edit in edits if edit not in asked]
    wrong += ["%s: analyze lacks %s, which saves %d" % (capture, edit, saved[0]) for edit, saved in ranked.items()
        if edit not in found and saved[0] >= max(LEAST_NS, LEAST_PART * run_ns)]
    return edits, wrong


def main():
    count, wrong = 0, []
    for capture in sys.argv[2:]:
        edits, more = compare(sys.argv[1], capture)
        count += len(edits)
        wrong += more
    print("\n".join(wrong + ["%d captures, %d edits, %d differ" % (len(sys.argv) - 2, count, len(wrong))]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
