#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""matching.py REGEX: prints a text that the extended regular expression matches, made from it: the first alternative,
each repetition as few times as allowed. tests/e2e/lib.sh inverts `unlike` with it."""
import sys

try:
    from re import _constants as op, _parser as parser
except ImportError:  # before Python 3.11
    import sre_constants as op
    import sre_parse as parser

IN_CATEGORY = {op.CATEGORY_DIGIT: "1", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "a", op.CATEGORY_NOT_DIGIT: "a",
               op.CATEGORY_NOT_SPACE: "a", op.CATEGORY_NOT_WORD: " "}


def member(items):
    """A character of a set [...]."""
    first, value = items[0]
    if first is op.NEGATE:
        excluded = {chr(v) for kind, v in items[1:] if kind is op.LITERAL}
        excluded |= {chr(c) for kind, v in items[1:] if kind is op.RANGE for c in range(v[0], v[1] + 1)}
        return next(c for c in map(chr, range(32, 127)) if c not in excluded)
    if first is op.CATEGORY:
        return IN_CATEGORY[value]
    return chr(value[0] if first is op.RANGE else value)


def matching(pattern):
    text = ""
    for kind, value in pattern:
        if kind is op.LITERAL:
            text += chr(value)
        elif kind is op.NOT_LITERAL:
            text += "a" if value != ord("a") else "b"
        elif kind is op.ANY:
            text += "a"
        elif kind is op.IN:
            text += member(value)
        elif kind is op.BRANCH:
            text += matching(value[1][0])
        elif kind is op.SUBPATTERN:
            text += matching(value[-1])
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            text += matching(value[2]) * value[0]
        elif kind is not op.AT:
            raise ValueError(f"{kind} is not of an extended regular expression")
    return text


print(matching(parser.parse(sys.argv[1])))
