# SPDX-License-Identifier: Apache-2.0
"""pillion analyze --sarif: the findings of `pillion analyze --json` in the Static Analysis Results Interchange Format
2.1.0, which code hosts show beside lines."""
import argparse
import json
import os
import re
import subprocess
import sys
from urllib.parse import quote


def place_of(line):
    """FILE:LINE; absent where the program has no debug information."""
    match = re.fullmatch(r"(.+):([1-9]\d*)", line or "", re.DOTALL)
    if not match:
        return []
    file = quote(os.fsencode(match[1]), safe="/~")
    return [{"physicalLocation": {"artifactLocation": {"uri": "file://" + file if file.startswith("/") else file},
                                  "region": {"startLine": int(match[2])}}}]


def result_of(row):
    """Why a run ended saves no time. What the run is bound by may be needed."""
    saves = row["Saves (ns)"]
    level = ("error" if saves is None else
             "note" if row["Verdict"] == "minor" or row["Rule"] == "bound_by" else "warning")
    return {"ruleId": row["Rule"], "level": level,
            "message": {"text": f"{row['Text'] or ''}. {row['Advice'] or ''}".rstrip()},
            "locations": place_of(row["Line"]), "properties": {"savesNs": saves or 0}}


def log_of(answer):
    rows = [row for row in answer["rows"] if row["table"] == "findings"]
    rules = [{"id": rule, "shortDescription": {"text": rule.replace("_", " ")}}
             for rule in dict.fromkeys(row["Rule"] for row in rows)]
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": [{"tool": {"driver": {"name": "pillion", "version": answer["version"], "rules": rules}},
                      "results": [result_of(row) for row in rows if row["Verdict"] in ("found", "minor")]}]}


def main():
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--sarif", action="store_true")
    parser.add_argument("-o", "--output", default="-")
    options, further = parser.parse_known_args()
    report = [os.environ["PILLION_REPORT"], *further]
    if "--help" in further or "-h" in further:
        return subprocess.call(report)
    if "--json" in further:
        raise ValueError("--json and --sarif are two formats of the same findings")
    done = subprocess.run([*report, "--json"], stdout=subprocess.PIPE, check=False)
    answer = json.loads(done.stdout)
    if "rows" not in answer:
        raise ValueError(answer["error"])
    for message in answer["messages"]:
        print(f"pillion analyze: {message}", file=sys.stderr)
    if options.output == "-":
        print(json.dumps(log_of(answer)), flush=True)
    else:
        with open(os.open(options.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            print(json.dumps(log_of(answer)), file=file)
    return done.returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as e:
        print(f"pillion analyze: {e}", file=sys.stderr)
        sys.exit(2)
