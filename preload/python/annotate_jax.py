# SPDX-License-Identifier: Apache-2.0
# JAX (--jax, --jax-live): annotate.py, which follows this file in the same namespace, calls the function watch_* of a
# module of JAX when it is loaded. Provided are jax_* as annotate_parts.h has them.

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


def jitted_place(made):
    """Name, file and line of the function that jax.jit was given, without those that decorate it."""
    function = made.__wrapped__
    while type(function) is FUNCTION and '__wrapped__' in function.__dict__:
        function = function.__dict__['__wrapped__']
    name = 'run ' + made.__name__.encode('utf-8', 'replace').decode()
    if type(function) is not FUNCTION:
        return name, None, 0
    code = function.__code__
    return name, code.co_filename.encode('utf-8', 'replace').decode(), code.co_firstlineno


def watch_calls(pjit):
    def _cpp_pjit(*args, **kwargs):
        made = make(*args, **kwargs)
        try:
            kind = type(made)
            if not jax_count(made, *jitted_place(made), kind.__basicsize__, kind.__flags__):
                note('--jax: this version of JAX or Python has functions whose calls cannot be recorded')
        except Exception as error:
            note('--jax: calls of a function are not recorded: ' + type(error).__name__)
        return made

    make = pjit._cpp_pjit
    disguise(_cpp_pjit, make)
    pjit._cpp_pjit = _cpp_pjit


MODULE = 64 << 20 # characters


def to_brace(text):
    """Up to the brace that closes it; braces in quotes do not count."""
    at = 0
    for number, part in enumerate(text.replace('\\\\', '  ').replace('\\"', '  ').split('"')):
        if number % 2 == 0 and '}' in part:
            return text[:at + part.index('}') + 1]
        at += len(part) + 1
    return text


def origin_of(line):
    """'  ROOT %name = type opcode(operands), calls=%computation, metadata={...}, ...' without type, operands and what
    follows. None: the instruction is a parameter, or says nothing of its origin."""
    name, equals, rest = line.partition(' = ')
    head, mark, metadata = rest.partition(', metadata={')
    called = head.partition(', calls=')[2].split(',')[0].split(' ')[0] if ' fusion(' in head else ''
    if (called or mark) and ' parameter(' not in head:
        return name + (', calls=' + called if called else '') + (mark + to_brace(metadata) if mark else '')


def origins(text):
    """What of a module's text (HLO) tells where its operations come from: of metadata that is the path of
    jax.named_scope and the line of the program. The tables of files, locations and frames stay as they are."""
    for line in text.split('\n'):
        if line.startswith(' '):
            line = origin_of(line)
        elif line.startswith('HloModule '):
            line = line.split(',')[0]
        elif line.endswith('{'): # a computation: its name without its parameters
            words = line.split(' ')
            line = ' '.join(words[:1 + (words[0] == 'ENTRY')]) + ' {'
        if line and not line.startswith('}'):
            yield line + '\n'


def record_modules(executable):
    for module in executable.hlo_modules():
        text = module.to_string()
        is_whole = len(text) <= MODULE
        jax_module(''.join(origins(text if is_whole else text[:MODULE].rpartition('\n')[0])), is_whole)


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


def is_ours(error, home):
    """Whether only files of JAX, whose folder is `home`, have raised it: no handler of a signal has."""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != '<pillion>' and not file.startswith(home) and '/numpy/' not in file:
            return False
        trace = trace.tb_next
    return True


MISS = 'TRACING CACHE MISS'


def miss_text(text):
    """'miss f: x, now f32[4] and before f32[3]'. None: JAX has never seen the function, which explains it."""
    lines = [line.strip() for line in text.splitlines()]
    name = [line[4:].split(' defined at ')[0] for line in lines if line.startswith('for ')]
    if not name and not any('another function defined on the same line' in line for line in lines):
        return None
    name = name or [line.split(' id=')[0] for line in lines if ' id=' in line] or ['?']
    # 0.5 to 0.8 have a title above each list
    changes = [line.partition(' at ' if line.startswith('* at ') else ' ')[2] for line in lines
               if line.startswith('* ') and not line.endswith(':')] or [lines[-1].rstrip(':').replace('* ', '')]
    if ' id=' in ''.join(lines[1:3]):
        changes = ['the function: another one was defined on its line']
    return 'miss %s: %s' % (name[0].rpartition('.')[2], '; '.join(changes)[:300])


class Log:
    """The logger of a module that explains misses: explanations are logged only if the program wants them."""
    def __init__(self, logger, is_wanted):
        self.logger, self.is_wanted = logger, is_wanted

    def __getattr__(self, name):
        return getattr(self.logger, name)

    def log(self, level, text, *args, **kwargs):
        if type(text) is str and text.startswith(MISS):
            said = miss_text(text)
            if said:
                jax_mark(said)
            if not self.is_wanted():
                return
        self.logger.log(level, text, *args, **dict({'stacklevel': 2}, **kwargs))


def watch_misses(module):
    """This module has the cache of traced functions, whose argument `explain` is JAX's function that explains a miss.
    JAX calls it if the program has configured it; for us always, by a copy of the configuration."""
    def make(*args, **kwargs):
        explain = kwargs.get('explain')
        if explain is not None:
            kwargs['explain'] = watched(explain)
        return cache(*args, **kwargs)

    def is_wanted():
        return config.explain_cache_misses.value

    def watched(explain):
        def explained(*args, **kwargs):
            space = explain.__globals__
            if type(space['logger']) is not Log:
                space['logger'] = Log(space['logger'], is_wanted)
            try:
                explain(*args, **kwargs)
            except Exception as error:
                if is_wanted() or not is_ours(error, home):
                    raise
        disguise(explained, explain)
        return explained

    name = 'cache' if module.__name__.endswith('linear_util') else 'weakref_lru_cache'
    cache, config = getattr(module, name), module.config
    home = module.__file__[:module.__file__.rfind('_src')]
    if 'explain' in (cache.__kwdefaults__ or ()) and config.explain_cache_misses.value in (True, False):
        disguise(make, cache)
        setattr(module, name, make)
        module.config = type(module)(config.__name__)
        vars(module.config).update(vars(config), explain_cache_misses=Always)


class Always:
    value = True


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
    rows = []
    for (shape, kind, sharding, made), count in found.items():
        size = count * kind.itemsize * len(sharding.addressable_devices)
        for length in sharding.shard_shape(shape):
            size *= length
        frames = () if made is None else tuple(zip(*made.raw_frames()))
        rows.append(('%s[%s]' % (kind, ','.join(map(str, shape))), devices_text(sharding), count, size, frames))
    jax_live(tuple(rows))


def watch_buffers(bridge):
    """Asks the clients that there are; jax.live_arrays() would create one."""
    def look():
        try:
            return record_buffers(list(clients.values()))
        except Exception as error:
            if not is_ours(error, home):
                return type(error), error, error.__traceback__
            if not failed:
                failed.append(True)
                note('--jax: live buffers that are not recorded: ' + type(error).__name__)

    failed, clients = [], bridge._backends
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
