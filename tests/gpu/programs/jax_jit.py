# SPDX-License-Identifier: Apache-2.0
"""python3 jax_jit.py N [graphs]: a jitted training step of JAX, N times. Prints what came out, which every run of one
machine repeats. graphs: XLA makes CUDA graphs of as much as it can (command buffers)."""
import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# Autotuning runs kernels as often as it likes.
FLAGS = ["--xla_gpu_autotune_level=0"]
if "graphs" in sys.argv[2:]:
    FLAGS += ["--xla_gpu_graph_min_graph_size=1",
              "--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUDNN,CUSTOM_CALL"]
else:
    FLAGS += ["--xla_gpu_enable_command_buffer="]  # XLA of JAX 0.11 makes graphs by default
os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *FLAGS])

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402


@jax.jit
def step(w, x):
    def loss(w):
        return jnp.mean(jnp.tanh(x @ w) ** 2)
    value, slope = jax.value_and_grad(loss)(w)
    return w - 0.1 * slope, value


def main():
    if jax.default_backend() != "gpu":
        sys.exit("JAX has no GPU here: " + jax.default_backend())
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    w = jnp.ones((256, 128)) * 0.01
    x = jnp.arange(512.0 * 256).reshape(512, 256) / 131072
    for _ in range(n):
        w, value = step(w, x)
    print(f"steps {n} 0")
    print(f"loss {float(value.block_until_ready()):.6f}")


main()
