# SPDX-License-Identifier: Apache-2.0
"""%%pillion, %pillion and %lprun, the magics of IPython and Jupyter."""
import importlib
import itertools
import operator
import os
import shlex
import subprocess
import sys
import tempfile

from pillion import functions, lines, ranges
from pillion.capture import Capture, PillionError, _command, _quiet_environment


numbers = itertools.count(1)
CAPTURE = "pillion: capture: open it with pillion view "


def output_of(said):
    """The capture of such a line; None: it names none."""
    try:
        words = shlex.split(said[len(CAPTURE):])
    except ValueError:  # an open quote
        return None
    return os.path.abspath(words[0]) if words else None


def pillion(line, cell):
    """%%pillion [OPTION]...

    Runs the cell as a program of its own under pillion, with these options of `pillion`, and returns the capture. The
    cell sees none of the notebook's variables, and the notebook none of the cell's. Without -o the capture lasts as
    long as the object."""
    directory = tempfile.TemporaryDirectory(prefix="pillion-cell-")
    script, path = os.path.join(directory.name, "cell.py"), os.path.join(directory.name, "cell")
    with open(script, "w", encoding="utf-8") as file:
        file.write(cell)
    # The later of two options -o counts.
    arguments = [_command(), "-o", path, *shlex.split(line), sys.executable, "-u", script]
    environment = dict(_quiet_environment(), PILLION_STATS="false")
    said = None  # the launcher's line is the last such one; those before are of the cell
    with subprocess.Popen(arguments, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for text in process.stdout:
            if text.startswith(CAPTURE):
                text, said = said or "", text
            print(text, end="")
    if process.returncode:
        print(f"exit status {process.returncode}", file=sys.stderr)
    output = output_of(said) if said else None
    if output is None:
        print(said or "", end="")
        return None
    capture = Capture(output)
    capture._directory = directory  # removed with the object
    return capture


def line_runner(ipython):
    def pillion_line(line):
        """%pillion STATEMENT

        Runs the statement in this kernel, with its variables, as a range, and returns the capture of that range. The
        kernel must be recorded: `pillion jupyter lab`, or `pillion ipython`."""
        output = os.environ.get("PILLION_OUTPUT")
        if not output or not ranges.is_active():
            raise PillionError("this kernel is not recorded: start it under pillion (`pillion jupyter lab`, `pillion "
                "ipython`), or run a cell as a program of its own by %%pillion")
        name = f"line {next(numbers)}"
        code = compile(ipython.transform_cell(line), "<pillion>", "exec")
        with ranges.annotate(name, domain="notebook"):
            exec(code, ipython.user_global_ns, ipython.user_ns)
        return Capture(output, filter_nvtx=f"{name}@notebook")
    return pillion_line


def lines_runner(ipython):
    def lprun(line):
        """%lprun [-f FUNCTION]... [-m MODULE]... [-u UNIT] [-T FILE] [-s] [-r] STATEMENT

        Runs the statement in this kernel, with its variables, and prints hits and times of the lines of these functions
        as line_profiler's magic does. -s: only functions that were executed, as always here. -T: also into FILE. -r:
        returns the text. The kernel must be recorded: `pillion --lines-of=@profile jupyter lab`, or `... ipython`."""
        from IPython.core.magic import Magics, magics_class
        parser = magics_class(type("Lines", (Magics,), {}))(ipython)
        options, statement = parser.parse_options(line, "f:m:u:T:srz", list_all=True)
        space = ipython.user_global_ns, ipython.user_ns
        chosen = [eval(name, *space) for name in options.get("f", [])]
        for name in options.get("m", []):
            module = importlib.import_module(name)
            chosen += [operator.attrgetter(one)(module) for one in functions.listed_of(module)]
        why = lines.what_is_missing()
        if why:
            raise PillionError(why)
        for one in chosen:
            if not lines.count(one):
                raise PillionError(f"pillion: {one!r} is not written in Python: it has no lines")
        before = lines.own_rows()
        try:
            exec(compile(ipython.transform_cell(statement), "<pillion>", "exec"), *space)
        except (SystemExit, KeyboardInterrupt) as error:
            print(f"pillion: {type(error).__name__} ended the statement", file=sys.stderr)
        unit = float(options["u"][-1]) if "u" in options else lines.UNIT
        places = {lines.place_of(one) for one in chosen}
        text = lines.text([row for row in lines.since(before, lines.own_rows()) if (row["File"], row["Function"]) in
            places], unit)
        print(text, end="")
        for path in options.get("T", []):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text if "r" in options else None
    return lprun


def load(ipython):
    ipython.register_magic_function(pillion, "cell", "pillion")
    ipython.register_magic_function(line_runner(ipython), "line", "pillion")
    ipython.register_magic_function(lines_runner(ipython), "line", "lprun")
