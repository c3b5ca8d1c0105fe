# SPDX-License-Identifier: Apache-2.0
"""docs_commands.py [--screens] ROOT FILE...: runs the commands of ```console blocks, and prints a TAP line for each.

A line that begins with "$ " is a command, with the lines after a backslash at its end; other lines are its output. The
blocks of one file run in one directory, which has `examples` of the tree. A comment before a block says how:

    <!-- test: needs torch jax -->   Python modules, or programs, without which it is skipped
    <!-- test: simulated -->         on the simulated GPU of the tests
    <!-- test: exact -->             the standard output is as printed
    <!-- test: status 1 -->          the exit status of the last command
    <!-- test: screen REGEX -->      all that is printed on a terminal of 100 columns has this, and so has the page,
                                     which shows such an output with other figures; white space counts as one space
    <!-- test: skip REASON -->       not run: a GPU, a cluster, root

Several may be separated by ';'. --screens: writes what is printed now into the pages, as their screens.
DOCS_PYTHON: the python3 of the commands; a virtual environment, for example."""
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading

BLOCK = re.compile(r"((?:<!-- test: [^\n]* -->\n\n?)?)```console\n(.*?)```", re.DOTALL)
is_writing = "--screens" in sys.argv
PATIENCE = float(os.environ.get("PILLION_E2E_PATIENCE", 240))


class Block:
    def __init__(self, comment, text):
        self.needs, self.is_simulated, self.is_exact, self.status, self.skip = [], False, False, 0, ""
        self.screen = self.shown = ""
        found = re.search(r"<!-- test: (.*) -->", comment)
        for word in found[1].split(";") if found else []:
            name, _, value = word.strip().partition(" ")
            if name == "needs":
                self.needs = value.split()
            elif name == "status":
                self.status = int(value)
            elif name in ("skip", "screen"):
                setattr(self, name, value)
            elif name in ("simulated", "exact"):
                setattr(self, f"is_{name}", True)
            else:
                raise ValueError(f"unknown directive {name}")
        self.commands, self.output = [], []
        for line in text.splitlines():
            if self.commands and self.commands[-1].endswith("\\"):
                self.commands[-1] += "\n" + line
            elif line.startswith("$ "):
                self.commands.append(line[2:])
            else:
                self.output.append(line)

    def missing(self, environment):
        for name in self.needs:
            if shutil.which(name, path=environment["PATH"]):
                continue
            asked = subprocess.run(["python3", "-c", f"import {name}"], env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if asked.returncode:
                return f"no {name} here"
        return ""


def environment_in(place, root, build):
    """`pillion` and `python3` are first on PATH."""
    programs = os.path.join(place, ".bin")
    os.mkdir(programs)
    wrapped = {"pillion": os.environ.get("PILLION", os.path.join(root, "scripts/pillion")),
               "pillion-report": os.path.join(build, "report/pillion-report")}
    for name, program in wrapped.items():
        with open(os.path.join(programs, name), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec '{program}' \"$@\"\n")
        os.chmod(file.name, 0o755)
    path = [programs]
    if os.environ.get("DOCS_PYTHON"):
        path.append(os.path.dirname(os.environ["DOCS_PYTHON"]))
    os.symlink(os.path.join(root, "examples"), os.path.join(place, "examples"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PILLION_E2E")}
    environment.update(PATH=":".join(path + [environment["PATH"]]), PILLION_BUILD_DIR=build, HOME=place,
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", JAX_PLATFORMS="cpu",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMP_NUM_THREADS="1",
                       TORCHINDUCTOR_CACHE_DIR=place + "/.inductor")
    return environment


def without_place(text, place):
    """What is printed without the scratch directory and the name of this host, for the pages."""
    for name in (place, place.replace("_", "\\_")):
        text = text.replace(name + "/", "")
    host = os.uname().nodename
    return re.sub(rf"\b{re.escape(host)}\b", "pc".ljust(len(host)), text)


def has_finding(text, pattern):
    return re.search(pattern, " ".join(text.split()))


def read_all(terminal, ret):
    """Until all processes have closed the terminal, which is an error of input then."""
    try:
        while data := os.read(terminal, 65536):
            ret.append(data)
    except OSError:
        pass


def on_terminal(command, place, environment):
    """Runs a command on a terminal of 100 columns: its status, and what a person sees at the end."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    seen = []
    reader = threading.Thread(target=read_all, args=(ours, seen), daemon=True)
    reader.start()
    environment = {**environment, "COLUMNS": "100", "PILLION_PAGER": "", "NO_COLOR": "1", "TERM": "dumb"}
    ran = subprocess.run(["bash", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=its,
        stderr=its, timeout=PATIENCE, check=False)
    os.close(its)
    reader.join(PATIENCE)
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(seen).decode(errors="replace")).replace("\r\n", "\n")
    return ran.returncode, "\n".join(line.rpartition("\r")[2].rstrip() for line in text.split("\n"))


def in_pipe(command, place, environment):
    ran = subprocess.run(["bash", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    return ran.returncode, ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace")


def run(block, place, environment, build):
    """What is wrong; "" if nothing is. Sets block.shown to what a person would see."""
    if block.is_simulated:
        doubles = os.path.join(build, "tests/doubles")
        examples = os.path.join(build, "examples/cuda")
        environment = {**environment, "LD_LIBRARY_PATH": doubles, "VECTOR_ADD": os.path.join(examples, "vector_add"),
                       "GPU_IDLE": os.path.join(examples, "gpu_idle")}
    output = ""
    for number, command in enumerate(block.commands):
        try:
            if block.screen:
                (status, printed), errors = on_terminal(command, place, environment), ""
            else:
                status, printed, errors = in_pipe(command, place, environment)
        except subprocess.TimeoutExpired:
            return f"{command}\ndid not end"
        wanted = block.status if number == len(block.commands) - 1 else 0
        output += printed
        block.shown += f"$ {command}\n" + without_place(printed, place)
        if status != wanted:
            return f"{command}\nstatus {status}\n{printed}{errors}"
    printed = "\n".join(block.output)
    if block.screen and not has_finding(block.shown, block.screen):
        return f"does not have {block.screen}:\n{block.shown}"
    if block.screen and not has_finding(printed, block.screen) and not is_writing:
        return f"the page does not show {block.screen}"
    if block.is_exact and output.strip() != printed.strip():
        return f"printed:\n{output}\nthe page has:\n{printed}"
    return ""


def write_screens(path, text, blocks):
    """The page with the new screens of its blocks."""
    shown = iter(blocks)

    def screen(found):
        block = next(shown)
        kept = found[0] if not block.screen or not block.shown else \
            f"{found[1]}```console\n" + re.sub(r"[ \t]+$", "", block.shown, flags=re.MULTILINE).rstrip() + "\n```"
        return kept

    with open(path, "w", encoding="utf-8") as file:
        file.write(BLOCK.sub(screen, text))


def main():
    root, *files = (word for word in sys.argv[1:] if word != "--screens")
    build = os.environ["PILLION_BUILD_DIR"]
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        blocks = [Block(*found) for found in BLOCK.findall(text)]
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as place:
            environment = environment_in(place, root, build)
            for number, block in enumerate(blocks, 1):
                name = f"{os.path.relpath(path, root)} {number}: " + (block.commands or ["(nothing)"])[0].split("\n")[0]
                name = name.replace("#", "_")
                why = block.skip or block.missing(environment)
                if block.is_simulated and not os.path.exists(build + "/examples/cuda/vector_add"):
                    why = "built without CUDA headers"
                wrong = "" if why else run(block, place, environment, build)
                print(f"{'not ok' if wrong else 'ok'} - {name}" + (f" # SKIP {why}" if why else ""), flush=True)
                if wrong:
                    print("\n".join("# " + line for line in wrong.splitlines()[-25:]), file=sys.stderr, flush=True)
        if is_writing:
            write_screens(path, text, blocks)


main()
