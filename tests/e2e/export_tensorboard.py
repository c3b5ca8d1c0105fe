#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export_tensorboard.py TORCH OURS: whether TensorBoard's plugin for PyTorch profiles lists the same operators, with
the same calls and sizes of their tensors, in both traces: PyTorch's own export and -t chrome of the same program."""
import logging
import sys
import tempfile

logging.disable()
from torch_tb_profiler.profiler.data import RunProfileData  # noqa: E402


def operators(path):
    """The calls of each operator, by its name and by its name and sizes, as the plugin's view of operators has them."""
    with tempfile.TemporaryDirectory() as cache:
        data = RunProfileData.parse("worker", None, path, cache)
    data.process()
    by_name = {o.name: o.calls for o in data.op_list_groupby_name}
    by_input = {(o.name, str(o.input_shape)): o.calls for o in data.op_list_groupby_name_input}
    return {**by_name, **by_input}


def main():
    theirs, ours = map(operators, sys.argv[1:])
    for what in sorted(set(theirs) | set(ours), key=str):
        if theirs.get(what) != ours.get(what):
            print(f"{what}: {ours.get(what)} calls, PyTorch's export has {theirs.get(what)}")
    print(f"{len(theirs)} operators")
    return theirs != ours or not theirs


if __name__ == "__main__":
    sys.exit(main())
