#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jax_recompile.py planted|clean: fits a model to sentences of different lengths.

Planted: each batch has the length of its longest sentence, so that jit compiles the step for each new length. Clean:
batches are padded to one length."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

WIDTH, LONGEST, STEPS = 192, 128, 16


def loss_of(weights, tokens, mask):
    hidden = jnp.take(weights["embed"], tokens, axis=0)
    for name in ("a", "b", "c"):
        hidden = jnp.tanh(hidden @ weights[name]) + hidden
    scores = jax.nn.logsumexp(hidden, axis=-1) * mask
    return scores.sum() / mask.sum()


@jax.jit
def step(weights, tokens, mask):
    loss, gradient = jax.value_and_grad(loss_of)(weights, tokens, mask)
    return jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradient), loss


def batch(generator, planted):
    longest = int(generator.integers(LONGEST // 2, LONGEST + 1))
    length = longest if planted else LONGEST
    tokens = np.zeros((64, length), np.int32)
    tokens[:, :longest] = generator.integers(0, 500, (64, longest))
    return tokens, (np.arange(length) < longest).astype(np.float32)[None, :].repeat(64, 0)


def main():
    planted = sys.argv[1] == "planted"
    generator = np.random.default_rng(3)
    weights = {name: jnp.asarray(generator.standard_normal((WIDTH, WIDTH)) * 0.05) for name in ("a", "b", "c")}
    weights["embed"] = jnp.asarray(generator.standard_normal((500, WIDTH)) * 0.05)
    for number in range(STEPS):
        tokens, mask = batch(generator, planted)
        weights, loss = step(weights, tokens, mask)  # PLANT
        loss.block_until_ready()
    print("loss %.3f" % float(loss))


main()
