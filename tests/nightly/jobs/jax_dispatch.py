#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jax_dispatch.py planted|clean: integrates 64 pendulums and reports their energy.

Planted: the integrator runs operation by operation from Python. Clean: as one compiled loop."""
import sys

import jax
import jax.numpy as jnp

STEPS, PARTS = 8000, 5


def advance(state, step):
    angle, speed = state
    force = -9.81 * jnp.sin(angle) - 0.01 * speed + 0.1 * jnp.cos(0.05 * step)  # PLANT
    speed = speed + 1e-3 * force  # PLANT
    angle = angle + 1e-3 * speed  # PLANT
    return angle, speed


def energy(state):
    return (0.5 * state[1] ** 2 - 9.81 * jnp.cos(state[0])).sum()


def steps_in_python(state):
    for step in range(STEPS):
        state = advance(state, step)  # PLANT
    return state


@jax.jit
def steps_compiled(state):
    return jax.lax.fori_loop(0, STEPS, lambda step, state: advance(state, step), state)


def spectra(key):
    noise = jax.random.normal(key, (3, 1 << 20))
    return jnp.abs(jnp.fft.rfft(noise)).sum()


def main():
    state = (jnp.linspace(0, 3, 64), jnp.zeros(64))
    total = 0.0
    for part in range(PARTS):
        state = steps_in_python(state) if sys.argv[1] == "planted" else steps_compiled(state)
        for number in range(4):
            total += float(spectra(jax.random.key(part * 4 + number)))
    print("energy %.1f, %.3e" % (float(energy(state)), total))


main()
