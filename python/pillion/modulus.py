# SPDX-License-Identifier: Apache-2.0
"""physicsnemo.utils.profiling (earlier modulus.utils.profiling) with pillion's recorder.

    from pillion.modulus import Profiler, annotate, profile

    $ pillion --pytorch=autograd-shapes-nvtx --lines-of=@profile python3 workload.py

What PhysicsNeMo's profilers leave in `physicsnemo_profiling_outputs` is left there: torch/cpu_time.txt, gpu_time.txt
and trace.json, and line_profiler/profiler_stats.txt. A decorated function stays the same object, because the recorder
counts its lines in place: PhysicsNeMo has to replace it in its module or class. All is in the capture, too."""
import atexit
import contextlib
import dataclasses
import functools
import os
import pathlib
import sys
import warnings

from pillion import lines, profiler, ranges
from pillion.capture import PillionError

annotate = ranges.annotate
NANOSECOND = 1e-9
RANKS = ("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")


def _warn(text):
    warnings.warn(text, RuntimeWarning, stacklevel=4)


def _rank():
    """The rank of this process; None if there is only one."""
    for rank, size in RANKS:
        if rank in os.environ and size in os.environ:
            return os.environ[rank] if os.environ[size] != "1" else None
    return None


class _Profiler_Singleton(type):
    def __call__(cls, *args, **options):
        if "_instance" not in vars(cls):
            cls._instance = super().__call__(*args, **options)
        return cls._instance

    def _clear_instance(cls):
        if "_instance" in vars(cls):
            del cls._instance


class PhysicsNeMoProfilerWrapper(contextlib.ContextDecorator):
    """What Profiler.enable() enables: a program's own profiler is a class derived from this one."""
    _name = ""
    _config = None
    _is_context = _is_decorator = enabled = initialized = finalized = False
    is_context = property(lambda self: self._is_context)
    is_decorator = property(lambda self: self._is_decorator)

    def __enter__(self):
        """Begins to profile a `with` block, if is_context."""

    def __exit__(self, kind, error, traceback):
        """Ends it."""

    def step(self):
        """Ends a step of the program."""

    def reconfigure(self, **options):
        if self._config is not None:
            self._config = dataclasses.replace(self._config, **options)

    def output_dir(self, top):
        """Its folder below `top`, that of this rank if there are several. It is created."""
        path = pathlib.Path(top) / self._name
        if _rank() is not None:
            path /= f"rank_{_rank()}"
        path.mkdir(parents=True, exist_ok=True)
        return path


ModulusProfilerWrapper = PhysicsNeMoProfilerWrapper  # its earlier name


class _Tool(PhysicsNeMoProfilerWrapper, metaclass=_Profiler_Singleton):
    """A profiler of ours."""

    def _standup(self):
        """Begins to record, or warns and disables itself."""
        why = self._what_is_missing()
        if why:
            _warn(why)
            self.enabled = False
        self.initialized = True

    def finalize(self, output_top):
        """Writes its files, once."""
        if self.enabled and self.initialized and not self.finalized:
            self.finalized = True
            self._write(output_top)


@dataclasses.dataclass
class TorchProfilerConfig:
    """As of PhysicsNeMo. What is recorded is said on pillion's command line, so only the schedule, the flops and the
    path have an effect."""
    name: str = "torch"
    torch_prof_activities: tuple = None
    record_shapes: bool = True
    with_stack: bool = False
    profile_memory: bool = True
    with_flops: bool = True
    schedule: object = None
    on_trace_ready_path: object = None


class TorchProfileWrapper(_Tool):
    """The operators of PyTorch in the `with Profiler()` blocks, or in the active steps of a schedule."""
    _name = "torch"
    _is_context = True

    def __init__(self, config=None, **options):
        self._config = dataclasses.replace(config or TorchProfilerConfig(), **options)
        self._profiler = None

    def _what_is_missing(self):
        return None if profiler._records_operators() else profiler._what_is_missing()

    def _standup(self):
        super()._standup()
        path, schedule = self._config.on_trace_ready_path, self._config.schedule
        ready = profiler.tensorboard_trace_handler(path) if path is not None and self.enabled else None
        self._profiler = profiler.profile(schedule=schedule, on_trace_ready=ready, with_flops=self._config.with_flops)

    def __enter__(self):
        self._profiler.start()
        return self

    def __exit__(self, kind, error, traceback):
        self._profiler.stop()

    def step(self):
        # Profiler.step() would begin a step outside of a `with` block.
        if self._profiler is not None and self._profiler.phase is not None:
            self._profiler.step()

    def _write(self, output_top):
        if self._profiler.capture() is None:
            return  # no `with Profiler()` block was executed
        averages = self._profiler.key_averages()
        if not averages:
            _warn(averages.message)
            return
        folder = self.output_dir(output_top)
        (folder / "cpu_time.txt").write_text(averages.table(), encoding="utf-8")
        (folder / "gpu_time.txt").write_text(averages.table(sort_by="cuda_time_total"), encoding="utf-8")
        if self._config.on_trace_ready_path is None:
            self._profiler.export_chrome_trace(folder / "trace.json")


class LineProfileWrapper(_Tool):
    """The lines of decorated functions."""
    _name = "line_profiler"
    _is_decorator = True

    def __init__(self):
        self._places = set()

    def _what_is_missing(self):
        return lines.what_is_missing()

    def __call__(self, function):
        if self.enabled and lines.count(function):
            self._places.add(lines.place_of(function))
        return function

    def _write(self, output_top):
        rows = [row for row in lines.own_rows() if (row["File"], row["Function"]) in self._places]
        path = self.output_dir(output_top) / "profiler_stats.txt"
        path.write_text(lines.text(rows, NANOSECOND), encoding="utf-8")


class ProfileRegistry:
    """The profilers that Profiler.enable() knows by name."""
    _registry = {"torch": TorchProfileWrapper, "line_profile": LineProfileWrapper, "line_profiler": LineProfileWrapper}

    @classmethod
    def register_profiler(cls, profiler_key, profiler_cls):
        """Names a class of the program, of which there is one object. A name that is taken is a KeyError."""
        known = cls._registry.setdefault(profiler_key, profiler_cls)
        if profiler_cls not in (known, type(known)):
            raise KeyError(f"{profiler_key!r} is the name of {known!r} already")

    @classmethod
    def get_profiler(cls, key):
        """The object of this name, or of this class."""
        if isinstance(key, str) and key not in cls._registry:
            raise KeyError(f"{key!r} is not one of {', '.join(map(str, cls._registry))}")
        tool = cls._registry.get(key, key)
        if isinstance(tool, type):
            tool = cls._registry[key] = tool()
        return tool


class Profiler(metaclass=_Profiler_Singleton):
    """The one profiler of a process.

        Profiler().enable("line_profiler")      # and "torch"; or an object such as TorchProfileWrapper(schedule=...)
        Profiler().initialize()                 # lines of decorated functions are counted from here on
        with Profiler() as p:
            for batch in loader:
                train(batch)
                p.step()

    Files are written by finalize(), at the latest when the interpreter ends. Nothing is recorded until initialize() or
    a `with` block; where this process is not recorded, that warns and says how to start it."""
    annotate = staticmethod(annotate)

    def __init__(self):
        self._tools, self._decorated, self._contexts = [], [], contextlib.ExitStack()
        self._path = pathlib.Path("physicsnemo_profiling_outputs")
        self.initialized, self.finalized, self._process = False, False, os.getpid()

    def get(self, tool):
        """The tool of this name, or the class's one."""
        return ProfileRegistry.get_profiler(tool)

    def enable(self, tool):
        """Enables "torch", "line_profiler", what ProfileRegistry has, or an object with their methods; returns it."""
        if self.initialized:
            raise RuntimeError("pillion: no more tools can be enabled after Profiler().initialize()")
        tool = self.get(tool)
        tool.enabled = True
        if tool not in self._tools:
            self._tools.append(tool)
        return tool

    @property
    def enabled(self):
        return any(tool.enabled for tool in self._tools)

    def initialize(self):
        if self.initialized:
            return
        for tool in self._tools:
            tool._standup()
        self.initialized = True
        for function in self._decorated:
            self._replace(function, self._decorate(function))
        self._decorated.clear()

    def finalize(self):
        """Writes the files of all tools, once; not in a forked child, whose files would be the same ones."""
        for tool in self._tools if self._process == os.getpid() else ():
            try:
                tool.finalize(self._path)
            except (PillionError, OSError) as error:
                _warn(f"pillion: {error}")
        self.finalized = True

    def step(self):
        for tool in self._tools:
            tool.step()

    @staticmethod
    def _replace(function, profiled):
        """Puts what a tool of the program has made of a function in its place: ours return the function itself."""
        module, path = sys.modules.get(function.__module__), function.__qualname__.split(".")
        spaces = [module, sys.modules["__main__"]]
        if "<locals>" not in path:
            spaces.append(functools.reduce(lambda space, name: getattr(space, name, None), path[:-1], module))
        for space in spaces if profiled is not function else ():
            for name, value in list(vars(space).items()) if space is not None else ():
                if value is function:
                    setattr(space, name, profiled)
                elif isinstance(value, (staticmethod, classmethod)) and value.__func__ is function:
                    setattr(space, name, type(value)(profiled))

    def _decorate(self, function):
        for tool in self._tools:
            if tool.enabled and tool.is_decorator:
                function = tool(function)
        return function

    def __call__(self, function):
        """@profile: the tools that profile functions do so with this one, at the latest from initialize() on."""
        if self.initialized:
            return self._decorate(function)
        self._decorated.append(function)
        return function

    def __enter__(self):
        self.initialize()
        for tool in self._tools:
            if tool.enabled and tool.is_context:
                self._contexts.enter_context(tool)
        return self

    def __exit__(self, kind, error, traceback):
        self._contexts.close()

    @property
    def output_path(self):
        """The folder of the files; `output_dir(path)` sets it, too."""
        return self._path

    @output_path.setter
    def output_path(self, path):
        self._path = pathlib.Path(path)

    def output_dir(self, path):
        self.output_path = path

    def __repr__(self):
        names = " ".join(tool._name for tool in self._tools)
        return f"<pillion.modulus.Profiler: {'initialized' if self.initialized else 'not initialized'}, [{names}]>"


def profile(function):
    """Marks a function for the tools that profile functions. It stays the same object."""
    return Profiler()(function)


atexit.register(lambda: Profiler().finalize())
