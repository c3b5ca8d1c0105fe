#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numpy_loop.py planted|clean: smooths a signal, removes outliers, and reports its spectrum.

Planted: the outliers are clipped in a Python loop over the elements. Clean: by numpy.clip."""
import sys

import numpy as np

SIZE = 1 << 20


def clip_each(signal, limit):
    result = np.empty_like(signal)
    for i in range(len(signal)):  # PLANT
        result[i] = min(max(signal[i], -limit), limit)  # PLANT
    return result


def clip(signal, limit):
    return np.clip(signal, -limit, limit)


def smooth(signal):
    kernel = np.hanning(1501)
    return np.convolve(signal, kernel / kernel.sum(), mode="same")


def spectrum(signal):
    return np.abs(np.fft.rfft(signal)) ** 2


def main():
    planted = sys.argv[1] == "planted"
    generator = np.random.default_rng(7)
    total = 0.0
    for part in range(9):
        signal = smooth(generator.standard_normal(SIZE))
        signal = clip_each(signal, 0.1) if planted else clip(signal, 0.1)
        total += spectrum(signal)[: SIZE // 8].sum()
    print("energy %.6e" % total)


main()
