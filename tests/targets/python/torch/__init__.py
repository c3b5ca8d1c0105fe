# SPDX-License-Identifier: Apache-2.0
"""Stands in for PyTorch where there is none: its profiler's way in, and operators that write the texts of its NVTX
observer."""
import ctypes
import os
import threading

from . import autograd, cuda

_stubs = ctypes.CDLL(os.environ['TORCH_STUBS']) if 'TORCH_STUBS' in os.environ else None # as of a build without CUDA
_texts = _stubs or ctypes.CDLL(os.environ['NVTX_TEXT'])
_push = _stubs.torch_push if _stubs else _texts.text_push
_pop = _stubs.torch_pop if _stubs else _texts.text_pop
_seq = threading.local()
if 'TORCH_RECORD' in os.environ: # of this version, which has callbacks for operators
    __version__ = os.environ['TORCH_RECORD']
    _run = _stubs.torch_run
    _run.argtypes = [ctypes.c_char_p, ctypes.c_long]
    _stubs.torch_emit.restype = ctypes.c_long
else:
    _run = None


def operator(name, sizes):
    """As forward, then as backward, of one sequence number."""
    _seq.number = getattr(_seq, 'number', -1) + 1
    for text in (name, name + 'Backward0'):
        on = getattr(autograd.profiler.here, 'on', None)
        if _run:
            _run(text.encode(), _seq.number)
        elif on and not (_stubs and on == 'other'):
            text += ', seq = %d' % _seq.number + (', sizes = %s' % sizes if on == 'shapes' else '')
            _push(text.encode())
            _pop()


float32, float64, int64, float16 = 6, 7, 4, 5


def neg(tensor):
    _run(b'aten::neg', -2)


def dropout(tensor, chance, is_training):
    _run(b'aten::dropout', -2)


def empty(size, dtype=float32):
    if _run:
        _stubs.torch_type(dtype)
        _run(b'aten::empty', -1)
    elif getattr(autograd.profiler.here, 'on', None):
        _push(b'aten::empty')
        _pop()
