# SPDX-License-Identifier: Apache-2.0
"""Stands in for PyTorch where there is none: its profiler's way in, and operators that write the texts of its NVTX observer."""
import ctypes
import os
import threading

from . import autograd, cuda

_texts = ctypes.CDLL(os.environ['NVTX_TEXT'])
_seq = threading.local()


def operator(name, sizes):
    """As forward, then as backward, of one sequence number."""
    _seq.number = getattr(_seq, 'number', -1) + 1
    for text in (name, name + 'Backward0'):
        on = getattr(autograd.profiler.here, 'on', None)
        if on:
            text += ', seq = %d' % _seq.number + (', sizes = %s' % sizes if on == 'shapes' else '')
            _texts.text_push(text.encode())
            _texts.text_pop()
