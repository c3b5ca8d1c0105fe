# SPDX-License-Identifier: Apache-2.0
"""jax_memory.py FILE: keeps one more array of JAX in each step. Writes to FILE what JAX itself says: its live arrays
after each step, those by type and shape at the end, its events, and the memory that two executables need."""
import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy
from jax import monitoring
from jax.sharding import Mesh, NamedSharding, PartitionSpec

events = {}
monitoring.register_event_listener(lambda event, **more: events.update({event: events.get(event, 0) + 1}))


@jax.jit
def step(w, x):
    return w - 0.1 * (x.T @ jnp.tanh(x @ w))


@jax.jit
def other(x):
    return jnp.sort(x @ x.T)


@jax.jit
def step_ahead(w, x):
    return step(w, x)


@jax.jit
def other_ahead(x):
    return other(x)


def make(count):
    return [jnp.ones((64, 64)) for i in range(count)]  # line of the parameters


def bytes_of(array):
    """On all devices of this process: an array may be on several of them, in parts or in copies."""
    shape, size = array.sharding.shard_shape(array.shape), array.dtype.itemsize
    for length in shape:
        size *= length
    return size * len(array.sharding.addressable_devices)


def main():
    params, x = make(3), jnp.arange(640, dtype=jnp.float32).reshape(10, 64)
    mesh = Mesh(jax.devices(), ('all',))
    parts = jax.device_put(jnp.ones((40, 8)), NamedSharding(mesh, PartitionSpec('all')))
    copies = jax.device_put(jnp.ones((5, 5)), NamedSharding(mesh, PartitionSpec()))
    other(x)
    memory = {}
    for function, arguments in ((step_ahead, (params[0], x)), (other_ahead, (x,))):
        sizes = function.lower(*arguments).compile().memory_analysis()
        memory['jit_' + function.__name__] = [sizes.argument_size_in_bytes, sizes.output_size_in_bytes,
                                              sizes.temp_size_in_bytes]
    steps, kept = [], []
    for i in range(10):
        time.sleep(0.003)  # longer than what --jax-live asks for
        w = step(params[0], x)  # line of what is kept
        arrays = jax.live_arrays()
        steps.append([len(arrays), sum(bytes_of(a) for a in arrays)])
        kept.append(w)
        del arrays
    shapes = {}
    for array in jax.live_arrays():
        known = shapes.setdefault('%s%s' % (array.dtype, json.dumps(array.shape).replace(' ', '')), [0, 0])
        known[0] += 1
        known[1] += bytes_of(array)
    print(len(kept), numpy.asarray(kept[-1]).shape, parts.shape, copies.shape)
    with open(sys.argv[1], 'w', encoding='ascii') as file:
        json.dump({'steps': steps, 'shapes': shapes, 'memory': memory, 'events': events}, file)


main()
