#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""capture_account.py REPORT CAPTURE TRUTH PROGRAM: whether the reports of a capture have what capture_parts.py did
inside of its ranges, as it printed to TRUTH, and nothing of what it did outside. Prints what is wrong."""
import base64
import csv
import json
import re
import subprocess
import sys
import zlib

REPORT, CAPTURE, TRUTH, PROGRAM = sys.argv[1:]
# A sample stands for the CPU time since the one before, which the kernel's tick and a busy machine delay.
CPU_SHARE, CPU_NS, WAIT_SHARE, WAIT_NS = 0.15, 60_000_000, 0.03, 20_000_000
# A thread that was joined before a range may still be ending in it.
ENDS_NS = 150_000_000
# What the program was doing when the launcher opened the range.
EDGE_NS = 60_000_000


def run(*words):
    return subprocess.run([REPORT, *words], capture_output=True, text=True, check=False).stdout


def rows(report):
    return list(csv.DictReader(run("stats", "-q", "-r", report, "-f", "csv", CAPTURE).splitlines()))


def check(is_right, text):
    if not is_right:
        print(text)


def near(what, got, wanted, share, least, less=0):
    """`less`: what may be missing besides."""
    error = max(share * wanted, least)
    check(-error - less <= got - wanted <= error, f"{what}: {got / 1e9:.3f} s instead of {wanted / 1e9:.3f}")


def ns(row, column):
    return int(row.get(column) or 0)


def check_time(truth, recorded):
    times = [row for row in rows("time_sum") if ns(row, "Lifetime (ns)") > ENDS_NS]
    check(len(times) == 2, f"time_sum: not only the main thread and the one that waits: {times}")
    main, lasting = sorted(times, key=lambda row: row["PID"] != row["TID"])[:2]
    near("time_sum: lifetime", ns(main, "Lifetime (ns)"), recorded, WAIT_SHARE, WAIT_NS)
    near("time_sum: CPU", ns(main, "CPU (ns)"), truth["cpu"], CPU_SHARE, CPU_NS)
    check(ns(lasting, "In Calls (ns)") <= recorded + WAIT_NS, f"time_sum: the long wait is {lasting}")


def check_lines(truth, recorded):
    with open(PROGRAM, encoding="utf-8") as text:
        lines = {str(number): line for number, line in enumerate(text, 1)}
    computed = slept = lasted = 0
    for row in rows("lines"):
        file, _, number = row["Line"].rpartition(":")
        line = lines.get(number, "") if file.endswith("capture_parts.py") else ""
        cpu, waited = ns(row, "CPU Python (ns)") + ns(row, "CPU Native (ns)"), ns(row, "Off-CPU (ns)")
        check("OUTSIDE" not in line and ("AT THE EDGE" not in line or cpu < EDGE_NS), f"lines: {row}")
        computed += cpu
        slept += waited if "INSIDE SLEEPS" in line else 0
        lasted += waited if "LASTS LONGER" in line else 0
    near("lines: CPU", computed, truth["cpu"], CPU_SHARE, CPU_NS)
    # The program may have waited for a CPU before the call began and after it had ended.
    near("lines: sleeps", slept, truth["slept"], WAIT_SHARE, WAIT_NS, truth["delayed"])
    check(0 < lasted <= recorded + WAIT_NS, f"lines: the long wait has {lasted / 1e9:.3f} s")


def check_summary(truth, recorded):
    summary = run("stats", "--summary", CAPTURE)
    main = re.search(r"^(main|capture_parts.py) .*", summary, re.M)[0]
    roles = [row for row in json.loads(run("stats", "--json", "--summary", CAPTURE))["rows"] if row["table"] == "roles"]
    parts = [row for row in roles if row["Role"] in ("main", "capture_parts.py")]
    for name, wanted in ("cpu", "cpu"), ("inside_sleep", "slept"):
        ns_of = sum(row["Time (ns)"] for row in parts if name in (row["Kind"], row["Function"]))
        share = 100 * ns_of / parts[0]["Lifetime (ns)"]
        check(abs(share - 100 * truth[wanted] / recorded) <= 5, f"summary: {share} % of {name}: {parts}")
    shares = {words: int(percent) for percent, words in re.findall(r"(\d+) % ([^·]+)", main)}
    check(sum(shares.values()) == 100, f"summary: the shares are not of the whole: {main}")
    check("of which all shares are)" in summary.splitlines()[0], f"summary: {summary.splitlines()[0]}")
    check("utside (" not in summary and " outside" not in re.sub("other waits", "", summary), summary)


def check_findings():
    found = [row for row in csv.DictReader(run("analyze", "-f", "csv", CAPTURE).splitlines())
        if row.get("Verdict") == "found" or "outside" in str(row)]
    check(not found, f"analyze: {found}")


def check_page(recorded):
    run("export", "-q", "-t", "html", "-f", "true", "-o", "page.html", CAPTURE)
    with open("page.html", encoding="utf-8") as text:
        packed = re.search(r'id="model"[^>]*>([^<]*)<', text.read())[1]
    model = json.loads(zlib.decompress(base64.b64decode(packed), -zlib.MAX_WBITS))
    near("page: recorded time", model["recorded"]["ns"], recorded, WAIT_SHARE, WAIT_NS)
    for profile in model["profiles"]:
        names = {model["strings"][name] for stack in profile["stacks"] for name in stack[1:]}
        check(not [name for name in names if "outside" in name], f"page: {profile['title']} has work from outside")
        if profile["metric"] == "off-cpu":
            threads = {}
            for value, *stack in profile["stacks"]:
                threads[stack[1]] = threads.get(stack[1], 0) + value
            check(max(threads.values()) <= recorded + WAIT_NS, f"page: {profile['title']}: {threads}")


def main():
    with open(TRUTH, encoding="utf-8") as text:
        truth = json.load(text)
    recorded = truth["wall"]
    check_time(truth, recorded)
    check_lines(truth, recorded)
    check_summary(truth, recorded)
    check_findings()
    files = {row["Path"].rpartition("/")[2]: ns(row, "Written (bytes)") for row in rows("files")}
    check(files.get("inside") == truth["written"], f"files: {files}")
    check("outside" not in files, f"files: {files}")
    check("outside" not in str(rows("stacks_sum")), "stacks_sum: a stack from outside")
    check_page(recorded)


main()
