# SPDX-License-Identifier: Apache-2.0
"""Loaded by a real PyTorch at the end of its import (entry point torch.backends): gives a CPU build its way to NVTX."""
import ctypes
import os


def load():
    if 'TORCH_NVTX' in os.environ:
        ctypes.CDLL(os.environ['TORCH_NVTX'])
