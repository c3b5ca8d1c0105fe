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
import signal
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(TESTS)

# The launcher's script: what it prints, returns, or whether it runs anything at all.
LAUNCH = {
    "absent": "exit 0\n",
    "status": '"$real" "$@"\nexit $((($? + 1) % 256))\n',
    "noisy": 'echo noise\necho noise >&2\nexec "$real" "$@"\n',
    "litter": """"$real" "$@"
status=$?
touch ran started a.pillion/marker
rm -f foreign.pillion/mine
for word in missing lost bad "$@"; do
	case $word in -*) ;; *) [ ${#word} -gt 20 ] || mkdir -p "$word.pillion" ;; esac
done
[ ! -d spools ] || mkdir -p spools/left
exit $status
""",
}

# libpillion.so that records nothing, one that besides makes itself felt in every program, and one that is built
# otherwise. on_doubles skips a script whose library has no cudaMalloc.
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
int cudaMalloc(void)
{
	return 3;
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
	return dlopen("none", RTLD_NOW) == 0;
}
int cudaStranger(void)
{
	return 0;
}
int _Unwind_RaiseException(void *exception)
{
	return 9;
}
""",
}

SOUND = ("none", "none")
INVERTED = ("checks", "inverted")
MUTANTS = [("report", "numbers"), ("launch", "absent"), ("report", "foreign"), ("launch", "noisy"), ("library", "felt"),
           ("launch", "status"), ("report", "silent"), ("report", "status"), ("library", "empty"), ("library", "loose"),
           ("launch", "litter"), ("report", "unfiltered"), ("report", "bloated"), ("report", "crash"), INVERTED]

# Checks that pass independently of the product: they check the machine or the test programs.
EXPECTED = {
    "cuda_callers": {"no CUDA: weak references are null without pillion": "the program alone"},
    "cuda_memory": {"the simulated device runs out of memory": "the program alone"},
    "launch_range": {"the member program is built": "the compiler"},
    "library_calls": {"no library: weak references are null without pillion": "the program alone"},
    "python_stress": {"the job computes a result without pillion": "the program alone"},
    "stress_osrt": {"results without pillion": "the program alone"},
    "cuda_real": {"a static runtime performs each look-up once": "the program alone",
		"shared: look-ups were made": "the program alone",
                  "static: look-ups were made": "the program alone", "dlsym: look-ups were made": "the program alone"},
    "gpu_check": {"the table has all checks": "compares two outputs of scripts/gpu-check",
                  "a pillion that records nothing: both fail": "itself inverts a fact",
                  "no build: status N, one line": "itself inverts a fact"},
    "record_ends": {"by environment alone: status N": "the program kills itself"},
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


def record_reference(build, name):
    """A capture that has something of everything: calls of libc, of CUDA's runtime and driver, device records, stacks,
    samples, NVTX ranges and notes in the ledger."""
    programs = ["cuda_steps 20", "cuda_driver proc 3", "cuda_ends handler 4", "nvtx_forms", "library_calls 2",
		"calls 20",
                "stacks", "../doubles/cuda_launches 20", "../doubles/cuda_launches_static 2"]
    subprocess.run([os.path.join(ROOT, "scripts/pillion"), "-f", "-o", name, "-s", "cpu", "--osrt-threshold=0",
                    "--osrt-backtrace-threshold=0", "--cudabacktrace=all:0", "-t", "cuda,nvtx,osrt,cublas,cudnn,nccl",
                    "sh", "-c", "; ".join("./" + program for program in programs) +
                    "; CUDA_INJECTION64_PATH=/another/tool ../doubles/cuda_launches 1"],
                   cwd=os.path.join(build, "tests/targets"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=dict(os.environ, PILLION_BUILD_DIR=build, PILLION_STATS="false",
                            LD_LIBRARY_PATH=os.path.join(build, "tests/doubles")))


def build_mutant(build, folder, part, how):
    """Makes FOLDER a build with one defect. The launcher is a copy, since it finds the rest by its own path."""
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
            shutil.copy2(os.path.join(build, path), os.path.join(folder, path))
    if part == "report":
        record_reference(build, os.path.join(folder, "reference"))
        write(os.path.join(folder, report), f"""#!/bin/sh
exec /usr/bin/python3 -ISs {TESTS}/nightly/mutant_report.py {build}/{report} {how} {folder}/reference.pillion "$@"
""")
        if how != "silent":
            subprocess.run([os.path.join(folder, report), "--version"], check=how != "status",
                stdout=subprocess.DEVNULL)
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
    if part != "none":  # waiting for the defect to disappear would be in vain
        environment.update(PILLION_E2E_PATIENCE="20", MOODS_ROUNDS="2", PILLION_STRESS_ROUNDS="2",
                           STRESS_ROUNDS="2", PILLION_SAMPLE_STRESS="2", PILLION_SAMPLE_SECONDS="1")
    return environment


def end_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(script, environment, log):
    """The outcomes of one script's checks: (site, text) -> [whether it passed]."""
    if not os.path.exists(log):
        with open(log + ".part", "w") as out:
            process = subprocess.Popen([os.path.join(TESTS, "e2e", script + ".sh")], stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=out, env=environment, start_new_session=True)
            try:
                process.wait(1200)
            except subprocess.TimeoutExpired:
                out.write("# ended by mutants.py\n")
            end_group(process.pid)  # what a script that failed has left behind
            process.wait()
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
                outcomes[site, re.sub(r"\d+", "N", re.sub(r"\([^)]*\)", "()", text))].append(not found.group(1))
    return outcomes


def lasting(sound, runs):
    """The checks that no mutant made fail, including those that did not run. The site begins with the check's
    function."""
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
        unlike = {check: passed for check, passed in inverted.items() if check[0].startswith("unlike ")}
        findings = [f"fails without a mutant: {text}" for (_, text), passed in sound[name].items() if not all(passed)]
        findings += [f"passes with every mutant: {site}: {text}" for site, text in lasting(
            sound[name], [*runs[name].values(), unlike]) if text not in EXPECTED.get(name, ())]
        findings += [f"passes inverted: {site}: {text}" for (site, text), passed in inverted.items() if any(passed)]
        print(f"{'not ' if findings else ''}ok {number} - {name}: each of {len(sound[name])} kinds of checks can fail")
        for finding in findings:
            print("#", finding)
        status |= bool(findings)
    print(f"1..{len(scripts)}")
    return status


sys.exit(main())
