# SPDX-License-Identifier: Apache-2.0
# JAX (--jax, --jax-live): annotate.py, which follows this file in the same namespace, calls the function watch_* of a
# module of JAX when it is loaded. Provided are jax_* as annotate_jax.h and annotate_jax_live.h have them.

PHASES = {'/jax/core/compile/jaxpr_trace_duration': 'trace',
          '/jax/core/compile/jaxpr_to_mlir_module_duration': 'lower',
          '/jax/core/compile/backend_compile_duration': 'compile'}


def watch_phases(dispatch):
    """All phases are in contexts of this function, whose arguments are the same from 0.4.13 to 0.12."""
    class Phase:
        __slots__ = ('inner', 'text')

        def __init__(self, *args, **kwargs):
            self.inner = log_elapsed_time(*args, **kwargs)
            values = dict(zip(('fmt', 'fun_name', 'event'), args), **kwargs)
            name, self.text = values.get('fun_name'), PHASES.get(values.get('event'))
            if self.text:
                self.text += ' ' + (name if type(name) is str else '?')

        def __enter__(self):
            result = self.inner.__enter__()
            if self.text:
                jax_begin(self.text)
            return result

        def __exit__(self, *error):
            if self.text:
                jax_end()
            return self.inner.__exit__(*error)

    log_elapsed_time = dispatch.log_elapsed_time
    dispatch.log_elapsed_time = Phase


def jitted_text(made):
    """From the function that jax.jit was given, without those that decorate it."""
    function = made.__wrapped__
    while type(function) is FUNCTION and '__wrapped__' in function.__dict__:
        function = function.__dict__['__wrapped__']
    name = made.__name__.encode('utf-8', 'replace').decode()
    if type(function) is not FUNCTION:
        return 'run ' + name
    return 'run ' + placed(name, function.__code__)


def watch_calls(pjit):
    def _cpp_pjit(*args, **kwargs):
        made = make(*args, **kwargs)
        try:
            kind = type(made)
            if not jax_count(made, jitted_text(made), kind.__basicsize__, kind.__flags__):
                note('--jax: this version of JAX or Python has functions whose calls cannot be recorded')
        except Exception as error:
            note('--jax: calls of a function are not recorded: ' + type(error).__name__)
        return made

    make = pjit._cpp_pjit
    disguise(_cpp_pjit, make)
    pjit._cpp_pjit = _cpp_pjit


def record_modules(executable):
    for module in executable.hlo_modules():
        if not jax_module(module.to_string()):
            raise TypeError


def record_memory(executable):
    sizes = executable.get_compiled_memory_stats()
    jax_executable(executable.hlo_modules()[0].name, sizes.argument_size_in_bytes, sizes.output_size_in_bytes,
                   sizes.alias_size_in_bytes, sizes.temp_size_in_bytes, sizes.generated_code_size_in_bytes,
                   len(executable.local_devices()))


def record_request(executable):
    """JAX counts a request also where there is no cache."""
    if _thread.get_ident() in requests:
        requests.discard(_thread.get_ident())
        if sys.modules['jax._src.compilation_cache']._cache is not None:
            jax_mark('cache request')


def watch_modules(compiler):
    """This function returns what is compiled or read from the cache of JAX, also ahead of time and for pmap."""
    def compile_or_get_cached(*args, **kwargs):
        executable = make(*args, **kwargs)
        for record in records:
            try:
                record(executable)
            except Exception as error:
                if records[record]:
                    note('--jax: %s: %s' % (records[record], type(error).__name__))
                records[record] = ''
        return executable

    records = {record_modules: 'operations of XLA without scopes', record_memory: 'executables without their memory',
               record_request: 'misses of the compilation cache are not known'}
    make = compiler.compile_or_get_cached
    disguise(compile_or_get_cached, make)
    compiler.compile_or_get_cached = compile_or_get_cached


requests = set() # threads that compile
REQUEST = '/jax/compilation_cache/compile_requests_use_cache'
CACHE = {'/jax/compilation_cache/cache_hits': 'cache hit',
         '/jax/compilation_cache/cache_misses': 'cache write'} # counted when the executable is written


def watch_cache(monitoring):
    """All events pass through this function, whether the program listens to them or not."""
    def record_event(*args, **kwargs):
        event = args[0] if args else kwargs.get('event')
        if type(event) is str and event in CACHE:
            jax_mark(CACHE[event])
        elif type(event) is str and event == REQUEST:
            requests.add(_thread.get_ident())
        return record(*args, **kwargs)

    record = monitoring.record_event
    disguise(record_event, record)
    monitoring.record_event = record_event


def devices_text(sharding):
    """'gpu:0-3', with the kind of memory where it is not the device's own."""
    numbers, parts, kind = {}, [], getattr(sharding, 'memory_kind', None)
    for device in sharding.addressable_devices:
        numbers.setdefault(device.platform, []).append(device.id)
    for platform in sorted(numbers):
        ids = sorted(numbers[platform])
        is_row = len(ids) > 1 and ids[-1] - ids[0] == len(ids) - 1
        parts.append('%s:%s' % (platform, '%d-%d' % (ids[0], ids[-1]) if is_row else ','.join(map(str, ids))))
        if kind not in (None, 'device') and platform != 'cpu':
            parts.append(kind)
    return ' '.join(parts)


def record_buffers(clients):
    found = {}
    for client in clients:
        for array in client.live_arrays():
            if not array.is_deleted():
                key = array.shape, array.dtype, array.sharding, array.traceback
                found[key] = found.get(key, 0) + 1
    jax_live_begin()
    for (shape, kind, sharding, made), count in found.items():
        if made is not None:
            for frame in zip(*made.raw_frames()):
                jax_live_frame(*frame)
        size = count * kind.itemsize * len(sharding.addressable_devices)
        for length in sharding.shard_shape(shape):
            size *= length
        jax_live_add('%s[%s]' % (kind, ','.join(map(str, shape))), devices_text(sharding), count, size)
    jax_live_end()


def watch_buffers(bridge):
    """Asks the clients that there are; jax.live_arrays() would create one."""
    def is_ours(error):
        """No handler of a signal has raised it."""
        trace = error.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if file != '<pillion>' and not file.startswith(home) and '/numpy/' not in file:
                return False
            trace = trace.tb_next
        return True

    def look():
        try:
            idle.pop()
        except IndexError: # another thread looks
            return None
        try:
            return record_buffers(list(clients.values()))
        except Exception as error:
            if not is_ours(error):
                return type(error), error, error.__traceback__
            if not failed:
                failed.append(True)
                note('--jax-live: live buffers that are not recorded: ' + type(error).__name__)
        finally:
            idle.append(True)

    idle, failed, clients = [True], [], bridge._backends
    home = bridge.__file__[:bridge.__file__.rfind('_src')]
    jax_live_by(look)


def watch_dispatch(dispatch):
    watch_phases(dispatch)
    if 'compile_or_get_cached' in vars(dispatch): # in 0.4.13
        watch_modules(dispatch)


def jax_is_there(module, watch):
    try:
        if object.__basicsize__ != 16:
            return note('--jax: not possible in this interpreter')
        watch(module)
    except Exception as error:
        note('--jax: nothing is recorded of %s: %s' % (module.__name__, type(error).__name__))
