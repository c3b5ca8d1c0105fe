# SPDX-License-Identifier: Apache-2.0
"""Lines of Python functions: which ones are counted, and the text that line_profiler prints of them.

    $ pillion -o run --lines-of=fib,Class.method python3 job.py
    $ python3 -m pillion.lines run.pillion          # -u 1e-3: times in ms

The recorder counts (--lines-of); report line_profile has the counts. --lines-of=@profile leaves the choice to count(),
which pillion.modulus and %lprun call. Functions are shown as a whole, so their text is read here: the report has that
of executed lines alone."""
import ast
import inspect
import linecache
import os
import sys

from pillion.capture import Capture, PillionError

OPTION = "--lines-of=@profile"
WIDTHS = 6, 9, 12, 8, 8
TITLES = "Line #", "Hits", "Time", "Per Hit", "% Time", "Line Contents"
UNIT = 1e-6  # of kernprof


# ---- which functions are counted ----

def what_is_missing():
    """Why no lines can be counted in this process; None: they can."""
    if not os.environ.get("PILLION_OUTPUT"):
        return (f"pillion: this process is not recorded: start it as `pillion {OPTION} COMMAND`, or with LD_PRELOAD="
            "the path of libpillion-lines.so, PILLION_OUTPUT=DIRECTORY and PILLION_LINES_OF=@profile")
    if "@profile" not in os.environ.get("PILLION_LINES_OF", "").split(",") or _recorder() is None:
        return f"pillion: lines are not recorded: start the program as `pillion {OPTION} COMMAND`"
    if object.__basicsize__ != 16:
        return "pillion: lines of Python functions are not recorded without the GIL"
    return None


def _recorder():
    import ctypes
    function = getattr(ctypes.PyDLL(None), "pillion_lines_of", None)
    if function:
        function.argtypes = [ctypes.py_object]
    return function


def place_of(function):
    """(File, Function) of the rows of what a decorator is applied to; None if it is not written in Python."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(function, "__code__", None)
    return (code.co_filename, getattr(code, "co_qualname", function.__qualname__)) if inspect.iscode(code) else None


def count(function):
    """Counts the lines of a function from now on. False if that is not possible; what_is_missing() may know why."""
    if place_of(function) is None or what_is_missing() is not None:
        return False
    return bool(_recorder()(inspect.unwrap(getattr(function, "__func__", function))))


# ---- the text ----

def _definitions(text):
    """(qualified name, first line with decorators, last line) of the functions in a file."""
    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = f"{prefix}{child.name}."
                if not isinstance(child, ast.ClassDef):
                    first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                    yield prefix + child.name, first, child.end_lineno
                    inner += "<locals>."
            yield from visit(child, inner)
    try:
        return list(visit(ast.parse(text), ""))
    except (SyntaxError, ValueError, RecursionError):
        return []


class _File:
    """The text of a source file, as far as it is what has run."""

    def __init__(self, path, is_known):
        self.lines, self.definitions = [], []
        if is_known:
            try:
                with open(path, "rb") as file:
                    text = file.read().decode(errors="replace")
            except OSError:
                text = "".join(linecache.getlines(path))  # a cell of this process's notebook
            self.lines, self.definitions = text.splitlines(keepends=True), _definitions(text)

    def block(self, name, line):
        """(first line, texts of the lines) of the function of this name in which the line is; None: not known."""
        for found, first, last in self.definitions:
            if found == name and first <= line <= last:
                return first, [text.rstrip("\r\n") for text in inspect.getblock(self.lines[first - 1:])]
        return None


def _decimal(value, width):
    text = f"{value:5.1f}"
    return text if len(text) <= width else f"{value:5.3g}"


def _cells(row, total, scale):
    time, hits = row["Time (ns)"] * scale, row["Hits"]
    shown = str(hits)
    return (shown if len(shown) <= WIDTHS[1] else f"{hits:g}", _decimal(time, WIDTHS[2]),
        _decimal(time / hits, WIDTHS[3]) if hits else "", f"{100 * row['Time (ns)'] / total:5.1f}" if total else "")


def _function_text(rows, file, unit):
    path, name, total = rows[0]["File"], rows[0]["Function"], sum(row["Time (ns)"] for row in rows)
    block = file.block(name, rows[0]["Line"])
    known = {row["Line"]: _cells(row, total, 1e-9 / unit) for row in rows}
    first, texts = block or (rows[0]["Line"], [""] * (rows[-1]["Line"] - rows[0]["Line"] + 1))
    widths = [WIDTHS[0], *(max([width, *map(len, cells)]) for width, cells in zip(WIDTHS[1:], zip(*known.values())))]

    def line(*cells):
        return " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths)) + "  " + cells[-1]

    head = line(*TITLES)
    place = f"Function: {name}" + (f" at line {first}" if block else "; the file cannot be read or was changed")
    lines = [line(number, *known.get(number, ("",) * 4), text) for number, text in enumerate(texts, first)]
    title = f"Total time: {total * 1e-9:g} s"
    return "\n".join([title, f"File: {path}", place, "", head, "=" * len(head), *lines, "", ""])


def _functions(rows):
    """The rows of each function, which are in the order of their lines."""
    found = []
    for row in rows:
        last = found[-1][-1] if found else None
        if not last or (last["File"], last["Function"]) != (row["File"], row["Function"]) or row["Line"] < last["Line"]:
            found.append([])
        found[-1].append(row)
    return found


def text(rows, unit=UNIT):
    """What line_profiler prints, of rows of report line_profile; the unit of times is in seconds."""
    files, parts = {}, [f"Timer unit: {unit:g} s\n\n"]
    for one in _functions(rows):
        path = one[0]["File"]
        if path not in files:
            is_known = any(row.get("Source") is not None for row in one)
            files[path] = _File(path, is_known or not os.path.exists(path))
        parts.append(_function_text(one, files[path], unit))
    return "".join(parts)


def rows_of(capture):
    """The rows of report line_profile; none if no lines were recorded."""
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that there are none
        return list(capture.table("line_profile"))


def own_rows():
    """The same of this process, while it goes on."""
    from pillion.profiler import own_traces
    return rows_of(Capture(*(own_traces() or [os.environ["PILLION_OUTPUT"]])))


def since(before, after):
    """What was counted between two calls of own_rows()."""
    known = {(row["File"], row["Function"], row["Line"]): row for row in before}
    found = []
    for row in after:
        last = known.get((row["File"], row["Function"], row["Line"]), {"Hits": 0, "Time (ns)": 0})
        hits, time = row["Hits"] - last["Hits"], row["Time (ns)"] - last["Time (ns)"]
        if hits or time:
            found.append(dict(row, **{"Hits": hits, "Time (ns)": time}))
    return found


def main():
    import argparse
    parser = argparse.ArgumentParser(prog="python3 -m pillion.lines", description="What line_profiler prints, of lines "
        "that --lines-of recorded.")
    parser.add_argument("capture", nargs="+")
    parser.add_argument("-u", "--unit", type=float, default=UNIT, help="the unit of times in seconds (default: 1e-6)")
    arguments = parser.parse_args()
    try:
        rows = rows_of(Capture(*arguments.capture))
    except PillionError as error:
        print(error, file=sys.stderr)
        return 2
    if not rows:
        print("no lines were recorded: --lines-of records them", file=sys.stderr)
        return 1
    print(text(rows, arguments.unit), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
