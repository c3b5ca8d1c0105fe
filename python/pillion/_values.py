# SPDX-License-Identifier: Apache-2.0
"""What a program passes to NVTX as a message or a number, as _nvtx.py and _payload.py hand it to a tool."""
import operator

VERSION = 3  # of NVTX's interface: NVTX_VERSION


def encoded(text):
    """The bytes of any message or name. Nothing here raises an exception that would not occur without a tool."""
    try:
        return str(text).encode(errors="replace")
    except Exception:
        return b"?"


def number(value):
    """An int or a float, or None."""
    for convert in (operator.index, float):
        try:
            found = convert(value)
            return int(found) if isinstance(found, int) else found  # before 3.10 index() returns a bool as it is
        except Exception:
            pass
    return None
