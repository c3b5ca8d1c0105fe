# SPDX-License-Identifier: Apache-2.0
"""python_modulus_account.py THEIRS OURS: what differs between the tables of operators that PhysicsNeMo's profilers and
pillion.modulus have left in these directories, apart from times and order."""
import re
import sys

# PyTorch adds a row for memory outside of operators. It counts no FLOPs of operators in place, so that the smallest
# number, which chooses the unit, is another one.
NOT_OPERATORS = "[memory]"


def table(directory):
    """(titles, {operator: calls})"""
    with open(f"{directory}/torch/cpu_time.txt", encoding="utf-8") as file:
        rule, head, _, *rows = file.read().splitlines()
    places = [match.span() for match in re.finditer("-+", rule)]
    titles = [re.sub("Total .?FLOPs", "FLOPs", head[a:b].strip()) for a, b in places]
    cells = [[row[a:b].strip() for a, b in places] for row in rows[:rows.index(rule)]]
    return titles, {row[0]: row[titles.index("# of Calls")] for row in cells if row[0] != NOT_OPERATORS}


def main():
    (their_titles, theirs), (our_titles, ours) = map(table, sys.argv[1:])
    print("columns:", "equal" if their_titles == our_titles else (their_titles, our_titles))
    differing = {name: (theirs.get(name), ours.get(name)) for name in theirs.keys() | ours.keys()
        if theirs.get(name) != ours.get(name)}
    print("calls:", differing or "equal")


main()
