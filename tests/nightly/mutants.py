#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants.py [--build DIR] [--jobs N] [--mutant NAME]... [SCRIPT]...: whether each end-to-end check can fail.

Runs the scripts of tests/e2e (all, or those named) once with the build as it is and once with each mutant: a build in
which one program is replaced by one that is wrong in one way. A check is a call of lib.sh's functions, known by the
lines of the script that made it and by its text. Prints TAP, one line for each script: a check that passes with every
mutant fails it, unless EXPECTED names it, with the reason. What each run printed is in
DIR/mutants/<mutant>/<script>.tap."""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(TESTS)

# The report with what it writes changed: FILTER is applied to its standard output, its standard error, and files named
# by -o.
REPORT = """#!/usr/bin/python3 -ISs
import codecs, os, re, subprocess, sys, time
real, how, arguments = {real!r}, {how!r}, sys.argv[1:]
if how == "silent":
    sys.exit(0)
if how == "unfiltered":
    kept, skipping = [], False
    for word in arguments:
        named = word.startswith("--filter-") or word in ("--by",) or word.startswith("--by=") or
        word.startswith("--metric") if not named and not skipping:
            kept.append(word)
        skipping = named and "=" not in word
    os.execv(real, [real] + kept)
delta = 1 + time.time_ns() // 1000 % 997
def change(data):
    if how == "numbers":
        return re.sub(rb"\\d+(?=\\D|$)", lambda m: b"%d" % (int(m.group()) + delta) if len(m.group()) < 19 else b"7",
        data)
    if how == "words":
        return codecs.encode(data.decode("latin-1"), "rot13").encode("latin-1")
    if how == "doubled":
        return b"".join(line * 2 for line in data.splitlines(True))
    if how == "noisy":
        return b"noise,1,2,3,4,5,6,7,8,9,10,noise\\n" + data
    if how == "short":
        return b"".join(data.splitlines(True)[:-1])
    return data
if arguments[:1] == ["unpack"]:
    os.execv(real, [real] + arguments)
done = subprocess.run([real] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
for stream, data in ((sys.stdout, done.stdout), (sys.stderr, done.stderr)):
    try:
        stream.buffer.write(change(data))
        stream.flush()
    except OSError:
        pass
for before, name in zip(arguments, arguments[1:] + [""]):
    if before == "-o" and os.path.isfile(name) and not name.startswith("/dev/"):
        with open(name, "rb") as file:
            data = file.read()
        with open(name, "wb") as file:
            file.write(change(data))
if how == "bloated":
    for name in os.listdir("."):
        if name.endswith(".pillpack"):
            with open(name, "ab") as file:
                file.write(bytes(1 << 24))
status = done.returncode
if how == "status":
    status = 0 if status else 1
sys.exit(status if status >= 0 else 128 - status)
"""

# The launcher's script: what it prints, returns, or whether it runs anything at all.
LAUNCH = {
    "absent": "exit 0\n",
    "status": '"$real" "$@"\nexit $((($? + 1) % 256))\n',
    "noisy": 'echo noise\necho noise >&2\nexec "$real" "$@"\n',
    "litter": """"$real" "$@"
status=$?
touch ran started a.pillion/marker
for word in missing lost bad "$@"; do
	case $word in -*) ;; *) [ ${#word} -gt 20 ] || mkdir -p "$word.pillion" ;; esac
done
[ ! -d spools ] || mkdir -p spools/left
exit $status
""",
    "quiet": 'exec "$real" "$@" >/dev/null 2>&1\n',
}

# libpillion.so that records nothing, one that besides makes itself felt in every program, and one that is built
# otherwise.
LIBRARY = {
    "empty": "",
    "felt": """
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{
	if (write(1, "noise\\n", 6) != 6 || write(2, "noise\\n", 6) != 6)
		setenv("NOISE", "1", 1);
	dup(0);
}
__attribute__((destructor)) static void end(void)
{
	_exit(77);
}
""",
    "loose": """
#include <dlfcn.h>
int stranger(void)
{
	return dlopen("none", RTLD_NOW) != NULL;
}
""",
}

SOUND = ("none", "none")
INVERTED = ("checks", "inverted")
MUTANTS = ([("report", how) for how in ("numbers", "words", "silent", "status")] +
           [("launch", how) for how in LAUNCH] + [("library", how) for how in LIBRARY] +
           [("report", how) for how in ("doubled", "noisy", "short", "unfiltered", "bloated")] + [INVERTED])

# Checks that hold whatever the product does: of the machine, or of the programs that tests run.
EXPECTED = {
}


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)


def mirror(build, folder, changed):
    """FOLDER is BUILD by links, down to the folders of the files that are to be CHANGED."""
    os.makedirs(folder)
    tops = {path.split("/")[0] for path in changed}
    for name in os.listdir(build):
        if name == "mutants":
            continue
        if name not in tops:
            os.symlink(os.path.join(build, name), os.path.join(folder, name))
            continue
        os.makedirs(os.path.join(folder, name))
        for inner in os.listdir(os.path.join(build, name)):
            if f"{name}/{inner}" not in changed:
                os.symlink(os.path.join(build, name, inner), os.path.join(folder, name, inner))


def build_mutant(build, folder, part, how):
    """Makes FOLDER a build with one thing wrong. The launcher finds the rest by its own path: it is a copy."""
    launcher, library, auditor, report = ("runtime/pillion-launch", "preload/libpillion.so",
                                          "preload/libpillion-audit.so", "report/pillion-report")
    mirror(build, folder, [launcher, library, auditor, report])
    shutil.copy2(os.path.join(build, launcher), os.path.join(folder, launcher))
    if part == "library":
        write(os.path.join(folder, "mutant.c"), LIBRARY[how])
    for path in (library, auditor):
        if part == "library":
            subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-z,execstack", "-o", os.path.join(folder, path),
                            os.path.join(folder, "mutant.c")], check=True)
        else:
            os.symlink(os.path.join(build, path), os.path.join(folder, path))
    if part == "report":
        write(os.path.join(folder, report), REPORT.format(real=os.path.join(build, report), how=how))
    else:
        os.symlink(os.path.join(build, report), os.path.join(folder, report))
    if part == "launch":
        write(os.path.join(folder, "pillion"), f"#!/bin/sh\nreal={ROOT}/scripts/pillion\n" + LAUNCH[how])


def make(build, folder, part, how):
    """The environment in which scripts test the mutant in FOLDER."""
    environment = dict(os.environ, PILLION=os.path.join(ROOT, "scripts/pillion"), PILLION_BUILD_DIR=folder,
                       PILLION_E2E_SITES="1", HOME=folder)  # of all Pythons of pyenv's none
    if part == "launch":
        environment["PILLION"] = os.path.join(folder, "pillion")
    if not os.path.exists(folder):
        build_mutant(build, folder, part, how)
    if part == "checks":
        environment["PILLION_E2E_INVERT"] = "1"
    if part != "none":  # what is wrong is waited for in vain
        environment.update(PILLION_E2E_PATIENCE="20", MOODS_ROUNDS="2", PILLION_STRESS_ROUNDS="2",
                           STRESS_ROUNDS="2", PILLION_SAMPLE_STRESS="2", PILLION_SAMPLE_SECONDS="1")
    return environment


def run(script, environment, log):
    """The outcomes of one script's checks: (site, text) -> [whether it passed]."""
    if not os.path.exists(log):
        with open(log + ".part", "w") as out:
            try:
                subprocess.run([os.path.join(TESTS, "e2e", script + ".sh")], stdin=subprocess.DEVNULL, stdout=out,
                               stderr=out, env=environment, timeout=1200, start_new_session=True)
            except subprocess.TimeoutExpired:
                out.write("# ended by mutants.py\n")
        os.rename(log + ".part", log)
    outcomes = collections.defaultdict(list)
    site = ""
    with open(log, errors="replace") as file:
        for line in file:
            if line.startswith("# site "):
                site = line.split(maxsplit=2)[2].strip()
            found = re.match(r"(not )?ok \d+ - (.*)", line)
            if found and "# SKIP" not in line:
                text = re.sub(r"pillion-e2e\.\w+", "WORK", found.group(2))
                outcomes[site, re.sub(r"\d+", "N", text)].append(not found.group(1))
    return outcomes


def lasting(sound, runs):
    """The checks that no mutant has made to fail: those that did not run, too."""
    return [check for check in sound if all(all(found.get(check, [True])) for found in runs)]


def uses_unlike(script):
    with open(os.path.join(TESTS, "e2e", script + ".sh")) as file:
        return "unlike " in file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--mutant", action="append",
                        help="part.how: only these, of " + " ".join(map(".".join, MUTANTS)))
    parser.add_argument("--resume", action="store_true", help="take what an interrupted run has finished")
    parser.add_argument("script", nargs="*")
    given = parser.parse_args()
    build = os.path.abspath(given.build)
    base = os.path.join(build, "mutants")
    if not given.resume:
        shutil.rmtree(base, ignore_errors=True)
    scripts = given.script or sorted(name[:-3] for name in os.listdir(os.path.join(TESTS, "e2e"))
                                     if name.endswith(".sh") and name != "lib.sh")
    mutants = [m for m in MUTANTS if not given.mutant or ".".join(m) in given.mutant]
    runs = collections.defaultdict(dict)

    def run_all(pool, mutant, names):
        folder = os.path.join(base, ".".join(mutant))
        environment = make(build, folder, *mutant)
        logs = [os.path.join(folder, name + ".tap") for name in names]
        for name, found in zip(names, pool.map(lambda name, log: run(name, environment, log), names, logs)):
            runs[name][mutant] = found
        print(f"# {'.'.join(mutant)}: {len(names)} scripts", flush=True)

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        run_all(pool, SOUND, scripts)
        sound = {name: runs[name].pop(SOUND) for name in scripts}
        for mutant in mutants:
            if mutant == INVERTED:
                names = [name for name in scripts if uses_unlike(name)]
            else:
                names = [name for name in scripts if lasting(sound[name], runs[name].values())]
            run_all(pool, mutant, names)
    status = 0
    for number, name in enumerate(scripts, 1):
        inverted = runs[name].pop(INVERTED, {})
        findings = [f"fails without a mutant: {text}" for (_, text), passed in sound[name].items() if not all(passed)]
        findings += [f"passes with every mutant: line {site}: {text}" for site, text in lasting(
            sound[name], runs[name].values()) if text not in EXPECTED.get(name, ())]
        findings += [f"passes inverted: line {site}: {text}" for (site, text), passed in inverted.items()
            if any(passed)]
        print(f"{'not ' if findings else ''}ok {number} - {name}: each of {len(sound[name])} kinds of checks can fail")
        for finding in findings:
            print("#", finding)
        status |= bool(findings)
    print(f"1..{len(scripts)}")
    return status


sys.exit(main())
