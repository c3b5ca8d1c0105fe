# SPDX-License-Identifier: Apache-2.0
"""docs_commands.py ROOT FILE...: runs the commands of ```console blocks, and prints a TAP line for each block.

A line that begins with "$ " is a command, with the lines after a backslash at its end; other lines are its output. The
blocks of one file run in one directory, which has `examples` of the tree. A comment before a block says how:

    <!-- test: needs torch jax -->   Python modules, or programs, without which it is skipped
    <!-- test: simulated -->         on the simulated GPU of the tests
    <!-- test: exact -->             the standard output is as printed
    <!-- test: status 1 -->          the exit status of the last command
    <!-- test: skip REASON -->       not run: a GPU, a cluster, root

Several may be separated by ';'. DOCS_PYTHON: the python3 of the commands; a virtual environment, for example."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"((?:<!-- test: [^\n]* -->\n\n?)?)```console\n(.*?)```", re.DOTALL)
PATIENCE = float(os.environ.get("PILLION_E2E_PATIENCE", 240))


class Block:
    def __init__(self, comment, text):
        self.needs, self.is_simulated, self.is_exact, self.status, self.skip = [], False, False, 0, ""
        found = re.search(r"<!-- test: (.*) -->", comment)
        for word in found[1].split(";") if found else []:
            name, _, value = word.strip().partition(" ")
            if name == "needs":
                self.needs = value.split()
            elif name == "status":
                self.status = int(value)
            elif name == "skip":
                self.skip = value
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


def run(block, place, environment, build):
    """What is wrong; "" if nothing is."""
    if block.is_simulated:
        doubles = os.path.join(build, "tests/doubles")
        environment = {**environment, "LD_LIBRARY_PATH": doubles, "VECTOR_ADD": build + "/examples/cuda/vector_add"}
    status = ""
    output = ""
    for number, command in enumerate(block.commands):
        try:
            ran = subprocess.run(["bash", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return f"{command}\ndid not end"
        wanted = block.status if number == len(block.commands) - 1 else 0
        output += ran.stdout.decode(errors="replace")
        if ran.returncode != wanted:
            return f"{command}\nstatus {ran.returncode}\n{status}" + (ran.stdout + ran.stderr).decode(errors="replace")
    printed = "\n".join(block.output)
    if block.is_exact and output.strip() != printed.strip():
        return f"printed:\n{output}\nthe page has:\n{printed}"
    return ""


def main():
    root, *files = sys.argv[1:]
    build = os.environ["PILLION_BUILD_DIR"]
    for path in files:
        with open(path, encoding="utf-8") as file:
            blocks = [Block(*found) for found in BLOCK.findall(file.read())]
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


main()
