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

    def __init__(self, *paths, command=None):
        self.paths = [os.fspath(p) for p in paths]
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

    def table(self, report, *, by=None, filter_time=None, filter_nvtx=None, top=None):
        """A report of `pillion stats`. `by`, `filter_time`, `filter_nvtx` and `top` are its options."""
        import json
        options = {"by": by, "filter-time": filter_time, "filter-nvtx": filter_nvtx, "top": top}
        given = [f"--{name}={value}" for name, value in options.items() if value is not None]
        return Table(report, json.loads(self._read("stats", "-q", "-f", "json", "-r", report, *given, *self.paths)))

    __getitem__ = table

    def query(self, sql):
        """The rows of a SELECT over nsys's tables and the reports."""
        import json
        return Table("query", json.loads(self._read("query", "-q", "-f", "json", *self.paths, sql)))

    def summary(self):
        """The lines that pillion prints at the end of a run."""
        return self._read("stats", "-q", "--summary", *self.paths).decode(errors="replace")

    def __repr__(self):
        return f"<pillion.Capture {', '.join(self.paths)}>"

    def _repr_html_(self):
        from html import escape
        return f"<pre>{escape(self.summary())}</pre>"


def read(*captures, command=None):
    """Opens a capture. `command` is the path of pillion, if it is not on PATH."""
    return Capture(*captures, command=command)
