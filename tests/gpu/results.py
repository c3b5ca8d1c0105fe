# SPDX-License-Identifier: Apache-2.0
"""The results of one go in three forms: TAP, one table for tests/gpu/README.md, and JSON."""
import json
import os


def tap(number, seen):
    """The lines of one check."""
    word = "not ok" if seen.outcome == "failed" else "ok"
    skip = f" # SKIP {' '.join(seen.notes[0].split())}" if seen.outcome == "skipped" else ""
    lines = [f"{word} {number} - {seen.name.replace('#', '')}{skip}"]
    if seen.outcome != "skipped":
        lines += [f"# {line}" for text in seen.problems + seen.notes for line in text.splitlines()]
    return "\n".join(lines)


def shown(text, most=700):
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= most else text[:most] + " ..."


def markdown(facts, checks, when):
    lines = [f"### {facts.get('GPU', '?')}, {when}", "", "| check | outcome | seen |", "|---|---|---|"]
    lines += [f"| {name} | | {shown(text)} |" for name, text in facts.items()]
    lines += [f"| {c.name} | {c.outcome}, {c.seconds:.0f} s | {shown('; '.join(c.problems + c.notes))} |"
        for c in checks]
    return "\n".join(lines) + "\n"


def figures(checks):
    return {c.name: {name: {"value": value, "unit": unit} for name, value, unit in c.figures} for c in checks
        if c.figures}


def write(directory, facts, checks, when):
    with open(os.path.join(directory, "results.tap"), "w", encoding="utf-8") as file:
        file.write("\n".join(tap(i + 1, c) for i, c in enumerate(checks)) + f"\n1..{len(checks)}\n")
    with open(os.path.join(directory, "results.md"), "w", encoding="utf-8") as file:
        file.write(markdown(facts, checks, when))
    with open(os.path.join(directory, "results.json"), "w", encoding="utf-8") as file:
        json.dump({"when": when, "machine": facts, "figures": figures(checks),
                   "checks": [{"name": c.name, "outcome": c.outcome, "seconds": round(c.seconds, 1),
                   "problems": c.problems,
                               "notes": c.notes} for c in checks]}, file, indent=1)
        file.write("\n")
