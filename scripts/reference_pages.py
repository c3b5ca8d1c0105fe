#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reference_pages.py DIRECTORY: writes the pages of the reference: one for each verb, report and rule.

Options, titles, columns and advice are those that the built programs print or that their tables have; docs/reference
has the texts beside them, and this refuses one that is missing or that belongs to nothing. PILLION_BUILD_DIR: the
build. mkdocs calls on_files() of this file, which adds the pages to the site."""
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEXTS = os.path.join(ROOT, "docs", "reference")
PARTS = ("verbs", "reports", "rules")


class Wrong(Exception):
    pass


def build():
    return os.environ.get("PILLION_BUILD_DIR") or os.path.join(ROOT, "build")


def ask(*arguments):
    program = os.path.join(build(), "report", "pillion-report")
    ran = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, check=False)
    return ran.stdout


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def sections(name):
    """The sections of a file of docs/reference: {section: [(key, text)]}."""
    found, current = {}, None
    for line in read(TEXTS, name + ".txt").splitlines():
        if line.startswith("[") and line.endswith("]") and ":" not in line:
            current = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            key, _, text = line.partition(": ")
            current.append((key, text))
    return found


def rows_of(path, macro):
    """The rows X(...) of a table in a header, as lists of fields; texts that are divided are joined."""
    body = re.search(rf"#define {macro}\(X\)(.*?)\n\n", read(ROOT, path) + "\n\n", re.DOTALL)[1].replace("\\\n", "\n")
    for row in re.findall(r'\bX\(((?:"(?:[^"\\]|\\.)*"|[^"()])*)\)', body):
        texts = re.sub(r'"\s*"', "", row)
        yield [field.strip().strip('"') for field in re.findall(r'"(?:[^"\\]|\\.)*"|[^,"]+', texts) if field.strip()]


# ---- reports ----

def make_capture(directory):
    """Of a program that waits once: the report `lines` has no columns without a line."""
    launcher = os.path.join(ROOT, "scripts", "pillion")
    path = os.path.join(directory, "small")
    program = [sys.executable, "-c", "import time; time.sleep(0.01)"]
    subprocess.run([launcher, "--stats=false", "-s", "none", "-o", path, *program], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "PILLION_BUILD_DIR": build()},
        check=True)
    return path + ".pillion"


def columns_of(report, capture):
    """Their titles, also if the table has no rows."""
    found = re.findall(r'"([^"]*)" [A-Z]+', ask("query", capture, ".schema " + report))
    if report == "processes":  # a table of Nsight Systems has this name, too
        found = ask("stats", "-q", "-r", report, "-f", "csv", capture).splitlines()[0].split(",")
    return found


def meaning(texts, report, title):
    for key, text in texts.get(report, []) + texts[""]:
        # brackets of a title are brackets; those of a pattern stand at its beginning
        pattern = key if key.startswith("[") else key.replace("[", "[[]")
        if fnmatch.fnmatchcase(title, pattern):
            return text
    raise Wrong(f"docs/reference/columns.txt: no meaning of column '{title}' of {report}")


def parts_of(texts, name, keys, where):
    found = dict(texts.pop(name, []))
    if set(found) != set(keys):
        raise Wrong(f"docs/reference/{where}.txt: [{name}] must have {', '.join(keys)}")
    return [found[key] for key in keys]


def report_pages():
    texts, columns = sections("reports"), sections("columns")
    listed = re.findall(r"^ ([ *])([a-z0-9_]+) {2,}(.*)$", ask("stats", "--help-reports"), re.MULTILINE)
    with tempfile.TemporaryDirectory() as directory:
        capture = make_capture(directory)
        for mark, name, title in listed:
            means, how, do, wrong = parts_of(texts, name, ("means", "how", "do", "wrong"), "reports")
            title, _, alias = title.partition(" (" if title.endswith(")") and title.split(" (")[-1].islower() else "\0")
            lines = [f"# {name}", "", f"{title}." + (f" Older name: `{alias[:-1]}`." if alias else ""), "",
                     f"    pillion stats -r {name} CAPTURE", "",
                     "Shown by default." if mark == "*" else "Shown on request (`-r`).", "",
                     "## What it means", means, "", "## How it is decided", how, "", "## What to do", do, "",
                     "## A case in which it is wrong", wrong, "", "## Columns", "| column | meaning |", "|---|---|"]
            found = columns_of(name, capture)
            if not found:
                raise Wrong(f"{name} has no columns")
            lines += [f"| {column} | {meaning(columns, name, column)} |" for column in found]
            yield name, title, lines
    if texts:
        raise Wrong(f"docs/reference/reports.txt: no report {', '.join(texts)}")


# ---- rules and verbs ----

def rule_pages():
    texts = sections("rules")
    for name, _, title, _, advice in rows_of("report/answers/rule_list.h", "RULES"):
        how, wrong = parts_of(texts, name, ("how", "wrong"), "rules")
        yield name, title, [f"# {name}", "", f"{title}.", "", f"    pillion analyze -r {name} CAPTURE", "",
                            "## How it is decided", how, "", "## What to do", advice, "",
                            "## A case in which it is wrong", wrong, "",
                            "A rule answers found, clean, or could not check, with the reason."]
    if texts:
        raise Wrong(f"docs/reference/rules.txt: no rule {', '.join(texts)}")


def examples_of(verb):
    page = re.search(rf"^\[{verb}\]\n(.*?)(?=^\[|\Z)", read(ROOT, "man", "pages.txt"), re.DOTALL | re.MULTILINE)
    found = re.findall(r"^\$ (.*)\n(.*)$", page[1], re.MULTILINE) if page else []
    return [line for command, text in found for line in ("", text, "", "    " + command)]


def verb_pages():
    for _, name, _ in rows_of("runtime/shared/base/verb_list.h", "VERBS"):
        text = ask(name, "--help").rstrip()
        title = text.split("\n")[2]
        examples = examples_of(name)
        yield name, title, [f"# pillion {name}", "", title[0].upper() + title[1:] + ".", "", "```", text, "```",
                            *(["", "## Examples", *examples] if examples else [])]


# ---- all ----

def pages():
    """(path below docs/, lines) of each page."""
    makers = {"verbs": verb_pages, "reports": report_pages, "rules": rule_pages}
    index = ["# Reference", "", "One page for each verb, report and rule.",
             "Options, columns and advice are those that the programs print.", ""]
    for part in PARTS:
        index += [f"## {part.capitalize()}", "| name | what it is |", "|---|---|"]
        for name, title, lines in makers[part]():
            index.append(f"| [{name}]({part}/{name}.md) | {title} |")
            yield f"reference/{part}/{name}.md", lines
        index.append("")
    yield "reference/index.md", index


def on_files(files, config):
    """A hook of mkdocs."""
    from mkdocs.structure.files import File
    for path, lines in pages():
        files.append(File.generated(config, path, content="\n".join(lines) + "\n"))
    return files


def main():
    (output,) = sys.argv[1:]
    shutil.rmtree(os.path.join(output, "reference"), ignore_errors=True)
    try:
        for path, lines in pages():
            path = os.path.join(output, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
    except Wrong as wrong:
        sys.exit(f"reference_pages.py: {wrong}")


if __name__ == "__main__":
    main()
