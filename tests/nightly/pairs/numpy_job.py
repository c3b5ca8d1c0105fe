#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numpy_job.py STEPS EXTRA: eight stages in each step; the product is followed by EXTRA sums more."""
import sys

import numpy as np

STEPS, EXTRA = int(sys.argv[1]), int(sys.argv[2])
numbers = np.random.default_rng(1)
left, right = numbers.random((96, 96)), numbers.random((96, 96))
values = numbers.random(20000)
signal = numbers.random(8192)
places = numbers.integers(0, 20000, 20000)


def multiply():
    total = left @ right
    for _ in range(EXTRA):
        total += left.sum()  # PLANT
    return total


def order():
    return np.sort(values)


def transform():
    return np.fft.rfft(signal)


def gather():
    return values[places]


def smooth():
    return np.cumsum(values)


def exponents():
    return np.exp(values)


def roots():
    return np.cbrt(values)


def count():
    return np.bincount(places, minlength=20000)


for step in range(STEPS):
    for stage in (multiply, order, transform, gather, smooth, exponents, roots, count):
        stage()
