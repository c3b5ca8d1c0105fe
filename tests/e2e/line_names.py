# SPDX-License-Identifier: Apache-2.0
"""line_names.py REPORT SARIF CAPTURE FILE FUNCTION BRIEF: prints each output that names line 9 of the file, or its
function, by anything else. Sentences have the brief name. The capture has no other line."""
import base64
import csv
import gzip
import json
import os
import re
import subprocess
import sys
import zlib
from urllib.parse import unquote

REPORT, SARIF, CAPTURE, FILE, FUNCTION, BRIEF = sys.argv[1:]
PLACE, TEXT, BASE = f"{FILE}:9", f"{FUNCTION} ({FILE}:9)", os.path.basename(FILE)


def run(*words):
    return subprocess.run([REPORT, *words], stdout=subprocess.PIPE, check=False).stdout.decode()


def rows(*words, further=()):
    return list(csv.DictReader(run(*words, "-f", "csv", CAPTURE, *further).splitlines()))


def check(output, is_right, seen):
    if not is_right:
        print(f"{output}: {seen}")


def check_equal(output, seen, wanted):
    check(output, seen == wanted, f"{seen!r}, not {wanted!r}")


def export(kind, *options):
    path = f"{CAPTURE}.{kind}"
    run("export", "-q", "-t", kind, "-f", "true", "-o", path, *options, CAPTURE)
    with open(path, "rb") as file:
        return file.read()


def check_tables():
    line = rows("stats", "-q", "-r", "lines")[0]
    check_equal("lines", (line["Line"], line["Function"]), (PLACE, FUNCTION))
    check_equal("stacks_sum", rows("stats", "-q", "-r", "stacks_sum")[0]["Stack"].split(" <- ")[0], TEXT)
    check_equal("samples", rows("stats", "-q", "-r", "sample_line_sum")[0]["Line"], PLACE)
    found = rows("query", "-q", further=[f"SELECT Line, Function FROM lines WHERE Line = '{PLACE}'"])
    check_equal("query", found, [{"Line": PLACE, "Function": FUNCTION}])


def check_answers():
    summary = run("stats", "--summary", CAPTURE)
    first = summary[summary.index("FIX FIRST"):].splitlines()[0]
    check("FIX FIRST", f"{BASE}:9 {BRIEF}" in first, first)
    finding = json.loads(run("analyze", "-q", "--json", CAPTURE))["rows"][0]
    check_equal("analyze", finding["Line"], PLACE)
    check("analyze", f"{BASE}:9 {BRIEF}" in finding["Text"], finding["Text"])
    log = subprocess.run([sys.executable, SARIF, "analyze", "-q", CAPTURE], stdout=subprocess.PIPE, check=False,
                         env={**os.environ, "PILLION_REPORT": REPORT}).stdout
    place = json.loads(log)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    check_equal("SARIF", unquote(place["artifactLocation"]["uri"]).replace("file://", ""), FILE)
    check_equal("SARIF", place["region"]["startLine"], 9)


def check_changes():
    for pattern in (PLACE, f"{BASE}:9"):
        saved = rows("whatif", "-q", further=[f"line~{pattern}=0"])
        check("whatif", saved and int(saved[0]["Saved (ns)"]) > 0, (pattern, saved))
    critical = [row["Line"] for row in rows("critical", "-q") if row.get("Line")]
    check("critical", critical and set(critical) == {TEXT}, critical)


def check_exports():
    frames = json.loads(export("speedscope"))["shared"]["frames"]
    check("speedscope", {"name": FUNCTION, "file": FILE, "line": 9} in frames, frames)
    strings = gzip.decompress(export("pprof"))
    for text in (FUNCTION, FILE):
        size = len(text.encode())
        check("pprof", b"\x32" + bytes([size]) + text.encode() in strings, text)
    folded = [row.rpartition(" ")[0].split(";") for row in export("folded").decode().splitlines()]
    check("folded", all(TEXT.replace(";", ":") in row for row in folded) and folded, folded)
    page = re.search(r'id="model"[^>]*>([^<]*)<', export("html").decode())[1]
    strings = json.loads(zlib.decompress(base64.b64decode(page), -zlib.MAX_WBITS))["strings"]
    check("page", TEXT in strings, [text for text in strings if BASE in text])


check_tables()
check_answers()
check_changes()
check_exports()
