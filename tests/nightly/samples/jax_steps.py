# SPDX-License-Identifier: Apache-2.0
"""JAX on a CPU: jit, grad, scan, vmap and pmap over four devices, 30 steps of a regression."""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp


def loss(w, x, y):
    hidden = jnp.tanh(x @ w["in"])
    return jnp.mean((hidden @ w["out"] - y) ** 2)


@jax.jit
def step(w, x, y):
    value, slope = jax.value_and_grad(loss)(w, x, y)
    return jax.tree_util.tree_map(lambda a, b: a - 0.1 * b, w, slope), value


def main():
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    w = {"in": jax.random.normal(keys[0], (64, 128)) / 8, "out": jax.random.normal(keys[1], (128, 1)) / 11}
    x = jax.random.normal(keys[2], (512, 64))
    y = jnp.sin(x[:, :1])
    first = None
    for _ in range(30):
        w, value = step(w, x, y)
        first = value if first is None else first
    print(bool(value < first), f"{float(value):.3f}")
    total, _ = jax.lax.scan(lambda carry, row: (carry + jnp.dot(row, row), None), 0.0, x)
    print(f"{float(total):.0f}")
    rows = jax.vmap(lambda row: jnp.sort(row)[-1])(x)
    print(f"{float(rows.sum()):.1f}")
    parts = jax.pmap(lambda part: (part @ part.T).sum())(x.reshape(4, 128, 64))
    print([f"{float(part):.0f}" for part in parts])


main()
