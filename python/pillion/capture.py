# SPDX-License-Identifier: Apache-2.0
"""Captures as tables: what `pillion stats` and `pillion query` print."""
import os
import shutil


class PillionError(Exception):
    """pillion could not read the capture, or was used in a wrong way: its message."""


def _command():
    """Where pillion is: beside this package in a source tree or an installation, or on PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    for beside in ("../../scripts/pillion", "../../../../bin/pillion"):
        path = os.path.normpath(os.path.join(here, beside))
        if os.access(path, os.X_OK):
            return path
    path = shutil.which("pillion")
    if not path:
        raise PillionError("there is no pillion on PATH")
    return path


def _quiet_environment():
    """Without the recorder: reading a capture is no part of what is recorded."""
    hidden = ("LD_PRELOAD", "NVTX_INJECTION64_PATH", "PILLION_OUTPUT")
    return {k: v for k, v in os.environ.items() if k not in hidden}


class Table:
    """Rows as dicts, in the order of the report; times are in ns."""

    def __init__(self, name, rows):
        self.name, self.rows = name, rows
        self.columns = list(rows[0]) if rows else []

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, which):
        """A row by its number, several by a slice, or the values of a column by its title."""
        return [row[which] for row in self.rows] if isinstance(which, str) else self.rows[which]

    def sort(self, column, ascending=False):
        """The same rows by a column, the largest first; empty cells are last."""
        has = [row for row in self.rows if row[column] is not None]
        none = [row for row in self.rows if row[column] is None]
        return Table(self.name, sorted(has, key=lambda row: row[column], reverse=not ascending) + none)

    def groups(self, column):
        """{value of the column: Table of its rows}, in the order of the rows."""
        found = {}
        for row in self.rows:
            found.setdefault(row[column], []).append(row)
        return {value: Table(self.name, rows) for value, rows in found.items()}

    def to_pandas(self):
        import pandas
        return pandas.DataFrame(self.rows, columns=self.columns or None)

    def to_arrow(self):
        import pyarrow
        return pyarrow.table({c: [row[c] for row in self.rows] for c in self.columns})

    def __repr__(self):
        return f"<pillion.Table {self.name}: {len(self)} rows of {', '.join(self.columns) or 'nothing'}>"

    def _repr_html_(self):
        from html import escape

        def cell(value):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return f"<td style='text-align:left'>{escape('' if value is None else str(value))}</td>"
            return f"<td>{value:,}</td>"

        head = "".join(f"<th>{escape(c)}</th>" for c in self.columns)
        body = "".join(f"<tr>{''.join(map(cell, row.values()))}</tr>" for row in self.rows)
        return (f"<table><caption>{escape(self.name)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>")


class Capture:
    """A capture, or several that are read as one.

        capture = pillion.read("report1.pillion")
        capture["nvtx_sum"].to_pandas()
        capture.query('SELECT Name, "Total Time (ns)" FROM osrt_sum')"""

    def __init__(self, *paths, command=None, filter_nvtx=None):
        self.paths = [os.fspath(p) for p in paths]
        self._filter = [] if filter_nvtx is None else [f"--filter-nvtx={filter_nvtx}"]
        for path in self.paths:
            if not os.path.exists(path):
                raise PillionError(f"{path}: no such capture")
        self._program = command or _command()

    def _read(self, *arguments):
        import subprocess
        done = subprocess.run([self._program, *arguments], capture_output=True, env=_quiet_environment())
        message = done.stderr.decode(errors="replace").strip()
        if done.returncode not in (0, 1):
            raise PillionError(message or f"pillion: status {done.returncode}")
        if done.returncode:
            import warnings
            warnings.warn(message, RuntimeWarning, stacklevel=3)
        return done.stdout

    def table(self, report, *, by=None, filter_time=None, filter_nvtx=None, top=None, group_by=None, sort=None):
        """A report of `pillion stats`, whose options the other arguments are."""
        import json
        options = {"by": by, "filter-time": filter_time, "filter-nvtx": filter_nvtx, "top": top, "group-by": group_by,
            "sort": sort}
        given = [f"--{name}={value}" for name, value in options.items() if value is not None]
        given += [] if filter_nvtx else self._filter
        return Table(report, json.loads(self._read("stats", "-q", "-f", "json", "-r", report, *given, *self.paths)))

    __getitem__ = table

    def query(self, sql):
        """The rows of a SELECT over nsys's tables and the reports."""
        import json
        return Table("query", json.loads(self._read("query", "-q", "-f", "json", *self.paths, sql)))

    def _envelope(self, *arguments):
        """The rows of what prints one object, by table; its verdict and reason. Verdicts have statuses of their own."""
        import json
        import subprocess
        done = subprocess.run([self._program, *arguments], capture_output=True, env=_quiet_environment())
        try:
            whole = json.loads(done.stdout)
        except ValueError:
            raise PillionError(done.stderr.decode(errors="replace").strip() or f"pillion: status {done.returncode}")
        if "rows" not in whole:
            raise PillionError(whole.get("error", f"pillion: status {done.returncode}"))
        tables = {}
        for row in whole["rows"]:
            tables.setdefault(row.pop("table"), []).append(row)
        return tables, whole

    def findings(self, everything=False):
        """What `pillion analyze` found, what saves most first; `everything`: also rules that found nothing."""
        rows = self._envelope("analyze", "--json", *self._filter, *self.paths)[0].get("findings", [])
        return Table("findings", [row for row in rows if everything or row["Verdict"] == "found"])

    def diff(self, *after, gate=None):
        """Changes from this capture to `after`, as `pillion diff` has them. `verdict` and `reason` are what it says."""
        given = [] if gate is None else [f"--gate={gate}"]
        paths = [path for one in after for path in (one.paths if isinstance(one, Capture) else [os.fspath(one)])]
        tables, whole = self._envelope("diff", "--json", *given, *self.paths, "--", *paths)
        table = Table("diff", tables.get("diff", []))
        table.verdict, table.reason = whole["verdict"], whole["reason"]
        return table

    def source(self, file):
        """The lines of a source file with the cost of each: Line, Source, and times in ns."""
        return Table(file, self._envelope("stats", "--json", "--source", file, *self.paths)[0].get("lines", []))

    def sources(self):
        """{file: its lines} of all files with a line that costs something, as far as their text is known."""
        files = dict.fromkeys(row["Line"].rpartition(":")[0] for row in self.table("lines") if row["Line"])
        found = {}
        for file in filter(None, files):
            try:
                lines = self.source(file)
            except PillionError:
                continue  # it is not what has run, or not here
            if any(line.get("Source") for line in lines):
                found[file] = lines
        return found

    def export(self, type, path, metric=None):
        """Writes a file of a type of `pillion export`: "html", "chrome", "perfetto", ... `metric` is its option."""
        given = [] if metric is None else [f"--metric={metric}"]
        self._read("export", "-q", "-f", "true", "-t", type, "-o", os.fspath(path), *given, *self._filter, *self.paths)

    def summary(self):
        """The lines that pillion prints at the end of a run."""
        return self._read("stats", "-q", "--summary", *self._filter, *self.paths).decode(errors="replace")

    def __repr__(self):
        return f"<pillion.Capture {', '.join(self.paths)}>"

    def _repr_html_(self):
        from pillion.show import capture_html
        return capture_html(self._envelope("stats", "--summary", "--json", *self._filter, *self.paths)[0])


def read(*captures, command=None, filter_nvtx=None):
    """Opens a capture. `command` is the path of pillion, if it is not on PATH. `filter_nvtx`: only what overlaps these
    ranges, as the option of `pillion stats` says."""
    return Capture(*captures, command=command, filter_nvtx=filter_nvtx)
