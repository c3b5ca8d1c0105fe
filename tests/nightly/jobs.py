#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jobs.py [OPTION]... [JOB]...: whether the summary names the bottleneck of real programs, and is silent without one.

Each program of jobs/ has one planted bottleneck, on the lines that end in the comment PLANT, and a clean twin: the same
work without it, by the argument planted or clean. Both run under pillion in a new directory as a user would run them,
once by default and once with -s cpu, and a third time for the account of their time. Checked:

- planted: FIX FIRST names one of the PLANT lines (FILE:LINE); where no line of the program is the cause, one of the
  names of PLACES; and has one of WORDS, because a place without the defect is not an answer
- clean: no line of `pillion analyze`, and no FIX FIRST that asserts a defect, is above 2 % of the time
- a run that others on the machine disturbed is repeated, at most three times
- in `stats -r time_sum`, CPU, runnable, blocked and stopped add up to the lifetime of each thread within 0.5 %; at most
  5 % of all lifetimes are unexplained; the CPU time is that of getrusage within 2 % (and 20 ms)

Results are kept in RESULTS/JOB.json and are not measured again, unless the job's file has changed or --again is given.
Prints TAP; --markdown adds the table of tests/README.md. --bare prints wall and CPU time of both variants without
pillion instead. Programs that lack a module or a tool are skipped. NIGHTLY_PYTHON names the Python of the jobs,
JOBS_PATIENCE the seconds after which a run or a report is ended (300), JOBS_QUIET those that all runs together wait
until others leave half of the CPUs free (600)."""
import argparse
import csv
import fcntl
import hashlib
import io
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SOURCES = os.path.join(HERE, "jobs")
PILLION = os.path.join(ROOT, "scripts", "pillion")
PYTHON = os.environ.get("NIGHTLY_PYTHON", sys.executable)
PATIENCE = int(os.environ.get("JOBS_PATIENCE", 300))
QUIET = int(os.environ.get("JOBS_QUIET", 600))
TIMED_OUT = 124
ATTEMPTS = 4
VARIANTS = ("planted", "clean")
CONFIGURATIONS = {"default": [], "samples": ["-s", "cpu"]}

PY = ["{python}", "{file}"]
GCC = "gcc -O2 -g -pthread {file} -o {stem}"
MPICC = "mpicc -O2 -g {file} -o {stem}"
MPIRUN = ["mpirun", "--oversubscribe", "-n", "2"]

# ---- the jobs: what is planted, in words for the table; how it is run; what FIX FIRST must say ----
# file; kind; fault; command ({variant} is appended where it has none); needs (Python modules, tools); places beside the
# PLANT lines; words; and a command that runs at the same time without pillion, with a file that it must write first
JOBS = [
    ("torch_getitem.py", "PyTorch", "__getitem__ parses text", PY, "torch", [],
        ["__getitem__", "loader", "input", "data"]),
    ("numpy_loop.py", "numpy", "loop over elements", PY, "numpy", [],
        ["python", "interpreter", "loop", "vector", "cpu"]),
    ("fsync_record.py", "Python", "fsync per record", PY, "", [], ["fsync"]),
    ("c_convoy.c", "C, threads", "lock held while computing", ["./{stem}"], "gcc", [], ["lock", "mutex"]),
    ("c_small_reads.c", "C", "reads of 64 bytes", ["./{stem}"], "gcc", [], ["read"]),
    ("asyncio_block.py", "asyncio", "blocking call in a coroutine", PY, "", [],
        ["event loop", "asyncio", "coroutine", "block"],
        (PY + ["serve"], "port")),
    ("jax_recompile.py", "JAX", "jit compiles for each length", PY, "jax", [], ["compil"]),
    ("list_membership.py", "Python", "search in a list", PY, "", [], ["cpu", "python", "list", "search"]),
    ("mpi_straggler.c", "MPI, C", "one rank has most rows", MPIRUN + ["./{stem}"], "mpirun mpicc", ["rank 1"],
        ["rank", "imbalance", "balance", "straggl"]),
    ("lightning_checkpoint.py", "Lightning", "checkpoint after each batch", PY, "lightning torch", [],
        ["checkpoint", "write", "save", "file", "computes"]),
    ("joblib_pickle.py", "joblib", "whole table sent to each task", PY, "joblib", [],
        ["pickl", "serial", "send", "transfer", "write", "computes"]),
    ("gunicorn_config.py", "gunicorn", "table parsed per request",
        ["{python}", "-m", "gunicorn", "-w", "2", "-b", "unix:rates.sock", "-p", "pid", "--log-level", "error",
            "gunicorn_config:make('{variant}')"],
        "gunicorn", [], ["open", "read", "pars", "computes"], (PY + ["client", "pid"], None)),
    ("ddp_straggler.py", "DDP, gloo", "rank 1 has the long sequences",
        ["{python}", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "{file}"], "torch",
        ["rank 1"], ["rank", "imbalance", "balance", "straggl"]),
    ("mpi4py_pickle.py", "MPI, mpi4py", "lists instead of buffers", MPIRUN + PY, "mpirun mpi4py numpy", [],
        ["pickl", "serial", "allgather", "computes", "python"]),
    ("make_version.mk", "make", "a shell variable expanded in each recipe", ["make", "-j2", "-f", "{file}"],
        "make gcc awk", ["sha256sum"], ["process", "program", "start", "sha256sum", "run"]),
    ("threads_gil.py", "Python, threads", "threads that run Python code", PY, "", [], ["GIL", "interpreter lock"]),
    ("regex_compile.py", "Python", "pattern compiled per line", PY, "", [], ["compil", "computes"]),
    ("poll_sleep.py", "Python", "result awaited by sleep", PY, "", [], ["sleep", "poll"]),
    ("blas_threads.py", "numpy", "BLAS threads on all CPUs in each worker", PY, "numpy", [],
        ["thread", "oversubscri", "CPUs"]),
    ("torch_no_grad.py", "PyTorch", "graphs kept, memory grows", PY, "torch", [], ["memory", "grow", "RSS"]),
    ("import_each.sh", "shell", "pandas imported per file", ["bash", "{file}"], "bash awk pandas",
        ["pandas", "mean.py:3"], ["import", "start", "processes of mean.py"]),
    ("torch_workers.py", "PyTorch", "collate word by word, in the worker", PY, "torch", [],
        ["loader", "collate", "worker", "input", "data"]),
    ("numpy_append.py", "numpy", "numpy.append in a loop", PY, "numpy", [], ["append", "copy", "copies", "computes"]),
    ("jax_dispatch.py", "JAX", "operations without jit", PY, "jax", [], ["jit", "dispatch", "computes"]),
    ("shell_fork.sh", "shell", "two programs per line", ["bash", "{file}"], "bash", ["cut"],
        ["process", "program", "fork", "exec", "start"]),
]


class Job:
    def __init__(self, row):
        self.file, self.kind, self.fault, self.command, self.needs, self.places, self.words = row[:7]
        self.beside, self.awaited = row[7] if len(row) > 7 else (None, None)
        self.stem = self.file.rsplit(".", 1)[0]
        with open(os.path.join(SOURCES, self.file), encoding="utf-8") as file:
            self.text = file.read()
        self.lines = [number for number, line in enumerate(self.text.split("\n"), 1) if line.endswith(" PLANT")]

    def digest(self):
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def missing(self):
        for need in self.needs.split():
            if shutil.which(need):
                continue
            if subprocess.run([PYTHON, "-c", "import " + need], stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL, check=False).returncode:
                return need
        return None

    def prepare(self, directory):
        """Copies the source into DIRECTORY and compiles it."""
        shutil.copy(os.path.join(SOURCES, self.file), directory)
        if self.file.endswith(".c"):
            compiler = MPICC if "mpirun" in self.command else GCC
            subprocess.run(self.expand(compiler.split()), cwd=directory, check=True)

    def expand(self, words, variant=""):
        return [word.format(python=PYTHON, file=self.file, stem=self.stem, variant=variant) for word in words]

    def run(self, prefix, variant, directory):
        """Runs PREFIX with the job, and what the job needs at the same time; see run()."""
        command = self.command if "{variant}" in "".join(self.command) else self.command + ["{variant}"]
        if not self.beside:
            return run(prefix + self.expand(command, variant), directory)
        with subprocess.Popen(self.expand(self.beside), cwd=directory, env=environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, text=True) as other:
            while self.awaited and not os.path.exists(os.path.join(directory, self.awaited)):
                time.sleep(0.01)
            try:
                status, out, *rest = run(prefix + self.expand(command, variant), directory)
                out += other.communicate(timeout=20)[0]
            except subprocess.TimeoutExpired:
                other.kill()
            return status, out, *rest


# ---- one run ----


def environment():
    result = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    for name in [name for name in result if name.startswith("PILLION_") and name != "PILLION_BUILD_DIR"]:
        del result[name]
    result.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", JAX_PLATFORMS="cpu")
    return result


def others():
    """The CPU time that all programs of the machine took so far, in seconds."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(field) for field in file.readline().split()[1:]]
    return (sum(fields[:3]) + sum(fields[5:8])) / os.sysconf("SC_CLK_TCK")


def settle():
    """Waits until others leave half of the CPUs free for a second, in all runs together for at most QUIET seconds."""
    while settle.waited < QUIET:
        before = others()
        time.sleep(1)
        if others() - before < 0.5 * os.cpu_count():
            return
        settle.waited += 1


settle.waited = 0


def run(words, directory):
    """Exit status, standard output, standard error, wall time, CPU time of the children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(words, cwd=directory, env=environment(), stdin=subprocess.DEVNULL, stdout=out,
            stderr=err, start_new_session=True)
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = TIMED_OUT
        wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        out.seek(0)
        err.seek(0)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return status, out.read(), err.read(), wall, cpu


def report(words, directory):
    """What a verb prints; nothing if it takes too long."""
    try:
        return subprocess.run([PILLION, *words], cwd=directory, env=environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False).stdout
    except subprocess.TimeoutExpired:
        return ""


# Runs the command of its other arguments and writes its own PID and the CPU time of the command, and of all processes
# that it left behind (PR_SET_CHILD_SUBREAPER is 36), into the file of its first.
WAIT4 = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
command = os.fork()
if command == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
cpu = status = 0
while True:
    try:
        pid, ended, usage = os.wait4(-1, 0)
    except ChildProcessError:
        break
    cpu += usage.ru_utime + usage.ru_stime
    if pid == command:
        status = ended
with open(sys.argv[1], "w") as file:
    file.write("%d %r" % (os.getpid(), cpu))
sys.exit(os.waitstatus_to_exitcode(status) & 127)
"""


def account(job, variant, directory):
    """What time_sum says of a run whose CPU time wait4 knows: sums in seconds, and the largest error of a thread."""
    job.run([PILLION, "--stats=false", "-o", "account", PYTHON, "-S", "-E", "-c", WAIT4, "usage"], variant, directory)
    text = report(["stats", "-q", "-r", "time_sum", "-f", "csv", "account.pillion"], directory)
    if "usage" not in os.listdir(directory) or "PID," not in text:
        return None
    with open(os.path.join(directory, "usage"), encoding="ascii") as file:
        outer, usage = file.read().split()
    rows = list(csv.DictReader(io.StringIO(text[text.index("PID,"):])))
    figures = {"lifetime": 0.0, "cpu": 0.0, "unexplained": 0.0, "error": 0.0, "usage": float(usage)}
    for row in rows:
        of_children = row["Thread"] == "(unrecorded time of children)"
        if (row["PID"] == outer and not of_children) or not row.get("Lifetime (ns)"):
            continue
        of = {name: float(row.get(name + " (ns)") or 0) / 1e9
            for name in ("Lifetime", "CPU", "Runnable", "Blocked", "Stopped", "Unexplained")}
        parts = of["CPU"] + of["Runnable"] + of["Blocked"] + of["Stopped"]
        figures["lifetime"] += of["Lifetime"]
        figures["cpu"] += of["CPU"]
        figures["unexplained"] += of["Unexplained"]
        if of["Lifetime"] > 0.01:
            figures["error"] = max(figures["error"], abs(parts - of["Lifetime"]) / of["Lifetime"])
    return figures


# ---- what the summary says ----

SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


def fix_first(summary):
    """The text of FIX FIRST with its continuation lines, or None."""
    lines = summary.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("FIX FIRST"):
            text = line[len("FIX FIRST"):].strip()
            for more in lines[number + 1:]:
                if not more.startswith("          "):
                    break
                text += " " + more.strip()
            return text
    return None


def seconds_in(text):
    """The largest time in TEXT, in seconds."""
    times = re.findall(r"([\d.]+) (ns|us|µs|ms|min|s)\b", text)
    return max([float(number) * SECONDS[unit] for number, unit in times], default=None)


def elapsed(summary):
    """The wall time in the summary's line "4.79 s, 5 processes, exit 0"."""
    found = re.search(r"^([\d.]+ (?:ns|us|µs|ms|min|s)), \d+ process", summary, re.M)
    return seconds_in(found.group(1)) if found else None


def commit():
    return subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()


def disturbed(run):
    """Whether a run ended with the answer that CPUs were missing while others held them: nothing follows from it."""
    text = fix_first(run["summary"]) or ""
    return run["foreign"] > 0.15 and re.match("too few CPUs", text)


def measure_once(job, variant, options):
    with tempfile.TemporaryDirectory(prefix="job.") as directory:
        job.prepare(directory)
        settle()
        before = others()
        status, out, err, wall, cpu = job.run([PILLION, *options], variant, directory)
        foreign = (others() - before - cpu) / wall / os.cpu_count()
        at = err.find("pillion: capture: open it with pillion view")
        return {"status": status, "out": out, "wall": wall, "foreign": foreign, "summary": err[max(at, 0):],
            "analyze": "" if status == TIMED_OUT else report(["analyze", "report1.pillion"], directory)}


def measure(job, variant):
    result = {"digest": job.digest(), "when": time.strftime("%Y-%m-%d"), "commit": commit()}
    for configuration, options in CONFIGURATIONS.items():
        for attempt in range(ATTEMPTS):
            result[configuration] = measure_once(job, variant, options)
            if not disturbed(result[configuration]):
                break
    with tempfile.TemporaryDirectory(prefix="job.") as directory:
        job.prepare(directory)
        result["account"] = account(job, variant, directory)
    return result


# ---- verdicts ----


def place_named(job, text):
    """The PLANT line or the place that TEXT names, "function" if only its file and another line; or None."""
    for line in job.lines:
        if re.search(re.escape(job.file) + r":%d\b" % line, text):
            return "%s:%d" % (job.file, line)
    for place in job.places:
        if re.search(r"(?<![\w/])" + re.escape(place) + r"(?!\w)", text):
            return place
    return None


def judge_planted(job, result):
    text = fix_first(result["summary"]) or ""
    return {"text": text, "place": place_named(job, text),
        "word": any(word.lower() in text.lower() for word in job.words)}


# What FIX FIRST says where it asserts no defect.
NEXT_STEP = re.compile(r"run again with -s cpu")
# True of a machine that others use at the same time, and no fault of the job: as a finding of analyze.
DISTURBED = re.compile(r"^cpu_starved: other programs hold the CPUs")
NO_DEFECT = re.compile(r"\b(no finding|nothing|no rule|run again|no defect|computes?)\b", re.I)


def findings_of(text, limit):
    """The findings of analyze that cost more than LIMIT seconds, or whose cost is not stated: [(rule, text)]."""
    findings = []
    for section in re.split(r"^ \*\* ", text, flags=re.M)[1:]:
        rule = re.match(r".*\((\w+)\):", section).group(1)
        if not re.search(r"^ +%s +found\b" % rule, section, re.M):
            continue
        table = re.compile(r" +(Rule|%s|clean:|could not|recording:)" % rule)
        sentences = [line.strip() for line in section.split("\n")[1:]
            if re.match(r" [\w%]", line) and not table.match(line)]
        cost = seconds_in(" ".join(sentences))
        if cost is None or cost > limit:
            findings.append((rule, " ".join(sentences)))
    return findings


def judge_clean(result):
    """The findings above 2 % of the wall time: lines of FIX FIRST and of analyze."""
    wall = elapsed(result["summary"]) or result["wall"]
    text = fix_first(result["summary"]) or ""
    findings = ["%s: %s" % finding for finding in findings_of(result["analyze"], 0.02 * wall)]
    if result["foreign"] > 0.1:
        findings = [finding for finding in findings if not DISTURBED.search(finding)]
    if text and not NO_DEFECT.search(text):
        cost = seconds_in(text)
        if cost is None or cost > 0.02 * wall:
            findings.append("FIX FIRST " + text)
    return findings


def judge_account(figures):
    """Which of the three conditions of the account do not hold, as texts."""
    if not figures:
        return ["no account after %d s" % PATIENCE]
    faults = []
    if figures["error"] > 0.005:
        faults.append("parts differ from a lifetime by %.1f %%" % (100 * figures["error"]))
    if figures["unexplained"] > 0.05 * figures["lifetime"]:
        faults.append("%.1f %% unexplained" % (100 * figures["unexplained"] / figures["lifetime"]))
    if abs(figures["cpu"] - figures["usage"]) > max(0.02 * figures["usage"], 0.02):
        faults.append("CPU %.3f s, getrusage %.3f s" % (figures["cpu"], figures["usage"]))
    return faults


# ---- results ----


def load(results, job):
    try:
        with open(os.path.join(results, job.stem + ".json"), encoding="utf-8") as file:
            kept = json.load(file)
    except (OSError, ValueError):
        return None
    return kept if all(kept.get(variant, {}).get("digest") == job.digest() for variant in VARIANTS) else None


def save(results, job, result):
    path = os.path.join(results, job.stem + ".json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    os.replace(path + ".new", path)


def judge(job, result):
    """All verdicts on a job."""
    verdict = {"faults": [], "configurations": {}}
    for configuration in CONFIGURATIONS:
        planted, clean = result["planted"][configuration], result["clean"][configuration]
        said = judge_planted(job, planted)
        said["findings"] = judge_clean(clean)
        said["foreign"] = [planted["foreign"], clean["foreign"]]
        said["next"] = bool(NEXT_STEP.search(planted["summary"]))
        verdict["configurations"][configuration] = said
        if planted["status"] or clean["status"]:
            verdict["faults"].append("%s: exit status %d planted, %d clean (%d: it took too long)" % (configuration,
                planted["status"], clean["status"], TIMED_OUT))
        if planted["out"] != clean["out"]:
            verdict["faults"].append("the variants print different results")
    for variant in VARIANTS:
        verdict["faults"] += ["%s: %s" % (variant, fault) for fault in judge_account(result[variant]["account"])]
    default, samples = (verdict["configurations"][name] for name in CONFIGURATIONS)
    verdict["default"] = bool(default["place"]) and default["word"]
    verdict["samples"] = bool(samples["place"]) and samples["word"]
    verdict["named"] = verdict["default"] or (default["next"] and verdict["samples"])
    verdict["clean"] = not any(said["findings"] for said in verdict["configurations"].values())
    return verdict


def cell(said):
    """What FIX FIRST named."""
    if said["place"]:
        return said["place"] if said["word"] else said["place"] + ", without the defect"
    return "no: " + (said["text"] or "no FIX FIRST")


def shorten(text, length=90):
    text = text.replace("|", "/")
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " ..."


def markdown(judged):
    """The table of tests/README.md. A text that is the same with -s cpu is given once."""
    print("\n| job | kind | planted | FIX FIRST | with -s cpu | clean twin: findings | account |")
    print("|---|---|---|---|---|---|---|")
    for job, verdict in judged:
        default, samples = (verdict["configurations"][name] for name in CONFIGURATIONS)
        clean = [shorten(text) for text in default["findings"]]
        rules = {text.split(":")[0] for text in default["findings"]}
        clean += ["with -s cpu: " + shorten(text) for text in samples["findings"] if text.split(":")[0] not in rules]
        print("| %s | %s | %s | %s%s | %s | %s | %s |" % (job.file, job.kind, job.fault, shorten(cell(default)),
            " (advises -s cpu)" if default["next"] else "", shorten(cell(samples)), "; ".join(clean) or "none",
            "; ".join(verdict["faults"]) or "adds up"))
    counts = [sum(bool(verdict[key]) for _, verdict in judged) for key in ("named", "default", "samples", "clean")]
    counts.append(sum(not verdict["faults"] for _, verdict in judged))
    print("\nOf %d jobs: named %d (by default %d, with -s cpu %d), clean twins without a finding %d, time adds up %d." %
        (len(judged), *counts))


def bare(jobs):
    """Wall and CPU time of both variants, to see that what is planted is what dominates."""
    print("| job | planted: wall, CPU (s) | clean: wall, CPU (s) | the same output |\n|---|---|---|---|")
    for job in jobs:
        if job.missing():
            continue
        figures, outputs = [], []
        for variant in VARIANTS:
            with tempfile.TemporaryDirectory(prefix="job.") as directory:
                job.prepare(directory)
                status, out, err, wall, cpu = job.run([], variant, directory)
                outputs.append((status, out))
                figures.append("%.2f, %.2f" % (wall, cpu))
                if status:
                    figures[-1] += ", exit %d: %s" % (status, err[-200:])
        print("| %s | %s | %s | %s |" % (job.file, *figures, "yes" if outputs[0] == outputs[1] else "NO"), flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("jobs", nargs="*", metavar="JOB")
    parser.add_argument("--results", default=os.path.join(os.environ.get("XDG_CACHE_HOME") or
        os.path.expanduser("~/.cache"), "pillion-nightly", "jobs"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--kept", action="store_true", help="judge the results that exist, and measure nothing")
    options = parser.parse_args()
    unknown = set(options.jobs) - {name for row in JOBS for name in (row[0], row[0].rsplit(".", 1)[0])}
    if unknown:
        parser.error("no job " + ", ".join(sorted(unknown)))
    jobs = [job for job in map(Job, JOBS) if not options.jobs or {job.stem, job.file} & set(options.jobs)]
    if options.kept:
        jobs = [job for job in jobs if load(options.results, job)]
    if options.bare:
        return bare(jobs)
    os.makedirs(options.results, exist_ok=True)
    lock = open(os.path.join(tempfile.gettempdir(), "pillion-jobs.lock"), "w", encoding="ascii")
    if not options.kept:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two jobs would measure each other
    judged, failed, count = [], 0, 0
    print("1..%d" % (3 * len(jobs)))
    for job in jobs:
        missing = None if options.kept else job.missing()
        result = None if options.again else load(options.results, job)
        if not missing and not result:
            result = {variant: measure(job, variant) for variant in VARIANTS}
            save(options.results, job, result)
        verdict = judge(job, result) if result else {}
        if result:
            judged.append((job, verdict))
        texts = {"named": "FIX FIRST names what is planted", "clean": "its clean twin has no finding above 2 %",
            "account": "its time adds up"}
        for key, text in texts.items():
            count += 1
            good = not result or (not verdict["faults"] if key == "account" else verdict[key])
            failed += not good
            print("%sok %d - %s: %s%s" % ("" if good else "not ", count, job.stem, text,
                "" if result else " # SKIP no %s" % missing), flush=True)
            if not result:
                continue
            if key == "account":
                for fault in verdict["faults"]:
                    print("#   " + fault)
                continue
            for name, said in verdict["configurations"].items():
                for line in said["findings"] if key == "clean" else [cell(said)]:
                    print("#   %s: %s (others held %.0f %% of the CPUs)" % (name, line,
                        100 * said["foreign"][key == "clean"]), flush=True)
    print("# %d of %d failed" % (failed, count))
    if options.markdown:
        markdown(judged)
    return 1 if failed else 0


sys.exit(main())
