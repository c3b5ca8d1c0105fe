# SPDX-License-Identifier: Apache-2.0
"""Runs a program while sys.monitoring calls functions that do nothing, for the events that --python-calls needs:
emptycalls.py DIRECTORY SCRIPT [ARGUMENT...]. The directory has the compiled emptycalls.c."""
import runpy
import sys

sys.path.insert(0, sys.argv[1])
from emptycalls import nothing  # noqa: E402

sys.path.pop(0)
sys.argv = sys.argv[2:]
sys.path[0] = sys.argv[0].rpartition("/")[0]
events = sys.monitoring.events
wanted = (events.PY_START, events.PY_RESUME, events.PY_THROW, events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND,
    events.CALL, events.C_RETURN, events.C_RAISE)
sys.monitoring.use_tool_id(4, "empty")
for event in wanted:
    sys.monitoring.register_callback(4, event, nothing)
sys.monitoring.set_events(4, sum(wanted))
runpy.run_path(sys.argv[0], run_name="__main__")
