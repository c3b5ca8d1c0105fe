# SPDX-License-Identifier: Apache-2.0
"""python3 cupy_add.py N: N launches of a raw kernel of CuPy's, compiled at run time, and N of its own ufuncs. Prints
how many of the first."""
import sys

import cupy

COUNT = 1 << 16
SOURCE = """extern "C" __global__ void cupy_add_kernel(const float *x, float *y)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] += x[i]; }"""


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    add = cupy.RawKernel(SOURCE, "cupy_add_kernel")
    x, y = cupy.ones(COUNT, dtype=cupy.float32), cupy.zeros(COUNT, dtype=cupy.float32)
    for _ in range(n):
        add((COUNT // 256,), (256,), (x, y))
        x = cupy.sqrt(x)
    cupy.cuda.Device().synchronize()
    if float(y.sum()) != float(n) * COUNT:
        sys.exit("wrong sum")
    print(f"kernel:cupy_add_kernel {n} 0")


main()
