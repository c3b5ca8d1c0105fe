# SPDX-License-Identifier: Apache-2.0
"""numba: compiled loops, in one thread and in parallel."""
import numba
import numpy


@numba.njit
def collatz(limit):
    longest = 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        longest = max(longest, steps)
    return longest


@numba.njit(parallel=True)
def squares(values):
    total = 0
    for i in numba.prange(len(values)):
        total += values[i] * values[i] % 7
    return total


print(collatz(300000))
print([int(squares(numpy.arange(1000000))) for _ in range(20)][-1])
