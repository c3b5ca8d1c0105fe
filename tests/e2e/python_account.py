# SPDX-License-Identifier: Apache-2.0
"""python_account.py SCRIPT: reads folded CPU samples of tests/targets/python_samples.py and prints "stacks=N short=N
wrong=N unplaced=N": each Python frame must be one that the frame above it calls, at a line of its function. short: does
not begin at a thread's first function."""
import ast
import re
import sys

CALLS = {
    "": {"<module>", "run"},
    "<module>": {"busy", "leaf", "Key"},
    "busy": {"run"},
    "run": {"round_"},
    "round_": {"leaf", "generator", "recursion", "<listcomp>", "__lt__", "__init__", "in_c", "<module>"},
    "<listcomp>": {"__init__"},
    "generator": {"leaf"},
    "recursion": {"recursion", "leaf"},
    "__lt__": {"leaf"},
}
FRAME = re.compile(r"([^ ]+) \((?:[^()]*/python_samples\.py|<string>):(\d+)\)")


def lines_of(script):
    tree = ast.parse(open(script, encoding="utf-8").read())
    return {node.name: range(node.lineno, node.end_lineno + 1) for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)}


def main():
    lines = lines_of(sys.argv[1])
    stacks = short = wrong = unplaced = 0
    for text in sys.stdin:
        if "python_samples.py:" not in text:
            continue  # the startup of the interpreter
        frames = [FRAME.fullmatch(f) for f in text.rsplit(" ", 1)[0].split(";")]
        frames = [(m[1].split(".")[-1], int(m[2])) for m in frames if m]
        stacks += 1
        unplaced += "position is unknown" in text
        chain = [name for name, _ in frames]
        if chain[0] not in CALLS[""]:
            short += 1
        elif any(b not in CALLS.get(a, ()) for a, b in zip(chain, chain[1:])) or any(
            n in lines and line not in lines[n] for n, line in frames
        ):
            wrong += 1
            print("#", text, file=sys.stderr)
    print(f"stacks={stacks} short={short} wrong={wrong} unplaced={unplaced}")


main()
