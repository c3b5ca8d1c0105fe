# SPDX-License-Identifier: Apache-2.0
"""Lines of the Python programs, for the checks that run them."""
import os

from session import PROGRAMS

STEPS = 20
NODES = ["--cuda-graph-trace=node"]
LIMIT_S = 150


def script(session, name, *words):
    return [session.machine.python, os.path.join(PROGRAMS, name), *words]


def training(session, *words):
    return script(session, "torch_train.py", "--steps", str(STEPS), *words)
