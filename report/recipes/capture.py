# SPDX-License-Identifier: Apache-2.0
"""What recipes read of one capture: its Parquet tables, and tables of reports."""
import glob
import io
import os
import shutil
import subprocess
import tempfile

try:
    import pandas
except ImportError:  # --help does without
    pandas = None

from parts import CaptureError, report_program


def run_report(*arguments):
    try:
        done = subprocess.run([report_program(), *arguments], capture_output=True, check=False)
    except OSError as error:
        raise CaptureError(f"{report_program()}: {error.strerror}") from None
    if done.returncode > 1:
        raise CaptureError(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="replace")


def report_table(capture, report):
    """A report as a DataFrame; empty where it has no rows."""
    text = run_report("stats", "-q", "-r", report, "-f", "csv", capture)
    return pandas.read_csv(io.StringIO(text)) if text.strip() else pandas.DataFrame()


class Tables:
    """The tables of nsys's schema, exported to Parquet for as long as the object is open."""

    def __init__(self, capture):
        self.capture = capture

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="pillion-recipe-")
        try:
            run_report("export", "-q", "-t", "parquetdir", "-f", "true", "-o", self.directory + "/tables",
                       self.capture)
        except CaptureError:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)

    def names(self, pattern):
        return sorted(os.path.basename(path)[:-8] for path in glob.glob(f"{self.directory}/tables/{pattern}.parquet"))

    def table(self, name, columns):
        path = f"{self.directory}/tables/{name}.parquet"
        if not os.path.exists(path):
            return pandas.DataFrame(columns=columns)
        return pandas.read_parquet(path, columns=columns)

    def strings(self):
        table = self.table("StringIds", ["id", "value"])
        return dict(zip(table["id"], table["value"]))


def pid_of(global_id):
    """The process of a globalTid or globalPid."""
    return global_id.astype("int64") // (1 << 24) % (1 << 24)


def union(starts, ends):
    """Disjoint intervals that cover the same time, in order."""
    merged = []
    for start, end in sorted(zip(starts, ends)):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged
