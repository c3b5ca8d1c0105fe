# SPDX-License-Identifier: Apache-2.0
"""pillion in Python: ranges and capture ranges in a program, and its captures as tables."""
from pillion.capture import Capture, PillionError, Table, read
from pillion.cuda import CudaProfiler
from pillion.profiler import (Profiler, ProfilerActivity, profile, record_function, schedule, supported_activities,
    tensorboard_trace_handler)
from pillion.ranges import annotate, is_active, mark, range_end, range_pop, range_push, range_start

__version__ = "0.1.0"
__all__ = ["Capture", "CudaProfiler", "PillionError", "Profiler", "ProfilerActivity", "Table", "annotate", "is_active",
    "mark", "profile", "range_end", "range_pop", "range_push", "range_start", "read", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler"]


def load_ipython_extension(ipython):
    """%load_ext pillion"""
    from pillion.magic import load
    load(ipython)
