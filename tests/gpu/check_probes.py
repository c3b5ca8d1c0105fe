# SPDX-License-Identifier: Apache-2.0
"""Tests of undocumented behaviour of NVIDIA's libraries. A probe has no expected answer: it passes if it got any
answer."""
from checks import check
from training import LIMIT_S, training

QUESTIONS = {
    "flush": "what cuptiActivityFlushAll brings, and whether it waits for a callback that is under way",
    "period": "cuptiActivityFlushPeriod: when records come, and on which thread",
    "raw": "what a SIGKILL would leave in CUPTI's own buffers",
    "fork": "CUPTI in a forked child",
    "teardown": "which exit handlers still get records",
    "subscribe": "a second subscriber, and a second owner of the buffers",
    "clock": "cuptiActivityRegisterTimestampCallback: whose clock device times are on",
    "unfinished": "a forced flush while kernels run",
    "graph": "ids of graph nodes in records, and of the captured nodes",
    "hardware": "the hardware event system",
    "several": "several subscribers of cuptiSubscribe_v2",
    "calls": "which records of calls there are, all and by function",
}


def ask(session, seen, question):
    ran = session.done([session.program("probe.cu", libraries=["libcupti.so"]), question], timeout=60)
    answers = [line for line in ran.out.splitlines() if line.strip()]
    seen.ok(answers, "no answer")
    seen.note(", ".join(answers))


def add(question, title):
    check("probe: " + title, "nvcc", "libcudart.so", "cupti.h", "libcupti.so")(lambda session,
        seen: ask(session, seen, question))


for name, text in QUESTIONS.items():
    add(name, text)


@check("probe: how PyTorch has libcupti", "torch", limit=LIMIT_S)
def torch_libraries(session, seen):
    lines = session.done(training(session, "--steps", "2", "--workers", "0", "--maps"), LIMIT_S).out.splitlines()
    maps = [line[len("maps "):] for line in lines if line.startswith("maps ")]
    seen.ok(maps, "no answer")
    seen.note("; ".join(maps))
