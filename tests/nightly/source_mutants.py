#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""source_mutants.py [OPTION]... [FOLDER]...: whether the unit tests notice a wrong operator in the product's sources.

Changes one operator at a time in a copy of what is committed, builds, and runs the unit tests whose programs contain
the changed file: the one that has its name first, until one fails. Mutants are chosen by chance, from each folder in
turn, so that all folders have as many; the seed is printed, so that a run can be repeated. A mutant whose object code
is that of the original is not counted, nor is one that does not compile. Files that no unit test is linked with have no
mutants. The copy is built with AddressSanitizer and UndefinedBehaviorSanitizer, and malloc fills what it returns, so
that a read or a write beyond an end fails instead of finding zeros. Prints TAP: one line for the rate, which fails if
fewer than LEAST percent of the mutants are killed, and a comment for each mutant, so that survivors are listed."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ["preload", "report", "runtime"]
CHANGES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-",
           "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=",
           "++": "--", "--": "++", "true": "false", "false": "true"}
# A binary operator between spaces, an increment, a word.
OPERATOR = re.compile(r"(?<= )(?:<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|[<>+*/%&|-])(?= )|\+\+|--|\b(?:true|false)\b")
# Text in which nothing is changed: strings, characters, comments.
OPAQUE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/', re.DOTALL)
# A test that takes ten times as long as without a mutant, and at least so long, hangs because of the mutant.
LEAST_SECONDS = 20
SLOW_SECONDS = 60  # a test that takes longer without a mutant is run only for a file of its name
MOST_SECONDS = 180  # one that takes still longer is not run
# As in scripts/test: gcc with -g1, because two compilers find the same; addresses are not randomized, because the
# shadow memory of gcc 12 sometimes overlaps those that are; the recorder has an alternate stack of its own.
SANITIZED = ["-Dwerror=false", "-Dc_args=-g1", "-Db_sanitize=address,undefined"]
CHECKS = {"UBSAN_OPTIONS": "halt_on_error=1",
          "ASAN_OPTIONS": "detect_leaks=0:use_sigaltstack=0:max_malloc_fill_size=1048576"}


def operators_of(path):
    """(offset, operator) of each operator within a function's body."""
    with open(path) as file:
        text = file.read()
    plain = OPAQUE.sub(lambda found: re.sub(r"[^\n]", "~", found[0]), text)
    offset = 0
    for line in plain.splitlines(keepends=True):
        if line.startswith("\t") and not line.rstrip().endswith("\\"):
            for found in OPERATOR.finditer(line):
                yield offset + found.start(), found[0]
        offset += len(line)


def run(argv, **options):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **options)


def status_of(argv, seconds, **options):
    """The exit status; None: it was still running, and was ended with its children."""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True, **options) as process:
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Tree:
    """A copy of what is committed, built without optimization. Some tests read debug information."""

    fixed = ["setarch", "-R"] if run(["setarch", "-R", "true"]).returncode == 0 else []  # a container may forbid it

    def __init__(self, folder, source):
        self.root, self.build = folder, os.path.join(folder, "build")
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            subprocess.run(f"git -C '{source}' archive HEAD | tar -x -C '{folder}'", shell=True, check=True)
            cache = os.path.join(source, "subprojects", "packagecache")  # what has been downloaded, if anything
            if os.path.isdir(cache):
                shutil.copytree(cache, os.path.join(folder, "subprojects", "packagecache"))
            run(["meson", "setup", self.build, folder, "-Dtests=auto", "-Doptimization=0", *SANITIZED],
                env={**os.environ, "CC": "gcc", "CXX": "g++"}, check=True)
        done = self.make("unit-tests", "threads-tests")
        if done.returncode:
            sys.exit("source_mutants.py: the tree does not build:\n" + done.stdout[-2000:])
        tests = json.loads(run(["meson", "introspect", "--tests", self.build], check=True).stdout)
        self.tests = [test for test in tests if set(test["suite"]) & {"pillion:unit", "pillion:threads"}
                      and test["cmd"][0].startswith(self.build)]
        self.objects = self.read_objects()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.run_without_mutant, self.tests))
        self.tests = [test for test in self.tests if test["status"] is not None]

    def run_without_mutant(self, test):
        """A test that takes too long is left out."""
        test["sources"] = self.sources_in(test["cmd"][0])
        begin = time.monotonic()
        test["status"] = self.run_test(test, MOST_SECONDS)
        test["seconds"] = time.monotonic() - begin

    @staticmethod
    def sources_in(program):
        """The names of the C files that are linked into it."""
        symbols = run(["nm", "-a", program]).stdout
        return {line.split()[-1] for line in symbols.splitlines() if line.endswith(".c")}

    def run_test(self, test, seconds):
        environment = {**os.environ, **CHECKS, **test["env"]}
        return status_of([*self.fixed, *test["cmd"]], seconds, cwd=self.build, env=environment)

    def make(self, *targets):
        return run(["ninja", "-C", self.build, "-k", "0", *targets])

    def read_objects(self):
        """source -> its objects that a unit test is linked with."""
        ret = {}
        for entry in json.loads(run(["ninja", "-C", self.build, "-t", "compdb"]).stdout):
            source = os.path.relpath(os.path.join(entry["directory"], entry["file"]), self.root)
            if entry["output"].endswith(".o") and entry["output"].startswith(("tests/", "report/libreport")):
                ret.setdefault(source, []).append(entry["output"])
        return ret

    def digest(self, source):
        """Of the code; the objects of one source are all made anew by one change."""
        objects = [os.path.join(self.build, name) for name in self.objects[source]]
        return [hashlib.sha256(run(["objdump", "-dr", "--no-show-raw-insn", name]).stdout.split("\n", 3)[-1].encode())
                .hexdigest() for name in objects if os.path.exists(name)]

    def tests_of(self, source):
        """Those whose program contains the source: the one of its name first, then short ones."""
        name = os.path.basename(source)
        chosen = [test for test in self.tests if name in test["sources"]
                  and (name[:-2] in test["name"] or test["seconds"] < SLOW_SECONDS)]
        return sorted(chosen, key=lambda test: (name[:-2] not in test["name"], test["seconds"]))

    def killer(self, source):
        """The name of the first test that fails."""
        for test in self.tests_of(source):
            program = os.path.relpath(test["cmd"][0], self.build)
            if self.make(program).returncode:
                return program + " (linking)"
            status = self.run_test(test, max(LEAST_SECONDS, 10 * test["seconds"]))
            if status is None:
                return test["name"] + " (timeout)"
            if status:
                return test["name"]
        return None


def try_mutant(tree, source, offset, operator, original_digest):
    """'killed by TEST', 'survived', 'same code' or 'does not compile'."""
    path = os.path.join(tree.root, source)
    with open(path) as file:
        text = file.read()
    try:
        with open(path, "w") as file:
            file.write(text[:offset] + CHANGES[operator] + text[offset + len(operator):])
        if tree.make(*tree.objects[source]).returncode:
            return "does not compile"
        if tree.digest(source) == original_digest:
            return "same code"
        killer = tree.killer(source)
        return "killed by " + killer if killer else "survived"
    finally:
        with open(path, "w") as file:
            file.write(text)


def describe(tree, source, offset, operator):
    with open(os.path.join(tree.root, source)) as file:
        text = file.read()
    line = text.count("\n", 0, offset) + 1
    return f"{source}:{line}: {operator} -> {CHANGES[operator]}: {text.splitlines()[line - 1].strip()}"


def choose(tree, folders, count, chance):
    """The number of operators, and those that are changed: one of each folder in turn."""
    queues = {}
    for source in sorted(tree.objects):
        if source.startswith(folders) and any(os.path.basename(source) in test["sources"] for test in tree.tests):
            queues.setdefault(os.path.dirname(source), []).extend(
                (source, *place) for place in operators_of(os.path.join(tree.root, source)))
    places, chosen = sum(map(len, queues.values())), []
    for queue in queues.values():
        chance.shuffle(queue)
    while len(chosen) < min(count, places):
        for queue in queues.values():
            if queue and len(chosen) < count:
                chosen.append(queue.pop())
    return places, chosen


def main():
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("folders", nargs="*", metavar="FOLDER", help="default: " + " ".join(FOLDERS))
    usage.add_argument("--count", type=int, default=200, help="how many mutants (200)")
    usage.add_argument("--seconds", type=float, default=7200, help="begin no other mutant after this time (7200)")
    usage.add_argument("--seed", type=int, default=time.time_ns() % 1000000)
    usage.add_argument("--least", type=float, default=40, help="percentage of mutants that must be killed (40)")
    usage.add_argument("--tree", default=os.path.join(ROOT, "build-mutants"), help="where the copy is built")
    options = usage.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("source_mutants.py: ended"))  # the mutant is taken back
    tree = Tree(os.path.abspath(options.tree), ROOT)
    broken = [test["name"] for test in tree.tests if test["status"]]
    if broken:
        sys.exit("source_mutants.py: these tests fail without a mutant: " + " ".join(broken))
    folders = tuple(os.path.join(folder, "") for folder in options.folders or FOLDERS)
    places, chosen = choose(tree, folders, options.count, random.Random(options.seed))
    begin, outcomes = time.monotonic(), {}
    print(f"# seed {options.seed}, {places} operators, {len(chosen)} mutants", flush=True)
    for source, offset, operator in chosen:
        if time.monotonic() - begin > options.seconds:
            break
        tree.make(*tree.objects[source])
        outcome = try_mutant(tree, source, offset, operator, tree.digest(source))
        kind = outcome.split(" by ")[0]
        outcomes[kind] = outcomes.get(kind, 0) + 1
        print(f"# {outcome}: {describe(tree, source, offset, operator)}", flush=True)
    killed, survived = outcomes.get("killed", 0), outcomes.get("survived", 0)
    rate = 100 * killed / (killed + survived or 1)
    print(f"{'ok' if rate >= options.least else 'not ok'} 1 - {killed} of {killed + survived} mutants were killed, "
          f"{rate:.0f} %; {outcomes.get('same code', 0)} had the same code, "
          f"{outcomes.get('does not compile', 0)} did not compile")
    print("1..1")
    return rate < options.least


if __name__ == "__main__":
    sys.exit(main())
