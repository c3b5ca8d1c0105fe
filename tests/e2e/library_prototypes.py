# SPDX-License-Identifier: Apache-2.0
"""Compares the libraries' rows of the hook table with the prototypes of installed headers.

library_prototypes.py ROWS HEADER...     ROWS: lines of "kind symbol words", as hook-names --libraries prints them.
Prints what differs and, last, how many functions were compared. A row that passes on fewer words than a function takes
would lose arguments; one that passes on more would read past its caller's."""
import re
import sys

REALS = 8  # floating-point registers that every call passes on
FLOATING = {"float": 1, "double": 1, "cuComplex": 1, "cuDoubleComplex": 2}  # words of each
PROTOTYPE = re.compile(
    r"\b(?:\w+Status_t|cufftResult|ncclResult_t|int|herr_t|hid_t)\s+(\w+)\s*\(([^;{}]*?)\)\s*(?:__\w+[^;]*)?;")
# Calling conventions, deprecations: words and calls in capitals before a name.
DECORATION = re.compile(r"\bMPICH_ATTR_\w+\([^)]*\)|\b\w+_API_PUBLIC\b"
                        r"|\b[A-Z][A-Z_]*(?:WINAPI|API|DECLSPEC)\b|\b\w*DEPRECATED\w*(?:\([^)]*\))?"
                        r"|__attribute__\s*\(\([^)]*\)\)")


def prototypes(path):
    """Words and floating arguments of each function of a header."""
    text = open(path, encoding="utf-8", errors="replace").read()
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S).replace("\\\n", "")
    text = DECORATION.sub(" ", re.sub(r"^\s*#.*$", "", text, flags=re.M))
    for name, parameters in PROTOTYPE.findall(text):
        parameters = [p.split() for p in parameters.split(",")]
        if parameters in ([[]], [["void"]]):
            parameters = []
        by_value = [set(p) for p in parameters if "*" not in " ".join(p) and "[" not in p[-1]]
        floating = [FLOATING[word] for p in by_value for word in p & FLOATING.keys()]
        yield name, (len(parameters) - len(floating), sum(floating))


def main():
    known = {name: found for path in sys.argv[2:] for name, found in prototypes(path)}
    compared = 0
    for line in open(sys.argv[1], encoding="utf-8"):
        kind, symbol, words = line.split()
        if symbol not in known:
            continue
        compared += 1
        is_words, is_floating = known[symbol]
        if max(1, is_words) != int(words) or is_floating > REALS:
            print(f"{symbol}: the row has {words} words ({kind}), "
                  f"the header {is_words} and {is_floating} floating ones")
    print(compared)


main()
