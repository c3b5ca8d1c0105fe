# SPDX-License-Identifier: Apache-2.0
"""jax_scopes.py NVTX_LIBRARY: has JAX compile a function with named scopes, a function within it and a loop, and enters
a range as XLA does on a GPU for each operation that the compiled text names. Prints them with their metadata:
'name,scope,file:line'."""
import ctypes
import re
import sys

import jax
import jax.numpy as jnp

nvtx = ctypes.CDLL(sys.argv[1])


@jax.jit
def inner(x):
    return jnp.sort(x)


@jax.jit
def step(w, x):
    with jax.named_scope('attention'):
        y = jnp.tanh(x @ w)
    with jax.named_scope('mlp'):
        y = jax.lax.fori_loop(0, 5, lambda i, v: jnp.sin(v) @ w, y)
        y = jax.lax.cond(y[0, 0] > 0, lambda v: v * 2, jnp.exp, y)
    return y.sum(), inner(y)


def tables(text):
    """The line of each stack frame, where the text has tables of them instead of the lines."""
    part, found = '', {}
    for line in text.split('\n'):
        entry = re.match(r'(\d+) (.*)', line)
        if entry:
            found[part, entry[1]] = entry[2]
        elif re.match(r'\w+$', line):
            part = line
    lines = {}
    for part, number in found:
        if part == 'StackFrames':
            location = found['FileLocations', re.search(r'file_location_id=(\d+)', found[part, number])[1]]
            file = found['FileNames', re.search(r'file_name_id=(\d+)', location)[1]].strip('"')
            lines[number] = '%s:%s' % (file, re.search(r' line=(\d+)', location)[1])
    return lines


def operations(text):
    lines, fused = tables(text), set(re.findall(r' fusion\(.*?, calls=%?([\w.-]+)', text))
    computation = ''
    for line in text.split('\n'):
        header = re.match(r'(?:ENTRY )?%?([\w.-]+) .*{$', line)
        computation = header[1] if header else computation
        instruction = re.match(r'  (?:ROOT )?%?([\w.-]+) = ', line)
        if not instruction or computation in fused or ' parameter(' in line or 'op_name="' not in line:
            continue
        name = re.search(r'op_name="([^"]*)"', line)[1].split('[')[0]
        name = re.sub(r'^jit\(step\)/(jit\(main\)/)?', '', name)
        place = re.search(r'source_file="([^"]*)" source_line=(\d+)', line)
        frame = re.search(r'stack_frame_id=(\d+)', line)
        yield instruction[1], name, '%s:%s' % place.groups() if place else lines.get(frame[1], '') if frame else ''


w = jnp.ones((16, 16))
compiled = step.lower(w, w).compile()
text = compiled.as_text()
nvtx.xla_push(b'XlaModule:#hlo_module=%s,program_id=7#' % re.match(r'HloModule ([^,]*)', text)[1].encode())
for operation, name, place in sorted(operations(text)):
    nvtx.xla_push(b'Thunk:#hlo_op=%s#' % operation.encode())
    nvtx.xla_pop()
    print(operation, name, place, sep=',')
nvtx.xla_pop()
compiled(w, w)
step(w, w)
