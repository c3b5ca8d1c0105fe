#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export_critical.py JSON CRITICAL.csv: checks the critical path of an export to chrome: its stretches follow each
other and last as long as the report says, and an arrow leads from each to the next one if that is of another row.
Prints their numbers, and each fault."""
import csv
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
with open(sys.argv[2], encoding="utf-8") as file:
    wanted = sum(int(row["Time (ns)"]) for row in csv.DictReader(file))
path = [e for e in events if e.get("cat") == "critical_path"]
slices = sorted((e for e in path if e["ph"] == "X"), key=lambda e: e["ts"])
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
faults = []


def at(event):
    return event["pid"], event["tid"], round(1000 * event["ts"])


arrows = {}
for event in path:
    if event["ph"] == "s":
        arrows.setdefault(event["id"], [None, None])[0] = at(event)
    elif event["ph"] == "f":
        arrows.setdefault(event["id"], [None, None])[1] = at(event)
wanted_arrows = []
for before, after in zip(slices, slices[1:]):
    gap = round(1000 * after["ts"]) - round(1000 * before["ts"]) - round(1000 * before["dur"])
    if gap:
        faults.append(f"{gap} ns between {before['name']} and {after['name']}")
    if before["tid"] != after["tid"]:
        wanted_arrows.append([at(before), at(after)])
if sorted(map(str, arrows.values())) != sorted(map(str, wanted_arrows)):
    faults.append(f"arrows {list(arrows.values())}, wanted {wanted_arrows}")
if len({e["pid"] for e in slices}) > 1:
    faults.append("several processes")
for event in slices:
    if not event["name"].endswith(", " + names.get((event["pid"], event["tid"]), "no row")):
        faults.append(f"{event['name']} is in the row {names.get((event['pid'], event['tid']))}")
whole = sum(round(1000 * e["dur"]) for e in slices)
if abs(whole - wanted) > len(slices) + 1000:
    faults.append(f"{whole} ns, the report has {wanted}")
print(f"{len(slices)} stretches, {len(arrows)} arrows")
print("\n".join(faults[:20]))
sys.exit(bool(faults))
