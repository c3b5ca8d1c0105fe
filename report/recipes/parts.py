# SPDX-License-Identifier: Apache-2.0
"""The parts of one `stats`: processes of `pillion-report stats --partial=I/N`, and the messages between them.

Part 0 leads. It either asks for one message of each of the others, or sends one to all of them, and at last it sends
what it has printed. A message is its kind and size, 8 bytes each, and its bytes: report/base/share.c."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

GATHER, BROADCAST, PRINTED = 1, 2, 3
HEAD = struct.Struct("=QQ")


class CaptureError(Exception):
    """A capture that cannot be read."""


def report_program():
    return os.environ.get("PILLION_REPORT") or shutil.which("pillion-report") or "pillion-report"


class Part:
    """One process, on the machine on which this object is made. Dask keeps it as an actor on a worker."""

    def __init__(self, number, count, words):
        self.messages = tempfile.TemporaryFile()
        try:
            self.process = subprocess.Popen(
                [report_program(), "stats", f"--partial={number}/{count}", *words], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=self.messages)
        except OSError as error:
            raise CaptureError(f"{report_program()}: {error.strerror}") from None

    def receive(self):
        """Its next message: kind and bytes; None: it has ended."""
        head = self.process.stdout.read(HEAD.size)
        if len(head) < HEAD.size:
            return None
        kind, size = HEAD.unpack(head)
        data = self.process.stdout.read(size)
        return (kind, data) if len(data) == size else None

    def send(self, kind, data):
        """False: it has ended."""
        try:
            self.process.stdin.write(HEAD.pack(kind, len(data)) + data)
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def end(self):
        """Its exit status and its standard error."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        status = self.process.wait()
        self.messages.seek(0)
        return status, self.messages.read()


def result_of(value):
    """What a method of a part has returned: an actor's methods return a future of it."""
    return value.result() if hasattr(value, "result") else value


def carry_messages(parts):
    """Until part 0 has ended. Returns what it has printed, and the parts that ended before they were to."""
    first, *others = parts
    printed = b""
    while (message := result_of(first.receive())) is not None:
        kind, data = message
        if kind == GATHER:
            theirs = [result_of(value) for value in [part.receive() for part in others]]
            lost = [part for part, value in zip(others, theirs) if value is None]
            if lost:
                return printed, lost
            for value in theirs:
                result_of(first.send(*value))
        elif kind == BROADCAST:
            for value in [part.send(kind, data) for part in others]:
                result_of(value)
        elif kind == PRINTED:
            printed = data
    return printed, []


def run_parts(parts):
    """Exit status, standard output and standard error, as of one `stats`."""
    printed, lost = carry_messages(parts)
    ends = [result_of(value) for value in [part.end() for part in parts]]
    if not lost:
        return ends[0][0], printed, ends[0][1]
    number = parts.index(lost[0])
    reason = ends[number][1].decode(errors="replace").strip() or f"it ended with status {ends[number][0]}"
    raise CaptureError(f"part {number} of {len(parts)}: {reason}")


def main():
    """parts.py COUNT WORD...: all parts on this machine, without Dask; for tests."""
    count = int(sys.argv[1])
    status, printed, messages = run_parts([Part(i, count, sys.argv[2:]) for i in range(count)])
    sys.stdout.buffer.write(printed)
    sys.stderr.buffer.write(messages)
    return status


if __name__ == "__main__":
    sys.exit(main())
