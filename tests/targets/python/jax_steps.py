# SPDX-License-Identifier: Apache-2.0
"""jax_steps.py [FILE]: functions of JAX with known numbers of calls, one of which is compiled for each of 8 shapes.
With FILE, JAX's own counts of compilations by function are written there."""
import functools
import json
import sys
import threading

import jax
import jax.numpy as jnp
from jax import monitoring

counts = {}


def count(event, seconds, **more):
    if event == '/jax/core/compile/backend_compile_duration':
        name = more.get('fun_name', '')
        counts[name] = counts.get(name, 0) + 1


if len(sys.argv) > 1:
    monitoring.register_event_duration_secs_listener(count)


@jax.jit
def stable(x):
    with jax.named_scope('inner'):
        return jnp.sin(x) @ x.T


@jax.jit
def unstable(x):
    for i in range(20):
        x = jnp.tanh(x * i) + stable(x)
    return x.sum()


class Model:
    @functools.partial(jax.jit, static_argnums=0)
    def method(self, x):
        return x + 1


@jax.jit
def fails(x):
    return x * (1 / len(()))


@jax.jit
def ahead(x):
    return x * 3


def main():
    x, model = jnp.ones((8, 8)), Model()
    for i in range(20):
        stable(x)
    thread = threading.Thread(target=stable, args=(x,))
    thread.start()
    thread.join()
    for n in range(2, 10):
        unstable(jnp.ones((n, n)))  # line of the compilations
    for i in range(3):
        model.method(x)
        try:
            fails(x)
        except ZeroDivisionError as error:
            print('fails', error)
    for i in range(5):
        print(float(jax.jit(lambda x: x.sum())(x)))  # a new function each time
    print(float(ahead.lower(x).compile()(x).sum()), type(stable), stable.__name__, stable.__wrapped__ is not None)


main()
if len(sys.argv) > 1:
    with open(sys.argv[1], 'w', encoding='ascii') as file:
        json.dump(counts, file)
