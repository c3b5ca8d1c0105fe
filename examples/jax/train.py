#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits a line with JAX, on the GPU if there is one: a compiled step, called many times."""
import jax
import jax.numpy as jnp

STEPS, SAMPLES = 50, 1024


def loss(weights, inputs, targets):
    return jnp.mean((inputs @ weights - targets) ** 2)


@jax.jit
def step(weights, inputs, targets):
    return weights - 0.1 * jax.grad(loss)(weights, inputs, targets)


def main():
    inputs = jax.random.normal(jax.random.key(0), (SAMPLES, 16))
    targets = inputs @ jnp.arange(16.0)
    weights = jnp.zeros(16)
    for _ in range(STEPS):
        weights = step(weights, inputs, targets)
    print(f"{STEPS} steps: the largest error is {float(jnp.abs(weights - jnp.arange(16.0)).max()):.2f}")


main()
