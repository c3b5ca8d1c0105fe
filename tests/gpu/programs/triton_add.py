# SPDX-License-Identifier: Apache-2.0
"""python3 triton_add.py N: N launches of a Triton kernel. Prints how many."""
import sys

import torch
import triton
import triton.language as tl

COUNT, BLOCK = 1 << 16, 256


@triton.jit
def triton_add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    x = torch.ones(COUNT, device="cuda")
    y = torch.full((COUNT,), 2.0, device="cuda")
    out = torch.empty_like(x)
    for _ in range(n):
        triton_add_kernel[(COUNT // BLOCK,)](x, y, out, COUNT, BLOCK=BLOCK)
    torch.cuda.synchronize()
    if out.sum().item() != 3.0 * COUNT:
        sys.exit("wrong sum")
    print(f"kernel:triton_add_kernel {n} 0")


main()
