# SPDX-License-Identifier: Apache-2.0
# What pillion does in a Python program. annotate.c runs this file once per interpreter, in a namespace that belongs to
# no module, and provides:
#   annotation(domain, text, color, name, file, first_line) -> (begin, end)
#   import_begin(name)   import_end()   note(text)
#   record_*   operators_gap   torch_*   calls_*   python_calls   jax_*   wants_jax: see annotate_parts.h
#   wants_imports, wants_operators, wants_shapes, functions: [(domain, module, qualified name, color)]
# Everything depends on replacing one function, by which both `import` and importlib load a module. CPython 3.8 and
# newer. Nothing here may raise into the program, print, import a module that is not built in, or leave a name behind.
import sys
import _thread

FUNCTION = type(lambda: None)
GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200
known = ['threading', 'torch']
wanted = {}
for domain, module, name, color in functions:
    wanted.setdefault(module, []).append((domain, name, color))


# ---- functions ----

def stepping(inner, begin, end):
    """Runs a generator or coroutine with a range around each step: between steps its thread does other things."""
    value, error = None, None
    while True:
        begin()
        try:
            if error is None:
                result = inner.send(value)
            else:
                result = inner.throw(error)
        except StopIteration as stop:
            return stop.value
        finally:
            end()
        try:
            value, error = (yield result), None
        except GeneratorExit:
            inner.close()
            raise
        except BaseException as thrown:
            error = thrown


class Awaited:
    __slots__ = ('steps',)

    def __init__(self, steps):
        self.steps = steps

    def __await__(self):
        return self.steps


def wrapped(function, begin, end):
    flags = getattr(getattr(function, '__code__', None), 'co_flags', 0)
    if flags & ASYNC_GENERATOR:
        return None
    if flags & GENERATOR:
        def wrapper(*args, **kwargs):
            return (yield from stepping(function(*args, **kwargs), begin, end))
    elif flags & COROUTINE:
        async def wrapper(*args, **kwargs):
            return await Awaited(stepping(function(*args, **kwargs), begin, end))
    else:
        def wrapper(*args, **kwargs):
            begin()
            try:
                return function(*args, **kwargs)
            finally:
                end()
    for name in ('__module__', '__name__', '__qualname__', '__doc__', '__annotations__'):
        if hasattr(function, name):
            setattr(wrapper, name, getattr(function, name))
    wrapper.__dict__.update(getattr(function, '__dict__', {}))
    wrapper.__wrapped__ = function
    return wrapper


def owner_of(module, path):
    """The module or class that has it, and the value there: getattr does not return a static method itself."""
    owner, parts = module, path.split('.')
    for part in parts[:-1]:
        owner = getattr(owner, part)
    for place in getattr(owner, '__mro__', (owner,)):
        if parts[-1] in vars(place):
            return owner, parts[-1], vars(place)[parts[-1]]
    return owner, parts[-1], getattr(owner, parts[-1])


def code_of(function):
    """Name, file and first line of the function, if each range is a call of it and it is written in Python."""
    code = getattr(function, '__code__', None)
    if not code or code.co_flags & (GENERATOR | COROUTINE) or code.co_filename == '<pillion>':
        return '', '', 0
    return getattr(code, 'co_qualname', code.co_name), code.co_filename, code.co_firstlineno


def trace_function(module, domain, path, color):
    owner, name, kept = owner_of(module, path)
    kind = type(kept) if isinstance(kept, (classmethod, staticmethod)) else None
    function = kept.__func__ if kind else kept
    ends = annotation(domain, path, color, *code_of(function))
    if not callable(function) or isinstance(function, type) or not ends:
        return False
    wrapper = wrapped(function, *ends)
    if wrapper and isinstance(owner, type) and not kind and not hasattr(type(function), '__get__'):
        kind = staticmethod
    if wrapper:
        setattr(owner, name, kind(wrapper) if kind else wrapper)
    return bool(wrapper)


def trace_functions(module, rows):
    for domain, path, color in rows:
        why = 'not a function that can be wrapped'
        try:
            if trace_function(module, domain, path, color):
                continue
        except AttributeError:
            why = 'no such function'
        except Exception as error:
            why = type(error).__name__
        note('--python-functions-trace: %s.%s: %s' % (getattr(module, '__name__', '?'), path, why))


# ---- PyTorch ----

class Quiet:
    """Replaces the name `torch` in emit_nvtx: a CUDA context must not be created in a process that may still fork."""

    def __init__(self, torch):
        self.torch = torch
        self.cuda = self

    def __getattr__(self, name):
        return getattr(self.torch, name)

    def synchronize(self, *args):
        pass


COMPILERS = 'torch._dynamo', 'torch._inductor', 'torch._functorch'


class Profiler(type(sys)):
    """The class of the module torch.autograd.profiler. PyTorch's compilers write their ranges only where a profiler is
    active, so they see ours; the program does not."""

    @property
    def _is_profiler_enabled(self):
        back = sys._getframe().f_back
        caller = str(back.f_globals.get('__name__')) if back else ''
        return vars(self)['_is_profiler_enabled'] or caller.startswith(COMPILERS)

    @_is_profiler_enabled.setter
    def _is_profiler_enabled(self, value):
        vars(self)['_is_profiler_enabled'] = value


def can_record(torch):
    """In versions whose type of callbacks is known. An operator without a node of autograd has the number that
    the next node will get; a function that makes a tensor has none."""
    version = str(getattr(torch, '__version__', ''))
    is_settled = False
    if '.'.join(version.split('.')[:2]) in ['2.%d' % minor for minor in range(15)] and record_try():
        try:
            for dtype in (torch.float32, torch.float64, torch.int64, torch.float16):
                tensor = torch.empty(3, dtype=dtype)
                torch.neg(tensor)
                torch.dropout(tensor, 0.25, False)
        finally:
            is_settled = record_settle()
    if version and not is_settled:
        note('--pytorch: emit_nvtx records the operators of PyTorch %s, which takes longer than our own callback' %
             version)
    return bool(is_settled)


def trace_operators(torch):
    """emit_nvtx on each thread, except while the program profiles. Thread-local; autograd's threads inherit it. Its
    callback is replaced by ours where that is possible."""
    import atexit
    import threading
    profiler = sys.modules['torch.autograd.profiler']
    space = dict(vars(profiler), torch=Quiet(torch), _run_on_profiler_start=lambda: None,
                 _run_on_profiler_stop=lambda: None)
    emit = profiler.emit_nvtx
    enter_quietly, leave_quietly = (FUNCTION(f.__code__, space) for f in (emit.__enter__, emit.__exit__))
    here = _thread._local()

    def enter():
        context = emit(record_shapes=bool(wants_shapes))
        number = record_begin() if is_recorded else 0
        torch_open(1)
        try:
            enter_quietly(context)
        except BaseException:
            record_end(number)
            raise
        finally:
            torch_open(0)
        here.context, here.number = context, record_replace(number) if number else 0

    def enter_anew(*unused):
        try:
            enter()
        except Exception as error:
            note('--pytorch: a thread without ranges: ' + str(error).split('\n')[0])

    def leave(*unused):
        context = getattr(here, 'context', None)
        if context is not None:
            here.context = None
            record_end(here.number)
            leave_quietly(context, None, None, None)
        return context is not None

    def beside(start):
        def own_start(*args, **kwargs):
            if leave():
                here.left = operators_gap(0)
            return start(*args, **kwargs)
        return own_start

    def anew(stop):
        def own_stop(*args, **kwargs):
            result = stop(*args, **kwargs)
            left = getattr(here, 'left', None)
            if left is not None:
                here.left = None
                enter_anew()
                operators_gap(left)
            return result
        return own_stop

    def run(thread):
        enter_anew()
        try:
            run_thread(thread)
        finally:
            leave()

    def hide(name):
        """What PyTorch tells about its profiler is what it told before, while no other one than ours is there."""
        function = getattr(getattr(getattr(torch, '_C', None), '_autograd', None), name, None)
        before = function and function()

        def own():
            return before if getattr(here, 'context', None) is not None else function()
        for module in (torch._C._autograd, torch.autograd) if function else ():
            if getattr(module, name, None) is function:
                own.__name__, own.__qualname__, own.__doc__ = name, name, function.__doc__
                setattr(module, name, own)

    def enter_without_nvtx():
        """Like in a build with NVTX, if one operator shows that our functions are called in the expected order."""
        if not torch_offer():
            return False
        try:
            enter()
            torch.empty(0)
        finally:
            leave()
            is_settled = torch_settle()
        if is_settled:
            enter()
        return bool(is_settled)

    is_recorded, can = False, can_record(torch)
    for name in ('_profiler_enabled', '_profiler_type'):
        hide(name)
    try:
        enter()
    except RuntimeError:
        if not enter_without_nvtx():
            raise
    if can:
        leave()
        is_recorded = True
        enter()
    if '_is_profiler_enabled' in vars(profiler):
        profiler.__class__ = Profiler
    # Where PyTorch says that it will begin, the program's profile has no frame of ours in its stacks.
    start, last = '_run_on_profiler_start', '_run_on_profiler_stop'
    if not hasattr(profiler, start):
        start, last = '_enable_profiler', '_disable_profiler'
    legacy = sys.modules.get('torch.autograd.profiler_legacy')
    for module, first, stop in ((profiler, ('_prepare_profiler', start), last),
                                (torch.autograd, ('_enable_profiler_legacy',), '_disable_profiler_legacy'),
                                (legacy, ('_enable_profiler_legacy',), '_disable_profiler_legacy')):
        for name, own in [(name, beside) for name in first] + [(stop, anew)]:
            if hasattr(module, name):
                setattr(module, name, own(getattr(module, name)))
    atexit.register(leave)
    run_thread = threading.Thread._bootstrap_inner
    threading.Thread._bootstrap_inner = run


def torch_is_there(torch):
    try:
        trace_operators(torch)
    except Exception as error:
        note('--pytorch: no ranges of its operators: ' + (str(error) or type(error).__name__).split('\n')[0])


# ---- JAX ----

if wants_jax:
    jax_parts = {'jax._src.compiler': watch_modules, 'jax._src.dispatch': watch_dispatch,
                 'jax._src.monitoring': watch_cache, 'jax._src.pjit': watch_calls,
                 'jax._src.util': watch_misses, 'jax._src.linear_util': watch_misses,
                 'jax._src.xla_bridge': watch_buffers}
    known += list(jax_parts)


# ---- calls ----

METHOD = type(list.append)
class_of, order_of, contents_of = type, type.__dict__['__mro__'].__get__, type.__dict__['__dict__'].__get__


def c_name(function, *owner):
    """As cProfile names it. Without `owner` it belongs to no object."""
    if type(function) is METHOD:
        return repr(function)
    name, module = function.__name__, function.__module__
    if not owner:
        return '<%s>' % name if module in (None, 'builtins') else '<%s.%s>' % (module, name)
    for place in order_of(class_of(owner[0])):
        if name in contents_of(place):
            text = repr(contents_of(place)[name])
            return text[:text.rfind(' at 0x')] + '>' if ' at 0x' in text else text
    return '<built-in method %s.%s>' % (module, name) if isinstance(module, str) else '<built-in method %s>' % name


def describe_c(function, *owner):
    name = c_name(function, *owner).encode('utf-8', 'replace').decode()
    return '{%s}' % name[1:-1], name


def begin_calls():
    known.append('greenlet')
    monitoring = getattr(sys, 'monitoring', None)
    tool = next((t for t in (4, 3) if monitoring and monitoring.get_tool(t) is None), None)
    head = object.__basicsize__ - 16
    wants_c = 'no-c' not in python_calls.split(',')
    if head == 16 and sys.version_info < (3, 15): # code objects' own data are not thread-safe
        return note('--python-calls: not possible in a free-threaded CPython before 3.15')
    if head not in (0, 16) or monitoring and tool is None or not calls_open(
            describe_c, getattr(monitoring, 'DISABLE', None), getattr(monitoring, 'MISSING', None), head,
            sys.setprofile, wants_c):
        return note('--python-calls: not possible in this interpreter')
    if not monitoring:
        return calls_here()
    events = monitoring.events
    callbacks = {events.PY_START: calls_enter, events.PY_RESUME: calls_enter, events.PY_THROW: calls_throw,
                 events.PY_RETURN: calls_leave, events.PY_YIELD: calls_leave, events.PY_UNWIND: calls_unwind}
    if wants_c:
        callbacks.update({events.CALL: calls_c_enter, events.C_RETURN: calls_c_leave, events.C_RAISE: calls_c_leave})
    monitoring.use_tool_id(tool, 'pillion')
    for event in callbacks:
        monitoring.register_callback(tool, event, callbacks[event])
    monitoring.set_events(tool, sum(callbacks))


def disguise(function, other):
    """Gives it the file of another one, as whose part tracebacks and warnings then take it. Its qualified name, which
    these do not print, tells reports that it is ours."""
    code = function.__code__
    name = {'co_qualname': '<pillion>.' + code.co_name} if hasattr(code, 'co_qualname') else {}
    function.__code__ = code.replace(co_filename=other.__code__.co_filename, **name)
    if python_calls:
        calls_hide(function.__code__)


# ---- threads ----

def watch_threads(threading):
    """In the first function that a thread calls."""
    def _set_native_id(thread):
        set_native_id(thread)
        if thread._name != 'MainThread':
            calls_here()

    set_native_id = threading.Thread._set_native_id
    disguise(_set_native_id, set_native_id)
    threading.Thread._set_native_id = _set_native_id


# ---- imports ----

def is_loaded(name):
    module = sys.modules.get(name)
    spec = getattr(module, '__spec__', None)
    return module is not None and not getattr(spec, '_initializing', False)


def loaded(name):
    module = sys.modules.get(name)
    rows = wanted.pop(name, None)
    if module is None or (rows is None and name not in known):
        return
    if rows:
        trace_functions(module, rows)
    if name == 'greenlet':
        note('--python-calls: the program has greenlets (gevent, eventlet): where it switches them, the number of '
             'calls is exact, but callers and times are wrong')
    if name == 'torch' and wants_operators:
        torch_is_there(module)
    if wants_jax and name in jax_parts:
        jax_is_there(module, jax_parts[name])
    if (name == 'threading' and python_calls and not hasattr(sys, 'monitoring')
            and hasattr(getattr(module, 'Thread', None), '_set_native_id')):
        watch_threads(module)


def watch(importlib):
    find_and_load = importlib._find_and_load
    begin, end = import_begin, import_end

    def _find_and_load(name, import_):
        if is_loaded(name):
            return find_and_load(name, import_)
        if wants_imports:
            begin(name)
            try:
                module = find_and_load(name, import_)
            finally:
                end()
        else:
            module = find_and_load(name, import_)
        if (name in wanted or name in known) and is_loaded(name):
            loaded(name)
        return module

    disguise(_find_and_load, find_and_load) # tracebacks and warnings skip importlib
    importlib._find_and_load = _find_and_load


def begin_here():
    if wants_imports:
        note('--python-import-time: %d modules were there before' % len(sys.modules))
    if python_calls:
        begin_calls()
    for name in list(wanted) + known:
        if is_loaded(name):
            loaded(name)
    watch(sys.modules['_frozen_importlib'])


begin_here()
