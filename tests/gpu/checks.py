# SPDX-License-Identifier: Apache-2.0
"""The list of checks: each module below adds its own with @check."""

CHECKS = []


def check(title, *needs, limit=90):
    """A function of (session, seen). needs: names that Machine.lacks accepts. limit: seconds reserved for it."""
    def add(function):
        CHECKS.append((title, needs, limit, function))
        return function
    return add


def load():
    # In this order they run: what takes longest comes last.
    import check_programs, check_ends, check_compare, check_probes  # noqa: E401, F401, pylint: disable=all
    import check_frameworks, check_compare_torch  # noqa: E401, F401, pylint: disable=all
    return CHECKS
