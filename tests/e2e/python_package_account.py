# SPDX-License-Identifier: Apache-2.0
"""What the Python package's tables have of a capture.

    events NAME             its ranges and marks in order, with what they carry
    sqlite FILE             the same of a database of Nsight Systems
    tables NAME             "ok" and "not ok" lines on tables
    lightning NAME FILE     on the actions of Lightning's profilers, whose durations are in FILE"""
import json
import math
import sqlite3
import subprocess
import sys

import pillion
from pillion.capture import _command

EVENTS = """SELECT eventType, COALESCE(text, (SELECT value FROM StringIds WHERE id = textId)) AS text, color, category,
    int64Value, doubleValue, jsonText, domainId, start FROM NVTX_EVENTS ORDER BY start"""
KINDS = {34: "mark", 59: "push", 60: "start"}
DOMAIN, CATEGORY = 75, 33


def shown(rows):
    names = {(r["eventType"], r["domainId"], r["category"] if r["eventType"] == CATEGORY else None): r["text"]
        for r in rows}
    for r in rows:
        if r["eventType"] in KINDS:
            values = [KINDS[r["eventType"]], names.get((DOMAIN, r["domainId"], None), ""), r["text"],
                "%06x" % (r["color"] & 0xFFFFFF) if r["color"] else None,
                names.get((CATEGORY, r["domainId"], r["category"])) if r["category"] else None,
                r["int64Value"], r["doubleValue"], r["jsonText"]]
            yield " ".join(str(v) for v in values if v is not None)


def check(fact, text):
    print("ok -" if fact else "not ok -", text)


def tables(name):
    capture = pillion.read(name + ".pillion")
    table = capture["nvtx_sum"]
    plain = json.loads(subprocess.run([_command(), "stats", "-q", "-f", "json", "-r", "nvtx_sum", *capture.paths],
        stdout=subprocess.PIPE, check=True).stdout)
    check(plain and list(table) == plain and table["Range"] == [r["Range"] for r in plain] and table[0] == plain[0],
        "a table has the rows of pillion stats")
    check([r["one"] for r in capture.query("SELECT 1 AS one UNION SELECT 2")] == [1, 2], "a query has its rows")
    check(len(capture.table("nvtx_sum", by="process", top=1)) == 1 and
        "PID" in capture.table("nvtx_sum", by="process").columns, "a table takes options of pillion stats")
    html = table._repr_html_()
    check(html.count("<tr>") == len(plain) + 1 and "<th>Range</th>" in html, "a table is HTML in a notebook")
    check("1 process, exit 0" in capture.summary() and "1 process, exit 0</p>" in capture._repr_html_(),
        "a capture has its summary, and is HTML in a notebook")
    times = table.sort("Total Time (ns)")["Total Time (ns)"]
    check(len(times) > 2 and times == sorted(times, reverse=True), "a table is sorted by a column")
    groups = table.groups("Instances")
    check(len(groups) > 1 and sum(map(len, groups.values())) == len(table) and
        all(row["Instances"] == key for key, group in groups.items() for row in group), "and divided into groups")
    rules = capture.findings(everything=True)["Rule"]
    check("lock_convoy" in rules and len(capture.findings()) < len(rules), "a capture has its findings")
    same = capture.diff(capture)
    check(same.verdict in ("clean", "could_not_check") and same.reason and "wall time" in same["Name"],
        "and a comparison with another one")
    for wrong in (lambda: capture["no_such_report"], lambda: pillion.read("none.pillion")):
        try:
            wrong()
            check(False, "what cannot be read is an exception")
        except pillion.PillionError as error:
            check(str(error), "what cannot be read is an exception")
    for module, convert, length in (("pandas", table.to_pandas, len), ("pyarrow", table.to_arrow,
            lambda t: t.num_rows)):
        try:
            __import__(module)
        except ImportError:
            print("# no", module)
            continue
        check(length(convert()) == len(plain), f"a table becomes one of {module}")


def lightning(name, durations):
    with open(durations, encoding="utf-8") as file:
        theirs, ours = json.load(file)
    recorded = {r["Range"].split(":", 1)[1]: r for r in pillion.read(name + ".pillion")["nvtx_sum"]
        if r["Range"].startswith("lightning:")}
    counts = {action: len(d) for action, d in theirs.items()}
    check(len(counts) > 20 and {a: len(d) for a, d in ours.items()} == counts, "Lightning: the same hooks and counts")
    check(len(counts) > 20 and {a: r["Instances"] for a, r in recorded.items()} == counts,
        "Lightning: each is a range of the capture")
    long = {a: math.fsum(d) for a, d in theirs.items() if math.fsum(d) > 0.5}
    far = [a for a, total in long.items() if not total <= math.fsum(ours[a]) <= 1.05 * total or
        not total <= recorded[a]["Total Time (ns)"] / 1e9 <= 1.05 * total]
    check(len(long) >= 4 and not far, f"Lightning: totals of hooks above 0.5 s are within 5 % {far or ''}")


def main():
    what, name = sys.argv[1:3]
    if what == "events":
        print("\n".join(shown(pillion.read(name + ".pillion").query(EVENTS).rows)))
    elif what == "sqlite":
        database = sqlite3.connect(name)
        database.row_factory = sqlite3.Row
        print("\n".join(shown([dict(row) for row in database.execute(EVENTS)])))
    elif what == "tables":
        tables(name)
    else:
        lightning(name, sys.argv[3])


main()
