# SPDX-License-Identifier: Apache-2.0
"""A built pillion: the one that was named, or one built here with what there is."""
import os
import subprocess
import sys

from session import ROOT, which

PARTS = ["preload/libpillion.so", "runtime/pillion-launch", "report/pillion-report"]
# From all to least: what a machine without a network or without development packages cannot have.
OPTIONS = [[], ["-Dunwind=disabled"]]


def is_built(tree):
    return all(os.path.exists(os.path.join(tree, part)) for part in PARTS)


def tools():
    """Meson and Ninja, as programs or as Python's packages of them."""
    places = [os.path.dirname(sys.executable), os.path.expanduser("~/.local/bin"), "/usr/local/bin"]
    meson, ninja = which("meson", *places), which("ninja", *places)
    meson_line = [meson] if meson else None
    if not meson and subprocess.run([sys.executable, "-c", "import mesonbuild"], capture_output=True,
        check=False).returncode == 0:
        meson_line = [sys.executable, "-m", "mesonbuild.mesonmain"]
    return meson_line, ninja


def run(argv, log):
    with open(log, "ab") as file:
        return subprocess.run(argv, stdout=file, stderr=file, stdin=subprocess.DEVNULL, timeout=400, check=False,
                              env={**os.environ, "NINJA": tools()[1] or "ninja"}).returncode == 0


def make(tree, log, tests, toolkit):
    meson, ninja = tools()
    if not meson or not ninja:
        return f"no {'meson' if not meson else 'ninja'} here: name a built tree by --build DIR"
    if os.path.exists(log):
        os.unlink(log)
    for options in OPTIONS:
        words = [*options, *([f"-Dtoolkit={toolkit}"] if toolkit else []), "--buildtype=debugoptimized",
                 "-Dtests=" + ("auto" if tests else "disabled")]
        again = ["--wipe"] if os.path.exists(os.path.join(tree, "meson-private")) else []
        if run([*meson, "setup", *again, tree, ROOT, *words], log) and run([ninja, "-C", tree], log) and is_built(tree):
            return None
    return f"pillion does not build here, see {log}"


def find(named, out, tests=False, toolkit=None):
    """(tree, why there is none). tests: with the simulated GPU."""
    if named:
        tree = os.path.abspath(named)
        return (tree, None) if is_built(tree) else (None,
            f"{named} has not been built: {', '.join(PARTS)} should be in it")
    tree = os.path.join(os.path.abspath(out), "build")
    why = make(tree, os.path.join(out, "build.log"), tests, toolkit)
    return (None, why) if why else (tree, None)


def said(argv):
    try:
        ran = subprocess.run(argv, capture_output=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.decode(errors="replace").strip() if ran.returncode == 0 else ""


def describe(tree):
    """Version, what it was built with and the commit, in a line."""
    lines = said([os.path.join(tree, "runtime", "pillion-launch"), "--version"]).splitlines()
    return "; ".join(filter(None, [*lines, said(["git", "-C", ROOT, "describe", "--always", "--dirty"])]))
