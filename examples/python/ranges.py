# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges without a third-party module: `with ranges.range("load"): ...`, `ranges.mark("epoch")`.

The `nvtx` package is used if it is installed. Otherwise this module does what NVTX's header does in C: a tool has set
NVTX_INJECTION64_PATH to its path, is passed a table of function pointers, and fills in those that it wants to be
called. Without a tool every call here returns immediately."""
import builtins
import contextlib
import ctypes
import os

try:
    import nvtx
except ImportError:
    nvtx = None

CALLBACKS, CORE = 1, 1  # NVTX_ETID_CALLBACKS, NVTX_CB_MODULE_CORE
MARK_A, PUSH_A, POP, SLOTS = 2, 9, 11, 16  # NVTX_CBID_CORE_*

_Slot = ctypes.c_void_p
_GetModule = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_uint))
_GetExport = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint)


class _Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("get_module", _GetModule)]


_functions = (_Slot * SLOTS)()
_table = (ctypes.c_void_p * SLOTS)(*[ctypes.addressof(_functions) + i * ctypes.sizeof(_Slot)
    for i in builtins.range(SLOTS)])


@_GetModule
def _get_module(module, ret_table, ret_size):
    if module != CORE:
        return 0
    ret_table[0] = ctypes.addressof(_table)
    if ret_size:
        ret_size[0] = SLOTS
    return 1


_callbacks = _Callbacks(ctypes.sizeof(_Callbacks), _get_module)


@_GetExport
def _get_export(which):
    return ctypes.addressof(_callbacks) if which == CALLBACKS else None


def _attach():
    path = os.environ.get("NVTX_INJECTION64_PATH")
    if nvtx or not path:
        return
    try:
        ctypes.CDLL(path).InitializeInjectionNvtx2(_get_export)
    except (OSError, AttributeError):
        pass


def _function(slot, *arguments):
    address = _functions[slot]
    return ctypes.CFUNCTYPE(ctypes.c_int, *arguments)(address) if address else None


_attach()
_mark = _function(MARK_A, ctypes.c_char_p)
_push = _function(PUSH_A, ctypes.c_char_p)
_pop = _function(POP)


def mark(text):
    """An instant on this thread's line."""
    if nvtx:
        nvtx.mark(text)
    elif _mark:
        _mark(text.encode())


@contextlib.contextmanager
def range(text):
    """A stretch of this thread's time. Ranges nest."""
    if nvtx:
        nvtx.push_range(text)
    elif _push:
        _push(text.encode())
    try:
        yield
    finally:
        if nvtx:
            nvtx.pop_range()
        elif _pop:
            _pop()
