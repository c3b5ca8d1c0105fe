# SPDX-License-Identifier: Apache-2.0
"""Ranges and marks on the timeline of a profiler. Without one, every function here does as little as Python allows."""
import functools
import os


def _attach():
    """The tool of this process, or None. Only with one, ctypes is imported."""
    path = os.environ.get("NVTX_INJECTION64_PATH")
    if not path:
        return None
    try:
        from pillion import _nvtx
        return _nvtx.Tool(path)
    except (ImportError, OSError):
        return None


_tool = _attach()
_domains = {}


def is_active():
    """Whether a tool (pillion, Nsight Systems) receives the ranges of this process."""
    return _tool is not None


def _domain(name):
    name = name if name is None else str(name)
    if name not in _domains:
        from pillion._nvtx import Domain
        _domains[name] = Domain(_tool, name)
    return _domains[name]


def range_push(message, color=None, category=None, payload=None, domain=None):
    """Begins a range of this thread inside those that it is in. Returns the number of ranges that it was in."""
    if color is None and category is None and payload is None and domain is None:
        return _tool.push_text(_tool.encoded(message))
    d = _domain(domain)
    return _tool.push(d.handle, d.attributes(message, color, category, payload))


def range_pop(domain=None):
    """Ends the innermost range of this thread in the domain."""
    return _tool.pop() if domain is None else _tool.domain_pop(_domain(domain).handle)


def range_start(message, color=None, category=None, payload=None, domain=None):
    """Begins a range that overlaps others at will and may end on another thread. Returns what range_end() takes."""
    d = _domain(domain)
    return _tool.start(d.handle, d.attributes(message, color, category, payload, registered=True))


def range_end(handle, domain=None):
    """Ends the range that range_start() returned."""
    if isinstance(handle, int):
        _tool.end(_domain(domain).handle, handle)


def mark(message, color=None, category=None, payload=None, domain=None):
    """An instant on this thread's line."""
    if color is None and category is None and payload is None and domain is None:
        _tool.mark_text(_tool.encoded(message))
    else:
        d = _domain(domain)
        _tool.mark(d.handle, d.attributes(message, color, category, payload))


class _Text:
    """A range for a `with` statement or a decorator. It has no state, so that any number of threads may be in it."""
    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text

    def __enter__(self):
        _tool.push_text(self.text)
        return self

    def __exit__(self, kind, error, traceback):
        _tool.pop()

    def __call__(self, function):
        return _wrapped(function, self)


class _Unnamed:
    """A range with the name of the function in which a `with` statement is, or of the one that it decorates."""
    __slots__ = ("inner", "attributes")

    def __init__(self, inner, attributes):
        self.inner, self.attributes = inner, attributes

    def __enter__(self):
        self.inner.__enter__()
        return self

    def __exit__(self, kind, error, traceback):
        self.inner.__exit__(kind, error, traceback)

    def __call__(self, function):
        return annotate(function.__qualname__, *self.attributes)(function)


class _Annotation:
    """The same with a domain or other attributes than a text."""
    __slots__ = ("domain", "attributes")

    def __init__(self, domain, attributes):
        self.domain, self.attributes = domain, attributes

    def __enter__(self):
        _tool.push(self.domain, self.attributes)
        return self

    def __exit__(self, kind, error, traceback):
        _tool.domain_pop(self.domain)

    __call__ = _Text.__call__


def annotate(message=None, color=None, category=None, payload=None, domain=None):
    """A range around a `with` block, or around each call of the function that it decorates.

    message   the name of the range: few different texts, because reports add up the ranges of a name; without it, that
              of the function. `@annotate` without parentheses decorates, too
    color     0xRRGGBB, "#rrggbb" or the name of a color
    category  a number or a name, by which a timeline can be filtered
    payload   a number, or a dict of numbers and texts: what differs between ranges of one name
    domain    the name of a separate set of ranges, such as that of a library"""
    if message is None:
        import sys
        attributes = (color, category, payload, domain)
        return _Unnamed(annotate(sys._getframe(1).f_code.co_name, *attributes), attributes)
    if callable(message):
        return annotate(message.__qualname__)(message)
    if color is None and category is None and payload is None and domain is None:
        return _Text(_tool.encoded(message))
    d = _domain(domain)
    return _Annotation(d.handle, d.attributes(message, color, category, payload))


def profile(function=None, *, name=None, color=None, category=None, domain=None):
    """Decorates a function: each call is a range with its qualified name. Of generators and coroutines, each step is
    one, because between two steps the thread does other things."""
    if function is None:
        return functools.partial(profile, name=name, color=color, category=category, domain=domain)
    return annotate(name or function.__qualname__, color, category, None, domain)(function)


class _Awaited:
    __slots__ = ("steps",)

    def __init__(self, steps):
        self.steps = steps

    def __await__(self):
        return self.steps


def _stepping(inner, annotation):
    """Runs a generator or coroutine with a range around each step."""
    value, error = None, None
    while True:
        try:
            with annotation:
                result = inner.send(value) if error is None else inner.throw(error)
        except StopIteration as stop:
            return stop.value
        try:
            value, error = (yield result), None
        except GeneratorExit:
            inner.close()
            raise
        except BaseException as thrown:
            error = thrown


def _wrapped(function, annotation):
    import inspect
    if inspect.isasyncgenfunction(function):
        return function
    if inspect.iscoroutinefunction(function):
        async def wrapper(*args, **kwargs):
            return await _Awaited(_stepping(function(*args, **kwargs), annotation))
    elif inspect.isgeneratorfunction(function):
        def wrapper(*args, **kwargs):
            return (yield from _stepping(function(*args, **kwargs), annotation))
    else:
        def wrapper(*args, **kwargs):
            with annotation:
                return function(*args, **kwargs)
    return functools.wraps(function)(wrapper)


# ---- without a tool ----

class _Nothing:
    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        pass

    def __call__(self, function):
        return function


_NOTHING = _Nothing()


def _no_range_push(message, color=None, category=None, payload=None, domain=None):
    return 0


def _no_range_pop(domain=None):
    return 0


def _no_range_start(message, color=None, category=None, payload=None, domain=None):
    return 0


def _no_range_end(handle, domain=None):
    pass


def _no_mark(message, color=None, category=None, payload=None, domain=None):
    pass


def _no_annotate(message=None, color=None, category=None, payload=None, domain=None):
    return message if callable(message) else _NOTHING


def _no_profile(function=None, *, name=None, color=None, category=None, domain=None):
    return _NOTHING if function is None else function


if _tool is None:
    for _function in (_no_range_push, _no_range_pop, _no_range_start, _no_range_end, _no_mark, _no_annotate,
            _no_profile):
        _name = _function.__name__[len("_no_"):]
        _function.__doc__, _function.__name__, _function.__qualname__ = globals()[_name].__doc__, _name, _name
        globals()[_name] = _function
