# SPDX-License-Identifier: Apache-2.0
import threading

import torch
import torch.cuda

here = threading.local()
_is_profiler_enabled = False


def _run_on_profiler_start():
    global _is_profiler_enabled
    _is_profiler_enabled = True


def _run_on_profiler_stop():
    global _is_profiler_enabled
    _is_profiler_enabled = False


def _enable_profiler(kind):
    if getattr(here, 'on', None):
        raise RuntimeError('Profiler is already enabled on this thread')
    if kind != 'other' and torch._stubs and not torch._stubs.torch_enabled():
        raise RuntimeError("Can't use NVTX profiler - PyTorch was compiled without CUDA")
    here.on = kind
    here.number = torch._stubs.torch_emit() if kind != 'other' and torch._run else None


def _disable_profiler():
    here.on = None
    if here.number:
        torch._stubs._ZN2at14removeCallbackEm(here.number)


class emit_nvtx:
    def __init__(self, enabled=True, record_shapes=False):
        self.record_shapes = record_shapes

    def __enter__(self):
        torch.cuda.synchronize()
        _run_on_profiler_start()
        _enable_profiler('shapes' if self.record_shapes else 'plain')
        return self

    def __exit__(self, *error):
        torch.cuda.synchronize()
        _disable_profiler()
        _run_on_profiler_stop()
        return False


class profile:
    def __enter__(self):
        _run_on_profiler_start()
        _enable_profiler('other')
        return self

    def __exit__(self, *error):
        _disable_profiler()
        _run_on_profiler_stop()
