# SPDX-License-Identifier: Apache-2.0
"""cudaProfilerStart and cudaProfilerStop: the capture range of `-c cudaProfilerApi`."""
import functools
import glob
import os
import re
import sys


def _loaded():
    """The libcudart that the process has, under its path: PyTorch's has a number in its name."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = {line.rstrip("\n").split(None, 5)[5] for line in maps if "libcudart" in line}
    except (OSError, IndexError):
        return []
    return sorted(p for p in paths if re.fullmatch(r"libcudart[-.\w]*\.so[.\d]*", os.path.basename(p)))


def _installed():
    """By its name where the loader finds it; in NVIDIA's packages for Python; in a toolkit."""
    yield from ("libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so")
    patterns = [os.path.join(p, *parts) for p in sys.path if p for parts in (
        ("nvidia", "cu*", "lib", "libcudart.so*"), ("nvidia", "cuda_runtime", "lib", "libcudart.so*"),
        ("torch", "lib", "libcudart*.so*"))]
    patterns += [os.path.join(os.environ[v], "lib64", "libcudart.so") for v in ("CUDA_HOME", "CUDA_PATH")
        if v in os.environ]
    patterns.append("/usr/local/cuda/lib64/libcudart.so")
    for pattern in patterns:
        yield from sorted(glob.glob(pattern), reverse=True)


def _libraries(library):
    import ctypes
    # A recorder has the functions even where there is no CUDA.
    recorder = os.environ.get("NVTX_INJECTION64_PATH")
    for path in [library] if library else [*_loaded(), *_installed(), *([recorder] if recorder else [])]:
        try:
            found = ctypes.CDLL(path)
            found.cudaProfilerStart, found.cudaProfilerStop
        except (OSError, AttributeError):
            continue
        yield found


class CudaProfiler:
    """A capture range: start() and stop(), a `with` statement, or a decorator.

        with pillion.CudaProfiler():
            train_one_epoch()

    Record it with `pillion -c cudaProfilerApi COMMAND` or `nsys profile -c cudaProfilerApi COMMAND`. The CUDA runtime
    is the one that the process has loaded, otherwise the one that is installed; where there is none, start() and
    stop() return False and do nothing. `library` is the path of another one."""

    def __init__(self, library=None):
        self._wanted, self._runtime = library, None

    def _call(self, name):
        if self._runtime is None:
            self._runtime = next(_libraries(self._wanted), None)
        return self._runtime is not None and getattr(self._runtime, name)() == 0

    @property
    def path(self):
        """The path of the CUDA runtime that start() uses; None before the first call or where there is none."""
        return getattr(self._runtime, "_name", None)

    def start(self):
        """Opens the capture range. True if the CUDA runtime, or the recorder for it, returned success."""
        return self._call("cudaProfilerStart")

    def stop(self):
        """Closes it."""
        return self._call("cudaProfilerStop")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, traceback):
        self.stop()

    def __call__(self, function):
        """The capture range is open during each call."""
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return wrapper
