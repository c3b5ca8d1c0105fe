# SPDX-License-Identifier: Apache-2.0
"""%%pillion and %pillion, the magics of IPython and Jupyter."""
import itertools
import os
import shlex
import subprocess
import sys
import tempfile

from pillion import ranges
from pillion.capture import Capture, PillionError, _command, _quiet_environment


numbers = itertools.count(1)
CAPTURE = "pillion: capture: open it with pillion view "


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
    output = None
    with subprocess.Popen(arguments, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for text in process.stdout:
            if text.startswith(CAPTURE):
                output = os.path.abspath(text[len(CAPTURE):].rstrip("\n"))
            else:
                print(text, end="")
    if process.returncode:
        print(f"exit status {process.returncode}", file=sys.stderr)
    if output is None:
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


def load(ipython):
    ipython.register_magic_function(pillion, "cell", "pillion")
    ipython.register_magic_function(line_runner(ipython), "line", "pillion")
